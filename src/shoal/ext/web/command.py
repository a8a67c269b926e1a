"""``shoal serve``: the web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import console
from shoal.cli import options as opt


def command(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="Table to open; it is not copied."),
    ] = None,
    port: Annotated[
        int, opt.flag("--port", "INT", "Port; 0 for any free port.", min=0, max=65535)
    ] = 0,
    host: Annotated[
        str,
        opt.flag(
            "--host",
            "ADDRESS",
            "Address to listen on. Any other than 127.0.0.1 lets other machines in.",
        ),
    ] = "127.0.0.1",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address only; do not open a browser.")
    ] = False,
    max_upload: Annotated[
        int, opt.flag("--max-upload", "MIB", "Largest upload in MiB.", min=1)
    ] = 1024,
    max_unpacked: opt.MaxUnpacked = None,
) -> None:
    """Anonymize tables in the browser, on this machine.

    Example: shoal serve patients.csv

    Needs pip install 'shoal[web]'. Only this machine can reach the page. The printed address holds
    a key that works once and for one minute; press Enter for a new address. Uploads and results are
    kept in a private folder that is removed at the end. A gzip file may unpack to a quarter of the
    size that other commands allow.
    """
    from shoal.base.memory import PAGE, limit_unpacked, most_unpacked
    from shoal.ext.web.serving import serve

    if max_unpacked is None:
        limit_unpacked(str(most_unpacked() // PAGE))

    serve(
        data,
        host=host,
        port=port,
        browser=not no_browser,
        limit=max_upload << 20,
        say=console.print_note,
    )
