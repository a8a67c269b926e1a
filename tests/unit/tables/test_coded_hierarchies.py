"""Hierarchies of ages, weeks, decades, countries, diagnoses, regions and rare names, by hand."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

from shoal.base.errors import ParameterError, SchemaError
from shoal.tables.coded_hierarchies import (
    _listed,
    ages,
    countries,
    decades,
    icd10,
    nuts,
    rare,
    weeks,
)
from shoal.tables.domain import Taxonomy
from shoal.tables.guessing.hierarchies import guess_any
from shoal.tables.hierarchy_methods import MAKERS, make
from shoal.tables.makers import dates, intervals, prefixes
from shoal.tables.tree_text import tree_lines


def way(tree: Taxonomy, value: str) -> list[str]:
    """Return the labels from a value to the top."""
    place = tree.values.index(value)
    return [tree.labels[node] for node in tree.levels[:, place].tolist()]


def test_ages_stop_at_the_top() -> None:
    tree = ages(pl.Series([3, 17, 42, 88, 90, 97, 104, None]))
    assert way(tree, "42") == ["42", "[40-44]", "[40-49]", "[40-59]", "*"]
    assert way(tree, "104") == ["104", "90+", "90+", "90+", "*"]
    assert way(tree, "90")[1] == "90+"
    assert way(ages(pl.Series([3, 80, 81]), top_age=[80]), "81")[1] == "80+"
    assert way(ages(pl.Series([95, 99])), "95") == ["95", "*"], "one group says nothing more than *"
    late = ages(pl.Series([70, 83, 88, 91]))
    assert way(late, "88")[1:4] == ["[85-89]", "[80-89]", "[80-89]"], "no label reaches over 90+"
    with pytest.raises(ParameterError, match="one age"):
        ages(pl.Series([3]), top_age=[80, 90])


def test_weeks_follow_iso_years() -> None:
    tree = weeks(pl.Series(["2024-12-30", "2024-12-29", "2025-01-02"]).str.to_date())
    assert way(tree, "2024-12-30") == ["2024-12-30", "2025-W01", "2025", "*"]
    assert way(tree, "2024-12-29") == ["2024-12-29", "2024-W52", "2024", "*"]


def test_decades_of_dates_and_of_years() -> None:
    tree = decades(pl.Series(["1987-03-04", "1991-01-01", "2003-05-06"]).str.to_date())
    assert way(tree, "1987-03-04") == ["1987-03-04", "1987", "1980s", "century 1900", "*"]
    assert way(decades(pl.Series([1987, 2003])), "1987")[1:3] == ["1980s", "century 1900"]
    with pytest.raises(SchemaError, match="neither dates nor years"):
        decades(pl.Series([3, 7]))


def test_dates_and_numbers_as_germans_write_them() -> None:
    tree = dates(pl.Series(["31.12.2023", "01.02.2024", "15.02.2024"]))
    assert way(tree, "01.02.2024") == ["01.02.2024", "2024-02", "2024-Q1", "2024", "*"]
    assert tree.values == ("31.12.2023", "01.02.2024", "15.02.2024"), "in the order of the days"
    numbers = intervals(pl.Series(["0,5", "0,50", "1,25", "10"]), widths=(1, 5))
    assert way(numbers, "0,50") == ["0,50", "[0-1)", "[0-5)", "*"]
    assert way(numbers, "10") == ["10", "[10-11)", "[10-15)", "*"]


def test_rare_names_are_put_together_until_they_are_enough() -> None:
    values = pl.Series(["a"] * 60 + ["b"] * 30 + ["c"] * 15 + ["d"] * 4 + ["e"])
    tree = rare(values, at_least=[10])
    # d and e are rare and have five rows; c joins them, so that they are three and twenty.
    assert way(tree, "e") == ["e", "other (3 values)", "*"]
    assert way(tree, "c")[1] == "other (3 values)"
    assert way(tree, "b") == ["b", "b", "*"]
    with pytest.raises(ParameterError, match="at-least"):
        rare(values, at_least=[1])


def test_countries_by_code_and_by_name() -> None:
    tree = countries(pl.Series(["DE", "FRA", "Österreich", "Namibia", "NA", "us", "Antarctica"]))
    assert way(tree, "DE") == ["DE", "Western Europe", "Europe", "*"]
    assert way(tree, "NA") == ["NA", "Southern Africa", "Africa", "*"]
    assert way(tree, "us")[2] == "Americas"
    with pytest.raises(SchemaError, match="'Atlantis'"):
        countries(pl.Series(["DE", "Atlantis"]))


def test_every_country_has_one_place() -> None:
    listed = _listed("countries.csv")
    assert listed.height == 249
    assert listed.null_count().sum_horizontal().item() == 0
    for key in ("alpha2", "alpha3", "english", "german"):
        assert listed[key].n_unique() == 249
    assert set(listed["continent"]) == {
        "Africa", "Americas", "Antarctica", "Asia", "Europe", "Oceania",
    }  # fmt: skip


def test_diagnoses_by_category_block_and_chapter() -> None:
    tree = icd10(pl.Series(["J45.0", "J45", "E11.9", "T98", "V01.1", "D48", "D50", "A10"]))
    assert way(tree, "J45.0") == ["J45.0", "J45.-", "J40-J47", "X Respiration", "*"]
    assert way(tree, "T98")[-3:] == ["T90-T98", "XIX Injuries, poisonings", "*"]
    assert way(tree, "A10")[-2] == "I Infections"  # a category of no block
    assert way(tree, "D48")[-2] == "II Neoplasms"
    assert way(tree, "D50")[-2] == "III Blood and immune system"
    with pytest.raises(SchemaError, match="no code of ICD-10"):
        icd10(pl.Series(["J45", "asthma"]))


def test_blocks_lie_apart_and_within_chapters() -> None:
    blocks = [*_listed("icd10_blocks.csv").sort("first").iter_rows()]
    assert len(blocks) == 263
    assert all(a <= z for a, z in blocks)
    assert all(z < a for (_, z), (a, _) in itertools.pairwise(blocks))
    chapters = [*_listed("icd10.csv").iter_rows()]
    assert all(any(a <= b and y <= z for a, z, _ in chapters) for b, y in blocks)


def test_regions_of_europe() -> None:
    tree = nuts(pl.Series(["DE212", "DE21", "FR101"]))
    assert way(tree, "DE212") == ["DE212", "DE21*", "DE2*", "DE*", "*"]


def test_prefixes_refuse_names() -> None:
    with pytest.raises(SchemaError, match="holds names"):
        prefixes(pl.Series(["Clinic North", "Clinic South", "Clinic West"]))
    assert prefixes(pl.Series(["SW1A 1AA", "SW1A 2AB"])).size == 2


def test_a_tree_is_drawn_with_its_rows() -> None:
    tree = countries(pl.Series(["DE", "FR", "JP"]))
    lines = list(tree_lines(tree, {"DE": 5, "FR": 2, "JP": 1}))
    assert lines[0] == "*  8 rows"
    assert lines.index("  Europe  7 rows") + 2 == lines.index("      DE  5 rows")
    assert lines.index("  Asia  1 row") + 2 == lines.index("      JP  1 row")
    assert len(lines) == 8
    short = list(tree_lines(tree, None, 4))
    assert len(short) <= 4
    assert "2 values under it" in "".join(short)


def test_every_way_has_a_story_and_a_wrong_number_is_refused() -> None:
    assert all(way.story for way in MAKERS.values())
    with pytest.raises(ParameterError, match="--top-age does not go with --how flat"):
        make("flat", pl.Series(["a"]), "x", {"top-age": "90"})


@pytest.mark.parametrize(
    ("column", "values", "how"),
    [
        ("age", [3, 40, 95], "ages by 5, 10 and 20 years"),
        ("zip", [10115, 10117, 20095], "prefixes"),
        ("country", ["DE", "FR"], "countries"),
        ("born", ["01.02.1980", "03.04.1991"], "dates"),
        ("wage", ["1,5", "2,75"], "intervals"),
        ("job", ["nurse", "cook"], "names of about equal frequency"),
    ],
)
def test_a_way_is_guessed_for_every_column(column: str, values: list[object], how: str) -> None:
    found = guess_any(pl.Series(values), column)
    assert found is not None
    assert found[1].startswith(how)
