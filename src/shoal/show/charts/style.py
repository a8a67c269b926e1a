"""How charts look: colours as variables, for light and dark screens and for grey paper.

Neighbouring series differ in lightness too, and never by colour alone: bars before are hatched,
lines have dashes and markers of their own.
"""

from __future__ import annotations

_LIGHT = """
  --ink: #18212c; --muted: #556171; --axis: #97a3b0; --grid: #e4e9ee; --surface: #ffffff;
  --after: #1d5b8f; --before: #c3ccd6; --before-line: #6c7986; --soft: #cfe0ee;
  --s1: #1d5b8f; --s2: #d9861c; --s3: #178273; --s4: #8d4a9c; --s5: #a8434f; --s6: #5f6b78;
  --good: #1e7a4c; --bad: #b3261e; --mark: #b3261e;"""

_DARK = """
  --ink: #e7ecf2; --muted: #a5b1bf; --axis: #64717f; --grid: #29333f; --surface: #151b23;
  --after: #6cb2ea; --before: #3d4956; --before-line: #93a1b0; --soft: #24435d;
  --s1: #6cb2ea; --s2: #f0b356; --s3: #55c9b5; --s4: #cf9be0; --s5: #f09199; --s6: #aab4bf;
  --good: #67cf98; --bad: #ff8a80; --mark: #ff8a80;"""

THEME = f"""
:root {{{_LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{{_DARK} }} }}
"""

CSS = f"""
.shoal-chart {{{_LIGHT}
  display: block; max-width: 100%; height: auto; background: var(--surface);
  font-family: "Inter", "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums; }}
@media screen and (prefers-color-scheme: dark) {{ .shoal-chart {{{_DARK} }} }}
.shoal-chart text {{ fill: var(--ink); font-size: 12.5px; }}
.shoal-chart .head {{ font-size: 15px; font-weight: 600; }}
.shoal-chart .small, .shoal-chart .tick {{ font-size: 11.5px; fill: var(--muted); }}
.shoal-chart .grid {{ stroke: var(--grid); stroke-width: 1; }}
.shoal-chart .axis {{ stroke: var(--axis); stroke-width: 1; }}
.shoal-chart .after {{ fill: var(--after); }}
.shoal-chart .before {{ stroke: var(--before-line); stroke-width: 1; }}
.shoal-chart .hatch-ground {{ fill: var(--before); fill-opacity: .45; }}
.shoal-chart .hatch-line {{ stroke: var(--before-line); stroke-width: 1; stroke-opacity: .75; }}
.shoal-chart .outline {{ fill: none; stroke: var(--after); stroke-width: 2.25; }}
.shoal-chart .wash {{ fill: var(--after); fill-opacity: .14; stroke: none; }}
.shoal-chart .line {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
.shoal-chart .halo {{ paint-order: stroke; stroke: var(--surface); stroke-width: 4px;
  stroke-linejoin: round; }}
.shoal-chart .whisker {{ stroke: var(--ink); stroke-width: 1.5; fill: none; }}
.shoal-chart .mark {{ stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 5 3; }}
.shoal-chart .mark-label {{ fill: var(--mark); font-size: 11.5px; font-weight: 600; }}
.shoal-chart .frontier {{ fill: none; stroke: var(--axis); stroke-width: 1.5; stroke-dasharray: 1 4;
  stroke-linecap: round; }}
.shoal-chart .ring {{ fill: none; stroke: var(--mark); stroke-width: 2.25; }}
.shoal-chart .hollow {{ fill: var(--surface); stroke: var(--muted); stroke-width: 1.75; }}
.shoal-chart .solid {{ fill: var(--muted); stroke: var(--surface); stroke-width: .75; }}
.shoal-chart a {{ cursor: pointer; }}
.shoal-chart a:focus-visible {{ outline: 2px solid var(--mark); }}
""" + "".join(
    f".shoal-chart .s{i} {{ stroke: var(--s{i}); fill: var(--s{i}); }}\n"
    f".shoal-chart .line.s{i} {{ fill: none; }}\n"
    f".shoal-chart .band.s{i} {{ stroke: none; fill-opacity: .16; }}\n"
    for i in range(1, 7)
)

FIGURE_CSS = """
.shoal-figure { margin: 0; font-family: "Inter", "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
.shoal-figure figcaption { font-size: 13px; line-height: 1.45; opacity: .85; margin: .2em 0 .4em; }
.shoal-figure details { font-size: 12.5px; }
.shoal-figure summary { cursor: pointer; opacity: .75; }
.shoal-figure .numbers { max-height: 22em; overflow: auto; }
.shoal-figure table { border-collapse: collapse; margin: .4em 0; }
.shoal-figure th, .shoal-figure td { padding: .15em .9em .15em 0; text-align: left;
  border-bottom: 1px solid rgba(128, 140, 152, .3); overflow-wrap: anywhere; }
.shoal-figure .num { text-align: right; font-variant-numeric: tabular-nums; }
"""
