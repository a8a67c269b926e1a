"""The pages Open, See and Decide."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from shoal.base.errors import ShoalError
from shoal.base.roles import Kind, Role
from shoal.base.workers import Died
from shoal.catalog import RULES
from shoal.ext.web import drafts, fields, forms, read_options
from shoal.ext.web.respond import (
    THEME,
    THEMES,
    bench,
    error_page,
    files,
    form_of,
    page,
    redirect,
    shown_name,
    store_upload,
    texts,
)
from shoal.ext.web.state import OpenTable
from shoal.plan.plan import Plan
from shoal.tables import demo


def table_of(request: Request, *, ready: bool = True) -> OpenTable:
    """Return the table that an address names."""
    table = bench(request).table(request.path_params["table"])
    if table is None:
        raise HTTPException(404)
    if ready and table.profile is None:  # it is still being read, or cannot be: See tells
        raise HTTPException(303, headers={"Location": f"/tables/{table.number}/see"})
    return table


async def opening(request: Request) -> Response:
    """Show the tables that are open, and how to open one."""
    tables = [
        {
            "number": table.number,
            "name": table.name,
            "rows": table.profile["rows"] if table.profile else None,
            "columns": len(table.columns()),
            "runs": len(table.runs),
            "error": table.error,
        }
        for table in bench(request).tables.values()
    ]
    return page(request, "open", {"tables": tables, "programs": read_options.programs()})


async def take_in(request: Request) -> Response:
    """Take an uploaded file in, or the synthetic patients."""
    form = await form_of(request)
    state = bench(request)
    if texts(form).get("demo"):
        table = state.add(demo.TABLE, "patients.csv.gz", str(demo.TABLE))
        if table.opening is not None:
            await table.opening
        with contextlib.suppress(ShoalError):
            await adopt_folder(request, table, demo.HIERARCHIES)
        return redirect(f"/tables/{table.number}/see")
    uploads = files(form, "table")
    if not uploads:
        return error_page(
            request, 400, "No file was chosen", "Choose the file of a table, such as patients.csv."
        )
    target = await store_upload(uploads[0], state.folder / "uploads")
    table = state.add(target, shown_name(uploads[0], "table"))
    return redirect(f"/tables/{table.number}/see")


async def adopt_folder(request: Request, table: OpenTable, folder: Path) -> None:
    """Take the hierarchies of a folder for the columns that they are named after."""
    for column in table.columns():
        file = folder / f"{column['name']}.csv"
        if file.is_file() and file.parent == folder:
            await adopt(request, table, column["number"], file)


async def adopt(request: Request, table: OpenTable, number: int, file: Path) -> None:
    """Check a hierarchy file and make it the hierarchy of a column."""
    path = table.hierarchy_path(number)
    await bench(request).desk.ask(
        "tree",
        table=table.described(),
        column=table.columns()[number]["name"],
        step="upload",
        given={"path": str(path), "file": str(file)},
    )
    use_hierarchy(table, number)


def use_hierarchy(table: OpenTable, number: int) -> None:
    """Let a column go up its hierarchy, if it is a quasi-identifier."""
    name = table.columns()[number]["name"]
    decided = table.draft["columns"].setdefault(name, {"role": "quasi"})
    if decided["role"] == "quasi":
        decided["kind"] = Kind.TAXONOMY.value
        decided["hierarchy"] = f"hierarchies/{table.hierarchy_path(number).name}"


async def close(request: Request) -> Response:
    """Close a table."""
    await form_of(request)
    bench(request).forget(table_of(request, ready=False))
    return redirect("/")


async def see(request: Request) -> Response:
    """Show the profile of a table, or how far opening it is."""
    table = table_of(request, ready=False)
    if table.error:
        head = f"{table.name} cannot be opened"
        if len(table.sheets) > 1 and not table.data.get("sheet"):
            head = f"Which sheet of {table.name} is the table?"
        why = {"head": head, "text": table.error, "controls": _controls(table)}
        return page(request, "see-unread", why, table=table, status=422)
    if table.profile is None:
        return page(request, "see-wait", {"stage": table.stage}, table=table, status=202)
    said = await said_of(request, table)
    shown = {
        "profile": _masked(table.profile, table.draft),
        **forms.choices(),
        "missing": [text for text in table.data["missing"] if text],
        "delimiter": table.data.get("delimiter"),
        "texts": not read_options.kind_of(table.name),
        "controls": _controls(table),
        "standing": said["standing"],
        "known_too": said["known_too"],
        "undecided": _named(table, "undecided"),
        "can_undo": bool(table.past),
    }
    return page(request, "see", shown, table=table)


def _controls(table: OpenTable) -> list[dict[str, Any]]:
    return read_options.controls(table.name, table.data, table.sheets)


_HIDDEN = ("identifier", "person", "sensitive")


def _masked(profile: dict[str, Any], draft: drafts.Draft) -> dict[str, Any]:
    """Return a profile with the roles as decided; what either guess or decision hides is hidden."""
    columns = []
    for column in profile["columns"]:
        role = drafts.role_in(draft, column["name"])
        named = {role, column["role"]} & {"identifier", "person"}
        hidden = {"shape": None} if named else {}
        columns.append({**column, **hidden, "suggested": column["role"], "role": role})
    cover = [{each["role"], each["suggested"]} & {*_HIDDEN} for each in columns]
    sample = [
        ["hidden" if hide else cell for cell, hide in zip(row, cover, strict=True)]
        for row in profile["sample"]
    ]
    return {**profile, "columns": columns, "sample": sample, "hidden": [bool(c) for c in cover]}


async def give_roles(request: Request) -> Response:
    """Take the roles of the See page in, or take the last change back."""
    form = texts(await form_of(request))
    table = table_of(request)
    assert table.profile is not None
    if form.get("do") == "undo":
        table.undo_roles()
    else:
        table.redraft(drafts.with_roles(form, table.profile, table.draft))
    table.use_hierarchies()
    return redirect(f"/tables/{table.number}/see")


async def reread(request: Request) -> Response:
    """Open the table again, read in another way."""
    form = texts(await form_of(request))
    table = table_of(request, ready=False)
    words = [word.strip() for word in form.get("missing", "").split(",")]
    if form.get("mark"):
        words = [*[text for text in table.data["missing"] if text], form["mark"]]
    data = dict(table.data)
    if "missing" in form or form.get("mark"):
        data["missing"] = ["", *dict.fromkeys(word for word in words if word)]
    if "delimiter" in form:
        data["delimiter"] = form["delimiter"]
    if not form.get("mark"):
        data = read_options.from_form(form, data, _controls(table))
    data = {key: value for key, value in data.items() if value}
    if data != table.data:
        table.data = data
        bench(request).reopen(table)
    return redirect(f"/tables/{table.number}/see")


async def checked(request: Request, table: OpenTable, plan: Plan) -> dict[str, Any]:
    """Ask the desk what the table says to a plan."""
    answer: dict[str, Any] = await bench(request).desk.ask(
        "check",
        table=table.described(),
        plan=plan.to_toml(),
        folder=str(table.folder),
        method=plan.method.name,
        prove=bool(table.draft.get("prove")),
    )
    return answer


async def decide(request: Request, status: int = 200) -> Response:
    """Show the decisions, with what the table allows."""
    table = table_of(request)
    return _decisions(request, table, await said_of(request, table), status)


async def decided(request: Request) -> Response:
    """Take decisions in; with ``do=run`` start a run with them."""
    form = texts(await form_of(request))
    table = table_of(request)
    assert table.profile is not None
    table.redraft(drafts.from_form(form, table.profile, table.draft))
    if form.get("do") == "undo":
        table.undo_roles()  # what the form says is as it was; and once more for the last change
    table.use_hierarchies()
    if form.get("do") == "run":
        said = await said_of(request, table)
        if said["ready"]:
            bench(request).order(table, table.plan())
            return redirect(f"/tables/{table.number}/runs")
        return _decisions(request, table, said, status=422)
    return redirect(f"/tables/{table.number}/decide")


async def said_of(request: Request, table: OpenTable) -> dict[str, Any]:
    """Say what is wrong with the draft, and what the table allows."""
    said: dict[str, Any] = {
        **{"faults": [], "rules": [], "standing": None, "known_too": None},
        "beliefs": [],
    }
    try:
        said = await checked(request, table, table.plan())
    except drafts.Faults as error:
        said["faults"] = error.faults
    except Died as error:
        said["faults"] = [str(error)]
    except ShoalError as error:
        said["faults"] = str(error).splitlines()
    if table.earlier and not _named(table, "sensitive"):
        said["faults"] = [*said["faults"], _NOTHING_TO_NARROW]
    blocked = any(not case["ok"] for rule in said["rules"] for case in rule["cases"])
    return {**said, "ready": not said["faults"] and not blocked}


_NOTHING_TO_NARROW = (
    "Earlier releases are named, and they narrow down sensitive values: no column is sensitive. "
    "Give a column that role, or leave the earlier releases out."
)


def _unprotected(table: OpenTable) -> list[str]:
    """Return the sensitive columns that no rule speaks of."""
    rules = [rule for rule in table.draft["rules"] if RULES[rule["name"]].sensitive]
    if any(not rule.get("column") for rule in rules):
        return []
    named = {rule["column"] for rule in rules}
    return [name for name in _named(table, "sensitive") if name not in named]


def _named(table: OpenTable, role: str) -> list[str]:
    return [name for name, given in drafts.roles_of(table.draft).items() if given == role]


def _decisions(
    request: Request, table: OpenTable, said: dict[str, Any], status: int = 200
) -> Response:
    assert table.profile is not None
    shown = {
        "rows": forms.column_rows(table.profile, table.draft),
        **forms.choices(),
        "rules": forms.rule_rows(table.draft, said["rules"]),
        "rule_choices": forms.rule_choices(table.draft),
        "can_undo": bool(table.past),
        "sensitive": _named(table, "sensitive"),
        "method": forms.method_box(table.draft),
        "release": table.draft["release"],
        "release_fields": forms.release_fields(table.draft),
        "suppress": fields.field_value("release", "suppress", table.draft["release"]),
        "evidence_fields": forms.evidence_fields(table.draft),
        "prove": table.draft.get("prove", False),
        "seed": table.draft.get("seed", ""),
        "faults": said["faults"],
        "ready": said["ready"],
        "standing": said["standing"],
        "known_too": said["known_too"],
        "undecided": _named(table, "undecided"),
        "beliefs": said["beliefs"],
        "unprotected": _unprotected(table),
        "notes": [*table.reminders, *table.profile["notes"]],
        "earlier": [*table.earlier],
    }
    return page(request, "decide", shown, table=table, status=status)


async def use_plan(request: Request) -> Response:
    """Take every decision from an uploaded plan.toml; its hierarchies stay those of the page."""
    form = await form_of(request)
    table = table_of(request)
    uploads = files(form, "plan")
    if not uploads:
        return error_page(request, 400, "No file was chosen", "Choose a plan.toml.", table)
    raw = await uploads[0].read()
    plan = Plan.from_toml(raw.decode("utf-8-sig", "replace"), uploads[0].filename or "plan")
    if faults := await carry(request, table, plan):
        return error_page(request, 422, "The plan cannot be used here", " ".join(faults), table)
    return redirect(f"/tables/{table.number}/decide")


async def _no_more() -> list[str]:
    return []


async def carry(
    request: Request,
    table: OpenTable,
    plan: Plan,
    more: Callable[[], Awaitable[list[str]]] = _no_more,
) -> list[str]:
    """Take every decision from a plan, or say why not; ``more`` is done once the table is read."""
    tree = plan.final().tree()
    tree["release"] = plan.release.model_dump(mode="json", exclude_defaults=True)
    data = tree.pop("data")
    data.pop("hierarchies", None)
    before = table.data, deepcopy(table.draft)
    await _read_as(request, table, data)
    faults = [table.error] if table.error else await more()
    columns = {column["name"]: column for column in table.columns()}
    there = {name: table.hierarchy_path(column["number"]) for name, column in columns.items()}
    trees = {name for name, path in there.items() if path.exists()}
    if faults := faults or drafts.not_carried(plan, list(there), trees):
        await _read_as(request, table, before[0])
        table.draft = before[1]
        return faults
    for name, part in tree["columns"].items():
        if part.pop("hierarchy", None) or (name in trees and "kind" not in part):
            part["kind"] = Kind.TAXONOMY.value
        elif part["role"] == Role.QUASI.value:
            part.setdefault("kind", drafts.usual_kind(columns[name]))
        if part.get("kind") == Kind.TAXONOMY.value and name in trees:
            part["hierarchy"] = f"hierarchies/{there[name].name}"
    table.draft = {**tree, **{key: table.draft[key] for key in ("prove",) if key in table.draft}}
    return []


async def _read_as(request: Request, table: OpenTable, data: dict[str, Any]) -> None:
    """Read the table in another way, and wait for it."""
    if data != table.data:
        table.data = data
        bench(request).reopen(table)
        if table.opening is not None:
            await table.opening


async def theme(request: Request) -> Response:
    """Remember light, dark, or what the system says."""
    form = texts(await form_of(request))
    chosen = form.get("theme", "auto")
    address = form.get("here", "/")
    answer = redirect("/" + address.lstrip("/\\"))
    answer.set_cookie(
        THEME,
        chosen if chosen in THEMES else "auto",
        max_age=31_536_000,
        httponly=True,
        samesite="strict",
        path="/",
    )
    return answer
