"""A project file: decisions, hierarchies, runs and notes of a table, saved and opened again."""

from __future__ import annotations

import io
import re
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from shoal.base.errors import InputError, ShoalError, format_names
from shoal.base.parsing import Unreadable
from shoal.ext.web import read_options
from shoal.ext.web.pages.hierarchies import take_in
from shoal.ext.web.pages.runs import run_status
from shoal.ext.web.pages.tables import carry, table_of
from shoal.ext.web.respond import bench, error_page, files, form_of, redirect, texts
from shoal.ext.web.state import DONE, FAILED, SAVED, OpenTable, WebRun
from shoal.plan.plan import Plan

_MOST = 1 << 26  # bytes of a part that is no table
_INDEX, _TABLE = "project.json", "table"
_NAME, _TEXT = 100, 20_000  # characters of a name, and of notes
_REFUSED = Unreadable("The file is no project of Shoal", "Choose one that this page saved.")
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SavedRun(_Part):
    """What is kept of a run: what was asked for, and its figures; neither release nor command."""

    name: str = Field("", max_length=_NAME)
    plan: str
    status: Literal["done", "failed", "cancelled", "saved"]
    seconds: float = Field(ge=0, allow_inf_nan=False)
    loss: _Share | None = None
    classes: int | None = Field(None, ge=0)
    highest: _Share | None = None
    mean: _Share | None = None


class SavedProject(_Part):
    """What a project file says; ``hierarchies``: the part of the file that holds each column's."""

    project: Literal[1] = 1
    name: str = Field(max_length=300)
    rows: int = Field(ge=0)
    plan: str
    prove: bool = False
    notes: str = Field("", max_length=_TEXT)
    earlier: list[str] = Field(default=[], max_length=100)
    hierarchies: dict[str, str] = {}
    runs: list[SavedRun] = Field(default=[], max_length=500)


async def save(request: Request) -> Response:
    """Hand the project out; the table is in it only if that was asked for."""
    table = table_of(request)
    with_table = request.query_params.get("table") == "yes"
    try:
        project = _project(table)
    except ShoalError as error:
        why = f"{error}\nCorrect this first: a project holds a plan that can be carried out."
        return error_page(request, 422, "The project cannot be saved yet", why, table)
    path = table.folder / "project.zip"
    await run_in_threadpool(_write, path, project, table, with_table)
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(table.name).name.split(".")[0]) or "table"
    return FileResponse(path, media_type="application/zip", filename=f"{stem}.shoal.zip")


def _project(table: OpenTable) -> SavedProject:
    columns = table.columns()
    there = {c["name"]: c["number"] for c in columns if table.hierarchy_path(c["number"]).exists()}
    return SavedProject(
        name=table.name[:300],
        rows=table.profile["rows"] if table.profile else 0,
        plan=_unseeded(table.plan()),
        prove=bool(table.draft.get("prove")),
        notes=table.notes,
        earlier=[*table.earlier],
        hierarchies={name: f"hierarchies/{number}.csv" for name, number in there.items()},
        runs=[_saved(run) for run in table.runs.values() if not run.busy],
    )


def _unseeded(plan: Plan) -> str:
    """Return a plan without its seed, which gives the order of the rows away."""
    return plan.model_copy(update={"seed": None}).to_toml()


def _saved(run: WebRun) -> SavedRun:
    shown = run_status(run)
    return SavedRun(
        name=run.name,
        plan=_unseeded(Plan.from_toml(run.toml)),
        status=run.status,  # type: ignore[arg-type]
        seconds=run.seconds,
        loss=shown["loss"],
        classes=shown["classes"],
        highest=shown["highest"],
        mean=shown["mean"],
    )


def _write(path: Path, project: SavedProject, table: OpenTable, with_table: bool) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as box:
        box.writestr(_INDEX, project.model_dump_json(indent=1))
        for name, part in project.hierarchies.items():
            number = next(c["number"] for c in table.columns() if c["name"] == name)
            box.write(table.hierarchy_path(number), part)
        if with_table:
            box.write(table.path, _TABLE)


def _read(upload: UploadFile) -> tuple[SavedProject, Mapping[str, bytes], bool]:
    """Return what a project file holds, with its hierarchies and whether the table is in it."""
    left = _MOST

    def part(name: str) -> bytes:
        nonlocal left
        with box.open(name) as stream:
            raw = stream.read(left + 1)
        if len(raw) > left:
            raise InputError(f"A project without its table may have {_MOST >> 20:,} MiB, no more.")
        left -= len(raw)
        return raw

    with _REFUSED.parsing("zip"), zipfile.ZipFile(upload.file) as box:
        try:
            project = SavedProject.model_validate_json(part(_INDEX))
        except ValidationError as error:
            places = {".".join(map(str, fault["loc"])) or _INDEX for fault in error.errors()}
            raise InputError(
                f"The file is no project of this version of Shoal: {format_names(sorted(places))} "
                "cannot be read. Choose one that this page saved."
            ) from None
        trees = {name: part(place) for name, place in project.hierarchies.items()}
        return project, trees, _TABLE in box.namelist()


def _unpack(upload: UploadFile, target: Path, most: int) -> None:
    """Take the table out of a project file, as far as it is allowed to be large."""
    with (
        _REFUSED.parsing("zip"),
        zipfile.ZipFile(upload.file) as box,
        box.open(_TABLE) as stream,
        target.open("xb") as out,
    ):
        while block := stream.read(1 << 20):
            most -= len(block)
            if most < 0:
                raise InputError("The table in the project is larger than this page takes.")
            out.write(block)


async def open_saved(request: Request) -> Response:
    """Open a project, with the table in it or for the table that is open."""
    form = await form_of(request)
    table = table_of(request) if "table" in request.path_params else None
    uploads = files(form, "project")
    if not uploads:
        text = "Choose a project that this page saved."
        return error_page(request, 400, "No file was chosen", text, table)
    project, trees, has_table = await run_in_threadpool(_read, uploads[0])
    if table is None:
        if not has_table:
            text = (
                f"This project holds no table. Open its table ({project.name}) first, and choose "
                "the project on Decide, under From files."
            )
            return error_page(request, 422, "Open the table first", text)
        folder = bench(request).folder / "uploads"
        folder.mkdir(mode=0o700, exist_ok=True)
        target = folder / f"{secrets.token_hex(8)}{read_options.kind_of(project.name)}"
        await run_in_threadpool(_unpack, uploads[0], target, request.app.state.limit)
        table = bench(request).add(target, Path(project.name.replace("\\", "/")).name or "table")
        if table.opening is not None:
            await table.opening
    if faults := await _use(request, table, project, trees):
        text = "\n".join(faults)
        return error_page(request, 422, "The project cannot be used here", text, table)
    return redirect(f"/tables/{table.number}/decide")


async def _use(
    request: Request, table: OpenTable, project: SavedProject, trees: Mapping[str, bytes]
) -> list[str]:
    """Take everything from a project, or say why not."""
    plan = Plan.from_toml(project.plan, "the project")

    async def more() -> list[str]:
        faults = []
        if plan.columns.keys() - {column["name"] for column in table.columns()}:
            return []  # it is for another table: its hierarchies are not taken
        for column in table.columns():
            if column["name"] in trees:
                held = UploadFile(io.BytesIO(trees[column["name"]]), filename="hierarchy.csv")
                if fault := await take_in(request, table, column["number"], held):
                    faults.append(f"The hierarchy of {column['name']!r}: {fault}")
        return faults

    asked = [Plan.from_toml(saved.plan, "a run of the project") for saved in project.runs]
    if faults := await carry(request, table, plan, more):
        return faults
    table.draft["prove"] = project.prove
    table.notes = "\n\n".join(filter(None, [table.notes, project.notes]))
    same = table.profile is not None and table.profile["rows"] == project.rows
    for saved, own in zip(project.runs, asked, strict=True):
        _list(table, saved, own, same)
    left = project.earlier and (
        "The project named earlier releases that are not in it: "
        f"{format_names(project.earlier)}. Name them again below, or the rules are not kept for "
        "somebody who has them."
    )
    other = not same and (
        f"The project was saved with a table of {project.rows:,} rows, and this one has another "
        "number. Figures of its runs are not shown."
    )
    table.reminders = [text for text in (left, other) if text]
    return []


def _list(table: OpenTable, saved: SavedRun, plan: Plan, same: bool) -> None:
    """Put a run of a project on the list: what it says was not verified here."""
    run = table.new_run(plan, prove=False)
    run.name = saved.name
    run.status = SAVED if saved.status == DONE else saved.status
    run.began, run.ended = 1.0, 1.0 + saved.seconds
    if same:
        run.figures = saved.model_dump(include={"loss", "classes", "highest", "mean"})
    if run.status == FAILED:
        run.error = "It failed when the project was saved."


async def note(request: Request) -> Response:
    """Keep the notes about a table."""
    form = texts(await form_of(request))
    table = table_of(request)
    table.notes = form.get("notes", "").replace("\r\n", "\n")[:_TEXT]
    return redirect(f"/tables/{table.number}/runs")
