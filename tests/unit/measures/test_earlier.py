"""What earlier releases leave of the sensitive values: against plain sets, and by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.measures.earlier.measuring import measure_earlier_releases
from shoal.measures.earlier.results import EarlierReleases
from shoal.privacy import KAnonymity, LDiversity
from tests.naive import earlier as naive

AGES = tuple(map(str, range(6)))
TOWNS = tuple("abcd")


def age_cells() -> st.SearchStrategy[tuple[str, frozenset[str]]]:
    spans = st.tuples(st.integers(0, 5), st.integers(0, 3)).map(lambda p: (p[0], min(sum(p), 5)))
    return st.one_of(
        st.just(("*", frozenset(AGES))),
        spans.map(
            lambda s: (
                str(s[0]) if s[0] == s[1] else f"[{s[0]}-{s[1]}]",
                frozenset(AGES[s[0] : s[1] + 1]),
            )
        ),
    )


def town_cells() -> st.SearchStrategy[tuple[str, frozenset[str]]]:
    return st.frozensets(st.sampled_from(TOWNS), min_size=1, max_size=4).map(
        lambda s: (
            "*" if len(s) == 4 else next(iter(s)) if len(s) == 1 else f"{{{', '.join(sorted(s))}}}",
            s,
        )
    )


Cells = tuple[tuple[str, frozenset[str]], ...]
Rows = list[tuple[Cells, str | None]]


def releases() -> st.SearchStrategy[list[Rows]]:
    rows = st.tuples(
        st.tuples(age_cells(), town_cells()), st.sampled_from(["u", "v", "w", "x", None])
    )
    # At least one value that is known: a column of gaps has no beliefs.
    known = st.tuples(st.tuples(age_cells(), town_cells()), st.sampled_from("uvw"))
    one = st.tuples(st.lists(rows, max_size=9), known).map(lambda both: [*both[0], both[1]])
    return st.lists(one, min_size=2, max_size=4)


def frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [cells[0][0] for cells, _ in rows],
            "town": [cells[1][0] for cells, _ in rows],
            "ill": [value for _, value in rows],
        },
        schema_overrides={"ill": pl.String},
    )


def plain(rows: Rows) -> list[naive.Row]:
    return [(tuple(covered for _, covered in cells), value) for cells, value in rows]


def opened(rows: Rows) -> shoal.Release[pl.DataFrame]:
    return shoal.open_release(frame(rows), quasi=["age", "town"], sensitive="ill")


def measured(history: Sequence[Rows], *rules: shoal.Rule) -> EarlierReleases:
    *before, now = [opened(rows).local_tables for rows in history]
    return measure_earlier_releases(now, before, "ill", rules)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(releases())
def test_the_figures_are_those_of_plain_sets(history: list[Rows]) -> None:
    found = measured(history, KAnonymity(2), LDiversity(2, "ill"))
    *before, now = [plain(rows) for rows in history]
    for narrowed, left in (
        (found.in_all, naive.left_in_all(now, before)),
        (found.in_some, naive.left_in_some(now, before)),
    ):
        assert narrowed.left == naive.rows_by_left(left)
        assert narrowed.rows == sum(narrowed.left.values())
        assert (narrowed.worst_after, narrowed.mean_after) == pytest.approx(naive.beliefs(left))
        assert list(narrowed.broken.values()) == [
            naive.broken(now, left, k=2),
            naive.broken(now, left, l=2),
        ]


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(releases())
def test_what_is_left_for_certain_is_left_in_every_chain(history: list[Rows]) -> None:
    found = measured(history).for_certain
    assert found is not None
    *before, now = [plain(rows) for rows in history]
    grouped = [naive.classes(release) for release in before]
    at_least: Counter[int] = Counter()
    for cells, values in naive.classes(now).items():
        for value, rows in values.items():
            chains = [
                [own[box] for own, box in zip(grouped, chain, strict=True)]
                for chain in product(*grouped)
                if naive.meet([cells, *chain])
            ]
            common = [
                set(values).intersection(*chain) - {None}
                for chain in chains
                if all(value in own for own in chain)
            ]
            if common and value is not None:
                at_least[min(map(len, common))] += rows
    # As many rows, and none of them has more values than in the worst of its chains.
    assert sum(found.left.values()) == sum(at_least.values())
    for number in range(5):
        fewer = sum(rows for left, rows in found.left.items() if left <= number)
        assert fewer >= sum(rows for left, rows in at_least.items() if left <= number)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(releases(), st.randoms(use_true_random=False))
def test_people_known_by_a_pseudonym_are_followed(history: list[Rows], rng: object) -> None:
    people = [list(range(12)) for _ in history]
    for numbers in people:
        rng.shuffle(numbers)  # type: ignore[attr-defined]
    whose = [[f"p{n}" for n in own[: len(rows)]] for own, rows in zip(people, history, strict=True)]
    frames = [
        frame(rows).with_columns(pl.Series("who", names))
        for rows, names in zip(history, whose, strict=True)
    ]
    declared = {"quasi": ["age", "town"], "sensitive": "ill", "person": "who"}
    *before, now = [shoal.open_release(one, **declared).local_tables for one in frames]  # type: ignore[arg-type]
    found = measure_earlier_releases(now, before, "ill")
    told = [
        list(zip(names, plain(rows), strict=True))
        for rows, names in zip(history, whose, strict=True)
    ]
    assert found.linked == "persons"
    assert found.in_all.left == naive.by_person(told, everywhere=True)
    assert found.in_some.left == naive.by_person(told, everywhere=False)


NOW = {"age": ["[20-29]"] * 4, "ill": ["flu", "cold", "gout", "rash"]}
OLD = {"age": ["[20-24]"] * 3 + ["[25-40]"] * 3, "ill": ["flu", "cold", "hiv", "flu", "tb", "hiv"]}
ASKED = {"quasi": "age", "sensitive": "ill"}


def test_two_values_of_four_are_left() -> None:
    now, old = pl.DataFrame(NOW), pl.DataFrame(OLD)
    verdict = shoal.audit(now, against=[old], k=2, l=3, **ASKED)
    assert not verdict.holds
    assert verdict.faults == (
        "With the earlier releases, the promise that every class has at least 3 different values "
        "of 'ill' (distinct l-diversity) no longer holds for 2 of 2 rows that can have been in all "
        "of them ('ill').",
    )
    figures = verdict.models["earlier"]["ill"]
    assert figures["all"]["left"] == {2: 2}
    assert figures["sentence"] == (
        "Who knows that a person was in the earlier release too believes the likeliest value of "
        "'ill' with probability 0.5000 on average instead of 0.2500, 0.5000 at worst instead of "
        "0.2500; 0 of 2 rows have one value left."
    )
    assert figures["certain"]["left"] == {1: 1, 2: 1}  # who is 27 and has flu is found out
    # By the cells two are left to everybody; who is known to be 27 may have one.
    two = shoal.audit(now, against=[old], k=2, l=2, **ASKED)
    assert not two.holds and two.unknown
    told = "An attacker who knows a person's own quasi-identifiers can rule out more"
    assert told in two.faults[0]
    assert shoal.audit(now, k=2, l=4, **ASKED).holds


def test_a_release_against_itself_loses_nothing() -> None:
    frame = pl.DataFrame(NOW | {"ill": ["flu", "cold", None, None]})
    verdict = shoal.audit(frame, against=[frame], k=4, l=2, **ASKED)
    assert verdict.holds
    assert verdict.models["earlier"]["ill"]["all"]["left"] == {2: 2}


def test_three_releases_need_a_common_point() -> None:
    now = pl.DataFrame({"age": ["[1-9]"] * 2, "ill": ["flu", "cold"]})
    low = pl.DataFrame({"age": ["[1-4]", "[5-9]"], "ill": ["flu", "cold"]})
    high = pl.DataFrame({"age": ["[1-4]", "[5-9]"], "ill": ["cold", "cold"]})
    # Flu is in one release below 5; the other has cold there, so flu fits in no history of two.
    with_both = shoal.audit(now, against=[low, high], k=2, l=2, **ASKED)
    assert with_both.models["earlier"]["ill"]["all"]["left"] == {1: 1}
    assert not with_both.holds


def test_sets_of_dummy_values_are_intersected() -> None:
    now = pl.DataFrame({"age": [30, 31], "ill": [["cold", "flu"], ["gout", "rash"]]})
    old = pl.DataFrame({"age": [30, 31], "ill": [["flu", "hiv"], ["gout", "rash"]]})
    asked = {"rules": LDiversity(2, "ill"), **ASKED}
    verdict = shoal.audit(now, against=[old], **asked)
    figures = verdict.models["earlier"]["ill"]
    assert figures["all"]["left"] == {1: 1, 2: 1}
    assert figures["all"]["worst_after"] == 1.0
    assert "certain" not in figures
    assert "no longer holds for 1 of 2 rows" in verdict.faults[0]
    assert shoal.audit(now, against=[now], **asked).holds


def test_shapes_may_differ(tmp_path: Path) -> None:
    now = pl.DataFrame({"age": ["[30-39]"] * 3, "ill": ["flu", "gout", "cold"]})
    sets = pl.DataFrame({"age": [30, 35], "ill": [["flu", "hiv"], ["gout", "tb"]]})
    first = pl.DataFrame({"age": [31, 32], "group_id": [1, 1]})
    second = pl.DataFrame({"group_id": [1, 1], "ill": ["cold", "flu"], "count": [1, 1]})
    first.write_csv(tmp_path / "a.csv")
    second.write_csv(tmp_path / "a.st.csv")
    asked = {"k": 3, "l": 2, **ASKED}
    both = shoal.audit(now, against=[sets], **asked).models["earlier"]["ill"]
    assert both["all"]["left"] == {2: 2}
    groups = shoal.audit(now, against=[tmp_path / "a.csv"], **asked).models["earlier"]["ill"]
    assert groups["all"]["left"] == {2: 2}


def test_hierarchies_say_what_cells_have_in_common(tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("Rome;Italy;*\nPisa;Italy;*\nParis;France;*\n")
    now = pl.DataFrame({"town": ["Italy"] * 2, "ill": ["flu", "cold"]})
    old = pl.DataFrame({"town": ["Rome", "Pisa", "Paris"], "ill": ["flu", "gout", "cold"]})
    asked = {"quasi": "town", "sensitive": "ill", "k": 2, "hierarchies": tmp_path}
    found = shoal.audit(now, against=[old], **asked).models["earlier"]["ill"]
    assert found["all"]["left"] == {1: 1}


# Bad input


def test_nobody_in_common_is_a_fault() -> None:
    old = pl.DataFrame({"age": ["[50-59]"] * 2, "ill": ["flu", "cold"]})
    verdict = shoal.audit(pl.DataFrame(NOW), against=[old], k=2, **ASKED)
    assert verdict.faults == (
        "Nobody of the release can have been in all of the earlier ones, so nothing was checked "
        "over them: they are not about the same people, or their cells cannot be compared (give "
        "--hierarchies).",
    )
    told = verdict.models["earlier"]["ill"]
    assert told["sentence"] == "No row of it can be of a person who was in the earlier release too."
    assert told["beyond"] == ""  # nothing was checked, so nothing is promised


@pytest.mark.slow
def test_many_wide_releases_that_cannot_all_be_met() -> None:
    # Choosing class by class finds only in the last two releases that nothing is left: with every
    # choice before them tried, 40 ** 12 chains.
    ages = [f"[{low}-{low + 50}]" for low in range(40) for _ in range(2)]
    wide = pl.DataFrame({"age": ages, "size": ["[0-9]"] * 80, "ill": ["flu", "cold"] * 40})
    ends = [
        pl.DataFrame({"age": ["[0-90]"] * 2, "size": [size] * 2, "ill": ["flu", "cold"]})
        for size in ("[0-4]", "[5-9]")
    ]
    verdict = shoal.audit(
        wide, against=[wide] * 10 + ends, k=2, quasi=["age", "size"], sensitive="ill"
    )
    assert verdict.models["earlier"]["ill"]["all"]["rows"] == 0
    verdict = shoal.audit(wide, against=[wide] * 10, k=2, quasi=["age", "size"], sensitive="ill")
    assert verdict.models["earlier"]["ill"]["all"]["left"] == {2: 80}


def test_no_sensitive_column() -> None:
    now = pl.DataFrame(NOW)
    with pytest.raises(shoal.SchemaError, match="no sensitive column was named"):
        shoal.audit(now, quasi="age", k=2, against=[now])


def test_an_earlier_release_lacks_a_column() -> None:
    now, old = pl.DataFrame(NOW), pl.DataFrame(OLD)
    for lost in ("age", "ill"):
        with pytest.raises(
            shoal.SchemaError, match=f"Earlier release 2 cannot be compared: .*no .*'{lost}'"
        ):
            shoal.audit(now, against=[old, old.drop(lost)], k=2, **ASKED)


def test_an_earlier_release_without_a_value_leaves_nobody() -> None:
    old = pl.DataFrame(OLD).with_columns(ill=pl.lit(None, pl.String))
    verdict = shoal.audit(pl.DataFrame(NOW), against=[old], k=2, **ASKED)
    assert "Nobody of the release can have been in all" in verdict.faults[0]


def test_a_release_named_twice(tmp_path: Path) -> None:
    pl.DataFrame(NOW).write_csv(tmp_path / "now.csv")
    pl.DataFrame(OLD).write_csv(tmp_path / "old.csv")
    for against in (["now.csv"], ["old.csv", "../" + tmp_path.name + "/old.csv"]):
        with pytest.raises(shoal.ParameterError, match=r"\.csv is named twice. Name the newest"):
            shoal.audit(tmp_path / "now.csv", against=[tmp_path / a for a in against], **ASKED)


def test_pseudonyms_must_be_everywhere_and_once() -> None:
    now = pl.DataFrame(NOW | {"who": list("abcd")})
    asked = {"person": "who", "k": 2, **ASKED}
    with pytest.raises(shoal.SchemaError, match="whose row it is, and earlier release 1 does not"):
        shoal.audit(now, against=[pl.DataFrame(OLD)], **asked)
    twice = pl.DataFrame(OLD | {"who": list("aabcde")})
    with pytest.raises(
        shoal.InputError, match="Earlier release 1 has 2 rows of people who have several"
    ):
        shoal.audit(now, against=[twice], **asked)


@pytest.mark.slow
def test_the_report_tells_it_to_the_public_too() -> None:
    now = shoal.open_release(pl.DataFrame(NOW), quasi="age", sensitive="ill")
    verdict = now.audit(against=[pl.DataFrame(OLD)], k=2, l=3)
    for audience in ("steward", "public"):
        page = now.page(audience=audience, verdict=verdict)
        assert '<h2 id="earlier">With earlier releases</h2>' in page
        assert "together with the earlier releases, this no longer holds for 2 of 2 rows" in page
        assert "for up to 2 of 2 rows so much that a promise is broken" in page
    assert "With earlier releases" not in now.page(verdict=now.audit(k=2))
