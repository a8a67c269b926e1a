"""The data dictionary beside a release, and what an analyst reads with it."""

from __future__ import annotations

import json
from datetime import date

import polars as pl
import pytest

import shoal

TOWNS = {"Kiel": "north", "Plön": "north", "Bonn": "south", "Köln": "south", "Ulm": "south"}


@pytest.fixture
def table():
    towns = [town for town in TOWNS if town != "Ulm"]
    return pl.DataFrame(
        {
            "who": [f"person-{i:02d}" for i in range(24)],
            "age": [20 + i // 2 for i in range(24)],
            "seen": [date(2024, 1 + i % 12, 1 + i) for i in range(24)],
            "town": [towns[i % 4] for i in range(24)],
            "pay": [1000.5 + i for i in range(24)],
            "ill": ["flu", "cold"] * 12,
        }
    )


def made(table, tmp_path, **more):
    tree = tmp_path / "town.csv"
    tree.write_text("".join(f"{town};{side};*\n" for town, side in TOWNS.items()))
    asked = {"quasi": ["age", "seen", "town"], "sensitive": "ill", "identifier": "who", "k": 4}
    asked |= {"keep": "pay", "hierarchies": {"town": tree}, "seed": 1}
    with pytest.warns(shoal.ShoalWarning):  # of so few rows
        return shoal.anonymize(table, **(asked | more))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_numbers_and_categories_come_back(table, tmp_path, ending):
    release = made(table, tmp_path)
    file = tmp_path / f"r.{ending}"
    release.write(file)
    release.write_dictionary(file)
    back = shoal.open_release(file)
    assert back.audit(k=4).holds  # its columns are declared by the dictionary
    frame = back.analysis_frame()
    assert made(table, tmp_path).analysis_frame().columns == frame.columns
    assert frame.schema["age_lo"] == frame.schema["age_hi"] == pl.Int64
    assert frame.schema["seen_lo"] == pl.Date
    assert (frame["age_mid"] == (frame["age_lo"] + frame["age_hi"]) / 2).all()
    assert frame["pay"].dtype == pl.Float64
    # Every age lies in its interval, cell by cell as it is published.
    for cell, low, high in zip(release.frame["age"], frame["age_lo"], frame["age_hi"], strict=True):
        if cell == "*":
            assert low is None
        elif cell.startswith("["):
            assert cell == f"[{low}-{high}]"
        else:
            assert cell == str(low) == str(high)
    kinds = {"exact": set(TOWNS), "level 1": {"north", "south"}}
    for cell, level in zip(frame["town"].cast(pl.String), frame["town_level"], strict=True):
        assert (level is None) == (cell == "*")
        assert level is None or cell in kinds[level]
    assert isinstance(frame.schema["town_level"], pl.Enum)
    assert back.dictionary["age"]["shoal:role"] == "quasi"


@pytest.mark.slow
def test_it_is_csvw_of_published_cells_alone(table, tmp_path):
    release = made(table, tmp_path)
    release.write(tmp_path / "r.csv")
    release.write_dictionary(tmp_path / "r.csv")
    text = (tmp_path / "r.csv-metadata.json").read_text()
    told = json.loads(text)
    assert told["@context"][0] == "http://www.w3.org/ns/csvw" and told["url"] == "r.csv"
    columns = told["tableSchema"]["columns"]
    assert [column["name"] for column in columns] == release.frame.columns
    types = {column["name"]: column["datatype"] for column in columns}
    assert types["pay"] == "double" and types["age"] == "string"
    for column in columns:
        assert sum(column["shoal:shares"].values()) == pytest.approx(1)
    page = (tmp_path / "r.csv.dictionary.html").read_text()
    for gone in ("Ulm", "person-0"):  # a value that nobody has, an identifier
        assert gone not in text + page
    assert "quasi-identifier" in page and "<script" not in page
    # Opened by a reader, it has the same dictionary.
    opened = shoal.open_release(
        tmp_path / "r.csv", plan=release.plan, hierarchies={"town": tmp_path / "town.csv"}
    )
    (tmp_path / "again").mkdir()
    opened.write_dictionary(tmp_path / "again" / "r.csv")
    assert json.loads((tmp_path / "again" / "r.csv-metadata.json").read_text()) == told


def test_typed_columns_are_two(table, tmp_path):
    release = made(table, tmp_path, typed=True)
    release.write(tmp_path / "r.parquet")
    release.write_dictionary(tmp_path / "r.parquet")
    opened = shoal.open_release(tmp_path / "r.parquet")
    assert opened.audit(k=4).holds
    frame = opened.analysis_frame()
    assert frame.schema["age_lo"].is_integer() and frame.schema["seen_hi"] == pl.Date


@pytest.mark.parametrize("text", ["{", "[]", '{"tableSchema": {"columns": [{}]}}', "\xff"])
def test_a_dictionary_that_is_none_is_refused(tmp_path, text):
    (tmp_path / "r.csv").write_text("a\n1\n")
    (tmp_path / "r.csv-metadata.json").write_text(text, "latin-1")
    with pytest.raises(shoal.InputError, match=r"dictionary .* cannot be read .*quasi=\["):
        shoal.open_release(tmp_path / "r.csv")
