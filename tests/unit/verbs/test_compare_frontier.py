"""The frontier, its bend, and what is recommended."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.plan.plan import Plan
from shoal.verbs.compare.choices import ComparedSetting
from shoal.verbs.compare.comparison import Comparison
from shoal.verbs.compare.frontier import RECIPIENTS, Axes, find_bend, frontier, recommend

NUMBERS = st.sampled_from([0.02, 0.1, 0.2, 0.25, 0.5, 1.0, math.nan])
PLACES = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12)


def naive(places):
    """Everything that nothing else beats; of equals the first."""
    found = set()
    for i, (risk, cost) in enumerate(places):
        if math.isnan(risk) or math.isnan(cost):
            continue
        beaten = any(
            (r <= risk and c <= cost and (r < risk or c < cost))
            or ((r, c) == (risk, cost) and j < i)
            for j, (r, c) in enumerate(places)
        )
        if not beaten:
            found.add(i)
    return found


@given(PLACES)
def test_the_frontier_is_what_nothing_beats(places):
    assert frontier(places) == naive(places)


@given(PLACES)
def test_the_bend_is_on_the_frontier_and_under_its_chord(places):
    on = frontier(places)
    found = find_bend(places, on)
    if found is None:
        return
    assert found in on
    ends = sorted(places[i] for i in on)
    (x0, y0), (x1, y1) = ends[0], ends[-1]
    x, y = places[found]
    chord = y0 + (y1 - y0) * (math.log(x) - math.log(x0)) / (math.log(x1) - math.log(x0))
    assert y < chord
    assert len(on) >= 3


def test_a_bend_by_hand():
    # From k = 50 to 10 much is won, from 10 to 2 little.
    places = [(0.02, 0.5), (0.1, 0.1), (0.5, 0.08)]
    assert find_bend(places, {0, 1, 2}) == 1
    # A frontier that bulges has none, nor has one of two points.
    assert find_bend([(0.02, 0.5), (0.1, 0.45), (0.5, 0.0)], {0, 1, 2}) is None
    assert find_bend(places, {0, 1}) is None


LABELS = ("a k=2", "a k=5", "b k=5", "a k=10")
FIGURES = [(0.5, 0.01), (0.2, 0.04), (0.2, 0.06), (0.1, 0.09)]


def test_the_least_cost_within_the_risk_is_recommended_in_words():
    found = recommend(LABELS, FIGURES, Axes("highest", "loss", 0.2))
    assert found.recommended == 1
    assert found.why.startswith(
        "a k=5 has the least information loss (4 %) of the settings whose highest "
        "re-identification risk is at most 20 % (it is 20 %). The next safer one, a k=10, brings "
        "the risk to 10 % at 9 % information loss."
    )
    strict = recommend(LABELS, FIGURES, Axes("highest", "loss", 0.1))
    assert strict.recommended == 3
    assert "next safer" not in strict.why


def test_nothing_is_recommended_above_the_risk():
    found = recommend(LABELS, FIGURES, Axes("highest", "loss", 0.05))
    assert found.recommended is None
    assert found.why == (
        "Nothing is recommended: no setting keeps the highest re-identification risk at 5 % or "
        "below; a k=10 comes closest with 10 %. Ask for stricter rules (a larger k), or allow a "
        "higher risk."
    )
    unknown = recommend(["a"], [(0.1, math.nan)], Axes("highest", "queries", 0.2))
    assert unknown.recommended is None
    assert unknown.why.startswith("No verified setting has both")
    assert recommend([], [], Axes("highest", "loss", 0.2)).recommended is None


@given(PLACES, st.sampled_from([0.05, 0.2, 1.0]))
def test_the_recommended_is_allowed_and_nothing_allowed_is_cheaper(places, limit):
    labels = [str(i) for i in range(len(places))]
    found = recommend(labels, places, Axes("highest", "loss", limit)).recommended
    allowed = [cost for risk, cost in places if risk <= limit and not math.isnan(cost)]
    if found is None:
        assert not allowed
    else:
        assert places[found][0] <= limit
        assert places[found][1] == min(allowed)


def test_what_was_not_measured_is_no_place():
    axes = Axes("belief", "classifier", 0.5)
    assert axes.place({"belief_worst": 0.4, "accuracy": 0.7}) == pytest.approx((0.4, 0.3))
    assert all(map(math.isnan, axes.place({})))


def test_a_recipient_sets_limits_on_risk_and_belief() -> None:
    prior = 0.6
    public = RECIPIENTS["public"]
    assert public.belief(prior) == pytest.approx(0.8)
    axes = Axes("highest", "loss", public.risk, public.belief(prior))
    figures = [
        {"risk_highest": 0.05, "loss": 0.4, "belief_worst": 0.8},
        {"risk_highest": 0.05, "loss": 0.2, "belief_worst": 0.81},
        {"risk_highest": 0.1, "loss": 0.1, "belief_worst": 0.7},
    ]
    settings = tuple(
        ComparedSetting("shoal", {}, f"run {at}", Plan(), verified=True, figures=each)
        for at, each in enumerate(figures)
    )
    found = Comparison(settings, axes, 0, (), (), public.risk)
    assert found.recommended is settings[0]
    assert "Not considered, because somebody could believe" in found.why
    assert "more than 80 %: 'run 1'." in found.why
    risks = [each.risk for each in RECIPIENTS.values()]
    assert risks == sorted(risks, reverse=True), "stricter from one recipient to the next"


def test_one_sensitive_value_in_a_class_is_said_first() -> None:
    figures = {"risk_highest": 0.1, "loss": 0.1, "belief_worst": 1.0}
    setting = ComparedSetting("shoal", {}, "k = 10", Plan(), verified=True, figures=figures)
    found = Comparison((setting,), Axes("highest", "loss", 0.2), 0, (), (), 0.2)
    assert found.why.startswith(
        "Some class of the recommended setting has only one sensitive value"
    )
