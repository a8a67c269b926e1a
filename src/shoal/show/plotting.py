"""A picture of estimates: grouped bars with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from shoal.base.errors import MissingExtra, OutputError
from shoal.releases.base import Counts

FORMATS = (".svg", ".png", ".pdf")
_VALUES, _GROUPS = 12, 10  # more cannot be told apart


def check_plot(path: Path) -> str:
    """Return the format that the name asks for, or say why there can be no picture."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise OutputError(
            f"Cannot tell the format of the plot {path} from its name. Let it end in one of "
            f"{', '.join(FORMATS)}."
        )
    return suffix[1:]


def check_library() -> None:
    """Refuse to draw without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "Drawing needs matplotlib, which is not installed. Install it with: "
            "pip install 'shoal[plot]'. The estimates themselves need nothing more."
        ) from None


def plot(counts: Counts, stream: IO[bytes], form: str = "svg") -> None:
    """Draw the shares of the most frequent values, a group of bars each, a bar per combination."""
    check_library()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = np.maximum(counts.rows, 1e-300)[:, None]
    groups = np.argsort(-counts.rows, kind="stable")[:_GROUPS]
    groups.sort()
    top = np.argsort(-counts.count.sum(axis=0), kind="stable")[:_VALUES]
    figure = Figure(figsize=(max(6.0, 0.9 * top.size), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    width = 0.8 / groups.size
    for place, group in enumerate(groups):
        share, low, high = (
            (each / size)[group, top] for each in (counts.count, counts.low, counts.high)
        )
        axes.bar(
            np.arange(top.size) + (place - (groups.size - 1) / 2) * width,
            share,
            width,
            yerr=np.maximum([share - low, high - share], 0.0),
            capsize=2,
            label=", ".join(counts.labels[group]) or "all rows",
        )
    axes.set_xticks(np.arange(top.size), [counts.values[j] for j in top], rotation=30, ha="right")
    axes.set_ylabel(f"share of {counts.of}")
    axes.legend(title=", ".join(counts.by) or None, fontsize="small")
    # No date inside, so that equal estimates make equal files.
    metadata = {"Date": None} if form == "svg" else {}
    figure.savefig(stream, format=form, metadata=metadata)
