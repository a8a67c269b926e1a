"""Series of releases: what m-invariance costs, release by release, and what it keeps.

A *series* is a table that is published again and again, by one way with one m. It is measured as a
whole and kept: for every release its loss, its counterfeits and its processor time, and at some of
them what somebody learns who has all of them so far.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from experiments.caching import Store, digest_of, key_of
from experiments.claims import Dot, read_claims
from experiments.judging import judge
from experiments.plans import HERE, Figure, Study
from experiments.questions import KINDS
from experiments.running import Progress, Reproduction
from experiments.sources import Sources
from shoal.base.errors import Infeasible, InputError
from shoal.verbs.intersect import Attacker, ReleaseWithOriginal, follow_people

ASKED = (2, 3, 5, 10, 15, 21)
"""The releases at which it is asked what all of them so far give away."""

Tables = tuple[list[pl.DataFrame], dict[str, Any]]


def reproduce_series(
    study: Study, sources: Sources, store: Store, *, progress: Progress | None = None
) -> Reproduction:
    """Measure the series of a study, one after the other, and judge its claims."""
    start = time.perf_counter()
    spots = list(_spots(study))
    folder = _folder(sources)
    points = {key_of(point, ""): point for *_, point in spots}
    found: dict[str, dict[str, Any]] = {}
    fresh = 0
    for key, point in points.items():
        kept = store.get(key, 0.0)
        fresh += kept is None
        found[key] = kept or store.put(key, point, measure(point, folder))
        if progress is not None:
            progress(len(found), len(points))
    dots = [
        _dot(figure, panel, series, x, found[key_of(point, "")])
        for figure, panel, series, x, point in spots
    ]
    axes = {figure.id: (figure.x, figure.panel) for figure in study.figures}
    claims = read_claims(HERE / study.name / "claims.toml", KINDS)
    code = series_digests(study)
    tables = {(p["data"], p["every"]): found[k]["rows"] for k, p in points.items()}
    return Reproduction(
        study,
        sources,
        tuple(dots),
        (),
        (),
        tuple(judge(claim, dots, axes) for claim in claims),
        (),
        {f"{data}, every {every}th person," if every > 1 else data: rows
         for (data, every), rows in tables.items()},
        code,
        code,
        fresh,
        len(points) - fresh,
        time.perf_counter() - start,
    )  # fmt: skip


def _spots(study: Study) -> Iterator[tuple[Figure, Any, str, Any, dict[str, Any]]]:
    for figure in study.figures:
        for panel in figure.panels or (None,):
            for series in figure.series:
                for x in figure.xs:
                    yield figure, panel, series, x, _point(study, figure, panel, series, x)


def series_digests(study: Study) -> dict[str, str]:
    """Return per figure a digest of the code that it depends on."""
    return {
        figure.id: digest_of(point for own, *_, point in _spots(study) if own is figure)[:16]
        for figure in study.figures
    }


def _folder(sources: Sources) -> Path:
    folder = Path(sources.census or sources.adult).parent
    lacking = [
        name
        for name in ("acs_occ_300k.parquet", "acs_occ_releases.parquet", "nlswork.csv.gz")
        if not (folder / name).is_file()
    ]
    if lacking:
        raise InputError(
            f"The folder {folder} has no {', '.join(lacking)}, which series of releases are made "
            "of. Give a folder that has them with --data."
        )
    return folder


def _point(study: Study, figure: Figure, panel: Any, series: str, x: Any) -> dict[str, Any]:
    """Return the series that a point of a figure belongs to."""
    way = {key: value for key, value in study.series[series].items() if key != "label"}
    point: dict[str, Any] = {**study.base, **figure.fixed, **way}
    point |= {figure.panel: panel} if figure.panels else {}
    if figure.x == "n":
        point["every"] = study.base["people"] // x
    point.pop("people")
    if study.quick:
        point["every"] *= study.hurry["fewer"]
        point["releases"] = study.hurry["releases"]
    return point


def _dot(figure: Figure, panel: Any, series: str, x: Any, found: Mapping[str, Any]) -> Dot:
    place = (figure.id, panel, x, series)
    told = found["releases"]
    number = len(told) if figure.x == "n" else x
    if found["reason"] and number > len(told):
        return Dot(*place, None, reason=found["reason"])
    value = told[number - 1].get(figure.y)
    if value is None:
        return Dot(*place, None, reason="not asked at this release")
    return Dot(*place, float(value), float(value), float(value), 1)


# Tables


def acs(folder: Path, releases: int, every: int) -> Tables:
    """Return releases of some people of the ACS sample, who join and leave."""
    rows = pl.read_parquet(folder / "acs_occ_300k.parquet").gather_every(every)
    when = pl.read_parquet(folder / "acs_occ_releases.parquet").gather_every(every)
    rows = rows.drop("income_gt50k").with_columns(when["row"].alias("id"))
    quasi = [name for name in rows.columns if name not in ("occupation", "id")][:7]
    there = [
        rows.filter((when["first_release"] <= number) & (when["last_release"] >= number))
        for number in range(1, releases + 1)
    ]
    roles = {"quasi": quasi, "sensitive": "occupation", "person": "id"}
    return there, roles | {"hierarchies": str(folder / "hierarchies" / "acs_occ")}


def nlswork(folder: Path, releases: int, every: int) -> Tables:
    """Return waves of the NLS panel, whose people join, leave, return and change."""
    rows = pl.read_csv(folder / "nlswork.csv.gz").filter(pl.col("idcode") % every == 0)
    years = rows["year"].unique().sort()[:releases]
    quasi = ["birth_yr", "age", "race", "msp", "grade", "south", "c_city"]
    kept = [rows.filter(pl.col("year") == y).select("idcode", *quasi, "occ_code") for y in years]
    return kept, {"quasi": quasi, "sensitive": "occ_code", "person": "idcode"}


TABLES: dict[str, Callable[[Path, int, int], Tables]] = {"acs": acs, "nlswork": nlswork}

# Measuring


def measure(point: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Publish a series; say of every release what it cost, or why the series ends."""
    tables, roles = TABLES[point["data"]](folder, point["releases"], point["every"])
    told: list[dict[str, Any]] = []
    reason = ""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as history:
        warnings.simplefilter("ignore")
        try:
            told.extend(_series(tables, roles, point, history))
        except Infeasible as fault:
            reason = str(fault)
    return {"releases": told, "reason": reason, "rows": tables[0].height}


def _series(
    tables: Sequence[pl.DataFrame], roles: Mapping[str, Any], point: Mapping[str, Any], history: str
) -> Iterator[dict[str, Any]]:
    m, way, person = point["m"], point["way"], roles["person"]
    own = {key: value for key, value in roles.items() if key != "person"}
    made: list[Any] = []
    for number, table in enumerate(tables, 1):
        begin = time.process_time()
        given: dict[str, Any] = {"seed": number + 10**20}  # of a benchmark: the same figures again
        if way == "alone":
            release = shoal.anonymize(table.drop(person), l=m, effort="fast", **given, **own)
        else:
            given |= {"effort": "fast"} if way == "shoal" else {}
            release = shoal.anonymize(table, m=m, history=history, method=way, **given, **roles)
        told: dict[str, Any] = {
            "loss": release.loss.rate,
            "seconds": time.process_time() - begin,
            "counterfeits": release.made.notes.get("counterfeits", 0) / table.height,
        }
        made.append(release.frame)
        if number in ASKED and point["asked"]:
            told |= _exposed(made, tables[:number], roles, m)
            # Chains of cells of 15 waves, wide and with ages that change, are too many to search.
            told |= _broken(made, roles, m) if point["cells"] else {}
        if way != "alone" and number == len(tables):
            verdict = release.audit(m=m, history=history)
            told["kept"] = float(verdict.holds)
        yield told


def _exposed(
    made: Sequence[pl.DataFrame], tables: Sequence[pl.DataFrame], roles: Mapping[str, Any], m: int
) -> dict[str, float]:
    """Return the share of records that have fewer than m values left, and the fewest values.

    A record is a person with a value; of those that were published before, to somebody who has all
    releases so far and knows their quasi-identifiers at each time.
    """
    of, person = roles["sensitive"], roles["person"]
    opened = [_opened(frame, roles, person="record").local_tables for frame in made]
    records = pl.concat_str(pl.col(person), pl.lit("|"), pl.col(of).cast(pl.String)).alias("record")
    known = [table.filter(pl.col(of).is_not_null()).with_columns(records) for table in tables]
    dated = [ReleaseWithOriginal(one, rows) for one, rows in zip(opened, known, strict=True)]
    asked = Attacker(known[-1].height)
    found = follow_people(dated[-1], dated[:-1], [of], asked, np.random.default_rng(0))
    left = found.left[of].after.support
    return {"exposed": float((left < m).mean()), "fewest": float(left.min())}


def _broken(made: Sequence[pl.DataFrame], roles: Mapping[str, Any], m: int) -> dict[str, float]:
    """Return what the audit says of the cells alone, of rows that can have been in all releases."""
    of = roles["sensitive"]
    newest, *earlier = [_opened(frame, roles) for frame in reversed(made)]
    audited = newest.audit(rules=[shoal.LDiversity(m, of)], against=earlier)
    cells = audited.models["earlier"][of]["all"]
    return {"broken": sum(cells["broken"].values()) / max(cells["rows"], 1)}


def _opened(frame: pl.DataFrame, roles: Mapping[str, Any], **more: Any) -> Any:
    given = {key: roles[key] for key in ("quasi", "sensitive", "hierarchies") if key in roles}
    return shoal.open_release(frame, **given, **more)
