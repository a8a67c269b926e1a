"""Claims judged by hand-worked figures: holds, in part, not, and not measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import OVER_TIME, PAPERS
from experiments.claims import Claim, Dot, read_claims
from experiments.judging import FAILS, HOLDS, PART, UNDECIDED, UNMEASURED, class_of, judge
from experiments.plans import HERE, read_study
from experiments.questions import KINDS
from shoal.base.errors import PlanError

AXES = {"f": ("k", "columns")}


def claim(kind, **given):
    base = {"id": "c", "text": "t", "reported": "r", "figures": ("f",), "series": "a"}
    return Claim(kind=kind, **{**base, "others": ("b",), **given})


def curve(*values, series="a", panel=8, xs=None):
    places = xs or range(2, 2 + len(values))
    return [Dot("f", panel, x, series, v) for x, v in zip(places, values, strict=True)]


def verdict(asked, dots):
    return judge(asked, dots, AXES).verdict


def test_a_curve_that_grows():
    assert verdict(claim("grows"), curve(0.1, 0.2, 0.3)) == HOLDS
    assert verdict(claim("grows"), curve(0.1, 0.2, 0.15)) == f"{PART} 1 of 2 points"
    assert verdict(claim("grows"), curve(0.3, 0.2, 0.1)) == FAILS
    # 0.2 to 0.199 is a step back of half a percent.
    assert verdict(claim("grows", tolerance=0.01), curve(0.1, 0.2, 0.199)) == HOLDS
    assert verdict(claim("grows", tolerance=0.001), curve(0.1, 0.2, 0.199)).startswith(PART)
    assert verdict(claim("falls"), curve(0.3, 0.2, 0.1)) == HOLDS


def test_steps_are_told_with_their_figures():
    found = judge(claim("grows"), curve(0.1, 0.2, 0.15), AXES)
    assert found.reason == "not: 0.2 to 0.15 from 3 to 4 at |QI| = 8"
    found = judge(claim("grows", why="It is noise."), curve(0.3, 0.2, 0.1), AXES)
    assert found.reason.startswith("at 0 of 2 points; not: 0.3 to 0.2 from 2 to 3")
    assert found.reason.endswith(" It is noise.")
    assert class_of("holds at 1 of 2 points") == PART
    assert class_of("holds") == HOLDS


def test_along_the_panels():
    dots = curve(0.5, 0.6, panel=0.2) + curve(0.3, 0.7, panel=0.35)
    # At x = 2 it falls from 0.5 to 0.3, at x = 3 it grows from 0.6 to 0.7.
    assert verdict(claim("falls", along="panel"), dots) == "holds at 1 of 2 points"
    assert verdict(claim("falls", along="panel", at={"k": [2]}), dots) == HOLDS


def test_below_everywhere():
    other = curve(0.2, 0.2, 0.2, 0.2, series="b")
    assert verdict(claim("below"), curve(0.1, 0.1, 0.1, 0.2) + other) == HOLDS
    assert verdict(claim("below"), curve(0.1, 0.1, 0.3, 0.3) + other) == "holds at 2 of 4 points"
    assert verdict(claim("below"), curve(0.1, 0.3, 0.3, 0.3) + other) == FAILS
    assert verdict(claim("below", factor=0.4), curve(0.1, 0.1, 0.1, 0.1) + other) == FAILS


def test_below_the_least_of_several():
    dots = curve(0.2) + curve(0.3, series="b") + curve(0.1, series="c")
    found = judge(claim("below", others=("b", "c")), dots, AXES)
    assert (found.verdict, found.reason) == (FAILS, "0.2 against 0.1 of c at |QI| = 8, k = 2")


def test_a_point_that_could_not_be_measured_stays_in_the_count():
    dots = [*curve(0.1, 0.9), Dot("f", 8, 2, "b", 0.2), Dot("f", 8, 3, "b", None, reason="slow")]
    found = judge(claim("below"), dots, AXES)
    assert found.verdict == "holds at 1 of 2 points"
    assert found.reason == "not: not measured at |QI| = 8, k = 3"
    gap = [*curve(0.1, 0.2), Dot("f", 8, 4, "a", None), *curve(0.3, xs=[5])]
    assert verdict(claim("grows"), gap) == FAILS  # one step of three has both ends
    assert verdict(claim("value", low=0), gap) == "holds at 3 of 4 points"
    # The least of two is not known where one of them is not.
    three = [*curve(0.1), *curve(0.2, series="b"), Dot("f", 8, 2, "c", None)]
    assert verdict(claim("below", others=("b", "c")), three) == UNMEASURED
    above = [*curve(0.3), *curve(0.2, series="b"), Dot("f", 8, 2, "c", None)]
    assert verdict(claim("below", others=("b", "c")), above) == FAILS


def test_the_ratio_at_every_point():
    # 0.1 / 0.2 and 0.2 / 0.5: an average of 0.45 would hide that one of them is below.
    dots = curve(0.1, 0.2) + curve(0.2, 0.5, series="b")
    found = judge(claim("ratio", low=0.45, high=0.55), dots, AXES)
    assert found.verdict == "holds at 1 of 2 points"
    assert found.reason == "not: 0.4 times at |QI| = 8, k = 3"
    assert verdict(claim("share-falls"), dots) == HOLDS
    assert verdict(claim("share-falls"), curve(0.1, 0.3) + curve(0.2, 0.5, series="b")) == FAILS


def test_jumps_and_steps_both_ways():
    assert verdict(claim("jumps"), curve(0.1, 0.1, 0.2, 0.2)) == HOLDS
    assert verdict(claim("jumps"), curve(0.1, 0.15, 0.2, 0.3)) == FAILS
    assert verdict(claim("mixed"), curve(0.1, 0.2, 0.1)) == HOLDS
    assert verdict(claim("mixed"), curve(0.1, 0.2, 0.3)) == FAILS


def test_one_value_at_a_place():
    dots = curve(0.1, 0.15, panel=5) + curve(0.2, 0.16, panel=8)
    asked = {"at": {"columns": 8, "k": 3}, "low": 0.15, "high": 0.17}
    assert verdict(claim("value", **asked), dots) == HOLDS
    assert verdict(claim("value", **{**asked, "low": 0.165}), dots) == FAILS
    assert verdict(claim("value", **{**asked, "at": {"columns": 9}}), dots) == UNMEASURED


def test_change_from_end_to_end():
    assert verdict(claim("change", low=0.75, high=1.33), curve(0.2, 0.5, 0.25)) == HOLDS
    assert verdict(claim("change", low=3), curve(0.2, 0.25)) == FAILS
    two = curve(0.2, 0.8) + curve(0.2, 0.3, panel=5)
    assert verdict(claim("change", low=3), two) == "holds at 1 of 2 points"


def test_the_spread_of_repeats():
    # Mean 0.2, the furthest 0.21: 5 % off.
    assert verdict(claim("spread", tolerance=0.051), curve(0.19, 0.2, 0.21)) == HOLDS
    assert verdict(claim("spread", tolerance=0.049), curve(0.19, 0.2, 0.21)) == FAILS


def test_a_line_or_an_exponential():
    line, power = curve(1, 2, 3, 4, 5), curve(1, 2, 4, 8, 16)
    assert verdict(claim("shape", expect="linear"), line) == HOLDS
    assert verdict(claim("shape", expect="exponential"), line) == FAILS
    assert verdict(claim("shape", expect="exponential"), power) == HOLDS
    assert verdict(claim("shape", expect="linear"), power) == FAILS


def test_a_line_and_an_exponential_that_fit_alike():
    # By the variance of y the line is better, by that of its logarithm the exponential.
    found = judge(claim("shape", expect="linear"), curve(1, 1.6, 3.1, 4.4, 5.9), AXES)
    assert found.verdict == UNDECIDED
    assert "a line explains 0.984, an exponential 0.955; of their logarithms" in found.reason


def test_readings_that_disagree():
    dots = [*curve(0.15), *curve(0.2, series="b"), *curve(0.1, series="c")]
    one, other = (claim("below", others=(name,), reading=f"against {name}") for name in "bc")
    found = judge(claim("below", readings=(one, other), why="Both are possible."), dots, AXES)
    assert found.verdict == UNDECIDED
    assert found.reason == (
        "against b: holds (0.15 against 0.2 of b at |QI| = 8, k = 2); against c: does not hold "
        "(0.15 against 0.1 of c at |QI| = 8, k = 2). Both are possible."
    )
    assert verdict(claim("below", readings=(one, one)), dots) == HOLDS
    assert verdict(claim("below", readings=(other, other)), dots) == FAILS
    part = claim("grows", reading="steps")
    both = claim("grows", readings=(part, part))
    assert verdict(both, curve(0.1, 0.2, 0.15)) == "holds at 2 of 4 points"
    missing = claim("below", others=("d",), reading="against d")
    found = judge(claim("below", readings=(one, missing)), dots, AXES)
    assert found.verdict == UNMEASURED
    assert found.reason.startswith("not under every reading. against b: holds")


def test_seeds_that_disagree():
    own = [Dot("f", 8, 2, "a", 0.2, 0.1, 0.3, 3, "", (0.1, 0.2, 0.3), True)]
    other = [Dot("f", 8, 2, "b", 0.25, 0.25, 0.25, 1)]
    assert verdict(claim("below"), own + other) == HOLDS
    found = judge(claim("below", seeds=True), own + other, AXES)
    assert found.verdict == UNDECIDED
    assert "holds for 2 of 3 seeds, 0.1 against 0.25 of b at |QI| = 8, k = 2 (seed 0)" in (
        found.reason
    )
    assert "does not hold for 1 of 3 seeds, 0.3 against 0.25" in found.reason
    less = [Dot("f", 8, 2, "b", 0.35, 0.35, 0.35, 1)]
    found = judge(claim("below", seeds=True), own + less, AXES)
    assert (found.verdict, found.reason[:17]) == (HOLDS, "for all 3 seeds, ")


def test_a_verdict_of_few_seeds_says_so():
    few = [Dot("f", 8, k, "a", v, v, v, 3, "", (v,) * 3, True) for k, v in ((2, 0.1), (3, 0.2))]
    assert judge(claim("grows"), few, AXES).reason.endswith(". Asked of 3 seeds only.")
    many = [Dot("f", 8, k, "a", v, v, v, 20, "", (), True) for k, v in ((2, 0.1), (3, 0.2))]
    assert "seeds" not in judge(claim("grows"), many, AXES).reason


def test_averages_over_a_curve():
    dots = curve(0.1, 0.2, 0.3) + curve(0.2, 0.2, 0.4, series="b")  # 0.5, 1, 0.75
    for how, value in (("all points", 0.75), ("after the first", 0.875), ("sums", 0.75)):
        asked = claim("average", how=how, low=value - 1e-9, high=value + 1e-9)
        assert verdict(asked, dots) == HOLDS, how


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_there_is_not_judged(kind):
    dots = [Dot("f", 8, 2, "a", None, reason="the table census is not here")]
    found = judge(claim(kind), dots, AXES)
    assert (found.verdict, found.reason) == (UNMEASURED, "the table census is not here")


@pytest.mark.parametrize("paper", (*PAPERS, OVER_TIME))
def test_the_claims_of_the_papers_fit_their_plans(paper):
    study = read_study(paper)
    figures = {figure.id: figure for figure in study.figures}
    claims = read_claims(HERE / paper / "claims.toml", KINDS)
    assert len({each.id for each in claims}) == len(claims) >= 8
    readings = [reading for each in claims for reading in each.readings]
    for each in [*claims, *readings]:
        for name in each.figures:
            assert {each.series, *each.others} <= set(figures[name].series)
            places = {figures[name].x: figures[name].xs, figures[name].panel: figures[name].panels}
            for key, value in each.at.items():
                assert set(value if isinstance(value, list) else [value]) <= set(places[key])


def test_bad_claims_are_named_all_at_once(tmp_path: Path):
    path = tmp_path / "claims.toml"
    path.write_text('[[claims]]\nid = "x"\nkind = "gows"\ntolerence = 1\n')
    with pytest.raises(PlanError) as caught:
        read_claims(path, KINDS)
    text = str(caught.value)
    assert "claim 'x' has an unknown key 'tolerence'. Did you mean 'tolerance'?" in text
    assert "is of the kind 'gows'; kinds are 'grows', 'falls'" in text
    assert "lacks 'figure', 'place', 'reported', 'series', 'text'" in text
