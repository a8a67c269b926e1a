"""Losses and processor times saved before a change, and compared after it.

The file is JSON: what was measured on (``settings``), and for each run its loss and its processor
seconds; a run that was refused has no loss.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

ROUNDING = 1e-9


@dataclass(frozen=True)
class Figure:
    """What one run gave: its loss and processor seconds, or why it was refused."""

    loss: float | None
    seconds: float
    refused: str = ""

    def __str__(self) -> str:
        if self.loss is None:
            return f"refused ({self.refused})"
        return f"{self.loss:.4f} ({self.seconds:.1f} s)"


def save(path: Path, settings: dict[str, object], figures: dict[str, Figure]) -> None:
    """Write the figures to a file, under the names of their runs."""
    runs = {name: asdict(figure) for name, figure in figures.items()}
    path.write_text(json.dumps({"settings": settings, "runs": runs}, indent=1) + "\n")


def load(path: Path, settings: dict[str, object]) -> dict[str, Figure]:
    """Read figures that were saved under the same settings; ValueError if they differ."""
    saved = json.loads(path.read_text())
    if saved["settings"] != settings:
        raise ValueError(f"{path} was saved with {saved['settings']}, this run has {settings}")
    return {name: Figure(**figure) for name, figure in saved["runs"].items()}


def compare(before: dict[str, Figure], after: dict[str, Figure]) -> tuple[list[str], list[str]]:
    """Return a table of what changed, and the runs that lose more or are refused now.

    Runs that only one side has are named and not compared.
    """
    lines = ["| run | loss before | after | seconds before | after | ratio |", "|---" * 6 + "|"]
    worse, same, ratios = [], 0, []
    for name in [name for name in after if name in before]:
        old, new = before[name], after[name]
        if (new.loss is None) > (old.loss is None) or _change(old, new) > ROUNDING:
            worse.append(f"{name}: {old} before, {new} now")
        if old.loss is None or new.loss is None:
            lines.append(f"| {name} | {old} | {new} | | | |")
            continue
        ratios.append(new.seconds / max(old.seconds, 1e-3))
        same += abs(_change(old, new)) <= ROUNDING
        lines.append(
            f"| {name} | {old.loss:.6f} | {new.loss:.6f} | {old.seconds:.2f} | {new.seconds:.2f} "
            f"| {ratios[-1]:.2f} |"
        )
    lines += ["", _summary(before, after, same, ratios)]
    for side, others, when in ((before, after, "before"), (after, before, "now")):
        lines += [f"Only {when}: {name}" for name in side if name not in others]
    return lines, worse


def _change(old: Figure, new: Figure) -> float:
    return 0.0 if old.loss is None or new.loss is None else new.loss - old.loss


def _summary(
    before: dict[str, Figure], after: dict[str, Figure], same: int, ratios: list[float]
) -> str:
    if not ratios:
        return "No run was measured both times."
    pairs = [(before[name], after[name]) for name in after if name in before]
    both = [(a, b) for a, b in pairs if a.loss is not None and b.loss is not None]
    return (
        f"{len(both)} runs: {same} with the same loss, "
        f"{sum(_change(a, b) < -ROUNDING for a, b in both)} lower, "
        f"{sum(_change(a, b) > ROUNDING for a, b in both)} higher; "
        f"mean loss {np.mean([a.loss for a, _ in both]):.6f} before, "
        f"{np.mean([b.loss for _, b in both]):.6f} now; processor seconds "
        f"{sum(a.seconds for a, _ in both):.1f} before, {sum(b.seconds for _, b in both):.1f} now, "
        f"median ratio {np.median(ratios):.2f}"
    )
