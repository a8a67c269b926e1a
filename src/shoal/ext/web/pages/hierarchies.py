"""The pages that edit hierarchies."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from shoal.base.errors import ShoalError
from shoal.ext.web.drafts import usual_kind
from shoal.ext.web.pages.tables import adopt, table_of, use_hierarchy
from shoal.ext.web.respond import bench, error_page, files, form_of, page, redirect, texts
from shoal.ext.web.state import OpenTable
from shoal.tables.hierarchy_methods import MAKERS
from shoal.tables.schema import DATE, NUMBER, TIME, WHOLE

_UNDO = 20  # steps that can be taken back


def _place(request: Request) -> tuple[OpenTable, int]:
    table = table_of(request)
    number = int(request.path_params["column"])
    if not 0 <= number < len(table.columns()):
        raise HTTPException(404)
    return table, number


async def _work(
    request: Request, table: OpenTable, number: int, step: str, **given: Any
) -> dict[str, Any]:
    path = table.hierarchy_path(number)
    answer: dict[str, Any] = await bench(request).desk.ask(
        "tree",
        table=table.described(),
        column=table.columns()[number]["name"],
        step=step,
        given={"path": str(path), **given},
    )
    return answer


async def hierarchy(request: Request) -> Response:
    """Show the hierarchy of a column, and how to make or change it."""
    table, number = _place(request)
    return await _show(request, table, number)


async def _show(
    request: Request,
    table: OpenTable,
    number: int,
    fault: str = "",
    *,
    typed: Mapping[str, Any] = MappingProxyType({}),
    preview: Mapping[str, Any] | None = None,
) -> Response:
    """Answer with the page; ``typed``: what a form held that could not be carried out."""
    told: dict[str, Any] = {"there": False}
    ways: list[dict[str, Any]] = []
    try:
        told = await _work(request, table, number, "show")
        ways = (await _work(request, table, number, "suggest"))["ways"]
    except ShoalError as error:
        fault = fault or str(error)
    if "text" in typed:  # what was typed comes back, not what was there before
        told["outline"] = typed["text"]
    column = table.columns()[number]
    decided = table.draft["columns"].get(column["name"], {})
    shown = {
        "column": column,
        "rows": table.profile["rows"] if table.profile else 0,
        "used": decided.get("kind") == "taxonomy" and decided.get("role") == "quasi",
        "hierarchy": told,
        "makers": [
            {"name": name, "story": way.story, "field": "".join(way.takes[:1]), "hint": way.hint}
            for name, way in MAKERS.items()
        ],
        "ways": [{**way, "story": MAKERS[way["how"]].story} for way in ways],
        "maker": {"how": _usual(column), **table.makers.get(number, {})},
        "preview": preview,
        "typed": {"least": "50", **typed},
        "fault": fault,
        "can_undo": bool(table.undo.get(number)),
    }
    return page(request, "decide-tree", shown, table=table, status=422 if fault else 200)


def _usual(column: dict[str, Any]) -> str:
    if column["type"] in (DATE, TIME):
        return "dates"
    return "intervals" if column["type"] in (WHOLE, NUMBER) else "flat"


async def change(request: Request) -> Response:
    """Make a hierarchy, or change it by one step."""
    table, number = _place(request)
    form = await form_of(request)
    fields = texts(form)
    do = fields.get("do", "")
    path = table.hierarchy_path(number)
    if do == "undo":
        _undo(table, number, path)
        return redirect(f"/tables/{table.number}/columns/{number}")
    if do == "drop":
        _keep(table, number, path)
        path.unlink(missing_ok=True)
        decided = table.draft["columns"].get(table.columns()[number]["name"], {})
        decided.pop("hierarchy", None)
        if decided.get("kind") == "taxonomy":
            decided["kind"] = usual_kind(table.columns()[number])
        return redirect(f"/tables/{table.number}/columns/{number}")
    if do not in _STEPS:
        raise HTTPException(400, "The page does not know this step.")
    settings: dict[str, Any] = {
        **{name: fields.get(name, "") for name in ("under", "how", "least")},
        "numbers": fields.get(f"numbers-{fields.get('how', '')}", fields.get("numbers", "")),
        "text": fields.get("text", "").replace("\r\n", "\n"),
    }
    if do in ("preview", "make"):
        made = {key: value for key, value in fields.items() if key.startswith("numbers-")}
        table.makers[number] = {"how": settings["how"], **made}
    try:
        if do == "preview":
            told = await _work(request, table, number, do, **settings)
            return await _show(request, table, number, preview=told)
        _keep(table, number, path)
        await _work(request, table, number, do, **settings)
    except ShoalError as error:
        if do != "preview":
            table.undo[number].pop()
        typed = {_TYPED[do]: settings[_TYPED[do]]} if do in _TYPED else {}
        return await _show(request, table, number, str(error), typed=typed)
    use_hierarchy(table, number)
    return redirect(f"/tables/{table.number}/columns/{number}")


_STEPS = ("preview", "make", "outline", "add", "rare")
# What of a form comes back with a fault.
_TYPED = {"outline": "text", "rare": "least"}


def _keep(table: OpenTable, number: int, path: Path) -> None:
    """Remember the file as it is now, so that the next step can be taken back."""
    past = table.undo.setdefault(number, [])
    past.append(path.read_bytes() if path.exists() else b"")
    del past[:-_UNDO]


def _undo(table: OpenTable, number: int, path: Path) -> None:
    past = table.undo.get(number)
    if past:
        raw = past.pop()
        path.unlink(missing_ok=True)
        if raw:
            path.write_bytes(raw)
            use_hierarchy(table, number)


async def upload(request: Request) -> Response:
    """Take a hierarchy file in for one column."""
    table, number = _place(request)
    form = await form_of(request)
    uploads = files(form, "file")
    if not uploads:
        return await _show(
            request, table, number, "No file was chosen. Choose one, such as age.csv."
        )
    if fault := await take_in(request, table, number, uploads[0]):
        return await _show(request, table, number, fault)
    return redirect(f"/tables/{table.number}/columns/{number}")


async def take_in(request: Request, table: OpenTable, number: int, upload: UploadFile) -> str:
    """Make an uploaded file the hierarchy of a column, or say what is wrong with it."""
    _keep(table, number, table.hierarchy_path(number))
    fresh = table.folder / "upload.part.csv"
    try:
        with fresh.open("xb") as stream:
            shutil.copyfileobj(upload.file, stream)
        await adopt(request, table, number, fresh)
    except ShoalError as error:
        table.undo[number].pop()
        return str(error).replace(str(fresh), "the file")
    finally:
        fresh.unlink(missing_ok=True)
    return ""


async def upload_many(request: Request) -> Response:
    """Take hierarchy files in; the name of each says its column."""
    table = table_of(request)
    form = await form_of(request)
    numbers = {column["name"]: column["number"] for column in table.columns()}
    faults: list[str] = []
    for upload in files(form, "file"):
        stem = Path((upload.filename or "").replace("\\", "/")).stem
        name = stem if stem in numbers else stem.rpartition("_hierarchy_")[2]
        if name not in numbers:
            faults.append(f"{upload.filename}: the table has no column {name!r}.")
        elif fault := await take_in(request, table, numbers[name], upload):
            faults.append(f"{upload.filename}: {fault}")
    if faults:
        return error_page(request, 422, "Some files were not taken", "\n".join(faults), table)
    return redirect(f"/tables/{table.number}/decide")


async def download(request: Request) -> Response:
    """Hand the file of a hierarchy out."""
    table, number = _place(request)
    path = table.hierarchy_path(number)
    if not path.exists():
        raise HTTPException(404)
    return FileResponse(path, media_type="text/csv; charset=utf-8", filename=path.name)
