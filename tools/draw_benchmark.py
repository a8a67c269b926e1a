"""Draw docs/benchmark.svg: information loss against seconds, of all tools in the README's table.

`python -m tools.draw_benchmark` (part of `make docs`) draws it again after the table has changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from shoal.show.charts.paper import Chart
from shoal.show.charts.plane import Point, scatter

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "benchmark.svg"
ROW = r"^\| ([^|]+?) \| \**([\d.]+)\** \| \**\d+ MB\** \| \**([\d.]+) %\** \|"


def chart() -> Chart:
    """Return the chart of the rows that have both figures."""
    rows = re.findall(ROW, (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    points = [
        Point(
            float(seconds),
            float(loss) / 100,
            name.replace("`", ""),
            group=re.split("[ ,]", name)[0],
        )
        for name, seconds, loss in rows
    ]
    title = "Adult, k = 10: information loss and time of each tool"
    return scatter(
        title,
        points,
        x="seconds",
        y="information loss",
        x_form="seconds",
        y_form="share",
        log_x=True,
    )


if __name__ == "__main__":
    chart().save(TARGET, force=True)
