"""Limits by hand: what is published, what is refused and with which way out, what the page says."""

import warnings

import polars as pl
import pytest

import shoal
from shoal.base.errors import Infeasible, ParameterError, SchemaError
from shoal.ext.web import drafts
from shoal.plan.plan import Plan

TREE = shoal.Taxonomy.from_rows(
    [(z, z[:2] + "*", z[0] + "**", "***") for z in ("111", "112", "123", "211", "212")], "zip"
)
FRAME = pl.DataFrame(
    {
        "ward": list("aaaabbbb"),
        "age": [20, 24, 31, 38, 41, 47, 93, 97],
        "zip": ["111", "112", "111", "112", "211", "212", "211", "212"],
        "ill": list("xyxyxyxy"),
    }
)


def trees(frame):
    return {"zip": TREE} if "zip" in frame.columns else None


def run(frame=FRAME, quasi=("age", "zip"), k=2, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        more = {"effort": "fast"} | more if "method" not in more else more
        return shoal.anonymize(
            frame,
            quasi=[*quasi],
            sensitive="ill",
            k=k,
            hierarchies=trees(frame),
            seed=3**60,
            **more,
        )


def cells(release, name):
    return sorted(release.frame[name].cast(pl.String).to_list())


def test_top_and_bottom_are_open_and_tell_no_extreme():
    made = run(quasi=["age"], top={"age": 90}, bottom={"age": 25}, coarsest={"age": 10})
    assert cells(made, "age").count("90+") == 2 and cells(made, "age").count("<=25") == 2
    # 93 and 97 cost (97 - 90) / 77 each, 20 and 24 (25 - 20) / 77.
    widths = {"90+": 7, "<=25": 5}
    ends = [c.strip("[]").split("-") for c in cells(made, "age") if c.startswith("[")]
    wide = sum(widths.get(c, 0) for c in cells(made, "age")) + sum(int(b) - int(a) for a, b in ends)
    assert made.loss.rate == pytest.approx(wide / 77 / 8)
    assert not [c for c in cells(made, "age") if "9" in c.replace("90+", "")]


def test_a_level_is_never_exceeded_nor_undercut():
    made = run(quasi=["zip"], coarsest={"zip": 1}, finest={"zip": 1})
    assert set(cells(made, "zip")) == {"11*", "21*"}
    assert made.loss.rate == pytest.approx(2 / 5)  # two of five leaves, in every row


def test_promises_hold_inside_every_value_of_a_column():
    made = run(quasi=["age"], within="ward", k=4)
    assert sorted(made.frame.group_by("ward").len()["len"]) == [4, 4]
    assert made.frame.n_unique(["ward", "age"]) == 2
    audited = shoal.audit(made.frame, quasi=["age"], within="ward", k=4)
    assert audited.holds
    mixed = made.frame.with_columns(ward=pl.lit("[a-b]"))
    assert "no single value" in " ".join(shoal.audit(mixed, quasi=["age"], within="ward").faults)


def test_what_cannot_be_kept_is_refused_with_what_would_do():
    with pytest.raises(Infeasible) as refused:
        run(quasi=["age"], coarsest={"age": 10}, k=3)
    text = str(refused.value)
    # Parts by ten years: 20 24 | 31 38 | 41 47 | 93 97, so k is 2 at most; by fifty: 6 and 2.
    assert "4 parts" in text and "8 rows" in text and "k = 2" in text
    assert "coarsest = 100 for 'age'" in text and "suppress" not in text
    with pytest.raises(Infeasible, match="suppress 25%"):
        run(quasi=["age"], coarsest={"age": 50}, k=3)
    made = run(quasi=["age"], coarsest={"age": 50}, k=3, suppress="25%")
    assert made.frame.height == 6 and made.loss.removal == pytest.approx(2 / 8)
    assert not shoal.audit(made.frame, plan=made.plan, original=FRAME, suppress="10%").holds


def test_no_row_is_left_out_that_a_class_can_take():
    far = pl.DataFrame({"age": [*([30] * 20), *([31] * 20), 90], "ill": ["x"] * 41})
    kept = run(far, ["age"], k=10, method="k-member")
    made = run(far, ["age"], k=10, suppress="5%", method="k-member")
    assert made.frame.height == 41 and made.loss.rate == kept.loss.rate
    assert made.made.notes["rows left out"] == 0


@pytest.mark.parametrize(
    ("limits", "error", "said"),
    [
        ({"coarsest": {"zip": 9}}, SchemaError, "from 0 .* to 3"),
        ({"coarsest": {"zip": 1}, "finest": {"zip": 2}}, SchemaError, "finest level lies above"),
        ({"top": {"zip": 120}}, SchemaError, "no group of just the values"),
        ({"coarsest": {"age": "month"}}, SchemaError, "a number above 0"),
        ({"coarsest": {"age": 10}, "finest": {"age": 4}}, SchemaError, "multiple of 4"),
        ({"coarsest": {"age": 10}, "grid": {"age": 3}}, SchemaError, "multiples of 3"),
        ({"top": {"age": 20}, "bottom": {"age": 30}}, SchemaError, "bottom lies at or above"),
        ({"within": "age", "top": {"age": 90}}, SchemaError, "Keep one"),
        ({"coarsest": {"ill": 1}}, SchemaError, "role is sensitive"),
        ({"finest": {"ward": 1}}, SchemaError, "hierarchy"),
        ({"suppress": "200%"}, ParameterError, "1%, or 0.01"),
        ({"suppress": 0.1, "method": "incognito"}, ParameterError, "--option suppression=0.1"),
        ({"finest": {"zip": 1}, "slack": 0.2}, ParameterError, "slack"),
        ({"top": {"age": 90}, "typed": True}, ParameterError, "x_lo"),
    ],
)
def test_limits_that_do_not_fit_are_refused_with_the_way_out(limits, error, said):
    with pytest.raises(error, match=said):
        run(quasi=["age", "zip", "ward"], **limits)


def test_a_plan_and_the_page_keep_limits():
    profile = {"columns": [{"number": 0, "name": "age", "kind": "ordered", "type": "numbers"}]}
    form = {"role.0": "quasi", "kind.0": "ordered", "coarsest.0": "10", "top.0": "90"}
    form |= {"rule.0.name": "k-anonymity", "rule.0.k": "5"}
    draft = drafts.from_form(
        form | {"suppress": "1%"}, profile, drafts.first_draft({"columns": []})
    )
    assert draft["columns"]["age"]["coarsest"] == 10 and draft["release"]["suppress"] == 0.01
    plan = drafts.to_plan(draft, {})
    assert Plan.from_toml(plan.to_toml()) == plan
    words = drafts.command(plan, profile, "x.csv")
    assert "--coarsest age=10" in words and "--top age=90" in words and "--suppress 0.01" in words


@pytest.mark.parametrize(
    ("limits", "cell"),
    [
        ({"top": 9}, "9+"),
        ({"top": 10}, "10+"),
        ({"bottom": 95}, "<=95"),
        ({"bottom": 89}, "<=89"),
        ({"top": 8, "bottom": 5}, "8+"),
    ],
)
def test_a_top_or_bottom_that_everybody_reaches(limits, cell) -> None:
    table = pl.DataFrame({"age": [*range(10, 90)], "ill": ["a", "b"] * 40})
    asked = {key: {"age": end} for key, end in limits.items()}
    release = shoal.anonymize(table, quasi="age", sensitive="ill", k=5, **asked)
    assert release.frame["age"].unique().to_list() == [cell]
    assert release.with_original(shoal.open(table, plan=release.plan)).audit().holds
