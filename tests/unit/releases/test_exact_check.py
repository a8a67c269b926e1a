"""What checks of dummy values and Anatomy find, from published tables alone and with the source."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from shoal.base.errors import InputError, ParameterError, SchemaError
from shoal.base.roles import Role
from shoal.plan.parts import ColumnPart
from shoal.plan.plan import Plan
from shoal.privacy import FrequencyLDiversity, KAnonymity, LDiversity
from shoal.releases.anatomy.check import check as check_tables
from shoal.releases.anatomy.check import plausible as plausible_tables
from shoal.releases.exact.check import plausible
from shoal.tables.original import Original
from shoal.tables.schema import declare
from tests.checking import verify_sets, verify_tables

SOURCE = pl.DataFrame({"q": [1, 2, 3, 4], "s": ["a", "b", "c", None]})
SETS = pl.DataFrame({"q": [1, 2, 3, 4], "s": [["a", "b"], ["a", "b"], ["b", "c"], ["a", "c"]]})
QIT = pl.DataFrame({"q": [1, 2, 3, 4], "group_id": [1, 1, 2, 2]})
ST = pl.DataFrame({"group_id": [1, 1, 2, 2], "s": ["a", "b", "c", None], "count": [1, 1, 1, 1]})


def source(order=(0, 1, 2, 3)):
    schema = declare(SOURCE, quasi=["q"], sensitive=["s"])
    return Original(SOURCE, schema, np.array(order, np.int64))


def sets(frame=SETS, l=2, src=None):  # noqa: E741
    return verify_sets(frame, ["q"], [LDiversity(l, "s")], src or source())


def tables(qit=QIT, st=ST, l=1, src=None):  # noqa: E741
    rules = [KAnonymity(2)] if l == 1 else [FrequencyLDiversity(l, "s")]
    return verify_tables(qit, st, ["q"], rules, src)


def test_an_honest_release_of_sets_passes():
    verdict = sets()
    assert verdict.holds, verdict.faults
    assert verdict.achieved == {"l": 2}
    assert (verdict.rows, verdict.classes) == (4, 4)
    kept = SETS.with_columns(s=pl.Series([["a", "b"], ["a", "b"], ["b", "c"], None]))
    assert sets(kept).holds


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([["a", "b"], ["a", "b"], ["a", "b"], ["a", "c"]], "1 sets of column 's' lack the true"),
        ([["b", "a"], ["a", "b"], ["b", "c"], ["a", "c"]], "1 sets of column 's' are not sorted"),
        ([["a", "a"], ["a", "b"], ["b", "c"], ["a", "c"]], "hold a value twice"),
        ([["a"], ["a", "b"], ["b", "c"], ["a", "c"]], "1 of 4 groups or sets break the promise"),
        ([None, ["a", "b"], ["b", "c"], ["a", "c"]], "1 sets of column 's' lack the true"),
    ],
)
def test_sets_that_are_wrong(cells, fault):
    verdict = sets(SETS.with_columns(s=pl.Series(cells)))
    assert not verdict.holds
    assert any(fault in each for each in verdict.faults), verdict.faults


def test_a_value_twice_adds_no_diversity():
    verdict = sets(SETS.with_columns(s=pl.Series([["a", "a"], ["a", "b"], ["b", "c"], ["a", "c"]])))
    assert verdict.achieved == {"l": 1}


def test_what_must_stay_as_it_was():
    changed = SETS.with_columns(q=pl.Series([1, 2, 3, 9]))
    assert "In column 'q' 1 cells differ from the source." in sets(changed).faults
    assert (
        "The release lacks the column 'q'."
        in verify_sets(SETS.rename({"q": "r"}), ["r"], [LDiversity(2, "s")], source()).faults
    )
    more = SETS.with_columns(name=pl.lit("x"))
    assert "The release has a column 'name' that should not be there." in sets(more).faults
    # Another order of rows is another source for each of them.
    assert not sets(src=source((1, 2, 0, 3))).holds


def test_two_tables_pass_and_fail():
    assert tables(l=2, st=ST.with_columns(s=pl.Series(["a", "b", "c", "a"]))).holds
    verdict = tables(l=2)
    # One known value in a group of two: its share of the known is 1.
    assert not verdict.holds
    assert verdict.achieved == {"frequency_l": 1.0}
    assert not tables().holds  # every row is alone in its quasi-identifiers
    few = ST.with_columns(count=pl.Series([1, 2, 1, 1]))
    assert any("another number of rows" in each for each in tables(st=few).faults)
    twice = ST.with_columns(s=pl.Series(["a", "a", "c", None]))
    assert any("lists a value of a class twice" in each for each in tables(st=twice).faults)
    wrong = ST.with_columns(s=pl.Series(["a", "c", "b", None]))
    assert any(
        "counts of the second table are wrong" in f for f in tables(st=wrong, src=source()).faults
    )
    assert not [f for f in tables(src=source()).faults if "classes break" not in f]


def test_bad_use():
    with pytest.raises(ParameterError, match="needs at least one rule"):
        verify_sets(SETS, ["q"], [])
    with pytest.raises(InputError, match="Column 's' holds no sets of values"):
        verify_sets(SOURCE, ["q"], [LDiversity(2, "s")])
    with pytest.raises(InputError, match="Anatomy publishes a table with the column 'group_id'"):
        verify_tables(SETS, ST, ["q"], [FrequencyLDiversity(2, "s")])
    with pytest.raises(InputError, match="no sensitive column 'z'"):
        verify_tables(QIT, ST, ["q"], [FrequencyLDiversity(2, "z")])


def test_an_original_in_another_order():
    mixed = SOURCE.reverse()
    assert plausible(SETS, mixed, ["q"], ["s"]) == []
    assert plausible_tables(QIT, ST, mixed, ["q"], "s") == []
    other = SOURCE.with_columns(q=pl.Series([1, 2, 3, 3]), s=pl.lit("a"))
    faults = plausible_tables(QIT, ST, other, ["q"], "s")
    assert "2 combinations of 'q'" in faults[0]
    assert "4 values of 's' are not counted" in faults[1]
    with pytest.raises(InputError, match="The original has no column 's'"):
        plausible(SETS, SOURCE.drop("s"), ["q"], ["s"])


def opened_tables(st=ST, sensitive="s"):
    from shoal.releases.open_release import declared_columns
    from shoal.releases.opened import Opened

    roles = {"q": "quasi", sensitive: "sensitive"}
    plan = Plan(columns={name: ColumnPart(role=Role(role)) for name, role in roles.items()})
    tables = {"release": QIT, "st": st}
    return Opened.from_tables(tables, declared_columns(plan, QIT), plan=plan)


def test_a_sensitive_column_that_the_second_table_lacks_is_refused():
    full = ST.with_columns(s=pl.Series(["a", "b", "c", "d"]))
    rules = [FrequencyLDiversity(2, "s")]
    assert check_tables(opened_tables(full), rules).holds
    for rule in (rules, [FrequencyLDiversity(2, "z")]):
        with pytest.raises(SchemaError, match="second table has no sensitive column 'z'; it has"):
            check_tables(opened_tables(full, "z"), rule)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"st": ST.drop("count")}, "Anatomy publishes a table"),
        ({"st": ST.drop("group_id")}, "Anatomy publishes a table"),
        ({"st": ST.with_columns(more=pl.col("s"))}, "Anatomy publishes a table"),
        ({"release": QIT.drop("group_id")}, "Anatomy publishes a table"),
        ({"st": ST.with_columns(pl.col("group_id").cast(pl.String))}, "cannot be compared"),
    ],
    ids=["no counts", "no classes", "two sensitive columns", "no groups", "other numbers"],
)
def test_tables_of_another_form_are_refused(change, fault):
    opened = opened_tables()
    other = replace(opened, tables={**opened.tables, **change})
    with pytest.raises(InputError, match=fault):
        check_tables(other, [FrequencyLDiversity(2, "s")])


def test_with_the_order_of_the_rows_a_cell_is_told_once():
    st = ST.with_columns(s=pl.Series(["a", "b", "c", "a"]))
    src = SOURCE.with_columns(s=st["s"], q=pl.Series([1, 2, 3, 9]))
    known = Original(src, declare(src, quasi=["q"], sensitive=["s"]), np.arange(4))
    assert tables(st=st, l=2, src=known).faults == (
        "In column 'q' 1 cells differ from the source.",
    )


def test_classes_that_only_one_of_the_tables_has_are_a_fault():
    full = ST.with_columns(s=pl.Series(["a", "b", "c", "d"]))
    more = pl.concat([full, pl.DataFrame({"group_id": [3, 3], "s": ["a", "b"], "count": [1, 1]})])
    for st in (more, full.filter(pl.col("group_id") == 1)):
        faults = check_tables(opened_tables(st), [FrequencyLDiversity(2, "s")]).faults
        assert "1 classes have another number of rows in the first table" in " ".join(faults)


def test_an_original_in_another_order_is_compared_as_far_as_that_goes():
    full = ST.with_columns(s=pl.Series(["a", "b", "c", "d"]))
    original = pl.DataFrame({"q": [4, 3, 2, 1], "s": ["d", "c", "b", "a"]})
    schema = declare(original, quasi=["q"], sensitive=["s"])
    rules = [FrequencyLDiversity(2, "s")]
    assert check_tables(opened_tables(full), rules, Original(original, schema)).holds
    for changed in ({"q": pl.Series([4, 3, 2, 2])}, {"s": pl.Series(["d", "c", "b", "b"])}):
        other = original.with_columns(**changed)
        assert not check_tables(opened_tables(full), rules, Original(other, schema)).holds
