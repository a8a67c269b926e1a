"""Draw docs/house.svg from the imports: the layers, how large they are, and what rests on what.

`python -m tools.draw_house` (part of `make docs`) renews the drawing; a test fails while it is out
of date.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

from tests.test_house import LAYERS, MODULES, graph, layer

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "house.svg"

_HIGH, _WIDE, _LEFT = 34, 560, 16
_STYLE = """\
<style>
  text { font: 13px system-ui, sans-serif; fill: #1c2b33; }
  .story { font-size: 11px; fill: #51636d; }
  rect { fill: #eef5f7; stroke: #b9cdd4; }
  path { fill: none; stroke: #2b7a94; stroke-opacity: .55; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6eef1; } .story { fill: #a8bac2; }
    rect { fill: #20313a; stroke: #3f5660; } path { stroke: #7cc4da; }
  }
</style>"""


def drawing() -> str:
    """Return the drawing: the ground layer at the bottom, an arc where a layer rests on another."""
    high = _HIGH * len(LAYERS) + 60
    marks = [_box(name, level) for level, name in enumerate(LAYERS)]
    marks += [_arc(above, below, many) for (above, below), many in sorted(_rests().items())]
    title = "The layers of Shoal: each imports only from those below it"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 {high}" role="img">',
            f"<title>{title}</title>",
            _STYLE,
            f'<text x="{_LEFT}" y="24">{title}; the thicker the arc, the more.</text>',
            *marks,
            "</svg>\n",
        ]
    )


def _top(level: int) -> int:
    return 40 + _HIGH * (len(LAYERS) - 1 - level)


def _box(name: str, level: int) -> str:
    modules = sum(layer(module) == name for module in graph())
    story = ast.get_docstring(ast.parse(MODULES[f"shoal.{name}"].read_text())) or ""
    y = _top(level)
    return (
        f'<rect x="{_LEFT}" y="{y}" width="{_WIDE}" height="{_HIGH - 6}" rx="4"/>'
        f'<text x="{_LEFT + 10}" y="{y + 18}">{name} ({modules})</text>'
        f'<text class="story" x="{_LEFT + 130}" y="{y + 18}">{escape(_short(story))}</text>'
    )


def _short(story: str) -> str:
    """Return the first line, cut where the box ends."""
    first = story.split("\n", maxsplit=1)[0].rstrip(".").replace("``", "")
    return first if len(first) <= 72 else first[:70].rsplit(" ", 1)[0] + " …"


def _rests() -> Counter[tuple[str, str]]:
    """Count the imports from each layer to each other one."""
    return Counter(
        (layer(module), layer(other))
        for module, others in graph().items()
        for other in others
        if layer(other) != layer(module)
    )


def _arc(above: str, below: str, many: int) -> str:
    start, end = (_top(LAYERS.index(name)) + _HIGH // 2 - 3 for name in (above, below))
    edge, reach = _LEFT + _WIDE, 20 + 14 * abs(LAYERS.index(above) - LAYERS.index(below))
    thick = 0.6 + min(many, 60) / 15
    return (
        f'<path d="M{edge} {start} C{edge + reach} {start} {edge + reach} {end} {edge} {end}" '
        f'stroke-width="{thick:.1f}"><title>{above} on {below}: {many}</title></path>'
    )


if __name__ == "__main__":
    TARGET.write_text(drawing())
