"""From a plan to verdicts: every point measured, or taken from the store, and the claims judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.caching import Store, digest_of, key_of, without_times
from experiments.claims import Claim, Dot, read_claims
from experiments.judging import UNMEASURED, Verdict, judge
from experiments.plans import HERE, Figure, Spot, Study
from experiments.published import Confirmation, read_published
from experiments.questions import KINDS
from experiments.sources import Sources
from experiments.working import PATIENCE, Crew, Task

CONFIRMED = {True: 2, False: 6}
"""Points of a paper that are made again as whole, verified runs: in a quick run, in a full one."""

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Reproduction:
    """What was found for a paper.

    Parameters
    ----------
    dots
        Every point; for a pooled figure one per x and series, the points behind it in ``behind``.
    counts
        The counts of a worked example, one row per category, value and method.
    code, present
        Per figure a digest of the code that measured it, and of that code as it is now.
    measured_now, kept
        Points measured in this run, and those found in the store.
    """

    study: Study
    sources: Sources
    dots: tuple[Dot, ...]
    behind: tuple[Dot, ...]
    counts: tuple[dict[str, Any], ...]
    verdicts: tuple[Verdict, ...]
    confirmations: tuple[Confirmation, ...]
    rows: Mapping[str, int]
    code: Mapping[str, str]
    present: Mapping[str, str]
    measured_now: int
    kept: int
    seconds: float


def reproduce(
    study: Study,
    sources: Sources,
    store: Store,
    crew: Crew,
    *,
    claims: Sequence[Claim] | None = None,
    only: Sequence[str] | None = None,
    published: Path = HERE,
    progress: Progress | None = None,
) -> Reproduction:
    """Measure all points of a study and judge its claims.

    Parameters
    ----------
    crew
        The processes that measure.
    claims
        Other claims than those of the paper.
    only
        The figures to measure; what is published of the others is taken as it is.
    published
        The folder where that lies.
    progress
        Told how many of how many points are done.

    Notes
    -----
    Every answer is kept as soon as it is there, so a run that was stopped goes on where it was.
    """
    start = time.perf_counter()
    spots = [spot for spot in study.spots() if only is None or spot.figure in only]
    lacking = {spot.point["data"] for spot in spots if not _there(spot.point, sources)}
    points = {
        key_of(spot.point, sources.digest(spot.point["data"])): spot.point
        for spot in spots
        if spot.point["data"] not in lacking
    }
    clocked = {figure.id for figure in study.figures if figure.y == "seconds"}
    timed = {
        key_of(spot.point, sources.digest(spot.point["data"]))
        for spot in spots
        if spot.figure in clocked and spot.point["data"] not in lacking
    }
    show = progress or (lambda done, all_: None)
    results, fresh = _results(points, sources, store, crew, show, timed=timed)
    confirmations, more = _confirm(study, points, results, sources, store, crew)
    found = [
        _dot(study, spot, None if spot.point["data"] in lacking else results, sources)
        for spot in spots
    ]
    counts = tuple(_counts(study, spots, results, sources))
    rows = {
        name: sources.frame(name).height
        for name in sorted({spot.point["data"] for spot in spots} - lacking)
    }
    code = present = digests(study)
    if only is not None:
        earlier = read_published(study, published / study.name, only)
        found += earlier.dots
        runs = [*earlier.confirmations, *confirmations]  # of a point the last one
        confirmations = [*{str(sorted(each.point.items())): each for each in runs}.values()]
        counts, rows = counts or earlier.counts, {**earlier.rows, **rows}
        code = {name: code[name] if name in only else earlier.code[name] for name in code}
    figures = {figure.id: figure for figure in study.figures}
    pooled = [dot for dot in found if figures[dot.figure].pool]
    dots = [dot for dot in found if not figures[dot.figure].pool]
    for figure in study.figures:
        if figure.pool:
            dots += _pool(figure, [dot for dot in pooled if dot.figure == figure.id])
    axes = {
        figure.id: (figure.x, figure.panel if figure.panels and not figure.pool else "")
        for figure in study.figures
    }
    asked = read_claims(HERE / study.name / "claims.toml", KINDS) if claims is None else claims
    return Reproduction(
        study,
        sources,
        tuple(dots),
        tuple(pooled),
        counts,
        tuple(_judged(claim, dots, axes, study.quick) for claim in asked),
        tuple(confirmations),
        rows,
        code,
        present,
        fresh + more,
        len(points) - fresh,
        time.perf_counter() - start,
    )


def digests(study: Study) -> dict[str, str]:
    """Return per figure a digest of the code that it depends on."""
    points: dict[str, list[Mapping[str, Any]]] = {figure.id: [] for figure in study.figures}
    for spot in study.spots():
        points[spot.figure].append(spot.point)
    return {name: digest_of(some)[:16] for name, some in points.items()}


def _judged(
    claim: Claim, dots: Sequence[Dot], axes: Mapping[str, tuple[str, str]], quick: bool
) -> Verdict:
    if quick and claim.full:
        return Verdict(claim, UNMEASURED, "a quick run does not take all rows")
    return judge(claim, dots, axes)


def _there(point: Mapping[str, Any], sources: Sources) -> bool:
    return bool(sources.census if point["data"].startswith("census") else sources.adult)


def _results(
    points: Mapping[str, Mapping[str, Any]],
    sources: Sources,
    store: Store,
    crew: Crew,
    progress: Progress,
    extra: Mapping[str, Any] | None = None,
    timed: Collection[str] = (),
) -> tuple[dict[str, dict[str, Any]], int]:
    """Return what was found at every point, and how many had to be measured now.

    ``timed``: the points of which the seconds are asked.
    """
    results: dict[str, dict[str, Any]] = {}
    whole, again = [], {}
    for key, point in points.items():
        kept = store.get(key, float(point.get("limit", PATIENCE)))
        if kept is not None and not (key in timed and _without_clock(kept)):
            results[key] = kept
        elif key not in timed and (earlier := store.earlier(point, sources.digest(point["data"]))):
            again[key] = earlier
        else:
            whole.append(key)

    def tasks(keys: Iterable[str], **other: int) -> list[Task]:
        shared = {"sources": sources.to_dict(), **(extra or {})}
        return [Task(key, {"point": {**points[key], **other}, **shared}) for key in keys]

    progress(len(results), len(points))
    for task, answer in crew.measured(tasks(again, repeats=1)):
        earlier = without_times(again[task.name])
        if "repeats" in answer and without_times(answer)["repeats"] == earlier["repeats"][:1]:
            same = {**earlier, "first_repeat_again": True}
            results[task.name] = _keep(store, task.name, points[task.name], same, sources)
            progress(len(results), len(points))
        else:
            whole.append(task.name)
    for task, answer in crew.measured(tasks(whole)):
        results[task.name] = _keep(store, task.name, points[task.name], answer, sources)
        progress(len(results), len(points))
    return results, len(whole)


def _without_clock(result: Mapping[str, Any]) -> bool:
    return any("seconds" not in each for each in result.get("repeats", ()))


def _keep(
    store: Store, key: str, point: Mapping[str, Any], answer: dict[str, Any], sources: Sources
) -> dict[str, Any]:
    return store.put(key, point, answer, sources.digest(point["data"]))


def _confirm(
    study: Study,
    points: Mapping[str, Mapping[str, Any]],
    results: Mapping[str, Mapping[str, Any]],
    sources: Sources,
    store: Store,
    crew: Crew,
) -> tuple[list[Confirmation], int]:
    """Make some of the points again as whole runs, the same ones every time."""
    able = [key for key in points if results[key].get("repeats") and "rule" in points[key]]
    step = max(1, len(able) // CONFIRMED[study.quick])
    chosen = {}
    for key in able[::step][: CONFIRMED[study.quick]]:
        point = {name: value for name, value in points[key].items() if name != "repeats"}
        again = {**point, "confirm": True}
        chosen[key_of(again, sources.digest(point["data"]))] = (key, again)
    runs, fresh = _results(
        {name: again for name, (_, again) in chosen.items()},
        sources,
        store,
        crew,
        lambda done, all_: None,
        {"confirm": True},
    )
    found = [
        Confirmation(
            points[key],
            results[key]["repeats"][0]["loss"],
            runs[name].get("loss", float("nan")),
            runs[name].get("verified", False),
        )
        for name, (key, _) in chosen.items()
    ]
    return found, fresh


def _dot(
    study: Study, spot: Spot, results: Mapping[str, Mapping[str, Any]] | None, sources: Sources
) -> Dot:
    """Return the mean, least and greatest of a point's repeats, or why there is none."""
    place = (spot.figure, spot.panel, spot.x, spot.series)
    if results is None:
        reason = f"the table {spot.point['data']} is not here"
        return Dot(*place, None, reason=reason)
    result = results[key_of(spot.point, sources.digest(spot.point["data"]))]
    for word, told in (
        ("skipped", ""),
        ("failed", ""),
        ("gave_up", "given up after {:.0f} s of processor time"),
    ):
        if word in result:
            return Dot(*place, None, reason=told.format(result[word]) or str(result[word]))
    figure = next(figure for figure in study.figures if figure.id == spot.figure)
    repeats = result["repeats"]
    if figure.x == "by":
        values = [each["by"].get(spot.x) for each in repeats]
    else:
        kept = repeats[spot.x : spot.x + 1] if figure.x == "repeat" else repeats
        values = [each.get(figure.y) for each in kept]
    known = [value for value in values if value is not None]
    if not known:
        reason = str(repeats[0].get("why", "")) if repeats else ""
        return Dot(*place, None, reason=reason or "not measured")
    own = tuple(map(float, known)) if len(known) > 1 else ()
    random = study.random(spot.series) and figure.x != "repeat"
    middle = float(np.mean(known))
    return Dot(*place, middle, min(known), max(known), len(known), "", own, random)


def _pool(figure: Figure, dots: Sequence[Dot]) -> Iterator[Dot]:
    """Average over the panels in which every series was measured."""
    found = {(dot.panel, dot.x, dot.series): dot.mean for dot in dots}
    for x in figure.xs:
        panels = [
            panel
            for panel in figure.panels
            if all(found.get((panel, x, name)) is not None for name in figure.series)
        ]
        for name in figure.series:
            values = [value for panel in panels if (value := found[panel, x, name]) is not None]
            if values:
                yield Dot(
                    figure.id,
                    None,
                    x,
                    name,
                    float(np.mean(values)),
                    min(values),
                    max(values),
                    len(values),
                )
            else:
                yield Dot(figure.id, None, x, name, None, reason="no setting that all can serve")


def _counts(
    study: Study,
    spots: Sequence[Spot],
    results: Mapping[str, Mapping[str, Any]],
    sources: Sources,
) -> Iterator[dict[str, Any]]:
    seen = set()
    for spot in spots:
        if spot.point.get("kind") != "example" or spot.series in seen:
            continue
        seen.add(spot.series)
        result = results.get(key_of(spot.point, sources.digest(spot.point["data"])), {})
        for each in result.get("repeats", ()):
            for row in each["counts"]:
                yield {"method": study.label(spot.series), **row}
