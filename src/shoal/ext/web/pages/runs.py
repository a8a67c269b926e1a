"""The pages Run, Understand and Download."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from shoal.base.errors import ShoalError
from shoal.base.roles import Role
from shoal.catalog import DEFAULT_RULE, METHODS
from shoal.ext.web.pages.tables import carry, decide, said_of, table_of
from shoal.ext.web.respond import bench, error_page, form_of, keys, page, redirect, texts
from shoal.ext.web.state import STAGES, OpenTable, WebRun
from shoal.plan.plan import Plan
from shoal.verbs.compare.frontier import RECIPIENTS

_MOST = 24  # runs that one click may order
_EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

# What can be downloaded: the file, its type, and what it is.
FILES = {
    "release.csv": ("text/csv; charset=utf-8", "The release, as text (CSV)"),
    "release.parquet": ("application/vnd.apache.parquet", "The release, as Parquet"),
    "release.st.csv": ("text/csv; charset=utf-8", "The second table of the release, as text"),
    "release.st.parquet": ("application/vnd.apache.parquet", "The second table, as Parquet"),
    "release.domain.csv": ("text/csv; charset=utf-8", "The values that dummies were drawn from"),
    "release.xlsx": (_EXCEL, "The release, for Excel"),
    "release.st.xlsx": (_EXCEL, "The second table, for Excel"),
    "plan.toml": ("application/toml; charset=utf-8", "The plan, which repeats the run"),
    "repeat.py": ("text/x-python; charset=utf-8", "A Python script that repeats the run"),
    "report.html": ("text/html; charset=utf-8", "The report for you; do not pass it on"),
    "report.public.html": (
        "text/html; charset=utf-8",
        "The report for everybody; nothing in it comes from the original table",
    ),
    "release.csv.manifest.json": (
        "application/json",
        "The manifest: digests of the release and how it was made; may be sent along",
    ),
    "result.json": ("application/json", "The figures of the run, for programs"),
}


def run_of(request: Request) -> tuple[OpenTable, WebRun]:
    """Return the run that an address names."""
    table = table_of(request)
    run = table.runs.get(int(request.path_params["run"]))
    if run is None:
        raise HTTPException(404)
    return table, run


def run_status(run: WebRun) -> dict[str, Any]:
    """Return how far a run is, and its main figures once it is done."""
    view = run.view or {}
    summary = view.get("summary")
    stages = [stage for stage in STAGES if run.prove or stage != "prove"]
    stages_done = stages.index("group" if run.stage == "refine" else run.stage) if run.stage else 0
    return {
        "number": run.number,
        "title": run.title,
        "name": run.name,
        "method": run.method,
        "weighs": METHODS[run.method].weighs,
        "status": run.status,
        "stage": run.stage,
        "stages": stages,
        "far": run.far,
        "place": stages_done,
        "compiling": run.compiling,
        "can_stop": not run.enough
        and ((run.anytime and run.stage == "refine") or run.stage == "prove"),
        "stop": "Keep what is proved so far" if run.stage == "prove" else "Take the best so far",
        "enough": run.enough,
        "seconds": round(run.seconds, 1),
        "error": run.error,
        "loss": summary["loss"]["rate"] if summary else run.figures.get("loss"),
        "classes": view["groups"]["number"] if view else run.figures.get("classes"),
        "rows_out": summary["rows_out"] if summary else None,
        "risk": view.get("risk"),
        "highest": _risk(run, "highest"),
        "mean": _risk(run, "mean"),
        "achieved": summary["achieved"] if summary else {},
        "command": run.command,
    }


def _risk(run: WebRun, which: str) -> float | None:
    """Return a risk of a release; of a run from a project file what the file says."""
    if (risk := (run.view or {}).get("risk")) is not None:
        found: float = risk["after"][f"prosecutor_{which}"]
        return found
    return run.figures.get(which)


async def runs(request: Request) -> Response:
    """Show all runs side by side."""
    table = table_of(request)
    busy = any(run.busy for run in table.runs.values())
    shown = {
        "runs": [run_status(run) for run in table.runs.values()],
        "busy": busy,
        "notes": table.notes,
        "dropped": table.dropped and table.dropped.number,
        # Asked of the table itself, but not twice a second while something runs.
        "ready": busy or (await said_of(request, table))["ready"],
        "methods": _able(table),
        "chosen": table.draft["method"]["name"],
        "recipients": {word: each.title for word, each in RECIPIENTS.items()},
        "recipient": (word := request.query_params.get("recipient", "contract")),
        **await run_in_threadpool(_advice, table, keys(request).root, word),
    }
    return page(request, "run", shown, table=table)


def _able(table: OpenTable) -> list[str]:
    """Return the methods that can keep the rules of the draft, and k-anonymity with them."""
    asked = {rule["name"] for rule in table.draft["rules"]} | {DEFAULT_RULE}
    return [
        method.name
        for method in METHODS.values()
        if (not method.needs or asked & {*method.needs})
        and (method.rules is None or asked <= {*method.rules})
    ]


def _advice(table: OpenTable, root: str, recipient: str) -> dict[str, Any]:
    """Weigh the runs as ``shoal compare`` does: which to take, why, and the chart of all.

    Losses of other columns or hierarchies say nothing about each other: only the runs that have
    those of the last one are weighed.
    """
    from shoal.verbs.compare.choices import ComparedSetting
    from shoal.verbs.compare.comparison import Comparison
    from shoal.verbs.compare.frontier import Axes

    done = [run for run in table.runs.values() if run.view is not None]
    # What publishes quasi-identifiers as they are loses nothing on them: no loss to weigh.
    wide = [run for run in done if not _view(run)["exact"]]
    alike = [run for run in wide if _view(run)["made_of"] == _view(wide[-1])["made_of"]]
    weighed = {f"run {run.number} ({run.name or run.title})": run for run in alike}
    settings = [
        ComparedSetting(run.method, {}, label, Plan(), verified=True, figures=_figures(_view(run)))
        for label, run in weighed.items()
    ]
    limits = RECIPIENTS.get(recipient, RECIPIENTS["contract"])
    prior = max((b["prior"] for run in alike for b in _view(run)["beliefs"]), default=0.0)
    axes = Axes("highest", "loss", limits.risk, limits.belief(prior))
    comparison = Comparison(tuple(settings), axes, 0, (), (), limits.risk)
    chosen = comparison.recommended
    base = f"{root}/tables/{table.number}/runs"
    links = {label: f"{base}/{run.number}" for label, run in weighed.items()}
    return {
        "advice": comparison.why if settings else "",
        "recommended": None if chosen is None else weighed[chosen.label].number,
        "unweighed": [run.number for run in done if _view(run)["exact"]],
        "differing": {run.number: _differs(run, wide[-1]) for run in wide if run not in alike},
        "frontier": comparison.plot(links).html() if len(settings) > 1 else None,
    }


def _differs(run: WebRun, last: WebRun) -> list[str]:
    """Name the columns that two runs treat differently."""
    one, other = _view(run)["made_of"], _view(last)["made_of"]
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _view(run: WebRun) -> dict[str, Any]:
    assert run.view is not None
    return run.view


def _figures(view: Mapping[str, Any]) -> dict[str, float]:
    after = view["risk"]["after"]
    told = {"loss": view["summary"]["loss"]["rate"]}
    told |= {"risk_highest": after["prosecutor_highest"], "risk_mean": after["prosecutor_mean"]}
    worst = [each["worst"] for each in view["beliefs"]]
    return told | ({"belief_worst": max(worst)} if worst else {})


async def start(request: Request) -> Response:
    """Start one run, or one for every k and method that was ticked."""
    form = await form_of(request)
    fields = texts(form)
    table = table_of(request)
    state = bench(request)
    if fields.get("do") == "undo":
        state.undrop(table)
        return redirect(f"/tables/{table.number}/runs")
    plan = table.plan()
    if fields.get("do") != "sweep":
        if not (await said_of(request, table))["ready"]:
            return await decide(request, status=422)
        state.order(table, plan)
        return redirect(f"/tables/{table.number}/runs")
    sizes = _sizes(fields.get("sizes", ""))
    methods = [m for m in form.getlist("methods") if isinstance(m, str) and m in METHODS]
    wanted = [(name, k) for name in methods or [plan.method.name] for k in sizes]
    if len(wanted) > _MOST:
        raise ShoalError(
            f"That would be {len(wanted)} runs; at most {_MOST} can be ordered at once. Tick "
            "fewer methods, or name fewer sizes."
        )
    for name, k in wanted:
        other = name != plan.method.name
        asked = plan.changed({"method": {"name": name}}) if other else plan
        state.order(table, asked.changed({"promised": [{"name": DEFAULT_RULE, "k": k}]}))
    return redirect(f"/tables/{table.number}/runs")


def _sizes(text: str) -> list[int]:
    words = [word for word in re.split(r"[,;\s]+", text.strip()) if word]
    if not words or not all(word.isdecimal() and int(word) >= 2 for word in words):
        raise ShoalError(
            "The sizes are whole numbers from 2 with commas between them, such as 5, 10, 20. "
            f"Got {text!r} instead."
        )
    return [int(word) for word in dict.fromkeys(words)]


async def understand(request: Request) -> Response:
    """Show one run: what came out, or how far it is."""
    table, run = run_of(request)
    shown: dict[str, Any] = {"told": run_status(run), "view": run.view}
    if run.view is not None:
        picked = {str(each["number"]): each for each in run.view["picked"]}
        first = next(iter(picked.values()), None)
        shown["questions"] = QUESTIONS
        shown["shown_rows"] = None if request.query_params.get("rows") == "all" else _FEW
        shown["picked"] = picked.get(request.query_params.get("class", ""), first)
    name = "understand" if run.view is not None else "run-one"
    return page(request, name, shown, table=table, run=run)


async def act(request: Request) -> Response:
    """Cancel a run, or have it take the best so far, or drop it from the list."""
    fields = texts(await form_of(request))
    table, run = run_of(request)
    state = bench(request)
    do = fields.get("do")
    if do == "cancel":
        state.cancel(run)
        for _ in range(50):  # it is over when its folder is gone, not before
            if run.ended or not run.began:
                break
            await asyncio.sleep(0.05)
    elif do == "enough":
        state.enough(run)
    elif do == "drop" and not run.busy:
        state.drop(table, run)
    elif do == "name":
        run.name = fields.get("name", "").strip()[:100]
        return redirect(f"/tables/{table.number}/runs/{run.number}")
    elif do == "decide":
        plan = Plan.from_toml(run.toml, "plan.toml")
        if faults := await carry(request, table, plan):
            return error_page(request, 422, "It cannot be decided so", " ".join(faults), table)
        return redirect(f"/tables/{table.number}/decide")
    elif do in ("finer", "coarser"):
        _reweigh(request, table, run, fields.get("column", ""), do)
    return redirect(f"/tables/{table.number}/runs")


def _reweigh(request: Request, table: OpenTable, run: WebRun, column: str, do: str) -> None:
    """Run again with a column that counts more (it stays finer) or less (it gets coarser)."""
    plan = Plan.from_toml(run.toml, "plan.toml")
    if not METHODS[run.method].weighs:
        raise ShoalError(f"The method {run.method!r} does not weigh columns. Choose another one.")
    part = plan.columns.get(column)
    if part is None or part.role is not Role.QUASI:
        raise ShoalError(f"The run has no quasi-identifier {column!r}.")
    weight = part.importance * (_STEP if do == "finer" else 1 / _STEP)
    heavier = plan.changed({"columns": {column: {"importance": weight}}})
    bench(request).order(table, heavier, run.prove)
    # The next decision goes on from here.
    if table.draft["columns"].get(column, {}).get("role") == Role.QUASI:
        table.draft["columns"][column]["importance"] = weight


def _there(run: WebRun) -> list[dict[str, Any]]:
    listed = []
    for name, (_, meaning) in FILES.items():
        path = run.folder / name
        if path.is_file():
            listed.append({"name": name, "meaning": meaning, "bytes": path.stat().st_size})
    return listed


async def take(request: Request) -> Response:
    """Show what can be downloaded."""
    table, run = run_of(request)
    if run.view is None:
        return redirect(f"/tables/{table.number}/runs/{run.number}")
    hierarchies = sorted(path.name for path in (run.folder / "hierarchies").glob("*.csv"))
    shown = {
        "told": run_status(run),
        "files": _there(run),
        "hierarchies": hierarchies,
        "seeded": run.view["summary"]["seeded"],
        "plan": run.toml,
        "script": (run.folder / "repeat.py").read_text(),
        "audit": "shoal audit release.csv --manifest release.csv.manifest.json",
    }
    return page(request, "take", shown, table=table, run=run)


async def hand_out(request: Request) -> Response:
    """Hand a file of a run out; only those that are listed, by their exact names."""
    table, run = run_of(request)
    name = request.path_params["name"]
    if run.view is None:
        raise HTTPException(404)
    if name in ARCHIVES:
        raw = await run_in_threadpool(_bundle, run, ARCHIVES[name])
        kind = name.removesuffix(".zip")
        stem = f"{Path(table.name).name.split('.')[0] or 'table'}-run-{run.number}-{kind}"
        safe = re.sub(r"[^A-Za-z0-9_-]+", "_", stem)
        head = {"content-disposition": f'attachment; filename="{safe}.zip"'}
        return Response(raw, media_type="application/zip", headers=head)
    if name not in FILES or not (run.folder / name).is_file():
        return error_page(request, 404, "There is no such file", "The run did not make it.", table)
    return FileResponse(run.folder / name, media_type=FILES[name][0], filename=name)


QUESTIONS = {
    "loss": "What was lost",
    "classes": "How large classes are",
    "risk": "Who can be found",
    "attacks": "How attacks fare",
    "belief": "How sure others can be",
    "missing": "Cells that say nothing",
}
"""What each chart of a run answers."""

_PUBLIC = ("release*.csv", "release.csv.manifest.json", "report.public.html")
_FEW = 5  # rows of a class that are shown before it became one
_STEP = 2.0  # a column's weight is doubled or halved at once
ARCHIVES = {
    "to-send.zip": _PUBLIC,
    "to-keep.zip": (
        *_PUBLIC,
        *("plan.toml", "result.json", "report.html", "command.txt", "repeat.py"),
        "hierarchies/*.csv",
    ),
}
"""What may be sent, and what besides documents and repeats the run and is the steward's alone."""


def _bundle(run: WebRun, patterns: Sequence[str]) -> bytes:
    """Put the files of a run into one archive."""
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted({path for pattern in patterns for path in run.folder.glob(pattern)}):
            archive.write(path, path.relative_to(run.folder).as_posix())
    return box.getvalue()
