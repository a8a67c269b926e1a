"""The processes that another one started, as the system lists them."""

from __future__ import annotations

from pathlib import Path


def children(pid: int) -> list[int]:
    """Return who was started by a process, by any of its threads."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for listed in lists for word in listed.read_text().split()]


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
