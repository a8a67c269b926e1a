"""A rule asked about a part of a table, which must hold in the whole of it."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.base.partition import GroupStats, histogram
from shoal.privacy import KAnonymity, TCloseness, caps_of
from shoal.privacy.within import Anchored


def stats(groups: list[str], column: str = "s") -> GroupStats:
    """Count groups of values a and b, each a text such as ``aab``."""
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    codes = np.array(["ab".index(value) for group in groups for value in group])
    sizes = np.array([len(group) for group in groups])
    return GroupStats(sizes, {column: histogram(labels, codes, len(groups), ("a", "b"))})


# Of the whole table a half is a. The part is all a but for one value.
WHOLE, PART = stats(["aaaabbbb"]), stats(["aaa", "aab"])
RULE = TCloseness(0.2, "s")


def test_groups_are_compared_with_the_whole_table_and_not_with_their_part() -> None:
    anchored = Anchored(RULE, WHOLE)
    # Beside the part (5/6) the groups are 1/6 away; beside the whole table 1/2 and 1/6.
    assert RULE.holds(PART).tolist() == [True, True]
    assert anchored.holds(PART).tolist() == [False, True]
    assert RULE.achieved(PART)["t"] == pytest.approx(1 / 6)
    assert anchored.achieved(PART)["t"] == pytest.approx(1 / 2)


def test_a_column_that_the_whole_table_does_not_count_stays_as_it_is() -> None:
    anchored = Anchored(TCloseness(0.2, "other"), WHOLE)
    assert anchored.holds(stats(["aaa", "aab"], "other")).tolist() == [True, True]


def test_people_of_the_whole_table_are_compared_with_too() -> None:
    part = stats(["aab"])
    hist = part.histograms["s"]
    whole = Anchored(RULE, GroupStats(WHOLE.sizes, {"s": _with_people(WHOLE.histograms["s"], 8)}))
    counted = GroupStats(np.array([3]), {"s": _with_people(hist, 3)}, "people")
    assert whole.holds(counted).tolist() == [True]
    assert whole.achieved(counted)["t"] == pytest.approx(2 / 3 - 1 / 2)


def _with_people(hist, many):
    from dataclasses import replace

    return replace(hist, people=np.array([many]), whole_people=many)


def test_a_part_that_fails_as_one_group_is_an_obstacle() -> None:
    anchored = Anchored(RULE, WHOLE)
    assert anchored.obstacle(stats(["aabb"])) is None
    assert "not even as one class" in (anchored.obstacle(stats(["aaab"])) or "")
    # As two groups of which one would pass it is still one.
    assert anchored.obstacle(stats(["ab", "aa"])) is not None


def test_everything_else_is_that_of_the_rule() -> None:
    for rule in (RULE, KAnonymity(3)):
        anchored = Anchored(rule, WHOLE)
        assert anchored.name == rule.name and anchored.column == rule.column
        assert anchored.params == rule.params and anchored.figures == rule.figures
        assert anchored.grows_safely and rule.grows_safely
        assert anchored.describe() == rule.describe()
        assert caps_of(anchored) is None and anchored.conditions() is None
        assert anchored.mix(np.array([0.5, 0.5])) is None and anchored.limits(WHOLE) == ()
        assert anchored.judged_alone and anchored.diversity is None
