"""Which labels of a hierarchy spell out a rare value, and that no maker makes such labels."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from shoal.tables.cells import as_text
from shoal.tables.coded_hierarchies import countries, rare
from shoal.tables.domain import Taxonomy
from shoal.tables.guessing.guess import guess
from shoal.tables.guessing.hierarchies import guess_any, guess_hierarchy
from shoal.tables.makers import dates, frequencies, intervals, prefixes
from shoal.tables.rare_labels import find_rare_labels
from tests.inprocess import shoal as command

FEW = 10


def tree(*groups: tuple[str, str], top: str = "*") -> Taxonomy:
    """Return a hierarchy: each label with its values, parted by bars."""
    return Taxonomy.from_rows(
        [(value, label, top) for label, values in groups for value in values.split("|")], "x"
    )


def named(made: Taxonomy, *values: str) -> set[str]:
    return {one.label for one in find_rare_labels(made, pl.Series(values, dtype=pl.String))}


@pytest.mark.parametrize(
    ("label", "values", "value"),
    [
        ("Husum, Trier and 3 more", "Husum|Trier", "Husum"),
        ("husum AND around", "Husum|Trier", "Husum"),
        ("all but Husum", "Husum|Trier", "Husum"),
        ("03.06.2023 04:05, 06.09.2023 and 7 more", "03.06.2023 04:05|x", "03.06.2023 04:05"),
        ("A, B", "A|B", "A"),
        ("{A; B}", "A|B", "B"),
        ("2, 5, 7", "2|5|7", "5"),
        ("{20,23}", "20|23", "23"),
        ("[20;23]", "20|23", "23"),
        ("E11.9 / E12", "E11.9|E12", "E11.9"),
        ("C++ / C#", "C++|C#", "C#"),
        ("東京都と大阪", "東京都|大阪", "大阪"),
        ("2023-03-14, 2023-04-01 and 9 more", "2023-03-14|2023-04-01", "2023-03-14"),
        *((f"10031{to}10047", "10031|10047|9", "10047") for to in ("/", " ", " or ", "+", ", ")),
        ("only 10031", "10031|10047", "10031"),
        ("all but 10031", "10031|10047", "10031"),
        *((f"B20{sign}C61", "B20|C61", "C61") for sign in (", ", ",", " und ")),
        ("12.03., 14.05.", "12.03.|14.05.", "14.05."),
        ("2023-03-12, 2023-05-14", "2023-03-12|2023-05-14", "2023-05-14"),
    ],
)  # fmt: skip
def test_a_label_that_spells_a_value_out(label: str, values: str, value: str) -> None:
    assert named(tree((label, values), ("other", "y|z")), value) == {label}


@pytest.mark.parametrize(
    ("label", "values", "value"),
    [
        ("Husumer Land", "Husum|Trier", "Husum"),
        ("Husum Nord and others", "Husum|Husum Nord", "Husum"),  # Husum Nord is common
        ("Type C or D", "C|D", "C"),
        ("[10031, 10047)", "10031|10040", "10040"),
        ("North", "Husum|Trier", "Husum"),
        ("[20-39]", "20|39", "20"),
        ("[20, 40[", "20|39", "20"),
        ("20 to 25", "20|25", "20"),
        ("90+", "90|97", "90"),
        ("J40-J47", "J40|J45", "J40"),
        ("rare values 2", "2|3", "2"),
        ("x and 2 more", "x|2|3", "2"),
        ("2023-01-01 - 2023-03-31", "2023-01-01|2023-03-31", "2023-01-01"),
        ("1234*", "12345|12346", "12345"),
    ],
)
def test_a_label_that_does_not(label: str, values: str, value: str) -> None:
    assert named(tree((label, values), ("other", "y|z")), value) == set()


def test_the_top_is_a_label_too() -> None:
    assert named(tree(("g", "Husum|Trier"), top="Husum and Trier"), "Husum") == {"Husum and Trier"}


def test_ends_of_intervals_that_look_like_data() -> None:
    ages = {label: [str(age) for age in own] for label, own in AGES.items()}
    made = tree(*((label, "|".join(own)) for label, own in ages.items()))
    # 18 and 64 lie next to other intervals; 97 is where somebody is, and no round number.
    assert named(made, "17", "18", "64", "97") == {"[65-97]"}
    apart = tree(("[17-23]", "17|19|23"), ("[31-40]", "31|40"))
    assert named(apart, "23", "31") == {"[17-23]", "[31-40]"}
    outlier = tree(("[8000-7654321]", "8000|98765|7654321"))
    assert named(outlier, "7654321") == {"[8000-7654321]"}
    assert named(tree(("[8000-8000000]", "8000|8000000")), "8000", "8000000") == set()


AGES = {"[0-17]": range(18), "[18-64]": range(18, 65), "[65-97]": range(65, 98)}


def columns() -> dict[str, list]:
    rng = np.random.default_rng(30)
    towns = rng.choice([f"Town {c}" for c in "abcdefghijklmnop"], 600, p=np.arange(16) / 120)
    moments = [dt.datetime(2023, 1, 1) + dt.timedelta(minutes=int(m)) for m in
               rng.integers(0, 500_000, 600)]  # fmt: skip
    income = rng.integers(8_000, 98_766, 600)
    income[0] = 7_654_321
    return {
        "town": towns.tolist(),
        "short": rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 600).tolist(),
        "code": [f"E{number}" for number in rng.integers(10, 99, 600)],
        "number": rng.geometric(0.01, 600).tolist(),
        "income": income.tolist(),
        "share": rng.exponential(1, 600).round(3).tolist(),
        "day": [moment.date() for moment in moments],
        "moment": moments,
        "written": [moment.strftime("%d.%m.%Y %H:%M") for moment in moments],
    }  # fmt: skip


WAYS = {
    "frequency": (frequencies, {}),
    "widths": (intervals, {}),
    "steps": (intervals, {"steps": (16, 8, 4)}),
    "quantiles": (intervals, {"how": "quantile"}),
    "prefixes": (prefixes, {"drop": (1, 2)}),
    "dates": (dates, {}),
    "rare": (rare, {"at_least": (FEW,)}),
}
FITS = {
    "frequency": list(columns()),
    "widths": ["number", "income", "share"],
    "steps": ["number", "income", "share"],
    "quantiles": ["number", "income", "share"],
    "prefixes": ["code", "town"],
    "dates": ["day", "moment"],
    "rare": ["town", "short", "code", "number"],
}


@pytest.mark.parametrize(
    ("way", "name"), [(w, name) for w, names in FITS.items() for name in names]
)
def test_no_maker_names_a_rare_value(way: str, name: str) -> None:
    """Asked by a plain search in the labels, not by what makers and checks use."""
    series = pl.Series(name, columns()[name])
    make, options = WAYS[way]
    made = make(series, name, **options)
    counts = dict(as_text(series).value_counts().iter_rows())
    few = [value for value, many in counts.items() if many < FEW]
    for label in made.labels[made.size :]:
        inner = label.strip("[]()*")
        parts = {part.strip(" ()") for part in inner.split(",")} | {inner.split(" and ")[0]}
        assert not parts & set(few)
        if way in ("steps", "quantiles"):
            assert str(series.max()) not in label
    assert find_rare_labels(made, pl.Series(few, dtype=pl.String)) == []


def test_the_outer_ends_of_quantiles_are_round() -> None:
    made = intervals(pl.Series(columns()["income"]), "income", how="quantile", steps=(4, 2))
    ends = [label.strip("[]").split("-") for label in made.labels[made.size : -1]]
    assert min(int(low) for low, _ in ends) % 1000 == 0
    assert max(int(high) for _, high in ends) == 10_000_000


def test_groups_of_rare_names_have_neutral_labels() -> None:
    values = (
        ["Bonn"] * 20 + ["Ulm"] * 15 + ["Kiel", "Hof", "Husum", "Trier", "Celle", "Jena", "Gera"]
    )
    made = frequencies(values, "town")
    assert made.labels[made.size :] == (
        "Bonn, Ulm and 1 more",
        "rare values 1",
        "rare values 2",
        "*",
    )


def test_a_name_in_a_label_of_ours_that_holds_a_rare_one() -> None:
    values = ["Bad Husum, Nord"] * 20 + ["Bonn"] * 20 + ["Ulm"] * 20 + ["Husum"] + list("abcd") * 3
    made = frequencies(values, "town")
    assert find_rare_labels(made, pl.Series(["Husum", *"abcd"])) == []


def test_a_nearly_unique_text_gets_no_hierarchy_and_stays_undecided() -> None:
    texts = pl.Series("place", [f"Dorf {number}" for number in range(700)] + ["Bonn", "Ulm"] * 10)
    assert guess_hierarchy(texts, "place") is None
    assert guess_any(texts, "place") is None
    (column,) = guess(pl.DataFrame({"place": texts})).columns
    assert column.role.value in ("undecided", "identifier")
    few = pl.Series("place", ["Bonn", "Ulm", "Kiel"] * 20)
    (column,) = guess(pl.DataFrame({"place": few})).columns
    assert column.role.value == "quasi"


def test_regions_of_countries_are_not_called_like_one() -> None:
    made = countries(["New Zealand", "Australia", "Micronesia", "Antarctica", "Palau", "Fiji"])
    assert find_rare_labels(made, pl.Series(made.values)) == []


def test_hierarchy_make_counts_people(tmp_path) -> None:
    rows = (
        ["id,town"] + ["1,Husum"] * 30 + [f"{i},{t}" for i in range(2, 42) for t in ("Bonn", "Ulm")]
    )
    rows += [f"{i},{t}" for i, t in enumerate(["Hof", "Jena", "Gera", "Celle"], 100)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    make = ("hierarchy", "make", "t.csv", "town", "--how", "frequency")
    assert "Husum, Hof" not in command(tmp_path, *make).stdout
    by_rows, by_people = command(tmp_path, *make), command(tmp_path, *make, "--person", "id")
    assert "Bonn, Ulm, Husum" in by_rows.stdout
    assert "Bonn, Ulm and 1 more" in by_people.stdout


@pytest.mark.slow
def test_many_rare_names_take_no_time_of_their_square() -> None:
    made = frequencies([f"v{number}" for number in range(60_000)], "name")  # minutes, if it did
    assert "rare values 20000" in made.labels
