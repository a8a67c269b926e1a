"""Estimated counts as a picture: the share of each sensitive value, with its interval."""

from __future__ import annotations

import numpy as np

from shoal.releases.base import Counts
from shoal.show.charts.paper import Chart
from shoal.show.charts.rows import intervals

_GROUPS, _ROWS = 10, 60  # more cannot be told apart


def estimates_chart(counts: Counts) -> Chart:
    """Draw the shares of the most frequent values, a row for each category combination."""
    groups = np.sort(np.argsort(-counts.rows, kind="stable")[:_GROUPS])
    most = min(12, _ROWS // max(1, groups.size))
    values = np.argsort(-counts.count.sum(axis=0), kind="stable")[:most]
    rows = [(value, group) for value in values for group in groups]
    size = np.maximum(counts.rows, 1e-300)
    share, low, high = (
        [float(numbers[group, value] / size[group]) for value, group in rows]
        for numbers in (counts.count, counts.low, counts.high)
    )
    labels = [", ".join((counts.values[value], *counts.labels[group])) for value, group in rows]
    by = f" by {', '.join(counts.by)}" if counts.by else ""
    return intervals(
        f"Share of {counts.of}{by}",
        labels,
        share,
        low,
        high,
        form="share",
        name="share",
        of=", ".join((counts.of, *counts.by)),
    )
