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
        "File with the key of the pseudonyms, readable by you only (chmod 600). The same key "
        "gives the same pseudonyms. Without it, a new key is used once and not stored.",
    ),
]
History = Annotated[
    Path | None,
    flag(
        "--history",
        "FOLDER",
        "Folder with the history of earlier releases of the same people, needed for --m. An empty "
        "folder starts a series. With --method dummies, every person keeps the same set of values. "
        "The history is as sensitive as the table: never publish it.",
    ),
]
HistoryKey = Annotated[
    Path | None,
    flag(
        "--history-key",
        "FILE",
        "File with the key that encrypts the history, readable by you only (chmod 600). Or set "
        "SHOAL_HISTORY_KEY_FILE to the file, or SHOAL_HISTORY_KEY to the key. Needs shoal[crypt].",
    ),
]
Against = Annotated[
    list[str] | None,
    flag(
        "--against",
        "DATA",
        "Earlier release of the same people; may be repeated. With --history it must be one of "
        "its releases; without it, the rules must hold for someone who has all these releases.",
    ),
]
