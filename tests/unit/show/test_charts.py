"""Charts: what is in them, that nothing overlaps, and that data stays data."""

import re
import xml.etree.ElementTree as ET

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.lines import Line, lines
from shoal.base.errors import OutputError, ParameterError
from shoal.show.charts.columns import histogram
from shoal.show.charts.paper import Chart
from shoal.show.charts.plane import Point, best_of, scatter
from shoal.show.charts.rows import bars, intervals
from shoal.show.charts.scales import scale
from shoal.show.charts.style import CSS
from shoal.show.charts.words import fit, format_number, tick, width

NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b",
    "x" * 300,
    "😀🏳️‍🌈",
    "نص عربي",
    "\u202eevil\u202c",
    "nul\x00bell\x07",
    "line\nbreak",
    "]]>",
    "{{ 7 * 7 }}",
]
EVERY = {
    "bars": lambda names: bars(names[0], names, range(len(names)), name=names[1], of=names[2]),
    "bars with before": lambda names: bars(
        names[0], names, range(len(names)), before=range(len(names)), name=names[1]
    ),
    "histogram": lambda names: histogram(
        names[0], range(len(names)), names, before=range(len(names)), x=names[1], y=names[2]
    ),
    "lines": lambda names: lines(
        names[0], [Line(name, [1, 2], [3, 4]) for name in names], x=names[1], y=names[1]
    ),
    "scatter": lambda names: scatter(
        names[0],
        [Point(i + 1, i + 1, name, name, strong=i == 0) for i, name in enumerate(names)],
        x=names[1],
        y=names[2],
    ),
    "intervals": lambda names: intervals(
        names[0], names, *[range(len(names))] * 3, name=names[1], others={names[2]: [0.0] * 11}
    ),
}
NUMBERS = st.lists(st.floats(0, 1e9), min_size=1, max_size=12)


def parsed(chart: Chart) -> ET.Element:
    return ET.fromstring(chart.svg)


@pytest.mark.parametrize("kind", EVERY)
def test_whatever_the_data_says_it_is_a_text_and_never_a_tag(kind):
    chart = EVERY[kind](NASTY)
    allowed = {"svg", "title", "desc", "defs", "pattern", "rect", "line", "text", "g"}
    allowed |= {"polyline", "polygon", "circle", "path"}
    tree = parsed(chart)
    assert {element.tag for element in tree.iter()} <= allowed
    for element in tree.iter():
        # Pages that forbid inline styles show charts too.
        assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
    assert "<script" not in chart.html()
    assert "<img" not in chart.html()
    assert not re.search("[\u202a-\u202e\x00\x07]", chart.html())


@pytest.mark.parametrize("kind", EVERY)
def test_the_same_numbers_make_the_same_bytes_and_other_numbers_another_name(kind):
    names = [f"n{i}" for i in range(11)]
    assert EVERY[kind](names).svg == EVERY[kind](list(names)).svg
    assert EVERY[kind](names).id != EVERY[kind](names[::-1]).id


@pytest.mark.parametrize("kind", EVERY)
def test_every_chart_says_what_it_shows(kind):
    chart = EVERY[kind]([f"name {i}" for i in range(11)])
    tree = parsed(chart)
    assert tree.attrib["role"] == "img"
    spoken = [tree.find(f".//*[@id='{name}']") for name in tree.attrib["aria-labelledby"].split()]
    assert [element.tag for element in spoken] == ["title", "desc"]
    assert spoken[0].text == chart.title == "name 0"
    assert spoken[1].text == chart.text
    assert "name" in chart.text
    assert chart.table.height == (22 if kind == "lines" else 11)
    assert "<table>" in chart.html()


def test_two_equal_charts_on_one_page_keep_their_ids_apart():
    chart = EVERY["bars with before"](["a"] * 3)
    found = re.findall(r' id="([^"]+)"', chart.html("1") + chart.html("2") + chart.html())
    assert len(found) == len(set(found)) == 12
    used = set(re.findall(r"url\(#([^)]+)\)", chart.html("1")))
    assert used <= set(found)


@given(st.text(max_size=60), st.floats(10, 300))
def test_a_text_that_was_cut_fits_its_room(text, room):
    assert width(fit(text, room, 12), 12) <= max(room, width("…", 12))


@given(NUMBERS, st.booleans())
def test_an_axis_holds_every_number_between_its_ends(values, zero):
    axis = scale(values, 10, 110, zero=zero)
    assert all(9.999 <= axis(value) <= 110.001 for value in values)
    assert axis.low <= min(values) * (1 + 1e-6)
    assert axis.high >= max(values) * (1 - 1e-6)
    assert 2 <= len(axis.ticks) <= 9
    said = [axis.label(value, "plain") for value in axis.ticks]
    assert len(set(said)) == len(said) or max(values) > 1e8


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=9))
def test_a_logarithmic_axis_holds_every_number(values):
    axis = scale(values, 0, 100, log=True)
    assert axis.low <= min(values) * 1.000001
    assert axis.high >= max(values) * 0.999999
    assert all(-1e-6 <= axis(value) <= 100 + 1e-6 for value in values)


def test_a_logarithmic_axis_refuses_what_it_cannot_show():
    with pytest.raises(ParameterError, match=r"axis of 'loss' cannot show 0: .* above 0"):
        lines("t", [Line("a", [1], [0])], x="k", y="loss", log_y=True)


def test_numbers_are_said_for_people():
    assert format_number(0.1234, "share") == "12.3 %"
    assert format_number(0.99999, "share") == "99.999 %"
    assert format_number(0.00004, "share") == "< 0.01 %"
    assert format_number(1.0, "share") == "100 %"
    assert format_number(48842, "count") == "48,842"
    assert format_number(2.25, "count") == "2.2"
    assert format_number(None) == "–"
    assert format_number(float("inf")) == "∞"
    assert tick(0.25, "share", 0.05) == "25 %"
    assert tick(2.5, "plain", 2.5) == "2.5"
    with pytest.raises(ParameterError, match=r"as 'euro'\. Allowed are 'count', 'share'"):
        format_number(1.0, "euro")


def rectangles(chart, cls):
    return [
        {key: float(value) for key, value in element.attrib.items() if key in ("x", "y", "width")}
        for element in parsed(chart).iter("rect")
        if element.attrib.get("class") == cls and "fill" not in element.attrib
    ]


@given(NUMBERS)
def test_bars_are_as_long_as_their_numbers(values):
    found = rectangles(bars("t", [f"b{i}" for i in range(len(values))], values), "after")
    top = max(values)
    longest = max(bar["width"] for bar in found)
    for value, bar in zip(values, found, strict=True):
        if top > 0 and value / top > 0.02:
            assert bar["width"] / longest == pytest.approx(value / top, abs=0.01)


def boxes(chart):
    """Where the texts of a chart stand, by our own measure."""
    found = []
    for element in parsed(chart).iter("text"):
        text = "".join(element.itertext()) if element.find("title") is None else ""
        text = text or (element.find("title").tail or "")
        size = {"head": 15.0, "tick": 11.5, "small": 11.5, "mark-label": 11.5}
        wide = width(text, size.get(element.attrib.get("class", ""), 12.5))
        shift = {"end": 1.0, "middle": 0.5}.get(element.attrib.get("text-anchor", ""), 0.0)
        x, y = float(element.attrib["x"]) - shift * wide, float(element.attrib["y"])
        found.append((x, y - 9, x + wide, y + 2, text))
    return found


@pytest.mark.parametrize("kind", ["bars", "histogram", "scatter", "intervals"])
def test_no_label_overlaps_another_or_leaves_the_paper(kind):
    names = [f"a rather long name of a value, number {i} of them" for i in range(11)]
    found = boxes(EVERY[kind](names))
    inside = [box for box in found if "translate" not in box[4]]
    for i, a in enumerate(inside):
        assert a[0] >= -1, a
        assert a[2] <= 721, a
        for b in inside[i + 1 :]:
            apart = a[2] <= b[0] + 2 or b[2] <= a[0] + 2 or a[3] <= b[1] or b[3] <= a[1]
            assert apart, (a, b)


def test_a_histogram_draws_what_was_before_behind_what_is_after():
    chart = histogram("age", [5, 3], ["0-9", "10-19"], before=[4, 4], x="years")
    assert chart.table.columns == ["years", "before", "after"]
    assert chart.table["years"].to_list() == ["0-9", "10-19"]
    assert 'class="outline"' in chart.svg
    assert f"url(#{chart.id}-hatch)" in chart.svg
    assert chart.text == "The largest difference is at 0-9: before 4, after 5."


def test_the_frontier_joins_what_nothing_else_beats():
    points = [Point(1, 5, "a"), Point(2, 5, "b"), Point(2, 3, "c"), Point(4, 1, "d")]
    assert best_of(points) == {0, 2, 3}
    chart = scatter("t", points, x="risk", y="loss")
    assert chart.table["on the frontier"].to_list() == ["yes", "", "yes", "yes"]
    assert "not beaten by any other: a, c, d." in chart.text


def test_points_can_be_links_but_never_scripts():
    chart = scatter("t", [Point(1, 1, "a", href="#a")], x="x", y="y")
    link = parsed(chart).find(".//a")
    assert link.attrib["href"] == "#a"
    with pytest.raises(ParameterError, match="link 'javascript:alert"):
        scatter("t", [Point(1, 1, "a", href="javascript:alert(1)")], x="x", y="y")


def test_numbers_and_labels_must_go_together():
    with pytest.raises(ParameterError, match="labels 1, values 2: give each the same number"):
        bars("t", ["a"], [1, 2])


def test_a_chart_is_saved_with_its_style_and_read_by_any_program(tmp_path):
    chart = bars("Loss", ["a"], [0.5])
    chart.save(tmp_path / "x.svg")
    tree = ET.parse(tmp_path / "x.svg").getroot()
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    assert tree.find("{http://www.w3.org/2000/svg}style").text == CSS
    with pytest.raises(OutputError, match="already exists"):
        chart.save(tmp_path / "x.svg")
    with pytest.raises(OutputError, match=r"does not end in \.svg or \.html\. For PNG, write"):
        chart.save(tmp_path / "x.png")
    chart.save(tmp_path / "x.html")
    assert chart.html() in (tmp_path / "x.html").read_text()
    assert "<style>" in chart._repr_html_()


def test_nothing_at_all_is_still_a_chart():
    assert bars("t", [], []).text == "There is nothing to show."
    assert lines("t", [], x="a", y="b").table.height == 0
    assert scatter("t", [], x="a", y="b").table.height == 0
    assert histogram("t", [], []).table.schema["bin"] == pl.String
