"""Cells as other tools write them: ARX, sdcMicro and tables made by hand."""

from __future__ import annotations

import warnings
from datetime import date

import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError, SchemaError, ShoalWarning
from shoal.tables.domain import Taxonomy

AGES = list(range(18, 100))


def taken_for(cells: list[str], values: list[object], **declared: object) -> list[str | None]:
    """Return the cells of a release in our notation, read beside these values."""
    original = pl.DataFrame({"x": values})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        release = shoal.open_release(
            pl.DataFrame({"x": cells}), quasi="x", original=original, **declared
        )
    return release.opened.published.cells["x"].gather(release.classes).to_list()


@pytest.mark.parametrize(
    ("cell", "ours"),
    [
        ("[20, 30)", "[20-29]"),
        ("[20, 30[", "[20-29]"),
        ("[20-30[", "[20-29]"),
        ("[20, 30]", "[20-30]"),
        ("(20,30]", "[21-30]"),  # cut() of R
        ("]20, 30]", "[21-30]"),
        ("[20;30)", "[20-29]"),
        ("20-30", "[20-30]"),
        ("20 - 30", "[20-30]"),
        ("20–30", "[20-30]"),
        (">= 90", "[90-99]"),
        (">90", "[91-99]"),
        ("≥90", "[90-99]"),
        ("90+", "[90-99]"),
        ("<20", "[18-19]"),
        ("<= 20", "[18-20]"),
        ("[90, inf)", "[90-99]"),
        ("3*", "[30-39]"),
        ("**", "*"),
        ("NULL", "*"),
        ("(null)", "*"),
        ("NA", "*"),
        ("[19, 20)", "19"),
        ("[20-30]", "[20-30]"),
        ("20.0", "20.0"),
        ("*", "*"),
    ],
)
def test_numbers(cell: str, ours: str) -> None:
    assert taken_for([cell, "25"], AGES) == [ours, "25"]


def test_ends_of_decimals_and_dates_are_left_out_where_they_say_so() -> None:
    assert taken_for(["[1.5, 2.5)"], [1.5, 2.0, 2.5]) == ["[1.5-2]"]
    days = [date(2020, 1, 1), date(2020, 1, 31), date(2020, 2, 1), date(2020, 3, 1)]
    assert taken_for(["[2020-01-01, 2020-02-01)"], days) == ["[2020-01-01-2020-01-31]"]
    assert taken_for(["2020-01-01 - 2020-02-01"], days) == ["[2020-01-01-2020-02-01]"]
    assert taken_for([">= 2020-02-01"], days) == ["[2020-02-01-2020-03-01]"]


def test_masks_and_lists_of_texts() -> None:
    zips = ["01001", "01002", "01101", "10001", "10002"]
    assert taken_for(["010**", "1000*", "0*"], zips) == [
        "{01001, 01002}",
        "{10001, 10002}",
        "{01001, 01002, 01101}",
    ]
    assert taken_for(["a,b", "{a;b}", "{a,c}", "a | b", "{a, b}", "NULL"], ["a", "b", "c"]) == [
        "{a, b}",
        "{a, b}",
        "{a, c}",
        "{a, b}",
        "{a, b}",
        "*",
    ]
    # Hidden in front, the numbers lie apart: an ordered column has no cell for them.
    assert taken_for(["*1"], [11, 12, 21, 31]) == ["*1"]


def test_a_value_of_the_original_is_exact_whatever_it_looks_like() -> None:
    sizes = ["20-30", "30-40", "a,b", "10*", "NULL", "<5"]
    assert taken_for(sizes, sizes) == sizes
    # Ours would be quoted; another tool's need not be.
    assert taken_for(["[0-10)", "[10-20)"], ["[0-10)", "[10-20)"]) == ['"[0-10)"', '"[10-20)"']
    # Nothing is said either: nothing was read as another tool's.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shoal.open_release(
            pl.DataFrame({"x": sizes}), quasi="x", original=pl.DataFrame({"x": sizes})
        )


def test_what_shoal_writes_is_never_taken_for_anything_else() -> None:
    odd = ["20-30", '"q"', "{a, b}", "*", "100**", "[1, 2)", "a,b", "NULL"] * 2
    table = pl.DataFrame({"x": odd, "n": list(range(16)), "d": [1.5, 2.5] * 8})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        release = shoal.anonymize(table, quasi=["x", "n", "d"], k=2, method="mondrian")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = shoal.open_release(release.frame, quasi=["x", "n", "d"], original=table)
    assert opened.opened.spellings == {}


def test_classes_stay_those_of_the_published_cells() -> None:
    """Two spellings of one interval can be told apart: they are two classes, and not safer."""
    released = pl.DataFrame({"age": ["20-30", "[20-30]", "20 - 30", "20-30"]})
    original = pl.DataFrame({"age": [20, 22, 28, 30]})
    with pytest.warns(ShoalWarning, match="different cells are written as other tools do"):
        release = shoal.open_release(released, quasi="age", original=original)
    assert sorted(release.opened.published.sizes.tolist()) == [1, 1, 2]
    assert not release.audit(k=2).holds


def test_arx_output_is_attacked_and_audited() -> None:
    """ARX: intervals that leave the upper end out, masked zip codes, * throughout a row."""
    original = pl.DataFrame(
        {
            "age": [21, 25, 34, 38, 52, 60],
            "zip": ["81667", "81675", "81925", "81931", "47111", "20001"],
            "ill": ["flu", "gout", "flu", "cold", "cold", "flu"],
        }
    )
    released = pl.DataFrame(
        {
            "age": ["[20, 30[", "[20, 30[", "[30, 40[", "[30, 40[", "*", "*"],
            "zip": ["816**", "816**", "819**", "819**", "*", "*"],
            "ill": original["ill"],
        }
    )
    with pytest.warns(ShoalWarning) as said:
        found = shoal.attack(
            released, original=original, known=["age", "zip"], sensitive="ill", seed=1
        )
    told = [str(warning.message) for warning in said]
    assert "'[20, 30[' for [21-25]" in told[0]
    assert "'816**' for {81667, 81675}" in told[1]
    assert found.unmatched == 0
    ours = released.with_columns(
        age=pl.Series(["[21-25]"] * 2 + ["[34-38]"] * 2 + ["*"] * 2),
        zip=pl.Series(["{81667, 81675}"] * 2 + ["{81925, 81931}"] * 2 + ["*"] * 2),
    )
    same = shoal.attack(ours, original=original, known=["age", "zip"], sensitive="ill", seed=1)
    assert found.to_dict() == same.to_dict()
    with pytest.warns(ShoalWarning):
        verdict = shoal.audit(released, original=original, quasi=["age", "zip"], k=2)
    assert verdict.holds
    population = pl.DataFrame({"age": [21, 25, 34, 38, 52, 29], "zip": ["81667"] * 6})
    with pytest.warns(ShoalWarning):
        risks = shoal.risk(released, quasi="age", population=population)
    assert risks.after.k_map == 2


def test_a_wrong_cell_of_another_tool_is_still_a_fault() -> None:
    released = pl.DataFrame({"age": ["[20, 30)", "[20, 30)"]})
    with pytest.warns(ShoalWarning):
        verdict = shoal.audit(released, original=pl.DataFrame({"age": [20, 30]}), quasi="age", k=2)
    assert not verdict.holds


def test_sdcmicro_output_with_suppressed_cells_and_a_hierarchys_own_top() -> None:
    original = pl.DataFrame({"job": ["cook", "nurse", "smith"], "pay": [10.0, 20.5, 31.0]})
    released = pl.DataFrame({"job": ["Any", "NA", "care"], "pay": ["(9.9,20]", "NA", ">30"]})
    tree = Taxonomy.from_rows(
        [("cook", "trade", "Any"), ("smith", "trade", "Any"), ("nurse", "care", "Any")], "job"
    )
    with pytest.warns(ShoalWarning):
        release = shoal.open_release(
            released, quasi=["job", "pay"], original=original, hierarchies={"job": tree}
        )
    cells = release.opened.published.cells
    assert cells["job"].to_list() == ["Any", "*", "care"]  # the top covers no gap
    assert cells["pay"].to_list() == ["10", "*", "31"]


def test_nothing_is_certain_of_another_tools_cells() -> None:
    released = pl.DataFrame({"age": ["20-30"] * 3, "sex": ["f"] * 3})
    original = pl.DataFrame({"age": [20, 25, 30], "sex": ["f"] * 3})
    with pytest.warns(ShoalWarning):
        (found,) = shoal.attack(
            released, original=original, known=["age", "sex"], attacks="readoff"
        ).results
    assert found.details["known"] == found.details["wrong"] == 0
    # Alone, a cell that cannot be read is wide and says nothing.
    verdict = shoal.audit(pl.DataFrame({"x": ["{a,b}", "{a,b}", "[1, 2)", "[1, 2)"]}), quasi="x")
    assert verdict.models["read_off"]["known"] == 0


def test_an_unknown_notation_is_told_and_can_be_said() -> None:
    released = pl.DataFrame({"age": ["from 20 up to 30", "from 20 up to 30", "under 50"]})
    original = pl.DataFrame({"age": [20, 30, 45]})
    with pytest.warns(ShoalWarning) as said, pytest.raises(SchemaError, match="--notation"):
        shoal.attack(released, original=original, known="age")
    assert "2 different cells are in no notation that is known" in str(said[0].message)
    assert "--notation 'age=LO to HI'" in str(said[0].message)
    for pattern, ours in (("from LO up to HI", "[20-30]"), ("exact", "from 20 up to 30")):
        assert taken_for(["from 20 up to 30"], [20, 30, 45], notations={"x": pattern}) == [ours]
    assert taken_for(["20..30)"], [20, 25, 30], notations={"x": "LO..HI)"}) == ["[20-25]"]
    assert taken_for(["under 30"], [20, 25, 30], notations={"x": "under HI"}) == ["[20-30]"]


def test_a_notation_that_fits_nothing_is_refused() -> None:
    released = pl.DataFrame({"age": ["20..30"]})
    with pytest.raises(ParameterError, match=r"fits none of its cells, such as '20..30'"):
        shoal.open_release(released, quasi="age", notations={"age": "LO to HI"})
    with pytest.raises(ParameterError, match="Write LO and HI where the ends"):
        shoal.open_release(released, quasi="age", notations={"age": "20..30"})
    with pytest.raises(SchemaError, match="'agee'"):
        shoal.open_release(released, quasi="age", notations={"agee": "LO..HI"})


def test_looked_up_by_columns_without_the_one_that_was_spelled_otherwise() -> None:
    original = pl.DataFrame({"age": [20, 25], "sex": ["f", "f"]})
    released = pl.DataFrame({"age": ["[20, 30[", "[20, 30["], "sex": ["f", "f"]})
    with warnings.catch_warnings(action="ignore"):
        opened = shoal.open_release(released, quasi=["age", "sex"], original=original).opened
    assert opened.spellings and opened.published.columns == ("age", "sex")
    assert opened.known_by(["sex"]).published.sizes.tolist() == [2]
