"""Texts that a spreadsheet would run are made harmless in a CSV file, and given back."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.base.errors import NotVerified
from shoal.tables import files, write_files
from shoal.tables.spreadsheet import formulas, quote, unquote

ODD = ["=1+1", "'=1+1", "''=1+1", "@x", "+a", "-b", "\tc", "\rd", " =x", "＝y", "'", "plain", "-5"]
TEXTS = st.text(alphabet="'=+-@ \t\r\nab15.,\"", max_size=5)


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=6), TEXTS.filter(str.strip))
def test_quoting_is_undone_and_leaves_no_formula(cells, name):
    frame = pl.DataFrame({name: cells, "n": [-1] * len(cells)})
    quoted = quote(frame)
    assert unquote(quoted).equals(frame)
    assert not formulas(quoted.to_series(0)).any()
    assert not formulas(pl.Series(quoted.columns)).any()


def test_a_table_with_a_bare_formula_was_never_quoted():
    frame = pl.DataFrame({"a": ["'=1", "=1"]})
    assert unquote(frame).equals(frame)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv"])
@pytest.mark.parametrize(
    ("method", "kind"), [("mondrian", None), ("anatomy", "frequency"), ("dummies", None)]
)
def test_a_release_is_harmless_and_read_as_it_was_published(tmp_path, ending, method, kind):
    rows = len(ODD) * 8
    table = pl.DataFrame(
        {
            "age": [20 + i % 40 for i in range(rows)],
            "@ill": [ODD[i % len(ODD)] for i in range(rows)],
            "=town": pl.Series([ODD[i % 3] for i in range(rows)], dtype=pl.Categorical),
        }
    )
    named = {"quasi": ["age", "=town"], "sensitive": "@ill"}
    asked = {"l": 4, "l_kind": kind}
    made = shoal.anonymize(table, **named, **asked, method=method, csv_safe=True)
    path = tmp_path / f"out{ending}"
    made.write(path)
    for file in tmp_path.glob(f"*{ending}"):
        frame = files.read_csv(file.read_bytes(), file)
        for texts in (pl.Series(frame.columns), *frame):
            assert not formulas(texts).any()
    again = shoal.open_release(path, **named, original=table)
    assert again.frame.columns == made.frame.columns
    assert again.audit(**asked).holds
    assert again.audit(**asked).achieved == made.achieved
    assert set(again.ask("@ill").values("@ill")) == set(ODD)


def test_without_the_option_texts_stay_as_they_are(tmp_path):
    frame = pl.DataFrame({"a": ODD})
    shoal.write_table(frame, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_bytes().decode()
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:] == ODD
    shoal.write_table(frame, tmp_path / "b.parquet", csv_safe=True)
    assert pl.read_parquet(tmp_path / "b.parquet").equals(frame)


def test_what_would_not_be_read_back_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(write_files, "quote", lambda frame: frame.reverse())
    with pytest.raises(NotVerified, match="would not be read back as they are published"):
        shoal.write_table(pl.DataFrame({"a": ["=1", "b"]}), tmp_path / "a.csv", csv_safe=True)
    assert not list(tmp_path.iterdir())
