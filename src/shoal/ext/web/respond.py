"""Render pages as HTML for people and as JSON for programs."""

from __future__ import annotations

import secrets
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import Scope

from shoal import __version__
from shoal.base.errors import ShoalError
from shoal.ext.web import read_options
from shoal.ext.web.security import SMALL, Keys, TooLarge
from shoal.ext.web.state import OpenTable, WebRun, Workbench

HERE = Path(__file__).parent
THEME = "shoal_theme"
THEMES = ("auto", "light", "dark")
_FIELDS = 20_000  # of a form: a wide table has some for every column

STEPS = ("open", "see", "decide", "run", "understand", "take")
_NAMES = {
    "open": "Open",
    "see": "See",
    "decide": "Decide",
    "run": "Run",
    "understand": "Understand",
    "take": "Download",
}


def environment() -> Environment:
    """Return the templates; whatever is put into them is text, never markup."""
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "percent": format_percent,
        "count": format_count,
        "loss": format_loss,
        "took": format_seconds,
    }
    templates.globals |= {"version": __version__, "nothing": Markup("")}
    return templates


def format_percent(share: float | None, digits: int = 1) -> str:
    """Write a share; what is nearly nothing or nearly all does not look like nothing or all."""
    if share is None:
        return "–"
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"< {least:.{digits}f} %"
    if 100 - least / 2 < 100 * share < 100:
        return f"> {100 - least:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def format_count(number: float | None) -> str:
    """Write a number of things."""
    return "–" if number is None else f"{number:,.0f}"


def format_loss(value: float | None) -> str:
    """Write a loss between 0 and 1, in per cent as everywhere."""
    return format_percent(value, 2)


def format_seconds(seconds: float) -> str:
    """Write a time."""
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60} s"


def wants_json(scope: Scope) -> bool:
    """Tell whether a program asks: by the ending .json, or by what it accepts."""
    if scope.get("shoal_json") or scope["path"].endswith(".json"):
        return True
    accepted = Headers(scope=scope).get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def bench(request: Request) -> Workbench:
    """Return the state of the page."""
    workbench = request.app.state.bench
    assert isinstance(workbench, Workbench)
    return workbench


def keys(request: Request) -> Keys:
    """Return the secrets of the server."""
    secrets = request.app.state.keys
    assert isinstance(secrets, Keys)
    return secrets


def page(
    request: Request,
    name: str,
    shown: Mapping[str, Any],
    *,
    table: OpenTable | None = None,
    run: WebRun | None = None,
    status: int = 200,
) -> Response:
    """Answer with a page, or with what it shows as JSON."""
    step = name.partition("-")[0]
    frame = {
        "step": step,
        "steps": _steps(table, run, step, keys(request).root),
        "command": _command(table, run),
        "table": None if table is None else {"number": table.number, "name": table.name},
        "run": None if run is None else {"number": run.number, "title": run.title},
    }
    if wants_json(request.scope):
        return JSONResponse({**frame, **shown}, status)
    theme = request.cookies.get(THEME, "auto")
    template = request.app.state.templates.get_template(f"{name}.html")
    text = template.render(
        **{**frame, **shown},
        form_key=keys(request).form,
        theme=theme if theme in THEMES else "auto",
        here=request.url.path,
        root=keys(request).root,
        limit=request.app.state.limit,
    )
    return HTMLResponse(text, status)


def _steps(
    table: OpenTable | None, run: WebRun | None, now: str, root: str
) -> list[dict[str, Any]]:
    """Return the way through the page, each step with its address once it can be taken."""
    base = f"{root}/tables/{table.number}" if table is not None and table.profile else None
    done = run
    if done is None and table is not None:
        finished = [earlier for earlier in table.runs.values() if earlier.status == "done"]
        done = finished[-1] if finished else None
    there = f"{base}/runs/{done.number}" if base and done and done.view else None
    places = {
        "open": f"{root}/",
        "see": f"{base}/see" if base else None,
        "decide": f"{base}/decide" if base else None,
        "run": f"{base}/runs" if base else None,
        "understand": there,
        "take": f"{there}/take" if there else None,
    }
    return [
        {"name": _NAMES[key], "key": key, "href": places[key], "now": key == now} for key in STEPS
    ]


def _command(table: OpenTable | None, run: WebRun | None) -> str:
    """Return the command line that does the same as the page in view."""
    from shoal.ext.web import drafts

    if run is not None:
        return run.command
    if table is None:
        return "shoal serve"
    if table.profile is None:
        return shlex.join(["shoal", "inspect", table.shown_path])
    try:
        return drafts.command(table.plan(), table.profile, table.shown_path)
    except ShoalError:
        return shlex.join(["shoal", "inspect", table.shown_path])


def plain_page(scope: Scope, status: int, head: str, text: str, onward: str = "") -> Response:
    """Answer with a short message; needs no state, so that it always works.

    ``onward``: where the browser goes from there by itself.
    """
    if wants_json(scope):
        return JSONResponse({"error": head, "text": text}, status)
    template = _alone.get_template("message.html")
    return HTMLResponse(template.render(head=head, text=text, status=status, onward=onward), status)


def error_page(
    request: Request, status: int, head: str, text: str, table: OpenTable | None = None
) -> Response:
    """Answer with a message inside the page."""
    if wants_json(request.scope):
        return JSONResponse({"error": head, "text": text}, status)
    shown = {"head": head, "text": text}
    return page(request, "error", shown, table=table, status=status)


def redirect(path: str) -> Response:
    """Send the browser to a page after a form was taken in."""
    return RedirectResponse(path, 303)


async def form_of(request: Request) -> FormData:
    """Read a form, and refuse one that does not come from our own page."""
    form = await request.form(max_fields=_FIELDS, max_files=200, max_part_size=SMALL)
    token = form.get("key")
    if not keys(request).fits(token if isinstance(token, str) else None, keys(request).form):
        raise HTTPException(403, "The form is out of date. Reload the page and try again.")
    return form


def texts(form: FormData) -> dict[str, str]:
    """Return the fields of a form that are texts; of several with one name the last."""
    return {name: value for name, value in form.items() if isinstance(value, str)}


def files(form: FormData, name: str) -> list[UploadFile]:
    """Return the files that were chosen in a field."""
    return [f for f in form.getlist(name) if isinstance(f, UploadFile) and f.filename]


def shown_name(upload: UploadFile, other: str) -> str:
    """Return the name of an uploaded file without its folders; ``other`` if it has none."""
    return Path((upload.filename or other).replace("\\", "/")).name or other


async def store_upload(upload: UploadFile, folder: Path, *, ending: str = "") -> Path:
    """Keep an uploaded file under a name that nobody can guess.

    Files of programs are told by the ending of their own name; ``ending`` is for all others.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    kind = read_options.kind_of(upload.filename or "") or ending
    target = folder / f"{secrets.token_hex(8)}{kind}"

    def keep() -> None:
        with target.open("xb") as stream:
            shutil.copyfileobj(upload.file, stream, 1 << 20)

    await run_in_threadpool(keep)
    return target


async def on_http(request: Request, error: Exception) -> Response:
    """Answer what a handler refused."""
    assert isinstance(error, HTTPException)
    if error.headers and "Location" in error.headers:
        return redirect(error.headers["Location"])
    heads = {403: "Not allowed", 404: "There is no such page", 405: "Not possible"}
    text = error.detail if error.detail != heads.get(error.status_code) else ""
    if error.status_code == 404:
        text = "It may belong to a table that was closed. Go on with one of the steps."
    return error_page(request, error.status_code, heads.get(error.status_code, "Refused"), text)


async def on_own(request: Request, error: Exception) -> Response:
    """Answer an error that was made on purpose."""
    return error_page(request, 400, "That did not work", str(error))


async def on_large(request: Request, error: Exception) -> Response:
    """Answer more bytes than are allowed."""
    assert isinstance(error, TooLarge)
    return too_large(request.scope, request.app.state.limit)


def too_large(scope: Scope, most: int) -> Response:
    """Say that an upload is above the limit, and the way around it."""
    return plain_page(
        scope,
        413,
        "That is too large",
        f"The limit is {most >> 20:,} MiB. Start the page with 'shoal serve FILE' to open a large "
        "file where it is, or raise the limit with --max-upload.",
    )


async def on_fault(request: Request, _error: Exception) -> Response:
    """Answer what nobody foresaw; the details go to the terminal only."""
    return plain_page(
        request.scope,
        500,
        "Something went wrong",
        "This was not expected. The details are in the terminal that runs 'shoal serve'. "
        "Your table and your runs are still there: go back and try again.",
    )


_alone = environment()
