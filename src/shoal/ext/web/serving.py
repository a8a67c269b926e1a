"""Start and stop the web server."""

from __future__ import annotations

import contextlib
import secrets
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterable
from pathlib import Path

from shoal.base.errors import MissingExtra, OutputError
from shoal.base.system import ignore_terminal_stop
from shoal.ext.web.login_links import LIFE, remove, write_lead
from shoal.ext.web.temp_folder import private_folder

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

        from shoal.ext.web.app import LIMIT, build
        from shoal.ext.web.security import AllowedHosts, Keys
        from shoal.ext.web.state import known_file
    except ModuleNotFoundError as missing:
        raise MissingExtra(
            f"The page needs {missing.name}, which is not installed. Install it with: "
            "pip install 'shoal[web]'"
        ) from None
    table = known_file(data) if data is not None else None
    with _listen(host, port) as door, private_folder() as folder:
        number = door.getsockname()[1]
        keys, doors = Keys(number), AllowedHosts(host, number)
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
        ignore_terminal_stop()
        name = f"[{host}]" if ":" in host else host
        name = LOCAL if host in ("0.0.0.0", "") else "[::1]" if host == "::" else name  # noqa: S104

        def address(then: Callable[[], object] | None = None) -> str:
            return f"http://{name}:{number}{keys.root}/?token={keys.tickets.issue(then)}"

        say(f"The page is at {address()}")
        say("This address opens it once, within a minute; press Enter for a new one.")
        if host not in (LOCAL, "localhost", "::1"):
            say(
                f"It listens on {host}, so others in your network can reach it, and what is sent "
                "is not encrypted. Anyone who opens the address above can see the table."
            )
        say("Press ctrl-C to stop; uploads and results are then removed.")
        threading.Thread(target=_ask, args=[sys.stdin, address, say], daemon=True).start()
        if browser:
            _later(0.5, _open, address, folder)
        server.run(sockets=[door])


def _open(address: Callable[..., str], folder: Path) -> None:
    """Open the browser by a private file: others can read its command line, not the file."""
    path = folder / f"open-{secrets.token_hex(8)}.html"
    write_lead(path, address(lambda: remove(path)))
    webbrowser.open(path.as_uri())
    _later(LIFE, remove, path)


def _later(seconds: float, call: Callable[..., object], *words: object) -> None:
    timer = threading.Timer(seconds, call, words)
    timer.daemon = True
    timer.start()


def _ask(
    lines: Iterable[str] | None, address: Callable[[], str], say: Callable[[str], None]
) -> None:
    """Print a new address for every line that is typed; none can be typed without a terminal."""
    with contextlib.suppress(OSError, ValueError):  # in the background there is nothing to read
        for _ in lines or ():
            say(f"The page is at {address()}")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
        door.listen(128)  # clients that are quicker than we are wait instead of failing
    except OSError as fault:
        door.close()
        raise OutputError(
            f"Cannot listen on {host}, port {port}: {fault.strerror or fault}. Leave --port out "
            "to take any free one, or check --host."
        ) from None
    return door
