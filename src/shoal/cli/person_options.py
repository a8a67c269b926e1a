"""Options of pseudonyms, histories and earlier releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from shoal.cli.options import flag

PseudonymKey = Annotated[
    Path | None,
    flag(
        "--pseudonym-key",
        "FILE",
        "A file with the key of the pseudonyms that only you can read (chmod 600): the same key "
        "gives the same pseudonyms. Without it a key is made and forgotten.",
    ),
]
History = Annotated[
    Path | None,
    flag(
        "--history",
        "FOLDER",
        "What earlier releases published of whom, which --m needs; with --method dummies everybody "
        "keeps the same set of values. An empty folder begins a series. It is as sensitive as the "
        "table: keep it, and never publish it.",
    ),
]
HistoryKey = Annotated[
    Path | None,
    flag(
        "--history-key",
        "FILE",
        "A file with the key that encrypts the history, which only you can read (chmod 600); or "
        "set SHOAL_HISTORY_KEY_FILE to it, or SHOAL_HISTORY_KEY to the key. Needs shoal[crypt].",
    ),
]
Against = Annotated[
    list[str] | None,
    flag(
        "--against",
        "DATA",
        "An earlier release of the same people; repeat it for each. With --history it must be one "
        "of its releases; without, the promise must hold for somebody who has them all.",
    ),
]
