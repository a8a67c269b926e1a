"""Every method keeps limits under every rule, or refuses them by name."""

import warnings
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import shoal
from shoal.base.errors import Infeasible, ParameterError
from shoal.catalog import METHODS
from shoal.privacy import (
    All,
    AlphaK,
    BetaLikeness,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
    TCloseness,
    flatten,
)
from tests.naive.limits import label_faults, number_faults
from tests.naive.people import keeps

RULES = {
    "k": KAnonymity(3),
    "l": All((KAnonymity(3), LDiversity(2, "ill"))),
    "l alone": LDiversity(2, "ill"),
    "frequency": FrequencyLDiversity(2, "ill"),
    "alpha": AlphaK(0.7, 3, "ill"),
    "t": All((KAnonymity(3), TCloseness(0.5, "ill"))),
    "beta": BetaLikeness(2.0, "ill"),
}
TOWNS = {
    f"{a}{b}{c}": (f"{a}{b}{c}", f"{a}{b}", a, "all") for a in "xy" for b in "pq" for c in "12"
}
TREE = shoal.Taxonomy.from_rows(list(TOWNS.values()), "town")
LIMITS = {
    "widths": {
        "within": ["clinic"],
        "coarsest": {"age": 60, "town": 2},
        "finest": {"age": 10, "town": 1},
        "top": {"age": 80},
        "suppress": 0.3,
    },
    "levels": {
        "within": ["clinic"],
        "coarsest": {"town": 2},
        "finest": {"town": 1, "age": 5},
        "bottom": {"age": 30},
    },
    "floors": {"finest": {"town": 1}, "top": {"age": 60}, "bottom": {"age": 30}},
}


def table(n=90, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    columns = {
        "clinic": pl.Series(rng.choice(["north", "south"], n)),
        "age": pl.Series(rng.integers(20, 95, n)),
        "town": pl.Series(rng.choice(list(TOWNS), n)),
        "ill": pl.Series(rng.choice(list("abcd"), n)),
    }
    holed = {
        name: column.set(pl.Series(rng.random(n) < gaps), None) for name, column in columns.items()
    }
    whose = [f"p{number}" for number in rng.integers(0, n, n)]
    return pl.DataFrame({"who": whose, "row": np.arange(n), **holed})


def run(frame, rule, limits, method="shoal", **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shoal.anonymize(
            frame,
            quasi=["clinic", "age", "town"],
            sensitive="ill",
            keep="row",
            kind={"clinic": "set"},
            sets="never",
            rules=[rule],
            method=method,
            hierarchies={"town": TREE},
            **limits,
            **more,
        )


def check(frame, release, rule, limits, *, people=False):
    """Compare what was released with its original, and ask the rule anew, all in plain Python."""
    source = {row["row"]: row for row in frame.iter_rows(named=True)}
    at = {key: limits.get(key, {}) for key in ("coarsest", "finest", "top", "bottom")}
    strata, faults = defaultdict(list), []
    for row in release.frame.iter_rows(named=True):
        before = source[row["row"]]
        own = {key: limit.get("age") for key, limit in at.items()}
        faults += number_faults(row["age"], before["age"], **own)
        own = {key: at[key].get("town") for key in ("coarsest", "finest")}
        faults += label_faults(row["town"], before["town"], TOWNS, **own)
        if "within" in limits:
            faults += [] if row["clinic"] == (before["clinic"] or "*") else ["not as it is"]
        stratum = row["clinic"] if "within" in limits else None
        whose = before["who"] if people else row["row"]
        strata[stratum].append(((row["clinic"], row["age"], row["town"]), whose, before["ill"]))
    assert not faults
    for rows in strata.values():
        classes = defaultdict(list)
        for cells, whose, value in rows:
            classes[cells].append((whose, value))
        whole = [pair for pairs in classes.values() for pair in pairs]
        for pairs in classes.values():
            assert all(keeps(part, pairs, whole) for part in flatten([rule]))
    assert frame.height - release.frame.height <= limits.get("suppress", 0) * frame.height


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limits", ["widths", "levels", "floors"])
def test_every_method_keeps_limits_or_refuses_them(method, limits):
    entry, frame = METHODS[method], table()
    rule = next(
        RULES[name]
        for name in ("k", "l", "l alone", "frequency", "alpha")
        if (entry.rules is None or {r.name for r in flatten([RULES[name]])} <= {*entry.rules})
        and (not entry.needs or {r.name for r in flatten([RULES[name]])} & {*entry.needs})
    )
    cuts, widths = limits != "floors", limits == "widths"
    if entry.shape.exact or (entry.stars and cuts) or (widths and not entry.tight):
        with pytest.raises(ParameterError, match=f"method '{method.replace('+', '.')}'"):
            run(frame, rule, LIMITS[limits], method)
        return
    release = run(frame, rule, LIMITS[limits], method)
    check(frame, release, rule, LIMITS[limits])


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_kept_within_limits(rule):
    frame, wanted = table(gaps=0.04), LIMITS["widths"]
    for people in (False, True):
        more = {"person": "who"} if people else {}
        release = run(frame, RULES[rule], wanted, "mondrian", **more)
        check(frame, release, RULES[rule], wanted, people=people)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.data())
def test_limits_are_kept_whatever_they_are(data):
    frame = table(data.draw(st.integers(20, 60)), data.draw(st.integers(0, 99)), 0.05)
    step = data.draw(st.sampled_from([2, 5, 10]))
    limits = {
        "coarsest": {
            "age": step * data.draw(st.integers(1, 6)),
            "town": data.draw(st.integers(1, 3)),
        },
        "finest": {"age": step, "town": data.draw(st.integers(0, 1))},
        "top": {"age": 10 * data.draw(st.integers(5, 12))},
        "bottom": {"age": 10 * data.draw(st.integers(0, 4))},
        "suppress": 0.5,
    }
    keys = data.draw(st.sets(st.sampled_from([*limits]), min_size=1))
    chosen = {key: limit for key, limit in limits.items() if key in keys}
    if data.draw(st.booleans()):
        chosen["within"] = ["clinic"]
    rule = RULES[data.draw(st.sampled_from(["k", "t", "l"]))]
    try:
        release = run(frame, rule, chosen, data.draw(st.sampled_from(["mondrian", "k-member"])))
    except Infeasible as refused:
        assert "What would do" in str(refused)
        return
    check(frame, release, rule, chosen)
    opened = shoal.open_release(
        release.frame, plan=release.plan, original=frame, hierarchies={"town": TREE}
    )
    assert not [fault for fault in opened.audit().faults if "Column" in fault]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*be deduced with", "ignore:The intervals in column")
@pytest.mark.parametrize(
    ("unit", "part", "span"),
    [("week", "1w", 200), ("month", "1mo", 600), ("quarter", "1q", 1_500), ("year", "1y", 3_000)],
)
def test_limits_on_dates_are_parts_of_the_calendar(unit, part, span):
    rng = np.random.default_rng(3)
    days = pl.Series(rng.integers(0, span, 120)).cast(pl.Int32).cast(pl.Date)
    born = pl.DataFrame({"born": days, "sex": rng.choice(["f", "m"], 120)})
    ends = pl.col("born_lo"), pl.col("born_hi")

    coarse = shoal.anonymize(
        born, quasi=["born", "sex"], k=3, coarsest={"born": unit}, suppress=0.9, typed=True
    ).frame
    shown = coarse.drop_nulls("born_lo")
    assert shown.select((ends[0].dt.truncate(part) == ends[1].dt.truncate(part)).all()).item()

    fine = shoal.anonymize(born, quasi=["born", "sex"], k=3, finest={"born": unit}, typed=True)
    shown = fine.frame.drop_nulls("born_lo")
    whole = ends[0].dt.truncate(part) == ends[0], ends[1].dt.offset_by("1d").dt.truncate(part)
    assert shown.height and shown.select(whole[0].all()).item()
    assert shown.select((whole[1] == ends[1].dt.offset_by("1d")).all()).item()
