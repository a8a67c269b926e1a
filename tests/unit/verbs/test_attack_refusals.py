"""Attacks that cannot be run say why, what was got, and what to do."""

import polars as pl
import pytest

import shoal
from shoal.base.errors import InputError, ParameterError, SchemaError

FRAME = pl.DataFrame({"age": [30, 31, 40, 41], "ill": ["flu", "cold", "flu", "gout"]})
CELLS = FRAME.with_columns(age=pl.Series(["[30-31]", "[30-31]", "[40-41]", "[40-41]"]))


def refuse(error, match, original=FRAME, released=CELLS, **options):
    with pytest.raises(error, match=match):
        shoal.attack(released, original=original, **{"known": "age", **options})


def test_columns_that_do_not_fit():
    refuse(SchemaError, "An attack needs to know something, and nothing was given", known=None)
    refuse(SchemaError, r"The original has no column 'agee'\. Did you mean 'age'", known="agee")
    refuse(SchemaError, r"The original has no column 'illness'", sensitive="illness")
    refuse(SchemaError, r"The control has no column 'ill'", sensitive="ill", control=FRAME[["age"]])
    refuse(
        SchemaError,
        r"The release has no column 'age', nor the pair 'age_lo' and 'age_hi'.*Leave it out of",
        released=CELLS.drop("age"),
    )
    refuse(SchemaError, r"'age' has 2 roles \(quasi, sensitive\)\. Choose one", sensitive="age")
    sets = FRAME.with_columns(ill=pl.concat_list("ill", pl.lit("x")))
    told = "'ill' of the release holds values of type List"
    refuse(SchemaError, told, released=sets, known=["age", "ill"])
    refuse(SchemaError, "The release has no column 'ill'", released=CELLS[["age"]], sensitive="ill")
    nested = FRAME.with_columns(ill=pl.concat_list("ill"))
    refuse(
        SchemaError,
        r"'ill' of the original holds values of type List.*Split it",
        original=nested,
        sensitive="ill",
    )
    refuse(
        SchemaError,
        r"'age' holds String in the control but Int64 in the original.*Write the control",
        control=FRAME.with_columns(age=pl.lit("old")),
        sensitive="ill",
    )


def test_cells_that_nobody_understands():
    town = pl.DataFrame({"town": ["Bonn", "Rome"]})
    refuse(
        SchemaError,
        r"'town' of the release holds the cell 'Europe', which fits no value.*--hierarchies",
        original=town,
        released=pl.DataFrame({"town": ["Europe", "Europe"]}),
        known="town",
    )
    refuse(
        InputError,
        "None of the 4 targets fits any released row, so this release was not made from",
        original=FRAME.with_columns(sex=pl.Series(["f", "f", "m", "m"])),
        released=CELLS.with_columns(sex=pl.Series(["m", "m", "f", "f"])),
        known=["age", "sex"],
    )


def test_numbers_out_of_range():
    refuse(ParameterError, "Asked for 5 targets, but the original has only 4 rows", targets=5)
    refuse(ParameterError, r"'targets' parameter of attack must be a whole number", targets=0)
    refuse(ParameterError, r"'noise' parameter of attack must be a number in \[0, 1\]", noise=-1)
    refuse(ParameterError, r"'gaps' parameter of attack must be a number in \[0, 1\]", gaps=2)
    refuse(ParameterError, r"'rule_out' parameter of attack must be a whole number", rule_out=0)
    refuse(ParameterError, r"'belief' parameter of attack must be", belief=7)


def test_attacks_that_do_not_exist_or_lack_a_column():
    refuse(
        ParameterError, r"There is no attack 'linkag'\. Did you mean 'linkage'", attacks=["linkag"]
    )
    refuse(
        ParameterError,
        "The attack 'inference' guesses a sensitive value, and no sensitive column was given",
        attacks="inference",
    )


def test_tables_without_rows():
    for options in (
        {"original": FRAME.head(0)},
        {"released": CELLS.head(0)},
        {"control": FRAME.head(0)},
    ):
        refuse(InputError, "but no rows. A table needs at least one row", **options)


def test_a_single_row_has_no_control():
    found = shoal.attack(FRAME.head(1), original=FRAME.head(1), known="age")
    assert found.control == "none"
    assert found.results[0].control is None
    assert found.results[0].success == 1.0
