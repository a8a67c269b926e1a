"""Charts as pieces of SVG, made by hand: no script, no library, the same bytes every time."""

from shoal.show.charts.columns import histogram
from shoal.show.charts.paper import WIDTH, Chart, check_picture
from shoal.show.charts.plane import Point, best_of, scatter
from shoal.show.charts.rows import bars, intervals
from shoal.show.charts.style import CSS, FIGURE_CSS

__all__ = [
    "CSS",
    "FIGURE_CSS",
    "WIDTH",
    "Chart",
    "Point",
    "bars",
    "best_of",
    "check_picture",
    "histogram",
    "intervals",
    "scatter",
]
