"""One point of an error figure: a release is asked queries whose true answers are known."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import polars as pl

from experiments.sources import Sources
from experiments.views import read_view
from shoal.api.functions import anonymize
from shoal.base.errors import Infeasible, ParameterError, ShoalWarning
from shoal.measures.losses.queries import query_error, true_counts, workload
from shoal.privacy import FrequencyLDiversity, LDiversity
from shoal.releases.base import Query, View
from shoal.releases.categories import Coded
from shoal.releases.dummies.view import DummiesView
from shoal.releases.estimates.bayes import Observed, estimate
from shoal.tables.cells import sorted_values

Numbers = dict[str, Any]


def ask(point: Mapping[str, Any], sources: Sources) -> Numbers:
    """Measure a point of an error figure: the mean squared error of random queries, per seed.

    Every seed asks other queries, of its own release where the method draws (``releases`` of
    them, else as many as there are seeds).
    """
    frame = table_of(point, sources)
    values = frame[point["sensitive"]].n_unique()
    if values < point["l"]:
        why = f"{point['sensitive']} has only {values} values"
        return {"repeats": [{"served": 0.0, "why": why}]}
    many = point["repeats"]
    try:
        return {"repeats": [_asked(point, sources, frame, seed) for seed in range(many)]}
    except Infeasible as reason:
        return {"repeats": [{"served": 0.0, "why": str(reason)}]}


def _asked(point: Mapping[str, Any], sources: Sources, frame: pl.DataFrame, seed: int) -> Numbers:
    release = _release(point, sources, 1 + seed % point.get("releases", point["repeats"]))
    queries = workload(
        frame,
        point["quasi"],
        point["sensitive"],
        np.random.default_rng([20150, point["g"], seed]),
        g=point["g"],
        s=point["s"],
        repeats=point["queries"],
    )
    try:
        truth = true_counts(frame, point["quasi"], queries)
        expect = release.expect
        if isinstance(release, DummiesView):
            expect = partial(release.expect, eps=point["eps"])
        error = query_error(release, queries, truth, expect)
    except ParameterError as reason:  # no row fits any query: served, but nothing to compare
        return {"served": 1.0, "why": str(reason)}
    return {
        "served": 1.0,
        "mse": error.mse,
        "relative_error": error.relative,
        "median_error": error.median,
        "asked": error.queries,
        "rows": frame.height,
    }


def example(point: Mapping[str, Any], sources: Sources) -> Numbers:
    """Count a sensitive column by the values of a category, per seed; the counts of the first."""
    frame = table_of(point, sources)
    many = point["repeats"]
    try:
        found = [
            _counted(point, frame, _release(point, sources, 1 + seed % point.get("releases", many)))
            for seed in range(many)
        ]
    except Infeasible as reason:
        return {"skipped": str(reason)}
    return {
        "repeats": [
            {**each, "counts": each["counts"] if not n else []} for n, each in enumerate(found)
        ]
    }


def _counted(point: Mapping[str, Any], frame: pl.DataFrame, release: View) -> Numbers:
    """Return the truth and the estimate by category, and the error of its shares."""
    of, by = point["sensitive"], point["category"]
    counts, mse = [], {}
    for value in sorted_values(frame[by]).to_list():
        query = Query(of, {by: (str(value),)})
        names = release.values(of)
        guess = dict(zip(names, release.expect(query).tolist(), strict=True))
        true = dict(frame.filter(pl.col(by) == value)[of].value_counts().iter_rows())
        rows = sum(true.values())
        every = sorted({*map(str, true), *guess})
        off = [(true.get(name, 0) - guess.get(name, 0.0)) / rows for name in every]
        mse[str(value)] = float(np.mean(np.square(off)))
        counts += [
            {by: str(value), of: name, "true": true.get(name, 0), "estimate": guess.get(name, 0.0)}
            for name in every
        ]
    return {"by": mse, "counts": counts, "rows": frame.height}


def clock(point: Mapping[str, Any], sources: Sources) -> Numbers:
    """Take the time of the estimate from the sets of a release, laid down so many times."""
    release = _release(point, sources)
    assert isinstance(release, DummiesView)
    column = release.columns[point["sensitive"]]
    codes = np.tile(column.codes, (point["times"], 1))
    by = Coded.encode(table_of(point, sources)[point["category"]])
    labels = np.tile(by.codes.astype(np.int64), point["times"])
    repeats = []
    for _ in range(point["repeats"] + 1):
        start = time.process_time()
        seen = Observed.count_sets(codes, labels, len(column.values), len(by.values))
        estimate(seen, "iterative", eps=point["eps"])
        repeats.append({"seconds": time.process_time() - start, "rows": len(labels)})
    return {"repeats": repeats[1:]}  # the first one may have compiled the kernel


def table_of(point: Mapping[str, Any], sources: Sources) -> pl.DataFrame:
    """Return the columns of a point; the first rows of them when it must be quick."""
    frame = sources.frame(point["data"]).select(*point["quasi"], point["sensitive"])
    return frame.head(point["at_most"]) if "at_most" in point else frame


def _release(point: Mapping[str, Any], sources: Sources, seed: int = 1) -> View:
    what = (point["data"], point.get("at_most"), point["sensitive"], tuple(point["quasi"]))
    return _made(sources, what, point["method"], point["l"], seed)


@lru_cache(maxsize=2)
def _made(sources: Sources, what: tuple[Any, ...], method: str, values: int, seed: int) -> View:
    data, at_most, of, quasi = what
    point = {"data": data, "quasi": quasi, "sensitive": of}
    frame = table_of(point if at_most is None else {**point, "at_most": at_most}, sources)
    rule = (LDiversity if method == "dummies" else FrequencyLDiversity)(values, of)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        # Seeded, so that figures can be had again; what is published should never be.
        outcome = anonymize(
            frame,
            quasi=list(quasi),
            sensitive=of,
            method=method,
            rules=[rule],
            seed=seed,
            grid=dict.fromkeys(quasi, "off"),  # intervals end at data, as in the papers
        )
        return read_view(
            outcome.tables["release"],
            of,
            table=outcome.tables.get("st"),
            quasi=list(quasi),
            domains={name: sorted_values(frame[name]) for name in quasi},
        )
