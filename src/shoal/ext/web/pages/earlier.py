"""Earlier releases on the page Decide."""

from __future__ import annotations

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from shoal.base.errors import ShoalError
from shoal.ext.web import drafts, read_options
from shoal.ext.web.pages.tables import table_of
from shoal.ext.web.respond import (
    bench,
    error_page,
    files,
    form_of,
    redirect,
    shown_name,
    store_upload,
    texts,
)
from shoal.ext.web.state import OpenTable

_MOST = 20  # releases that can be named
_HEAD = "That is not an earlier release of this table"


async def change(request: Request) -> Response:
    """Take earlier releases in, or take one off the list."""
    form = await form_of(request)
    table = table_of(request)
    gone = texts(form).get("remove")
    if gone is not None:
        table.earlier.pop(gone, None)  # a run that waits may still need the file
        return redirect(f"/tables/{table.number}/decide")
    uploads = files(form, "release")
    if not uploads:
        text = "Choose the file of a release that was published before."
        return error_page(request, 400, "No file was chosen", text, table)
    for upload in uploads:
        if (why := await _taken_in(request, table, upload)) is not None:
            return error_page(request, 422, _HEAD, why, table)
    return redirect(f"/tables/{table.number}/decide")


async def _taken_in(request: Request, table: OpenTable, upload: UploadFile) -> str | None:
    """Keep an uploaded release, if it can be read as the decisions say; else return why not."""
    shown = shown_name(upload, "release")
    if shown in table.earlier:
        return f"{shown} is named already. Name every earlier release once."
    if len(table.earlier) >= _MOST:
        return f"{_MOST} earlier releases are named, and no more can be. Use shoal audit --against."
    target = await store_upload(upload, table.folder / "earlier", ending=".csv")
    try:
        plan = table.plan()
        hidden = [n for n, role in drafts.roles_of(table.draft).items() if role == "sensitive"]
        await bench(request).desk.ask(
            "published",
            path=str(target),
            plan=plan.to_toml(),
            folder=str(table.folder),
            sensitive=hidden,
        )
    except ShoalError as error:
        target.unlink(missing_ok=True)
        return read_options.on_the_page(drafts.said_of_files(str(error), {shown: str(target)}))
    table.earlier[shown] = str(target)
    return None
