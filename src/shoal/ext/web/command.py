"""``shoal serve``: the page for people who would rather look than type."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import console
from shoal.cli import options as opt


def command(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="A table to open at once; it is read where it is."),
    ] = None,
    port: Annotated[
        int, opt.flag("--port", "INT", "Port; 0 takes a free one.", min=0, max=65535)
    ] = 0,
    host: Annotated[
        str,
        opt.flag(
            "--host", "ADDRESS", "Where to listen. Anything but this machine itself lets others in."
        ),
    ] = "127.0.0.1",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address; open no browser.")
    ] = False,
    max_upload: Annotated[
        int, opt.flag("--max-upload", "MIB", "Largest upload in MiB.", min=1)
    ] = 1024,
    max_unpacked: opt.MaxUnpacked = None,
) -> None:
    """Open the page on which a table is looked at, anonymized and downloaded.

    Example: shoal serve patients.csv

    Needs pip install 'shoal[web]'. The page talks to this machine only, and asks for the key that
    is part of the address printed here: it works once and for a minute, and Enter prints another.
    Files stay where they are; uploads and results are kept in a private folder that is removed at
    the end. A gzip file may unpack to a quarter of what other commands allow.
    """
    from shoal.base.memory import PAGE, limit_unpacked, most_unpacked
    from shoal.ext.web.serving import serve

    if max_unpacked is None:
        limit_unpacked(str(most_unpacked() // PAGE))

    serve(
        data, host=host, port=port, browser=not no_browser, limit=max_upload << 20, say=console.note
    )
