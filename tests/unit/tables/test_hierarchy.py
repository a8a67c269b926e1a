"""Hierarchy files: ARX in and out, found in folders, checked against the data."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.base.errors import InputError, OutputError, SchemaError
from shoal.tables.domain import Taxonomy, flat
from shoal.tables.hierarchy import (
    check_cover,
    read_directory,
    read_hierarchy,
    uncovered,
    write_hierarchy,
)

SHARED = Path(__file__).parents[4] / "shared" / "data" / "hierarchies"
HAITI = "Cuba;Caribbean;*\nHaiti;Haiti;*\nJamaica;Caribbean;*\n"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        HAITI,
        HAITI.replace(";", ","),
        HAITI.replace(";", "\t"),
        "\ufeff" + HAITI,
        HAITI.replace("\n", "\r\n"),
        HAITI.rstrip() + "\n\n",
        '"Cuba";"Caribbean";"*"\nHaiti;Haiti;*\nJamaica;Caribbean;*\n',
        HAITI + "*;*;*\n",
        HAITI + ";*;*\n",
    ],
    ids=[
        "semicolon",
        "comma",
        "tab",
        "bom",
        "crlf",
        "blank-lines",
        "quoted",
        "missing-row",
        "empty-row",
    ],
)
def test_every_spelling_of_a_file_is_the_same_tree(tmp_path: Path, text: str) -> None:
    taxonomy = read_hierarchy(write(tmp_path / "h.csv", text), "country")
    assert taxonomy.values == ("Cuba", "Jamaica", "Haiti")
    assert taxonomy.labels == ("Cuba", "Jamaica", "Haiti", "Caribbean", "*")


def test_labels_may_hold_the_other_delimiter_quotes_and_unicode(tmp_path: Path) -> None:
    text = '[0,10);"a;b";*\n[10,20);"say ""hi""";*\nÅrhus;DK;*\n'
    taxonomy = read_hierarchy(write(tmp_path / "h.csv", text), "x")
    assert taxonomy.values == ("[0,10)", "[10,20)", "Århus")
    assert taxonomy.labels[3:] == ("a;b", 'say "hi"', "DK", "*")


LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).filter(
    lambda text: text.strip() and text != "*"
) | st.sampled_from(["a;b", "a,b", '"', "line\nbreak", " edge ", "ü"])


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(LABELS, min_size=1, max_size=8, unique=True), st.integers(1, 3))
def test_writing_and_reading_gives_the_same_tree(
    tmp_path: Path, leaves: list[str], groups: int
) -> None:
    rows = [(leaf, f"group {i % groups};", "*") for i, leaf in enumerate(leaves)]
    taxonomy = Taxonomy.from_rows(rows, "x")
    write_hierarchy(taxonomy, tmp_path / "h.csv", force=True)
    again = read_hierarchy(tmp_path / "h.csv", "x")
    assert again.labels == taxonomy.labels
    assert again.levels.tolist() == taxonomy.levels.tolist()


def test_an_existing_hierarchy_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "h.csv", HAITI)
    with pytest.raises(OutputError, match="already exists"):
        write_hierarchy(flat(("a",), "x"), path)
    assert path.read_text() == HAITI


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("*;*\n", "is empty"),
        ("a\nb\n", "has one level only"),
        ("a;g;*\nb;*\n", "is uneven: row 2 has 2 levels, row 1 has 3"),
        ("a;g;x;*\nb;g;y;*\n", "gives 'g' two parents, 'x' and 'y'"),
        ("a;g;h;g;*\n", "has a cycle: a > g > h > g"),
        ("a;;*\n", "has an empty label in row 1. Give every group a name"),
        ("a;g;*;\n", "has an empty label in row 1"),
    ],
)
def test_a_bad_file_is_refused_with_its_name(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path / "city.csv", text)
    with pytest.raises(SchemaError) as caught:
        read_hierarchy(path, "city")
    assert "The hierarchy of column 'city'" in str(caught.value)
    assert words in str(caught.value)
    assert f"(file {path})" in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv of column 'x' does not exist"):
        read_hierarchy(tmp_path / "none.csv", "x")
    path = tmp_path / "latin.csv"
    path.write_bytes("Århus;*".encode("latin1"))
    with pytest.raises(InputError, match=r"is not UTF-8 \(byte 0\).*iconv"):
        read_hierarchy(path, "x")


def test_a_directory_given_whole(tmp_path: Path) -> None:
    write(tmp_path / "age.csv", "1;*\n")
    write(tmp_path / "adult_hierarchy_sex.csv", "f;*\nm;*\n")
    write(tmp_path / "adult_hierarchy_age.csv", "2;*\n")
    write(tmp_path / "broken.csv", "a\n")
    found = read_directory(tmp_path, ["sex", "age", "zip"])
    assert list(found) == ["sex", "age"]
    assert found["age"].values == ("1",)  # the plain name wins


def test_all_faults_of_a_directory_at_once(tmp_path: Path) -> None:
    write(tmp_path / "age.csv", "1\n")
    write(tmp_path / "a_hierarchy_sex.csv", "f;*\n")
    write(tmp_path / "b_hierarchy_sex.csv", "f;*\n")
    (tmp_path / "zip.csv").write_bytes(b"\xff;*")
    with pytest.raises(SchemaError) as caught:
        read_directory(tmp_path, ["age", "sex", "zip"])
    assert len(caught.value.faults) == 3
    assert "'sex' has 2 hierarchy files" in str(caught.value)
    assert "'a_hierarchy_sex.csv', 'b_hierarchy_sex.csv'. Keep one" in str(caught.value)


def test_a_directory_without_any_match(tmp_path: Path) -> None:
    write(tmp_path / "Age.csv", "1;*\n")
    with pytest.raises(SchemaError) as caught:
        read_directory(tmp_path, ["age"])
    assert "has no hierarchy for any of the columns 'age'; its files are 'Age.csv'." in str(
        caught.value
    )
    assert "Did you mean 'Age'?" in str(caught.value)
    with pytest.raises(InputError, match="does not exist or is not a directory"):
        read_directory(tmp_path / "none", ["age"])
    assert read_directory(tmp_path, []) == {}


def test_values_without_a_leaf_are_named_and_counted() -> None:
    taxonomy = flat(("39", "40", "Private"), "x")
    assert uncovered(taxonomy, {"39": 5}, "age") is None
    check_cover(taxonomy, {"39": 5}, "age")
    with pytest.raises(SchemaError) as caught:
        check_cover(taxonomy, {"39": 5, "101": 1, "?": 1200}, "age")
    assert str(caught.value).startswith(
        "The hierarchy of column 'age' lacks 2 values that are in 1,201 rows: "
        "'?' (1,200 rows), '101' (1 row). Add a row for each value"
    )


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (" Private", "has 'Private' without the spaces around it"),
        ("Privat", "Did you mean 'Private'?"),
        ("zzz", "(1 row). Add"),
    ],
)
def test_the_likely_cause_is_told(value: str, hint: str) -> None:
    assert hint in str(uncovered(flat(("39", "Private"), "x"), {value: 1}, "x"))


def test_many_lacking_values_are_cut_short() -> None:
    text = str(uncovered(flat(("a",), "x"), {str(i): 1 for i in range(30)}, "x"))
    assert "'0' (1 row), '1' (1 row)" in text
    assert "and 25 more." in text


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_real_hierarchies_read_and_write_back(tmp_path: Path) -> None:
    files = sorted(SHARED.rglob("*.csv"))
    assert len(files) > 20
    for path in files:
        taxonomy = read_hierarchy(path, path.stem)
        write_hierarchy(taxonomy, tmp_path / "h.csv", force=True)
        written = sorted((tmp_path / "h.csv").read_text().splitlines())
        assert written == sorted(path.read_text().splitlines())


def test_a_hierarchy_that_is_no_file_and_no_taxonomy_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"hierarchy of column 'age' is a dict\. Give a file"):
        shoal.anonymize(
            pl.DataFrame({"age": [1, 2] * 5}), quasi="age", hierarchies={"age": {0: [1, 2]}}
        )
