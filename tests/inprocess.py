"""The command line in this process, which spares seconds of loading for every command."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest import mock


def shoal(folder: Path, *words: str | Path, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder as the real one would run there without a terminal."""
    from shoal.cli.app import run

    return called(run, folder, *words, columns=columns)


def called(
    run: Callable[[], int], folder: Path, *words: str | Path, columns: int = 80
) -> subprocess.CompletedProcess[str]:
    """Run the function behind a command."""
    texts = [str(word) for word in words]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["shoal", *texts]),
        mock.patch.dict(os.environ, {"COLUMNS": str(columns)}),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.resetwarnings()
        os.environ.pop("FORCE_COLOR", None)
        try:
            code = run()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(texts, code, _said(out), _said(err))


def _said(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
