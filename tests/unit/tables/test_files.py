"""Files in and out: any spelling of a table is read, any fault is named with its line."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import os
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.api.opening import read_table
from shoal.base import atomic
from shoal.base.errors import InputError, OutputError
from shoal.tables import csvfile
from shoal.tables.files import FORMATS
from shoal.tables.write_files import write_release, write_table

TABLE = "name,age,zip\nAnn,39,00123\nBob,,99\n"
PLAIN = {"name": ["Ann", "Bob"], "age": [39, None], "zip": ["00123", "99"]}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        TABLE,
        TABLE.replace(",", ";"),
        TABLE.replace(",", "\t"),
        TABLE.replace(",", "|"),
        TABLE.replace("\n", "\r\n"),
        TABLE.rstrip(),
        TABLE + "\n\n",
        "\ufeff" + TABLE,
        '"name","age","zip"\n"Ann","39","00123"\n"Bob","","99"\n',
        gzip.compress(TABLE.encode()),
        gzip.compress(b"\xef\xbb\xbf" + TABLE.encode()),
    ],
    ids=[
        "comma",
        "semicolon",
        "tab",
        "bar",
        "crlf",
        "no-end",
        "blank-lines",
        "bom",
        "quoted",
        "gzip",
        "gzip-bom",
    ],
)
def test_every_spelling_is_the_same_table(tmp_path: Path, content: str | bytes) -> None:
    frame = read_table(put(tmp_path / "x.dat", content))
    assert frame.to_dict(as_series=False) == PLAIN
    assert frame.schema == {"name": pl.String, "age": pl.Int64, "zip": pl.String}


def test_cells_may_hold_delimiters_quotes_line_breaks_and_unicode(tmp_path: Path) -> None:
    text = 'größe x,"a ""b""\nc",日本\n"1,5","line\nbreak","""q"""\n5" disk,*,[1-2]\n'
    frame = read_table(put(tmp_path / "x.csv", text))
    assert frame.columns == ["größe x", 'a "b"\nc', "日本"]
    assert frame.rows() == [("1,5", "line\nbreak", '"q"'), ('5" disk', "*", "[1-2]")]


def test_types_are_given_and_texts_stay_texts(tmp_path: Path) -> None:
    text = "i,f,b,d,m,z,x\n1,1.5,True,2020-02-29,2020-01-01 10:30,007,1\n,,,,,,a\n"
    frame = read_table(put(tmp_path / "x.csv", text))
    assert frame.row(0) == (
        1, 1.5, True, dt.date(2020, 2, 29), dt.datetime(2020, 1, 1, 10, 30), "007", "1",
    )  # fmt: skip
    assert frame.row(1) == (None,) * 6 + ("a",)
    kept = read_table(tmp_path / "x.csv", text=("i", "d"))
    assert kept.row(0)[:4] == ("1", 1.5, True, "2020-02-29")


def test_missing_is_empty_and_what_is_listed(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", 'a,b\n1,?\n?,x\n"", NA\n 3 ,\n')
    frame = read_table(path, missing=("?", "NA"))
    assert frame.to_dict(as_series=False) == {"a": [1, None, None, 3], "b": [None, "x", None, None]}
    assert read_table(path)["a"].to_list() == ["1", "?", None, " 3 "]


def test_a_blank_line_in_a_single_column_is_a_missing_cell(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None, 2, None]})
    write_table(frame, tmp_path / "x.csv")
    assert read_table(tmp_path / "x.csv")["a"].to_list() == [1, None, 2, None]


def test_the_delimiter_can_be_told(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a:b\n1:2\n")
    assert read_table(path, delimiter=":").row(0) == (1, 2)
    tabbed = put(tmp_path / "y.csv", "a\tb,c\n1\t2\n")
    assert read_table(tabbed, delimiter="\\t").columns == ["a", "b,c"]
    for wrong in ("", "ab", '"', "\n", "é"):
        with pytest.raises(InputError, match="delimiter must be one character"):
            read_table(path, delimiter=wrong)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("name, first;age\nA;1\nB;2\n", ";"),
        ("a;b,c\n1,5;2,5\n1,5;2\n", ";"),
        ("only\n1\n", ","),
        ("a\tb\n1,5\t2,5\n", "\t"),
        ('"a;b",c\n1,2\n', ","),
    ],
)
def test_the_delimiter_is_the_one_that_fits_the_rows(text: str, delimiter: str) -> None:
    assert csvfile.sniff(text.encode()) == delimiter


def test_the_delimiter_is_found_in_a_long_file() -> None:
    assert csvfile.sniff(b"a;b\n" + b"1,5;2\n" * 50_000) == ";"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty. A table needs a line of column names and at least one row."),
        (b" \n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\n", "has column names ('a', 'b') but no rows"),
        (b"a,b", "has column names ('a', 'b') but no rows"),
        (gzip.compress(TABLE.encode())[:-9], "is a damaged or truncated gzip file"),
        (gzip.compress(TABLE.encode())[:12], "is a damaged or truncated gzip file"),
        (b"\x1f\x8bnonsense", "is a damaged or truncated gzip file"),
        (
            b"a,b\n1,2\n3\n",
            "has ragged rows: line 3 has 1 cell for 2 column names (delimiter ','). "
            "Quote cells that hold the delimiter, or name another one.",
        ),
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 cells for 2 column names"),
        (b'a,b\n"x\ny\nz",2\n\n3,4,5\n', "line 6 has 3 cells"),
        (b"a\n1,2\n", "line 2 has 2 cells for 1 column name ("),
        (b'a,b\n1,2\n3,"4\n5,6\n', "cannot be read from line 3 on: unexpected end of data"),
        (b"a,b,a,b,c\n1,2,3,4,5\n", "has duplicate column names: 'a', 'b'. Every column needs"),
        (b"a,b\n1,2\n3,\x81\n", "is not UTF-8: byte 0x81 in line 3 cannot be read"),
        (b"a,\x81\n1,2\n", "is not UTF-8: byte 0x81 in line 1"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16 text, not UTF-8"),
        (b"PK\x03\x04rest", "is a zip archive or a spreadsheet"),
        (b"a\x00b\x01", "is a binary file of an unknown kind"),
        (b"PAR1 and then nothing", "is a damaged Parquet file"),
        (b"ARROW1 and then nothing", "is a damaged Arrow file"),
    ],
    # Of their own: a gzip file holds the time at which it was made.
    ids=[
        "empty",
        "blank lines",
        "only a mark",
        "only names",
        "only names, no end",
        "gzip without its end",
        "gzip without its body",
        "no gzip after all",
        "short row",
        "long row",
        "long row after line breaks",
        "one name for two cells",
        "open quote",
        "names twice",
        "foreign cell",
        "foreign name",
        "utf-16",
        "spreadsheet",
        "binary",
        "damaged parquet",
        "damaged arrow",
    ],
)
def test_bad_input_is_refused_in_words(tmp_path: Path, content: bytes, words: str) -> None:
    path = put(tmp_path / "in.csv", content)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)


def test_ragged_rows_far_below_are_found(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", "a,b\n" + "1,2\n" * 100_000 + "1\n")
    with pytest.raises(InputError, match="line 100002 has 1 cell"):
        read_table(path)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv does not exist. Check the name"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a directory"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="cannot be read: Not a directory"):
        read_table(put(tmp_path / "file", "x") / "below.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = put(tmp_path / "x.csv", TABLE)
    path.chmod(0)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read_table(path)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TABLE,))
    writer.start()
    assert read_table(pipe).height == 2
    writer.join()


def test_a_row_longer_than_a_block_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvfile, "_BLOCK", 64)
    path = put(tmp_path / "x.csv", f"a,b\n1,{'x' * 500}\n2,y\n")
    assert read_table(path)["a"].to_list() == [1, 2]


def test_line_breaks_in_cells_do_not_cut_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csvfile, "_BLOCK", 64)
    rows = [(i, f"line {i}\n{i},x\n") for i in range(200)]
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    write_table(frame, tmp_path / "x.csv")
    assert read_table(tmp_path / "x.csv").equals(frame)


RICH = pl.DataFrame(
    {
        "i": [1, None],
        "f": [1.5, None],
        "s": ["a,b", None],
        "b": [True, None],
        "d": [dt.date(2020, 1, 1), None],
        "m": [dt.datetime(2020, 1, 1, 10), None],
        "odd name; {}": ["*", '"q"\n'],
    }
)


# The files of statistics programs take no such names: tests/ext/exchange/test_programs.py.
@pytest.mark.parametrize("suffix", [x for x in FORMATS if x not in (".dta", ".sav", ".xpt")])
def test_what_is_written_is_what_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    write_table(RICH, path)
    assert read_table(path).equals(RICH)
    assert names(tmp_path) == [path.name]


def test_parquet_and_arrow_know_their_missing_cells(tmp_path: Path) -> None:
    frame = pl.DataFrame({"s": ["?", "a", ""], "f": [float("nan"), 1.0, None]})
    for suffix in (".parquet", ".feather"):
        write_table(frame, tmp_path / f"x{suffix}")
        read = read_table(tmp_path / f"x{suffix}", missing=("?",))
        assert read.to_dict(as_series=False) == {"s": [None, "a", None], "f": [None, 1.0, None]}
        write_table(frame.head(0), tmp_path / f"x{suffix}", force=True)
        with pytest.raises(InputError, match="but no rows"):
            read_table(tmp_path / f"x{suffix}")


def test_equal_tables_make_equal_files(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(RICH, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_unknown_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"Let it end in one of \.csv, \.csv\.gz"):
        write_table(RICH, tmp_path / "out.ods")
    assert not names(tmp_path)


def test_what_a_format_cannot_hold_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"as \.csv: .* Nothing was written; try another format"):
        write_table(pl.DataFrame({"a": [[1]]}), tmp_path / "out.csv")
    assert not names(tmp_path)


def test_several_tables_are_written_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [[1]]})
    place = tmp_path / "one.csv"
    for tables in ({"release": good, "st": bad}, {"release": bad, "st": good}):
        with pytest.raises(OutputError, match="Nothing was written"):
            write_release(tables, place)
        assert not names(tmp_path)
    # The second table gets its name first; when the release cannot, it loses it again.
    real = atomic._publish

    def late(neighbour: Path, target: Path, *, force: bool) -> None:
        if target.name == "one.csv":
            assert names(tmp_path)[-1] == "one.st.csv"
            raise OSError(28, "No space left on device")
        real(neighbour, target, force=force)

    monkeypatch.setattr(atomic, "_publish", late)
    tables = {"release": good, "st": good}
    with pytest.raises(OutputError, match="No space left"):
        write_release(tables, place)
    assert not names(tmp_path)
    monkeypatch.undo()
    write_release(tables, place)
    assert names(tmp_path) == ["one.csv", "one.st.csv"]
    place.unlink()
    with pytest.raises(OutputError, match=r"one\.st\.csv"):
        write_release(tables, place)
    assert names(tmp_path) == ["one.st.csv"]


# Python and polars do not agree on which control characters are spaces.
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\r\t"), max_size=6
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_any_text_survives_the_way_through_a_file(
    tmp_path: Path, rows: list[tuple[str, str]]
) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
    buffer = io.BytesIO()
    frame.write_csv(buffer, quote_style="always")
    path = put(tmp_path / "x.csv", buffer.getvalue())
    read = read_table(path, text=("a", "b"), delimiter=",")
    blank = [[None if not cell.strip() else cell for cell in row] for row in rows]
    assert [list(row) for row in read.rows()] == blank
