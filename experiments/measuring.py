"""One point of a loss figure: a method groups the rows of a table, and the loss is measured.

The grouper is called as a run would call it, with the generator that a run with this seed would
hand it, so a run with the same seed makes the same release; :func:`confirm` does just that.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from experiments.sources import Sources
from shoal.api.functions import anonymize
from shoal.base.errors import Infeasible, ParameterError, ShoalError, ShoalWarning
from shoal.base.seeds import stretch_seed
from shoal.catalog import Method, find_method
from shoal.coding.encode import Encoded, encode
from shoal.measures.losses.grouped import Grouped
from shoal.measures.losses.ncp import iloss, loss_paper, relative_loss
from shoal.privacy import AlphaK, KAnonymity, LDiversity, Rule
from shoal.tables.domain import Taxonomy, numbers
from shoal.tables.schema import declare

Numbers = dict[str, Any]
Limited = Callable[[], contextlib.AbstractContextManager[Any]]
WARM = 400
"""Rows that a method is tried on before its time is taken, so that kernels are compiled."""


def measure(
    point: Mapping[str, Any], sources: Sources, limited: Limited = contextlib.nullcontext
) -> Numbers:
    """Measure a point of a loss figure, all its repeats; ``limited`` bounds the time of it."""
    entry = find_method(point["method"])
    rule = rule_of(point)
    whole = sources.frame(point["data"])
    if (obstacle := _too_few(point, whole)) is not None:
        return {"skipped": obstacle}
    taxonomies = taxonomies_of(point, whole, sources)
    _warm(entry, rule, point, whole, taxonomies)
    same = not {"n", "vmr", "skewed", "at_most"} & set(point)
    coded: Encoded | None = None
    repeats = []
    with limited():
        for seed in range(point["repeats"]):
            if coded is None or not same:
                frame = frame_of(point, whole, seed)
                coded = _encoded(frame, point, taxonomies, entry)
            try:
                repeats.append(_once(entry, coded, rule, seed, point))
            except (Infeasible, ParameterError) as reason:
                if "nothing" not in point:
                    return {"skipped": str(reason)}
                # No row can be published: all of them are lost.
                parts = {"loss": 1.0, "generalization": 0.0, "removal": 1.0, "paper": 1.0}
                repeats.append({**parts, "rows": coded.rows})
    return {"repeats": repeats}


def _once(entry: Method, data: Encoded, rule: Rule, seed: int, point: Mapping[str, Any]) -> Numbers:
    if obstacle := rule.obstacle(data.whole()):
        raise Infeasible(obstacle)
    rng = np.random.default_rng(np.random.SeedSequence(stretch_seed(seed)).spawn(2)[0])
    start = time.process_time()
    part = entry.load()(data, rule, rng, **point.get("options", {}))
    seconds = time.process_time() - start
    if not rule.holds(data.stats(part)).all():
        raise AssertionError(f"{entry.name} broke its rule: {rule.describe()}, seed {seed}")
    grouped = Grouped(data, part)
    loss = iloss(data, part)
    gaps = data.missing
    return {
        "loss": loss.rate,
        "generalization": loss.generalization,
        "removal": loss.removal,
        "paper": loss_paper(grouped),
        "relative": relative_loss(grouped),
        "total": loss.rate * data.codes.size,
        "spans": spans(grouped) * data.codes.size,
        "relative-spans": spans(grouped),
        "rows": data.rows,
        "groups": part.groups,
        "vmr": float(gaps.mean()),
        "rmr": float(gaps.any(axis=1).mean()),
        "seconds": seconds,
    }


def spans(grouped: Grouped) -> float:
    """Return the loss as L-clustering's paper counts it, also for nodes of hierarchies.

    An interval costs its share of the range of the values that occur, a set the share of the other
    values that it holds: a node of a hierarchy is the set of its values, or the interval of its
    numbers, and at most 1.
    """
    data = grouped.data
    lost = 0.0
    for j, join in enumerate(grouped.joins):
        width = join.width
        if isinstance(join.domain, Taxonomy):
            tree, points = join.domain, numbers(join.domain)
            present = np.unique(data.codes[data.codes[:, j] < tree.size, j])
            if points is None:
                span = (tree.hi - tree.lo) / max(present.size - 1, 1)
            else:
                reach = [points[lo : hi + 1] for lo, hi in zip(tree.lo, tree.hi, strict=True)]
                span = np.array([part.max() - part.min() for part in reach])
                span = span / max(float(np.ptp(points[present])), 1.0)
            span = np.minimum(span, 1.0)
            width = np.where(join.node < tree.size, 0.0, span[np.minimum(join.node, tree.root)])
        lost += float(width @ join.known)
    return lost / max(data.codes.size, 1) + grouped.partition.left_out.size / max(data.rows, 1)


def confirm(point: Mapping[str, Any], sources: Sources) -> Numbers:
    """Make the first repeat of a point as a whole, verified run; return its verdict and loss."""
    whole = sources.frame(point["data"])
    hidden = [point["sensitive"]] if point.get("sensitive") else []
    frame = frame_of(point, whole, 0).select(*point["quasi"], *hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        outcome = anonymize(
            frame,
            quasi=point["quasi"],
            sensitive=hidden,
            hierarchies=taxonomies_of(point, whole, sources),
            grid=dict.fromkeys(point["quasi"], "off"),  # intervals end at data, as in the papers
            method=point["method"],
            options=point.get("options", {}),
            rules=[rule_of(point)],
            seed=0,
        )
    return {"verified": outcome.verdict.holds, "loss": outcome.loss.rate}


def rule_of(point: Mapping[str, Any]) -> Rule:
    """Return the rule that a point asks for."""
    make: dict[str, Callable[[], Rule]] = {
        "k": lambda: KAnonymity(point["k"]),
        "l": lambda: LDiversity(point["l"], point["sensitive"]),
        "alpha-k": lambda: AlphaK(
            point["alpha"], point["k"], point["sensitive"], tuple(point.get("values", ())) or None
        ),
    }
    return make[point["rule"]]()


def taxonomies_of(
    point: Mapping[str, Any], frame: pl.DataFrame, sources: Sources
) -> dict[str, Taxonomy]:
    """Return the hierarchies for all columns of a point, for its names only, or none."""
    wanted: Iterable[str] = point["quasi"]
    if point["hierarchies"] == "none":
        return {}
    if point["hierarchies"] == "names":
        wanted = [name for name in point["quasi"] if not frame.schema[name].is_numeric()]
    return sources.taxonomies(wanted)


def frame_of(point: Mapping[str, Any], frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return the rows of a point: a sample if it asks for one, with cells emptied at random."""
    rng = np.random.default_rng([seed, 20130])
    n = point.get("n") or min(point.get("at_most", frame.height), frame.height)
    if n < frame.height:
        frame = frame[np.sort(rng.choice(frame.height, n, replace=False))]
    share = point.get("vmr", point.get("skewed"))
    if share is not None:
        frame = emptied(frame, point["quasi"], share, rng, skewed="skewed" in point)
    if point.get("incomplete") == "file":
        # A row with a gap anywhere in the file is incomplete, whichever columns are taken.
        gap = pl.any_horizontal(pl.all().is_null())
        first = point["quasi"][0]
        frame = frame.with_columns(pl.when(gap).then(None).otherwise(pl.col(first)).alias(first))
    return frame


def emptied(
    frame: pl.DataFrame,
    quasi: list[str],
    vmr: float,
    rng: np.random.Generator,
    *,
    skewed: bool = False,
) -> pl.DataFrame:
    """Empty known cells of ``quasi`` at random until a share ``vmr`` of all is missing.

    ``skewed``: values that fewer than one row in ten has are emptied three times as readily.
    """
    known = np.stack([frame[name].is_not_null().to_numpy() for name in quasi], axis=1)
    more = round(vmr * known.size) - int((~known).sum())
    if more <= 0:
        return frame
    gone = np.zeros(known.shape, np.bool_)
    if skewed:
        # The first of so many waiting times, each as long as its cell is hard to empty.
        wait = rng.exponential(size=known.shape) / _readiness(frame, quasi)
        wait[~known] = np.inf
        gone.flat[np.argpartition(wait, more - 1, axis=None)[:more]] = True
    else:
        gone.flat[rng.choice(np.flatnonzero(known), more, replace=False)] = True
    return frame.with_columns(
        pl.when(pl.Series(gone[:, j])).then(None).otherwise(pl.col(name)).alias(name)
        for j, name in enumerate(quasi)
    )


def _readiness(frame: pl.DataFrame, quasi: list[str]) -> npt.NDArray[np.float64]:
    rare = [(pl.len().over(name) * 10 < frame.height).alias(name) for name in quasi]
    return np.where(frame.select(rare).to_numpy(), 3.0, 1.0)


def _too_few(point: Mapping[str, Any], frame: pl.DataFrame) -> str | None:
    if point.get("n", 0) <= frame.height:
        return None
    return f"a sample of {point['n']:,} rows needs as many; the table has {frame.height:,}"


def _encoded(
    frame: pl.DataFrame,
    point: Mapping[str, Any],
    taxonomies: Mapping[str, Taxonomy],
    entry: Method,
) -> Encoded:
    hidden = [point["sensitive"]] if point.get("sensitive") else []
    frame = frame.select(*point["quasi"], *hidden)
    schema = declare(frame, quasi=point["quasi"], sensitive=hidden, taxonomies=taxonomies)
    return encode(frame, schema, taxonomies, flat_sets=entry.flat_sets)


def _warm(
    entry: Method,
    rule: Rule,
    point: Mapping[str, Any],
    frame: pl.DataFrame,
    taxonomies: Mapping[str, Taxonomy],
) -> None:
    """Let the kernels be compiled, or loaded, outside of the time that is taken."""
    kinds = tuple(name in taxonomies for name in point["quasi"])
    key = (entry.name, rule.name, str(point.get("options")), any(kinds), all(kinds))
    if key in _warmed():
        return
    _warmed().add(key)
    small = frame.head(WARM)
    data = _encoded(small, point, taxonomies, entry)
    try:
        entry.load()(data, rule, np.random.default_rng(0), **point.get("options", {}))
    except ShoalError:
        return  # a few rows may not serve the rule; the kernels were not needed then either


@cache
def _warmed() -> set[tuple[Any, ...]]:
    return set()
