"""Frames with what no file can hold: half characters, Python objects."""

import pandas as pd
import polars as pl
import pytest

import shoal

HALF = "x\ud800"


def frame(cells, name="b"):
    columns = pd.Index(["a", name], dtype=object)
    rows = {0: [1, 2] * 10, 1: pd.Series(cells * 10, dtype=object)}
    return pd.DataFrame(rows).set_axis(columns, axis=1)


@pytest.mark.parametrize(
    ("table", "where"),
    [(frame([HALF, "y"]), "Column 'b'"), (frame(["x", "y"], HALF), "A column name")],
    ids=["cell", "name"],
)
def test_half_characters_in_a_frame(table, where):
    with pytest.raises(shoal.InputError) as error:
        shoal.anonymize(table, quasi="a", k=4)
    assert str(error.value).startswith(
        f"{where} holds 'x\\ud800', half of a character (a lone surrogate), which no file can hold."
    )


def test_half_characters_elsewhere():
    table = pl.DataFrame({"a": [1, 2] * 10})
    with pytest.raises(shoal.InputError, match=r"^missing holds 'x\\ud800'"):
        shoal.anonymize(table, quasi="a", k=4, missing=[HALF])
    with pytest.raises(shoal.InputError, match=r"^The hierarchy of column 'a' holds 'x\\ud800'"):
        shoal.Taxonomy.from_rows([(HALF, "*"), ("b", "*")], "a")


def test_python_objects_are_not_published():
    cells = pl.Series([object() for _ in range(20)], dtype=pl.Object)
    table = pl.DataFrame({"a": [1, 2] * 10, "b": cells})
    with pytest.raises(shoal.SchemaError, match="'b' holds Python objects, which no file can hold"):
        shoal.anonymize(table, quasi="a", keep="b", k=4)
    assert shoal.anonymize(table, quasi="a", k=4).frame.columns == ["a"]
