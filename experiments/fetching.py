"""Adult from the UCI archive, taken only if it is the very file that is expected."""

from __future__ import annotations

import hashlib
import io
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from experiments.sources import COLUMNS
from shoal.base.atomic import atomic_file
from shoal.base.errors import InputError, OutputError

ARCHIVE = "https://archive.ics.uci.edu/static/public/2/adult.zip"
# Of the two files inside: the archive around them may be packed anew. Both digests were found again
# by writing the 32,561 and 16,281 rows of a known copy the way the archive writes them.
MEMBERS = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
# Of the table written from them, which is what the experiments read.
TABLE = "ce5feb731adaef81b15c3dc42dbe982fec8f47700711d60760bc752b4079bf9e"
LARGEST = 20_000_000


def fetch_adult(folder: Path, tell: Callable[[str], object], url: str = ARCHIVE) -> Path:
    """Return Adult as one CSV file in ``folder``, fetched unless it is there already."""
    target = folder / "adult.csv"
    if target.is_file() and _digest(target.read_bytes()) == TABLE:
        return target
    tell(f"Fetching Adult from {url}")
    text = table(_download(url))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise OutputError(
            f"Adult cannot be kept in {folder}: {fault.strerror}. Choose another folder with "
            "--cache."
        ) from fault
    with atomic_file(target, force=True) as stream:
        stream.write(text)
    return target


def table(archive: bytes) -> bytes:
    """Turn the archive into one CSV: a header, both parts, empty cells for what is missing."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            parts = {name: packed.read(name) for name in MEMBERS}
    except (zipfile.BadZipFile, KeyError) as fault:
        raise InputError(
            f"What the UCI archive sent does not hold {' and '.join(MEMBERS)} ({fault}). Get the "
            "files by hand, join them under a header, and give them with --data adult.csv."
        ) from None
    for name, part in parts.items():
        if (got := _digest(part)) != MEMBERS[name]:
            raise InputError(
                f"{name} of the UCI archive has the SHA-256 {got}, expected was {MEMBERS[name]}: "
                "it is another file than the one that the figures are about, and was not used. "
                "Give a table of your own with --data adult.csv."
            )
    rows = [",".join(COLUMNS)]
    for name, part in parts.items():
        for line in part.decode("ascii").splitlines():
            if not line or line.startswith("|"):
                continue
            # Only the labels of adult.test end with a full stop.
            cells = line.removesuffix("." if name == "adult.test" else "").split(", ")
            rows.append(",".join("" if cell == "?" else cell for cell in cells))
    return ("\n".join(rows) + "\n").encode("ascii")


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 -- a constant of ours
            found: bytes = answer.read(LARGEST + 1)
    except (urllib.error.URLError, TimeoutError, OSError) as fault:
        reason = getattr(fault, "reason", fault)
        raise InputError(
            f"Adult cannot be fetched from {url}: {reason}. Without internet, give the table with "
            "--data adult.csv."
        ) from None
    if len(found) > LARGEST:
        raise InputError(
            f"What {url} sent is larger than {LARGEST:,} bytes, which Adult is not; it was not "
            "used. Give the table with --data adult.csv."
        )
    return found


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
