"""The application: addresses, and what guards them."""

from __future__ import annotations

import contextlib
import mimetypes
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from shoal.errors import ShoalError
from shoal.web import pages, pages_runs, pages_trees, respond
from shoal.web.security import Doors, Guard, Keys, TooLarge
from shoal.web.state import Workbench

LIMIT = 1 << 30  # bytes of an upload


class _Twins:
    """Lets every page be asked for as JSON by putting ``.json`` behind its address."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path.endswith(".json") and "/files/" not in path and "/static/" not in path:
            bare = path.removesuffix(".json")
            bare = "/" if bare == "/open" else bare
            scope = {**scope, "path": bare, "raw_path": quote(bare).encode(), "shoal_json": True}
        await self.app(scope, receive, send)


def _static() -> dict[str, tuple[bytes, str]]:
    """Read the few files that never change: nothing but these is ever served by name."""
    from shoal import charts

    found = {}
    for path in (respond.HERE / "static").iterdir():
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        found[path.name] = (path.read_bytes(), kind)
    found["charts.css"] = ((charts.CSS + charts.FIGURE_CSS).encode(), "text/css")
    return found


async def _file(request: Request) -> Response:
    known = request.app.state.static.get(request.path_params["name"])
    if known is None:
        raise HTTPException(404)
    return Response(known[0], media_type=known[1])


def build(
    folder: Path,
    keys: Keys,
    doors: Doors,
    *,
    data: Path | None = None,
    limit: int = LIMIT,
) -> Starlette:
    """Put the application together.

    Parameters
    ----------
    folder
        The private folder for uploads and results.
    keys, doors
        The secrets, and the names under which the page may be addressed.
    data
        A table to open at the start, named on the command line.
    limit
        Largest upload in bytes.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.bench = Workbench(folder)
        app.state.bench.start()
        if data is not None:
            app.state.bench.add(data.resolve(), data.name, str(data))
        try:
            yield
        finally:
            await app.state.bench.close()

    table, run = "/tables/{table:int}", "/tables/{table:int}/runs/{run:int}"
    column = f"{table}/columns/{{column:int}}"
    app = Starlette(
        routes=[
            Route("/", pages.opening),
            Route("/static/{name}", _file),
            Route("/theme", pages.theme, methods=["POST"]),
            Route("/open", pages.take_in, methods=["POST"]),
            Route(f"{table}/see", pages.see),
            Route(f"{table}/see", pages.reread, methods=["POST"]),
            Route(f"{table}/close", pages.close, methods=["POST"]),
            Route(f"{table}/decide", pages.decide),
            Route(f"{table}/decide", pages.decided, methods=["POST"]),
            Route(f"{table}/plan", pages.use_plan, methods=["POST"]),
            Route(f"{table}/hierarchies/upload", pages_trees.upload_many, methods=["POST"]),
            Route(column, pages_trees.hierarchy),
            Route(column, pages_trees.change, methods=["POST"]),
            Route(f"{column}/upload", pages_trees.upload, methods=["POST"]),
            Route(f"{column}/hierarchy.csv", pages_trees.download),
            Route(f"{table}/runs", pages_runs.runs),
            Route(f"{table}/runs", pages_runs.start, methods=["POST"]),
            Route(run, pages_runs.understand),
            Route(run, pages_runs.act, methods=["POST"]),
            Route(f"{run}/take", pages_runs.take),
            Route(f"{run}/files/{{name}}", pages_runs.hand_out),
        ],
        middleware=[
            Middleware(
                Guard,
                keys=keys,
                doors=doors,
                say=respond.plain_page,
                too_large=respond.too_large,
                limit=limit,
            ),
            Middleware(_Twins),
        ],
        exception_handlers={
            HTTPException: respond.on_http,
            ShoalError: respond.on_own,
            TooLarge: respond.on_large,
            Exception: respond.on_fault,
        },
        lifespan=lifespan,
    )
    app.state.keys, app.state.limit = keys, limit
    app.state.templates = respond.environment()
    app.state.static = _static()
    return app
