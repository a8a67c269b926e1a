"""The web application: its routes and their protection."""

from __future__ import annotations

import contextlib
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from shoal.base.errors import ShoalError
from shoal.ext.web import respond
from shoal.ext.web.pages import earlier, hierarchies, projects, runs, tables
from shoal.ext.web.security import AllowedHosts, Guard, Keys, TooLarge
from shoal.ext.web.state import Workbench

LIMIT = 1 << 30  # bytes of an upload


class _Twins:
    """Lets every page be asked for as JSON by putting ``.json`` behind its address."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self.app, self.root = app, root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path.endswith(".json") and "/files/" not in path and "/static/" not in path:
            bare = path.removesuffix(".json")
            bare = bare.removesuffix("open") if bare == f"{self.root}/open" else bare
            scope = {**scope, "path": bare, "raw_path": quote(bare).encode(), "shoal_json": True}
        await self.app(scope, receive, send)


def _static() -> dict[str, tuple[bytes, str]]:
    """Read the few files that never change: nothing but these is ever served by name."""
    from shoal.show.charts import style

    files = {}
    for path in (respond.HERE / "static").iterdir():
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        files[path.name] = (path.read_bytes(), kind)
    files["charts.css"] = ((style.CSS + style.FIGURE_CSS).encode(), "text/css")
    return files


async def _file(request: Request) -> Response:
    file = request.app.state.static.get(request.path_params["name"])
    if file is None:
        raise HTTPException(404)
    return Response(file[0], media_type=file[1])


def _post(path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
    """Return a route for a form, which lets go of uploaded files whatever happens."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        finally:
            await request.close()

    return Route(path, handle, methods=["POST"])


def _routes() -> list[Route]:
    """Say which address leads where."""
    table, run = "/tables/{table:int}", "/tables/{table:int}/runs/{run:int}"
    column = f"{table}/columns/{{column:int}}"
    return [
        Route("/", tables.opening),
        _post("/theme", tables.theme),
        _post("/open", tables.take_in),
        _post("/project", projects.open_saved),
        Route(f"{table}/see", tables.see),
        _post(f"{table}/see", tables.reread),
        _post(f"{table}/roles", tables.give_roles),
        _post(f"{table}/close", tables.close),
        Route(f"{table}/decide", tables.decide),
        _post(f"{table}/decide", tables.decided),
        _post(f"{table}/plan", tables.use_plan),
        _post(f"{table}/earlier", earlier.change),
        _post(f"{table}/project", projects.open_saved),
        _post(f"{table}/notes", projects.note),
        Route(f"{table}/project.zip", projects.save),
        _post(f"{table}/hierarchies/upload", hierarchies.upload_many),
        Route(column, hierarchies.hierarchy),
        _post(column, hierarchies.change),
        _post(f"{column}/upload", hierarchies.upload),
        Route(f"{column}/hierarchy.csv", hierarchies.download),
        Route(f"{table}/runs", runs.runs),
        _post(f"{table}/runs", runs.start),
        Route(run, runs.understand),
        _post(run, runs.act),
        Route(f"{run}/take", runs.take),
        Route(f"{run}/files/{{name}}", runs.hand_out),
    ]


def build(
    folder: Path,
    keys: Keys,
    doors: AllowedHosts,
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
        bench = app.state.bench = Workbench(folder)
        bench.start()
        if data is not None:
            bench.add(data.resolve(), data.name, str(data))
        try:
            yield
        finally:
            await bench.close()

    static = _static()
    app = Starlette(
        routes=[Route("/static/{name}", _file), Mount(keys.root, routes=_routes())],
        middleware=[
            Middleware(
                Guard,
                keys=keys,
                doors=doors,
                say=respond.plain_page,
                too_large=respond.too_large,
                limit=limit,
                free=frozenset(f"/static/{name}" for name in static),
            ),
            Middleware(_Twins, root=keys.root),
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
    app.state.static = static
    return app
