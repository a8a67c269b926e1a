"""Figures: the numbers in them, all shapes of release, and that rare values are not named."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.base.errors import ParameterError, SchemaError
from shoal.base.roles import Kind
from shoal.show.figures.bins import as_points, make_bins
from shoal.show.figures.column_values import read_column
from shoal.show.figures.plots import size_bins

ROWS = 400


def people(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    job = rng.choice(["baker", "clerk", "judge", "nurse"], rows, p=[0.5, 0.3, 0.15, 0.05]).tolist()
    town = rng.choice([f"town{i}" for i in range(6)], rows).astype(object)
    town[rng.random(rows) < 0.1] = None
    job[:2] = ["UNIQUEJOB"] * 2
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "town": pl.Series(town.tolist(), dtype=pl.String),
            "job": job,
            "born": [
                dt.date(1990, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 900, rows)
            ],
            "illness": rng.choice(["flu", "cold", "gout", "ache"], rows),
        }
    )


QUASI = ["age", "town", "job", "born"]


def outcome(method="kaim", **more):
    rules = {"dummies": [shoal.LDiversity(2, "illness")], "anatomy": None}
    if method == "anatomy":
        more = {"rules": [shoal.FrequencyLDiversity(2, "illness")], **more}
    elif method == "dummies":
        more = {"rules": rules["dummies"], **more}
    else:
        more = {"k": 6, **more}
    with pytest.warns(shoal.ShoalWarning) if method in ("dummies", "anatomy") else nothing():
        made = shoal.anonymize(
            people(), quasi=QUASI, sensitive="illness", method=method, seed=3, **more
        )
    return made.with_original(people())


class nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture(scope="module")
def made():
    return {
        "generalized": outcome(),
        "typed": outcome(typed=True),
        "dummies": outcome("dummies"),
        "anatomized": outcome("anatomy"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["generalized", "typed", "dummies", "anatomized"])
def test_every_figure_can_be_drawn_for_every_shape(made, shape):
    plot = made[shape].plot
    assert plot.subject.opened.shape.name == ("generalized" if shape == "typed" else shape)
    for chart in (plot.loss(), plot.classes(), plot.missing(), plot.risk(), plot.belief()):
        assert chart.svg.startswith("<svg")
        assert chart.table.height
    for name in [*QUASI, "illness"]:
        found = plot.compared(name)
        assert found.after.sum() == pytest.approx(1.0)
        assert found.before.sum() == pytest.approx(1.0)
        assert 0 <= found.distance <= 1
        assert plot.distribution(name).title == name


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["generalized", "typed", "dummies", "anatomized"])
def test_without_the_original_nothing_of_before_is_left(made, shape):
    plot = type(made[shape].plot)(made[shape].subject.public())
    for name in [*QUASI, "illness"]:
        assert plot.compared(name).before is None
    assert plot.missing().table.columns == ["column", "cells that say nothing"]
    assert plot.risks()[0] is None
    assert plot.gaps()["before"].null_count() == 5
    with pytest.raises(ParameterError, match="compares with the original, which is not at hand"):
        plot.loss()


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["generalized", "typed", "dummies", "anatomized"])
def test_a_value_of_few_rows_is_never_named(made, shape):
    plot = made[shape].plot
    told = "".join(plot.distribution(name).html() for name in [*QUASI, "illness"])
    assert "UNIQUEJOB" not in told
    assert "all others" in told


def test_typed_and_text_releases_say_the_same(made):
    for name in QUASI:
        a, b = (made[each].plot.compared(name) for each in ("generalized", "typed"))
        assert a.labels == b.labels
        assert a.after == pytest.approx(b.after)


def test_cells_are_shared_out_evenly_over_what_they_cover():
    frame = pl.DataFrame({"x": ["1", "[1-4]", "*", "3"], "y": ["{a, b}", "a", "*", "b"]})
    subject = outcome_subject(frame)
    x, y = read_column(subject.opened, "x"), read_column(subject.opened, "y")
    assert x.values.to_list() == [1, 2, 3, 4]
    assert x.weight == pytest.approx([1.5, 0.5, 1.5, 0.5])
    assert (x.exact, x.wide, x.silent) == (0.5, 0.25, 0.25)
    assert x.named.tolist() == [True, False, True, False]
    assert dict(zip(y.values, y.weight, strict=True)) == pytest.approx({"a": 2.0, "b": 2.0})


def outcome_subject(frame, **kinds):
    from shoal.base.roles import Role
    from shoal.releases.opened import Opened
    from shoal.show.figures.subject import Subject
    from shoal.tables.schema import Column

    columns = [
        Column(name, Role.QUASI, kinds.get(name, Kind.SET), order=kinds.get(f"{name}_order", ()))
        for name in frame.columns
    ]
    return Subject(Opened({"release": frame}, tuple(columns)))


def test_listed_orders_and_moments_are_read_too():
    frame = pl.DataFrame(
        {
            "size": ["[small-medium]", "large", "*"],
            "seen": ["[2020-01-01 10:00:00-2020-01-03 11:30:00]", "2020-01-02 09:00:00", "*"],
        }
    )
    subject = outcome_subject(
        frame, size=Kind.ORDERED, size_order=("small", "medium", "large"), seen=Kind.ORDERED
    )
    size, seen = read_column(subject.opened, "size"), read_column(subject.opened, "seen")
    assert size.values.to_list() == ["small", "medium", "large"]
    assert size.weight == pytest.approx([0.5 + 1 / 3, 0.5 + 1 / 3, 1 + 1 / 3])
    assert seen.values.to_list() == [dt.date(2020, 1, day) for day in (1, 2, 3)]
    assert seen.weight.sum() == pytest.approx(3.0)


def test_cells_of_another_program_are_taken_as_they_stand():
    subject = outcome_subject(pl.DataFrame({"x": ["[20, 30[", "[20, 30[", "[30, 40[", "*"]}))
    found = read_column(subject.opened, "x")
    assert not found.readable
    assert dict(zip(found.values, found.weight, strict=True)) == {"[20, 30[": 2.0, "[30, 40[": 1.0}


@pytest.mark.slow
@given(
    st.lists(st.integers(-50, 300), min_size=1, max_size=200),
    st.integers(2, 20),
    st.booleans(),
)
def test_no_bin_of_the_original_holds_a_few_rows_only(points, crowd, days):
    kind = pl.Date if days else pl.Int64
    values = pl.Series(sorted(set(points)), dtype=pl.Int32).cast(kind)
    places, counts = np.unique(np.array(points, float), return_counts=True)
    bins = make_bins(values, (places, counts.astype(float)), crowd)
    held = bins.count(places, counts.astype(float))
    assert held.sum() == len(points)
    assert len(bins.labels) == bins.edges.size - 1 <= 26
    assert len(set(bins.labels)) == len(bins.labels)
    if len(points) >= crowd:
        assert not ((held > 0) & (held < crowd)).any()
    assert bins.edges[0] <= as_points(values)[0]
    assert bins.edges[-1] > as_points(values)[-1]


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=50))
def test_every_class_is_counted_once_by_its_size(sizes):
    labels, counts = size_bins(np.array(sizes))
    assert sum(counts) == len(sizes)
    assert len(labels) == len(counts) == len(set(labels)) <= 15


def test_a_release_of_stars_says_so():
    frame = pl.DataFrame({"x": ["a", "b", "c", None]})
    made = shoal.anonymize(frame, quasi=["x"], k=4, method="kaim").with_original(frame)
    chart = made.plot.distribution("x")
    assert chart.text == (
        "No cell of this column says anything: all are *, or the top of its hierarchy."
    )
    assert made.plot.missing().table.row(0) == ("x", 0.25, 1.0)


def test_unknown_columns_and_no_sensitive_column_are_refused(made):
    with pytest.raises(
        SchemaError, match=r"no published column 'agee' to draw\. Did you mean 'age'"
    ):
        made["typed"].plot.distribution("agee")
    plain = shoal.anonymize(people(rows=60), quasi=["age"], k=3, method="kaim")
    with pytest.raises(SchemaError, match="no sensitive column, so there is no belief"):
        plain.plot.belief()


def test_the_outcome_shows_itself_without_a_row_of_the_table(made):
    shown = made["generalized"]._repr_html_()
    assert "✓ The promise is kept" in shown
    assert "every class has at least 6 rows (k-anonymity)" in shown
    assert "Information lost by column" in shown
    assert "UNIQUEJOB" not in shown
    assert "town1" not in shown


def test_the_original_stays_out_of_texts_and_figures(made):
    run = made["generalized"]
    assert run.original is not None
    assert "UNIQUEJOB" not in repr(run)
    assert "UNIQUEJOB" not in run.to_json()
