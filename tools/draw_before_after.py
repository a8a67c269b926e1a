"""Draw docs/before_after.svg: five made-up patients before they are anonymized, and after.

`python -m tools.draw_before_after` (part of `make docs`) makes the drawing again from the demo.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

import shoal
from shoal.tables import demo

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "before_after.svg"
QUASI = list(demo.QUASI)
K, L, SEED = 5, 3, 2**70 + 1

_WIDTHS = [72, 66, 62, 66, 82, 158, 202, 118]
_LEFT, _TOP, _LINE = 14, 54, 22
_STYLE = """\
<style>
  text { font: 13px system-ui, sans-serif; fill: #1c2b33; }
  .title { font-size: 14px; font-weight: 600; }
  .name { font-size: 12px; fill: #51636d; }
  .same { font-weight: 600; }
  .secret { fill: #a13d63; }
  rect { fill: #fbfdfe; stroke: #b9cdd4; }
  rect.same { fill: #e3f1f5; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6eef1; } .name { fill: #a8bac2; } .secret { fill: #f0a3c0; }
    rect { fill: #16232a; stroke: #3f5660; } rect.same { fill: #24414c; }
  }
</style>"""


def example() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a class of five patients as they were and as they are published, row by row.

    Of all such classes the first one that has one ``*``, one missing value and four diagnoses.
    """
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", shoal.ShoalWarning)
        plan = Path(folder) / "plan.toml"
        plan.write_text("[release]\nshuffle = false\n")  # so that rows can be put side by side
        table = shoal.open(
            demo.TABLE,
            identifier=list(demo.IDENTIFIER),
            quasi=QUASI,
            sensitive=list(demo.SENSITIVE),
            hierarchies=demo.HIERARCHIES,
            plan=plan,
        )
        published = table.anonymize(k=K, l=L, seed=SEED).frame
    original = table.frame.cast(pl.String)
    rows = published.with_row_index().with_columns(
        original.select(gaps=pl.sum_horizontal(pl.col(QUASI).is_null()))
    )
    classes = rows.group_by(QUASI, maintain_order=True).agg(
        pl.col("index"), pl.col("gaps").sum(), values=pl.col("diagnosis").drop_nulls().n_unique()
    )
    stars = pl.sum_horizontal(pl.col(QUASI) == "*")
    chosen = classes.filter(
        pl.col("index").list.len() == K, stars == 1, pl.col("gaps") == 1, pl.col("values") == L + 1
    )["index"][0].to_list()
    return original[chosen], published[chosen]


def drawing(before: pl.DataFrame, after: pl.DataFrame) -> str:
    """Return the two tables, one above the other; what the rows of the class share is marked."""
    step = _TOP + _LINE * (before.height + 1) + 18
    wide, high = sum(_WIDTHS) + 2 * _LEFT, 2 * step
    title = f"Before and after: {before.height} people who share all published values but one"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img">',
            f"<title>{title}</title>",
            _STYLE,
            *_table("before", "Before: five patients", before, 0),
            *_table(
                "after", f"After, with k = {K} and l = {L}: their rows look alike", after, step
            ),
            "</svg>\n",
        ]
    )


def _table(key: str, title: str, frame: pl.DataFrame, top: int) -> list[str]:
    wide, high = sum(_WIDTHS), _LINE * (frame.height + 1) + 12
    marks = [
        f'<g id="{key}">',
        f'<text class="title" x="{_LEFT}" y="{top + 26}">{escape(title)}</text>',
        f'<rect x="{_LEFT}" y="{top + 36}" width="{wide}" height="{high}" rx="4"/>',
    ]
    lefts = dict(zip(demo_columns(), _lefts(), strict=True))
    if key == "after":
        left, right = lefts[QUASI[0]], lefts["diagnosis"] - 10
        y, tall = top + 40 + _LINE, _LINE * frame.height + 4
        marks.append(
            f'<rect class="same" x="{left - 6}" y="{y}" width="{right - left}" height="{tall}"/>'
        )
    marks += [
        f'<text class="name" x="{lefts[name]}" y="{top + _TOP}">{name}</text>'
        for name in frame.columns
    ]
    for i, row in enumerate(frame.rows(), 1):
        for name, cell in zip(frame.columns, row, strict=True):
            kind = "secret" if name == "diagnosis" else "same" if key == "after" else "own"
            marks.append(
                f'<text class="{kind}" x="{lefts[name]}" y="{top + _TOP + _LINE * i}">'
                f"{escape('–' if cell is None else cell)}</text>"
            )
    return [*marks, "</g>"]


def demo_columns() -> list[str]:
    """Return the columns of the demo's table, in its order."""
    return [*demo.IDENTIFIER, *QUASI, *demo.SENSITIVE]


def _lefts() -> list[int]:
    return [_LEFT + 12 + sum(_WIDTHS[:i]) for i in range(len(_WIDTHS))]


if __name__ == "__main__":
    TARGET.write_text(drawing(*example()))
