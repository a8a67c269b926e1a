"""Run the page: bind an address, print it, open the browser, tidy up at the end."""

from __future__ import annotations

import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from shoal.base.errors import MissingExtra, OutputError
from shoal.web.private import private_folder

LOCAL = "127.0.0.1"


def serve(
    data: Path | None,
    *,
    host: str = LOCAL,
    port: int = 0,
    browser: bool = True,
    limit: int | None = None,
    say: Callable[[str], None],
) -> None:
    """Serve the page until it is stopped.

    Parameters
    ----------
    data
        A table to open at the start.
    host, port
        Where to listen; port 0 takes any that is free.
    browser
        Open the page in the browser.
    limit
        Largest upload in bytes.
    say
        Tells the person at the terminal.
    """
    try:
        import uvicorn

        from shoal.web.app import LIMIT, build
        from shoal.web.security import Doors, Keys
        from shoal.web.state import known_file
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"The page needs {missing.name}, which is not installed. Install it with: "
            "pip install 'shoal[web]'"
        ) from None
    table = known_file(data) if data is not None else None
    with _listen(host, port) as door, private_folder() as folder:
        number = door.getsockname()[1]
        keys, doors = Keys(number), Doors(host, number)
        # Whatever libraries put into temporary files must go away with the rest.
        tempfile.tempdir = str(folder)
        app = build(folder, keys, doors, data=table, limit=limit or LIMIT)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            lifespan="on",
            ws="none",
        )
        server = uvicorn.Server(config)
        name = f"[{host}]" if ":" in host else host
        name = LOCAL if host in ("0.0.0.0", "") else "[::1]" if host == "::" else name  # noqa: S104
        address = f"http://{name}:{number}/?token={keys.token}"
        say(f"The page is at {address}")
        if host not in (LOCAL, "localhost", "::1"):
            say(
                f"It listens on {host}, so others in your network can reach it, and what is sent "
                "is not encrypted. Whoever has the address above has the table."
            )
        say("Press ctrl-C to stop; uploads and results are then removed.")
        if browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        server.run(sockets=[door])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
        door.listen(128)  # whoever is quicker than we are has to wait, not to fail
    except OSError as fault:
        door.close()
        raise OutputError(
            f"Cannot listen on {host}, port {port}: {fault.strerror or fault}. Leave --port out "
            "to take any free one, or check --host."
        ) from None
    return door
