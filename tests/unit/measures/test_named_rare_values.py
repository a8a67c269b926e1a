"""A release names no value that fewer than k people have without a word: labels, sets, ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import SchemaError
from shoal.tables.guessing.hierarchies import guess_hierarchy
from shoal.tables.hierarchy import write_hierarchy
from tests.inprocess import shoal as command

ROWS = 300
LABEL = "Husum, Trier and around"
TREE = shoal.Taxonomy.from_rows(
    [(town, LABEL, "*") for town in ("Husum", "Trier")]
    + [(town, "South", "*") for town in ("Ulm", "Bonn")],
    "town",
)


def table(rare: str = "Husum") -> pl.DataFrame:
    rng = np.random.default_rng(7)
    town = rng.choice(["Trier", "Ulm", "Bonn"], ROWS).tolist()
    town[3] = rare
    return pl.DataFrame({"town": town, "ill": rng.choice(["flu", "gout", "cold"], ROWS)})


ASKED = {"quasi": "town", "sensitive": "ill", "k": 5}
GIVEN = {**ASKED, "hierarchies": {"town": TREE}}


def test_a_hierarchy_with_a_label_that_names_somebody_is_refused() -> None:
    with pytest.raises(SchemaError) as refused:
        shoal.anonymize(table(), **GIVEN)
    text = str(refused.value)
    assert text.startswith(
        "In the hierarchy of column 'town' 1 label spells out a value that fewer than 5 rows have."
    )
    assert f"{LABEL!r} names 'Husum'" in text
    said = f"""--allow-labels 'town="{LABEL}"' (allow_labels={{'town': [{LABEL!r}]}})"""
    assert said in text


def test_a_value_that_begins_with_a_digit_is_no_exception() -> None:
    moment = "03.06.2023 04:05x"
    rows = [(town, f"{moment}, Trier and 1 more", "*") for town in (moment, "Trier")]
    rows += [(town, "South", "*") for town in ("Ulm", "Bonn")]
    tree = shoal.Taxonomy.from_rows(rows, "town")
    with pytest.raises(SchemaError, match="1 label spells out a value"):
        shoal.anonymize(table(moment), **{**GIVEN, "hierarchies": {"town": tree}})


def test_values_of_enough_people_may_be_named() -> None:
    often = table().with_columns(
        town=pl.when(pl.int_range(pl.len()) < 10).then(pl.lit("Husum")).otherwise("town")
    )
    assert shoal.anonymize(often, **GIVEN).audit().holds
    # Ten rows of one person are one person.
    people = often.with_columns(pid=pl.int_range(pl.len()).clip(9))
    with pytest.raises(SchemaError, match="fewer than 10 people have"):
        one = people.with_columns(pid=pl.when(pl.col("town") == "Husum").then(0).otherwise("pid"))
        shoal.anonymize(one, **{**GIVEN, "k": 10}, person="pid")


def test_a_label_is_allowed_by_its_own_text_and_no_other() -> None:
    with pytest.warns(shoal.ShoalWarning, match="1 label of the hierarchy of 'town' may spell out"):
        release = shoal.anonymize(table(), **GIVEN, allow_labels={"town": [LABEL]})
    assert release.audit().holds
    with pytest.raises(SchemaError, match="1 label spells out"):
        shoal.anonymize(table(), **GIVEN, allow_labels={"town": ["another label"]})
    with pytest.warns(shoal.ShoalWarning), pytest.raises(shoal.Cautioned):
        shoal.anonymize(table(), **GIVEN, allow_labels={"town": [LABEL]}, strict=True)


def test_the_command_refuses_allows_and_withholds_the_label_from_the_manifest(
    tmp_path: Path,
) -> None:
    table().write_csv(tmp_path / "t.csv")
    (tmp_path / "trees").mkdir()
    write_hierarchy(TREE, tmp_path / "trees" / "town.csv")
    words = ("anonymize", "t.csv", "--quasi", "town", "--sensitive", "ill", "--k", "5")
    words = (*words, "--hierarchies", "trees", "-o", "r.csv")
    done = command(tmp_path, *words)
    assert done.returncode == 2
    assert not (tmp_path / "r.csv").exists()
    done = command(tmp_path, *words, "--allow-labels", f'town="{LABEL}"')
    assert done.returncode == 0, done.stderr
    assert "may spell out a value that fewer than 5 rows have" in done.stderr
    manifest = json.loads((tmp_path / "r.csv.manifest.json").read_text())
    assert "columns.town.allow_labels" in manifest["withheld"]
    assert LABEL not in json.dumps(manifest)
    wrong = command(tmp_path, *words, "--force", "--allow-labels", "town")
    assert wrong.returncode == 2
    assert "--allow-labels takes COLUMN=LABELS" in wrong.stderr


def test_compare_runs_nothing_that_anonymize_refuses() -> None:
    opened = shoal.open(table(), quasi="town", sensitive="ill", hierarchies={"town": TREE})
    with pytest.raises(SchemaError, match="spells out a value"):
        opened.compare(k=[5], methods=["mondrian"])


def test_methods_that_publish_values_as_they_are_use_no_labels() -> None:
    release = shoal.anonymize(
        table(),
        quasi="town",
        sensitive="ill",
        rules=shoal.FrequencyLDiversity(2, "ill"),
        method="anatomy",
        hierarchies={"town": TREE},
    )
    assert set(release.frame["town"]) == {"Husum", "Trier", "Ulm", "Bonn"}


def test_sets_are_published_with_a_warning_that_counts_the_rare_values() -> None:
    said = (
        "The sets of values in column 'town' name 1 value that fewer than 5 rows have. Publish "
        "one value or * instead (--sets town=never, sets={'town': 'never'}), or give the column "
        "a hierarchy."
    )
    with pytest.warns(shoal.ShoalWarning) as heard:
        release = shoal.anonymize(table(), **ASKED)
    assert release.frame["town"].str.contains("Husum").any()
    assert [str(one.message) for one in heard] == [said]
    assert said in release.warnings
    with (
        pytest.warns(shoal.ShoalWarning),
        pytest.raises(shoal.Cautioned, match="The sets of values"),
    ):
        shoal.anonymize(table(), **ASKED, strict=True)
    never = shoal.anonymize(table(), **ASKED, sets="never", strict=True)
    assert not never.frame["town"].str.contains("Husum").any()


@pytest.mark.filterwarnings("ignore:6 complete records")
def test_sets_without_a_rare_value_are_no_reason_to_warn() -> None:
    ages = [20] * 9 + [30] * 9 + [40] * 9
    towns = (["Ulm"] * 4 + ["Bonn"] * 5) * 3
    half = pl.DataFrame({"age": ages, "town": towns, "ill": ["flu", "gout", "cold"] * 9})
    asked = {"quasi": ["age", "town"], "sensitive": "ill", "k": 9}
    release = shoal.anonymize(half, **asked)
    assert release.frame["town"].str.starts_with("{").any()
    assert not any("The sets of values" in text for text in release.warnings)


@pytest.mark.parametrize("typed", [False, True])
def test_ends_of_intervals_without_a_grid_are_counted(typed: bool) -> None:
    numbers = [1] * 40 + [2] * 400 + [3] * 3 + [5]
    rooms = pl.DataFrame({"rooms": numbers, "ill": ["a", "b"] * 222})
    with pytest.warns(shoal.ShoalWarning, match="The intervals in column 'rooms' begin or end at"):
        shoal.anonymize(rooms, quasi="rooms", sensitive="ill", k=10, typed=typed)
    release = shoal.anonymize(
        rooms, quasi="rooms", sensitive="ill", k=10, typed=typed, grid={"rooms": 2}, strict=True
    )
    assert release.audit().holds


@pytest.mark.parametrize("step", [1, 0.00001, "day"])
def test_ends_on_a_grid_as_fine_as_the_values_are_counted(step: object) -> None:
    rng = np.random.default_rng(2)
    values = pl.Series("x", rng.permutation(90_000)[:120] + 9_000)
    if step == "day":
        values = (values % 20_000).cast(pl.Int32).cast(pl.Date)
    elif step != 1:
        values = (values / 100_000).round(5)
    table = pl.DataFrame({"x": values, "age": [30, 40] * 60})
    with pytest.warns(
        shoal.ShoalWarning, match=r"'x' begin or end at \d+ values that fewer than 5"
    ):
        shoal.anonymize(table, quasi=["x", "age"], k=5, grid={"x": step}, seed=2**100)


def test_start_and_init_make_no_set_and_no_label_that_names_somebody(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    towns = rng.choice([f"Town {c}" for c in "abcdefghijkl"], ROWS, p=np.arange(12) / 66)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 90, ROWS),
            "city": towns,
            "place": [f"Dorf {number}" for number in range(ROWS)],
            "diagnosis": rng.choice(list("abcd"), ROWS),
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    done = command(tmp_path, "start", "t.csv", "--yes", "--no-browser")
    assert done.returncode == 0, done.stderr
    release = pl.read_csv(tmp_path / "t.release.csv")
    assert "place" not in release.columns
    counts = dict(frame["city"].value_counts().iter_rows())
    cells = release["city"].unique().to_list()
    assert not any(cell.startswith("{") for cell in cells)
    for town, many in counts.items():
        assert many >= 10 or not any(town in cell for cell in cells)
    assert command(tmp_path, "init", "t.csv", "-o", "plan.toml").returncode == 0
    plan = (tmp_path / "plan.toml").read_text()
    assert 'sets = "never"' in plan
    tree = (tmp_path / "plan.hierarchies" / "city.csv").read_text()
    for town, many in counts.items():
        groups = [line.split(";")[1:] for line in tree.splitlines()]
        assert many >= 10 or not any(town in label for path in groups for label in path)


def words(text: str) -> str:
    return " " + " ".join(re.findall(r"[^\W_]+", text.lower())) + " "


def names(kind: str, many: int) -> list[str]:
    whole = range(many)
    letters = [chr(97 + i % 26) + chr(97 + i // 26) for i in whole]
    return {
        "towns": [f"Stadt{own}" for own in letters],
        "long": [f"Institut fuer {own}ologie der Universitaet {own}heim" for own in letters],
        "parts": ["Bad " * (i % 3 == 0) + f"Nord{i // 6}" + " West" * (i % 4 == 0) for i in whole],
        "codes": [f"{'EFGH'[i % 4]}{10 + i}.{i % 10}" for i in whole],
        "signs": [f"a{i}, b{i}" if i % 2 else f"[x {i}]" for i in whole],
        "moments": [f"{1 + i % 28:02d}.06.2023 04:{i % 60:02d} h" for i in whole],
    }[kind]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["towns", "long", "parts", "codes", "signs", "moments"])
@pytest.mark.parametrize("seed", range(3))
def test_guessed_hierarchies_publish_no_rare_value(kind: str, seed: int) -> None:
    """Asked of the cells by their words alone, with nothing that makers or checks use."""
    rng = np.random.default_rng(seed)
    values = list(dict.fromkeys(names(kind, int(rng.integers(5, 50)))))
    share = rng.dirichlet(np.full(len(values), rng.choice([0.1, 0.5, 3.0])))
    rows, k = int(rng.integers(100, 500)), int(rng.choice([3, 5, 10]))
    frame = pl.DataFrame(
        {
            "name": rng.choice(values, rows, p=share).tolist(),
            "age": rng.integers(18, 90, rows),
            "ill": rng.choice(list("abc"), rows),
        }
    )
    made = guess_hierarchy(frame["name"], "name", k)
    given = {} if made is None else {"hierarchies": {"name": made[0]}}
    asked = {"quasi": ["name", "age"], "sensitive": "ill", "k": k, "sets": "never"}
    release = shoal.anonymize(frame, **asked, **given)
    counts = dict(frame["name"].value_counts().iter_rows())
    often = sorted((words(name) for name, many in counts.items() if many >= k), key=len)
    for cell in release.frame["name"].unique():
        rest = words(cell)
        for name in reversed(often):
            rest = rest.replace(name, "  ")
        assert not [name for name, many in counts.items() if many < k and words(name) in rest]
