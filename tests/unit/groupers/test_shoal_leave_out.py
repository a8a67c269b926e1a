"""Rows that the method `shoal` leaves out: only where it pays, never too many, and always right."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.groupers.shoal import group
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, BetaLikeness, KAnonymity, LDiversity, TCloseness
from tests.stages import without
from tests.tables import encoded

RULES = [
    KAnonymity(4),
    All((KAnonymity(3), LDiversity(3, "s0"))),
    All((KAnonymity(3), TCloseness(0.3, "s0"))),
    All((KAnonymity(2), BetaLikeness(1.5, "s0"))),
    All((KAnonymity(2), BetaLikeness(2.0, "s0"), LDiversity(2, "s0"))),
]


def rare(rows=240, few=2):
    """Return ages with one common illness per parity, and a rare one for the first rows."""
    age = np.arange(rows) // 4
    ill = np.where(np.arange(rows) < few, "rare", np.where(np.arange(rows) % 2, "flu", "cold"))
    return pl.DataFrame({"age": age, "ill": ill})


def run(frame, **more):
    kept = {"sensitive": "ill"} if "ill" in frame.columns else {}
    return shoal.anonymize(frame, quasi="age", seed=3**60, effort="fast", **kept, **more)


def test_rows_of_a_rare_value_are_left_out_where_they_make_all_classes_large():
    # One of 120 rows is rare and no class may have more than two of 120: 60 rows and more in each.
    frame = rare()
    whole, made = run(frame, k=2, beta=1), run(frame, k=2, beta=1, suppress="5%")
    assert whole.frame.height == 240
    assert made.frame["ill"].value_counts().sort("ill")["count"].to_list() == [119, 119]
    assert made.made.notes["rows left out"] == 2
    assert made.loss.removal == pytest.approx(2 / 240)
    assert made.loss.rate < 0.5 * whole.loss.rate
    # Both others are half of what is published, so a class may be of one of them under beta = 1.
    assert made.verdict.holds
    assert shoal.audit(made.frame, plan=made.plan, original=frame).holds


def test_without_room_for_all_rows_of_the_value_none_of_them_goes():
    made = run(rare(few=6), k=2, beta=1, suppress="2%")
    assert made.frame.height == 240 and made.made.notes["rows left out"] == 0


def test_a_row_far_from_all_others_is_left_out():
    far = pl.DataFrame({"age": [*([20] * 20), *([40] * 20), 60]})
    whole, made = run(far, k=10), run(far, k=10, suppress="5%")
    assert whole.frame.height == 41 and whole.loss.rate > 0.1
    assert made.frame["age"].cast(pl.String).value_counts().sort("age").rows() == [
        ("20", 20),
        ("40", 20),
    ]
    assert made.loss.rate == pytest.approx(1 / 41)


def test_two_rows_that_are_far_in_one_class_go_together():
    far = pl.DataFrame({"age": [*([20] * 20), *([40] * 20), 60, 60]})
    made = run(far, k=10, suppress="5%")
    assert made.frame.height == 40 and made.loss.rate == pytest.approx(2 / 42)
    assert run(far, k=10, suppress="4%").frame.height == 42  # there is room for one alone


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe()[-40:])
@pytest.mark.parametrize("seed", range(2))
def test_never_too_many_never_at_a_loss_and_always_within_the_rule(rule, seed):
    data = encoded(np.random.default_rng(seed), 130, "tto", sensitive=(7,))
    whole = group(data, rule, np.random.default_rng(1), effort="fast")
    for spare in (1, 13, 60):
        part = group(data, rule, np.random.default_rng(1), effort="fast", spare=spare)
        assert part.left_out.size <= spare and part.total == data.rows
        assert rule.holds(data.stats(part)).all()  # compares with the rows that are published
        assert iloss(data, part).rate <= iloss(data, whole).rate + 1e-12


def test_what_leaving_out_would_break_is_not_tried():
    # Without its rarest value the table has one value, and no class two.
    data = encoded(np.random.default_rng(3), 60, "o", sensitive=(2,))
    rule = All((LDiversity(2, "s0"), BetaLikeness(3.0, "s0")))
    part = group(data, rule, np.random.default_rng(1), effort="fast", spare=50)
    assert rule.holds(data.stats(part)).all() and part.groups


def test_parts_share_what_may_be_left_out():
    ward = pl.DataFrame(
        {"ward": ["a"] * 41 + ["b"] * 41, "age": [*([20] * 20), *([40] * 20), 60] * 2}
    )
    asked = {"quasi": ["age"], "within": "ward", "k": 10, "seed": 3**60, "effort": "fast"}
    assert shoal.anonymize(ward, **asked, suppress="3%").frame.height == 80
    assert shoal.anonymize(ward, **asked, suppress="2%").frame.height == 81


def test_nothing_is_left_out_where_parts_are_compared_with_the_whole_table():
    frame = rare(240, few=4).with_columns(age=pl.int_range(240) // 3)
    made = run(frame, k=2, beta=1, coarsest={"age": 40}, suppress="5%")
    assert made.verdict.holds and made.frame.height == 240


def test_people_leave_with_all_their_rows_and_rows_are_counted():
    frame = pl.DataFrame(
        {"who": [f"p{i // 2}" for i in range(82)], "age": [20] * 40 + [40] * 40 + [60] * 2}
    )
    asked = {"quasi": ["age"], "person": "who", "person_rows": "together", "k": 10}
    asked |= {"seed": 3**60, "effort": "fast"}
    made = shoal.anonymize(frame, **asked, suppress="3%")
    assert made.frame.height == 80 and made.frame["age"].n_unique() == 2
    assert shoal.anonymize(frame, **asked, suppress="1%").frame.height == 82


def test_each_way_to_leave_rows_out_can_be_switched_off(monkeypatch):
    without(monkeypatch, "rare values", "far rows")
    assert run(rare(), k=2, beta=1, suppress="5%").frame.height == 240


def test_a_method_that_does_not_choose_rows_leaves_out_what_no_class_can_take_alone():
    made = shoal.anonymize(
        rare(),
        quasi="age",
        sensitive="ill",
        k=2,
        beta=1,
        suppress="5%",
        method="k-member",
        seed=3**60,
    )
    assert made.frame.height == 240
