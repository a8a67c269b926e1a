"""Files of Excel, Stata, SPSS and SAS, and texts as people write them."""

from __future__ import annotations

import sys
import zipfile
from datetime import date

import openpyxl
import pandas as pd
import polars as pl
import pyreadstat
import pytest

import shoal
from shoal.api.opening import read_table
from shoal.tables.files import check_output_format
from shoal.tables.write_files import write_table

TABLE = pl.DataFrame(
    {
        "age": [31, 44, None, 28],
        "weight": [70.5, 61.25, 80.0, None],
        "born": [date(1990, 1, 31), date(1980, 12, 1), None, date(1996, 2, 29)],
        "ill": pl.Series(["flu", "cold", "flu", None], dtype=pl.Categorical),
        "grade": pl.Series(["low", "high", "low", "mid"], dtype=pl.Enum(["low", "mid", "high"])),
        "note": ["=1+1", "007", None, "Zoë"],
    }
)


@pytest.mark.parametrize("ending", ["xlsx", "dta", "sav", "xpt"])
def test_a_table_comes_back(tmp_path, ending):
    file = tmp_path / f"t.{ending}"
    write_table(TABLE, file)
    back = read_table(file)
    plain = {"ill": pl.String, "grade": pl.String, "born": pl.Date}
    assert back.cast(plain).to_dict(as_series=False) == TABLE.cast(plain).to_dict(as_series=False)
    assert back.schema["age"] == pl.Int64
    if ending in ("dta", "sav"):
        assert back.schema["ill"] == pl.Categorical, "labels are kept"
    again = tmp_path / f"again.{ending}"
    write_table(TABLE.to_pandas(), again)  # any frame
    write_table(TABLE, tmp_path / f"twice.{ending}")
    assert (tmp_path / f"twice.{ending}").read_bytes() == file.read_bytes(), "no time in it"
    assert check_output_format(file) == f".{ending}"


def test_codes_are_numbered_anew_in_order(tmp_path):
    some = TABLE.filter(pl.col("grade") != "mid")
    with pytest.warns(shoal.ShoalWarning):  # of such a small table
        release = shoal.anonymize(some, quasi=["age"], keep=["grade", "ill"], k=2)
    release.write(tmp_path / "r.sav")
    _, about = pyreadstat.read_sav(tmp_path / "r.sav")
    assert about.variable_value_labels["grade"] == {1: "low", 2: "high"}
    assert about.file_label in ("", None) and "mid" not in str(vars(about))


def test_spss_labels_and_missing_codes(tmp_path):
    frame = pl.DataFrame(
        {
            "sex": [1.0, 2.0, 2.0, 9.0],
            "school": [3.0, 1.0, 2.0, 3.0],
            "pay": [10.5, -1.0, -2.0, 7.0],
        }
    )
    file = tmp_path / "s.sav"
    pyreadstat.write_sav(
        frame,
        file,
        variable_value_labels={
            "sex": {1: "male", 2: "female", 9: "refused"},
            "school": {1: "none", 2: "some", 3: "all"},
            "pay": {-1: "refused", -2: "unknown"},
        },
        missing_ranges={"sex": [9], "pay": [{"lo": -2, "hi": -1}]},
        variable_measure={"sex": "nominal", "school": "ordinal", "pay": "scale"},
    )
    with pytest.warns(shoal.ShoalWarning, match=r"'sex' \(1 cells\), 'pay' \(2 cells\)"):
        table = read_table(file)
    assert table["sex"].cast(pl.String).to_list() == ["male", "female", "female", None]
    assert table["school"].dtype == pl.Enum(["none", "some", "all"])
    assert table["pay"].to_list() == [10.5, None, None, 7.0]
    with pytest.warns(shoal.ShoalWarning):
        assert read_table(file, labels="codes")["sex"].to_list() == [1, 2, 2, None]


def test_stata_missing_letters(tmp_path):
    frame = pd.DataFrame({"pay": [1.0, "a", 3.0], "town": ["x", "y", "z"]})
    pyreadstat.write_dta(frame, tmp_path / "s.dta", missing_user_values={"pay": ["a"]})
    with pytest.warns(shoal.ShoalWarning, match=r"declares as missing"):
        assert read_table(tmp_path / "s.dta")["pay"].to_list() == [1, None, 3]


def test_equal_labels_of_different_codes_are_refused(tmp_path):
    frame, labels = pl.DataFrame({"q": [1.0, 2.0, 3.0]}), {"q": {1: "yes", 2: "no", 3: "yes"}}
    pyreadstat.write_sav(frame, tmp_path / "q.sav", variable_value_labels=labels)
    with pytest.raises(
        shoal.InputError, match=r"label 'yes' for 2 different codes \(1, 3\).*--labels codes"
    ):
        read_table(tmp_path / "q.sav")
    assert read_table(tmp_path / "q.sav", labels="codes")["q"].to_list() == [1, 2, 3]


def test_labels_of_some_values_only(tmp_path):
    frame, labels = pl.DataFrame({"age": [31.0, 44.0, 99.0]}), {"age": {99: "unknown"}}
    pyreadstat.write_dta(frame, tmp_path / "q.dta", variable_value_labels=labels)
    with pytest.warns(shoal.ShoalWarning, match=r"labels for some of its values only"):
        assert read_table(tmp_path / "q.dta")["age"].to_list() == [31, 44, 99]


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS = [["age", "town"], [31, "Kiel"], [44, "Bonn"]]


def test_one_of_several_sheets_is_asked_for(tmp_path):
    file = workbook(tmp_path / "b.xlsx", people=ROWS, other=[["x"], [1]])
    with pytest.raises(shoal.InputError, match=r"2 sheets: 'people', 'other'.*--sheet NAME"):
        read_table(file)
    assert read_table(file, sheet="people")["town"].to_list() == ["Kiel", "Bonn"]
    assert shoal.open(file, sheet="people", quasi="age").rows == 2
    with pytest.raises(shoal.InputError, match=r"no sheet 'Peple'.*Did you mean 'people'"):
        read_table(file, sheet="Peple")


def test_formulas_and_merged_cells_are_refused(tmp_path):
    file = workbook(tmp_path / "f.xlsx", s=[*ROWS, ["=A2+1", "x"]])
    with pytest.raises(shoal.InputError, match=r"has formulas.*paste it as values"):
        read_table(file)
    book = openpyxl.load_workbook(workbook(tmp_path / "m.xlsx", s=ROWS))
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "m.xlsx")
    with pytest.raises(shoal.InputError, match=r"merged cells \(A1:B1\)"):
        read_table(tmp_path / "m.xlsx")


def test_a_late_text_is_not_lost(tmp_path):
    rows = [["code"], *([i] for i in range(1200)), ["late"]]
    table = read_table(workbook(tmp_path / "l.xlsx", s=rows))
    assert table["code"].null_count() == 0 and table["code"][-1] == "late"


@pytest.mark.parametrize("name", ["a.xlsx", "a.dta", "a.sav", "a.sas7bdat", "a.xls"])
def test_text_by_another_name_is_not_read(tmp_path, name):
    (tmp_path / name).write_text("age,town\n31,Kiel\n")
    with pytest.raises(shoal.InputError, match=r"no Excel workbook|cannot be read as a file of"):
        read_table(tmp_path / name)


def test_a_workbook_holds_no_author_and_runs_nothing(tmp_path):
    write_table(TABLE, tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as box:
        parts = {name: box.read(name) for name in box.namelist()}
        assert {part.date_time[0] for part in box.infolist()} == {1980}
    assert b"<f>" not in b"".join(parts.values())
    assert b"<dc:creator></dc:creator>" in parts["docProps/core.xml"]
    assert b"2000-01-01" in parts["docProps/core.xml"]


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    with pytest.raises(shoal.OutputError, match=r"32,767 characters in a cell.*40,000"):
        write_table(pl.DataFrame({"a": ["x" * 40_000]}), tmp_path / "t.xlsx")
    with pytest.raises(shoal.OutputError, match=r"file of Stata.*rename the column"):
        write_table(pl.DataFrame({"zip code": [1]}), tmp_path / "t.dta")
    assert not list(tmp_path.iterdir())


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    write_table(TABLE, tmp_path / "t.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(shoal.MissingExtra, match=r"pip install 'shoal\[files\]'"):
        read_table(tmp_path / "t.sav")


def text(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("cells", "given", "first"),
    [
        (["31.12.2024", "1.2.2024"], {}, date(2024, 12, 31)),
        (["12/31/2024", "02/03/2024"], {}, date(2024, 12, 31)),
        (["31/12/2024", "02/03/2024"], {}, date(2024, 12, 31)),
        (["03/04/2024", "02/03/2024"], {"dates": "m/d/y"}, date(2024, 3, 4)),
        (["03/04/2024", "02/03/2024"], {"dates": "d/m/y"}, date(2024, 4, 3)),
        (["31.12.2024", "1.2.2024"], {"dates": "off"}, "31.12.2024"),
        (["3,14", "2,5"], {}, 3.14),
        (["3,140", "2,500"], {"decimal": "comma"}, 3.14),
        (["3,14", "2,5"], {"decimal": "point"}, "3,14"),
        (["007", "1,5"], {}, "007"),
    ],
)
def test_dates_and_decimals_as_people_write_them(tmp_path, cells, given, first):
    rows = "".join(f"{cell};x\n" for cell in cells)
    file = text(tmp_path / "t.csv", f"a;b\n{rows}")
    assert read_table(file, **given)["a"][0] == first
    frame = pd.DataFrame({"a": cells, "b": "x"})
    opened = shoal.open(frame, quasi="a", **given)
    assert opened.frame["a"][0] == first, "a frame of pandas is read as a file is"


def test_what_can_be_read_in_two_ways_stays_text(tmp_path):
    file = text(tmp_path / "t.csv", "a;b\n03/04/2024;1,234\n")
    with pytest.warns(shoal.ShoalWarning) as told:
        table = read_table(file)
    assert table.row(0) == ("03/04/2024", "1,234")
    said = " ".join(str(warning.message) for warning in told)
    assert "--dates d/m/y" in said and "--decimal comma" in said


@pytest.mark.parametrize("cells", [["1,234,567", "12"], ["1.234,56", "7,1"], ["1'234", "900"]])
def test_thousands_are_refused(tmp_path, cells):
    rows = "".join(f"{cell};x\n" for cell in cells)
    with pytest.raises(
        shoal.InputError, match=r"'pay' writes numbers with separators of thousands"
    ):
        read_table(text(tmp_path / "t.csv", f"pay;b\n{rows}"))


def test_wrong_words_are_refused(tmp_path):
    file = text(tmp_path / "t.csv", "a;b\n1;2\n")
    with pytest.raises(shoal.PlanError, match=r"'data.dates' must be 'd.m.y', .* Got 'yyyy'"):
        read_table(file, dates="yyyy")
    with pytest.raises(shoal.PlanError, match=r"'data.decimal' must be 'point' or 'comma'"):
        read_table(file, decimal=",")


def test_encodings(tmp_path):
    file = text(tmp_path / "t.csv", "name;town\nZoë;Köln\n", "cp1252")
    assert read_table(file, encoding="cp1252").row(0) == ("Zoë", "Köln")
    wide = text(tmp_path / "w.csv", "name;town\nZoë;Köln\n", "utf-16")
    with pytest.raises(shoal.InputError, match=r"--encoding utf-16"):
        read_table(wide)
    assert read_table(wide, encoding="utf-16").row(0) == ("Zoë", "Köln")
    with pytest.raises(shoal.InputError, match=r"no encoding 'latin99'"):
        read_table(file, encoding="latin99")
    with pytest.raises(shoal.InputError, match=r"is not utf-8"):
        read_table(file, encoding="utf-8")
