"""Hidden and filtered rows, hidden columns and hidden sheets of workbooks: never read unseen."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

import shoal
from shoal.api.opening import read_table
from shoal.base.errors import InputError
from shoal.ext.exchange.workbooks import unpacked
from tests import inprocess

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("fastexcel", reason="needs pip install 'shoal[files]'")

ROWS = [
    ["age", "pay", "ill"],
    *([20 + i % 5, 1000 + i, "flu" if i % 2 else "cold"] for i in range(30)),
]


def workbook(path: Path, hide, at: tuple[int, int] = (1, 1), rows=ROWS) -> Path:
    """Write a workbook whose table begins at a cell, and hide some of it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "people"
    for row, cells in enumerate(rows, at[0]):
        for column, value in enumerate(cells, at[1]):
            sheet.cell(row, column, value)
    hide(book, sheet)
    book.save(path)
    return path


def rows_of(*numbers: int):
    def hide(_book, sheet):
        for number in numbers:
            sheet.row_dimensions[number].hidden = True

    return hide


def columns_of(*letters: str):
    def hide(_book, sheet):
        for letter in letters:
            sheet.column_dimensions[letter].hidden = True

    return hide


@pytest.mark.parametrize(
    ("hide", "said", "shape"),
    [
        (rows_of(3, 5, 31), r"3 rows \(3, 5, 31\) cannot be seen", (27, 3)),
        (columns_of("B"), r"1 column \('pay'\) cannot be seen", (30, 2)),
        (rows_of(*range(2, 12)), r"10 rows \(2, 3, 4, 5, 6 and 5 more\)", (20, 3)),
    ],
)
def test_what_is_hidden_is_named_and_refused_until_it_is_decided(tmp_path, hide, said, shape):
    file = workbook(tmp_path / "b.xlsx", hide)
    with pytest.raises(shoal.InputError, match=said) as raised:
        read_table(file)
    assert "--hidden include, or leave it out with --hidden skip (hidden=" in str(raised.value)
    assert read_table(file, hidden="include").shape == (30, 3)
    assert read_table(file, hidden="skip").shape == shape


def with_sheet(file: Path, change) -> Path:
    """Change the text of the sheet within a workbook."""
    with zipfile.ZipFile(file) as box:
        parts = {name: box.read(name) for name in box.namelist()}
    name = "xl/worksheets/sheet1.xml"
    before, parts[name] = parts[name], change(parts[name])
    assert parts[name] != before
    with zipfile.ZipFile(file, "w") as box:
        for name, content in parts.items():
            box.writestr(name, content)
    return file


USUAL = b"http://schemas.openxmlformats.org/"
STRICT = {
    USUAL + b"spreadsheetml/2006/main": b"spreadsheetml/main",
    USUAL + b"officeDocument/2006/relationships": b"officeDocument/relationships",
}


def test_a_strict_workbook_hides_nothing_unseen(tmp_path):
    """Excel's "Strict Open XML" has other namespaces."""
    file = workbook(tmp_path / "b.xlsx", lambda *made: (rows_of(4)(*made), columns_of("B")(*made)))
    with zipfile.ZipFile(file) as box:
        parts = {name: box.read(name) for name in box.namelist()}
    with zipfile.ZipFile(file, "w") as box:
        for name, content in parts.items():
            for usual, own in STRICT.items():
                content = content.replace(usual, b"http://purl.oclc.org/ooxml/" + own)
            box.writestr(name, content)
    with pytest.raises(shoal.InputError, match=r"1 row \(4\) and 1 column \('pay'\) cannot be"):
        read_table(file)
    assert read_table(file, hidden="skip").shape == (29, 2)
    assert read_table(file, hidden="include").shape == (30, 3)


@pytest.mark.parametrize("sign", [b"&#49;", b" 1 ", b" true", b"tr&#117;e"])
def test_however_the_sign_is_written(tmp_path, sign):
    file = workbook(tmp_path / "b.xlsx", rows_of(4))
    with_sheet(file, lambda text: text.replace(b'hidden="1"', b'hidden="%s"' % sign))
    with pytest.raises(shoal.InputError, match=r"1 row \(4\) cannot be seen"):
        read_table(file)


@pytest.mark.parametrize("height", ["&#48;", " 0 ", "0.&#49;"])
def test_however_a_height_is_written(tmp_path, height):
    file = workbook(tmp_path / "b.xlsx", lambda _book, _sheet: None)
    with pytest.raises(shoal.InputError, match=r"1 row \(4\) and 1 column"):
        read_table(with_sheet(file, sized(height, "0.1")))


def sized(height: str, width: str):
    cols = f'<cols><col min="3" max="3" width="{width}" customWidth="1"/></cols><sheetData>'

    def change(text: bytes) -> bytes:
        row = f'<row ht="{height}" customHeight="1" r="4"'.encode()
        return text.replace(b'<row r="4"', row).replace(b"<sheetData>", cols.encode())

    return change


@pytest.mark.parametrize(("height", "width"), [("0", "0"), ("0.75", "0.43"), ("1E-2", "5e-1")])
def test_a_height_and_a_width_that_nobody_sees_hide_too(tmp_path, height, width):
    file = workbook(tmp_path / "b.xlsx", lambda _book, _sheet: None)
    with_sheet(file, sized(height, "0.499" if width == "5e-1" else width))
    with pytest.raises(shoal.InputError, match=r"1 row \(4\) and 1 column \('ill'\) cannot be"):
        read_table(file)
    assert read_table(file, hidden="skip").shape == (29, 2)


def test_small_rows_and_columns_that_can_be_seen_are_read(tmp_path):
    file = workbook(tmp_path / "b.xlsx", lambda _book, _sheet: None)
    assert read_table(with_sheet(file, sized("1.5", "0.5"))).shape == (30, 3)


@pytest.mark.parametrize("sign", ['zeroHeight="1"', 'defaultRowHeight="0"'])
def test_a_height_of_the_whole_sheet_hides_its_rows(tmp_path, sign):
    def change(text: bytes) -> bytes:
        text = re.sub(rb"<sheetFormatPr[^>]*/>", f"<sheetFormatPr {sign}/>".encode(), text)
        for row in range(1, 21):
            text = text.replace(b'<row r="%d"' % row, b'<row ht="15" r="%d"' % row)
        return text

    file = with_sheet(workbook(tmp_path / "b.xlsx", lambda _book, _sheet: None), change)
    with pytest.raises(shoal.InputError, match=r"11 rows \(21, 22, 23, 24, 25 and 6 more\)"):
        read_table(file)
    assert read_table(file, hidden="skip").shape == (19, 3)


def test_a_width_of_the_whole_sheet_hides_the_columns_without_one_of_their_own(tmp_path):
    def change(text: bytes) -> bytes:
        wide = (
            b'<sheetFormatPr defaultColWidth="0.2"/><cols><col min="1" max="2" width="9"/></cols>'
        )
        return re.sub(rb"<sheetFormatPr[^>]*/>(<cols>.*</cols>)?", wide, text)

    file = with_sheet(workbook(tmp_path / "b.xlsx", lambda _book, _sheet: None), change)
    with pytest.raises(shoal.InputError, match=r"1 column \('ill'\) cannot be seen"):
        read_table(file)


def test_a_row_of_data_never_becomes_the_names_because_these_are_hidden(tmp_path):
    file = workbook(tmp_path / "b.xlsx", rows_of(1, 5))
    with pytest.raises(shoal.InputError, match=r"row 1, is hidden.*Without it row 2 would have"):
        read_table(file, hidden="skip")
    assert read_table(file, hidden="include").columns == ["age", "pay", "ill"]
    at = workbook(tmp_path / "c.xlsx", rows_of(3, 4), at=(3, 2))
    with pytest.raises(shoal.InputError, match=r"row 3, is hidden.*Without it row 5 would have"):
        read_table(at, hidden="skip")


def test_a_filter_hides_rows_and_columns_at_once(tmp_path):
    def hide(book, sheet):
        sheet.auto_filter.ref = "C4:E34"
        rows_of(6, 8)(book, sheet)
        columns_of("D")(book, sheet)
        columns_of("K")(book, sheet)  # nothing stands there

    file = workbook(tmp_path / "b.xlsx", hide, at=(4, 3))
    said = r"2 rows \(6, 8, by a filter or by hand\) and 1 column \('pay'\) cannot be seen"
    with pytest.raises(shoal.InputError, match=said):
        read_table(file)
    frame = read_table(file, hidden="skip")
    kept = [row for at, row in enumerate(ROWS[1:], 5) if at not in (6, 8)]
    assert frame.columns == ["age", "ill"]
    assert frame.rows() == [(age, ill) for age, _, ill in kept]


def test_types_are_those_of_what_is_read(tmp_path):
    rows = [["age", "n"], ["written by hand", 1], [31, 2], [44, 3]]
    file = workbook(tmp_path / "c.xlsx", rows_of(2), rows=rows)
    assert read_table(file, hidden="skip")["age"].to_list() == [31, 44]


def test_hidden_rows_and_columns_without_cells_hide_nothing(tmp_path):
    def hide(book, sheet):
        rows_of(50, 51)(book, sheet)
        columns_of("F", "G")(book, sheet)

    assert read_table(workbook(tmp_path / "b.xlsx", hide)).shape == (30, 3)


def test_a_sheet_of_a_text_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(shoal.InputError, match=r"names a sheet of an Excel workbook, and .* none"):
        read_table(tmp_path / "t.csv", sheet="people")


def test_everything_hidden_is_refused(tmp_path):
    file = workbook(tmp_path / "b.xlsx", columns_of("A", "B", "C"))
    with pytest.raises(shoal.InputError, match="Everything in the sheet 'people'"):
        read_table(file, hidden="skip")
    with pytest.raises(shoal.PlanError, match=r"must be 'include' or 'skip'. Got 'maybe'"):
        read_table(file, hidden="maybe")


def test_hidden_sheets_are_named_and_read_only_if_asked(tmp_path):
    def hide(book, _sheet):
        for name, state in (("codes", "hidden"), ("deep", "veryHidden")):
            book.create_sheet(name).append(["x"])
            book[name].append([1])
            book[name].sheet_state = state

    file = workbook(tmp_path / "b.xlsx", hide)
    with pytest.warns(shoal.ShoalWarning, match=r"2 hidden sheets, of which nothing is .*'codes'"):
        assert read_table(file).shape == (30, 3)
    assert read_table(file, hidden="skip").shape == (30, 3)
    for name in ("codes", "deep"):
        with (
            pytest.warns(shoal.ShoalWarning, match="1 hidden sheet,"),
            pytest.raises(shoal.InputError, match="the sheet itself cannot be seen"),
        ):
            read_table(file, sheet=name)
        assert read_table(file, sheet=name, hidden="include").shape == (1, 1)
        with pytest.raises(shoal.InputError, match="hidden sheets were to be skipped"):
            read_table(file, sheet=name, hidden="skip")
    with pytest.raises(shoal.InputError, match="3 sheets: 'people', 'codes', 'deep'"):
        read_table(file, hidden="include")


@pytest.mark.slow
def test_every_command_refuses_and_takes_the_flag(tmp_path):
    workbook(tmp_path / "b.xlsx", columns_of("B"))
    roles = ("--quasi", "age", "--sensitive", "ill", "--k", "5")
    commands = {
        "anonymize": (*roles, "-o", "r.csv"),
        "inspect": (),
        "init": ("-o", "plan.toml"),
        "compare": (*roles[:4], "--k", "3", "--methods", "mondrian"),
        "start": ("--yes",),
    }
    for command, words in commands.items():
        done = inprocess.shoal(tmp_path, command, "b.xlsx", *words)
        said = " ".join(done.stderr.split())
        assert done.returncode == 2, command
        assert "1 column ('pay') cannot be seen" in said and "--hidden skip" in said
        done = inprocess.shoal(tmp_path, command, "b.xlsx", *words, "--hidden", "skip")
        assert done.returncode == 0, (command, done.stderr)
    assert 'hidden = "skip"' in (tmp_path / "plan.toml").read_text()
    assert "pay" not in (tmp_path / "r.csv").read_text()
    # A plan repeats it.
    done = inprocess.shoal(
        tmp_path, "anonymize", "b.xlsx", "--plan", "plan.toml", *roles, "-o", "again.csv"
    )
    assert done.returncode == 0, done.stderr
    table = shoal.open(tmp_path / "b.xlsx", quasi="age", sensitive="ill", hidden="include")
    assert "pay" in table.frame.columns


def with_lie(raw: bytes, name: str, size: int, *, forged: bool) -> bytes:
    """Return an archive whose directory says another size; ``forged``: with a check sum of it."""
    with zipfile.ZipFile(io.BytesIO(raw)) as box:
        crc = zlib.crc32(box.read(name)[:size])
    at = raw.rindex(name.encode()) - 46  # the entry of the directory ends with the name
    assert raw[at : at + 4] == b"PK\x01\x02"
    entry = bytearray(raw)
    if forged:
        struct.pack_into("<I", entry, at + 16, crc)
    struct.pack_into("<I", entry, at + 24, size)
    return bytes(entry)


def test_a_workbook_whose_directory_lies_is_refused_while_it_is_unpacked(tmp_path):
    path = workbook(tmp_path / "in.xlsx", lambda *_: None)
    raw, name = path.read_bytes(), "xl/worksheets/sheet1.xml"
    assert read_table(path).height == 30
    # Styles are a part that nobody reads but the library.
    for part, size in ((name, 1000), (name, 0), ("xl/styles.xml", 100)):
        path.write_bytes(with_lie(raw, part, size, forged=False))
        with pytest.raises(InputError, match=rf"damaged Excel file \({part} unpacks to more than"):
            read_table(path)
        path.write_bytes(with_lie(raw, part, size, forged=True))
        with pytest.raises(InputError, match=r"damaged Excel file \(Bad CRC-32"):
            read_table(path)


def test_the_limit_holds_over_all_parts_of_a_workbook(tmp_path):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as box:
        for name in "ab":
            box.writestr(name, bytes(3 << 20))
    with zipfile.ZipFile(made) as box:
        whole = unpacked(Path("in.xlsx"), box, 6 << 20)
        with pytest.raises(InputError, match="b unpacks to more than"):
            unpacked(Path("in.xlsx"), box, (6 << 20) - 1)
    with zipfile.ZipFile(io.BytesIO(whole)) as box:
        assert {part.filename: part.compress_type for part in box.infolist()} == {"a": 0, "b": 0}
