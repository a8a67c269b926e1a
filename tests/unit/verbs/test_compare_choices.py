"""Which settings are compared, and what is refused before any work."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError, PlanError
from shoal.plan.plan import Plan
from shoal.verbs.compare.choices import choices, read_method


def test_what_is_tried_by_default():
    assert [c.label for c in choices(Plan(), ["mondrian"], {})] == [
        f"mondrian k={k}" for k in (2, 5, 10, 50)
    ]
    own = Plan().changed(
        {"promised": [{"name": "k-anonymity", "k": 7}], "method": {"name": "kaim"}}
    )
    tried = choices(own, None, {})
    assert [c.values["k"] for c in tried[:5]] == [2, 5, 7, 10, 50]
    assert list(dict.fromkeys(c.method for c in tried)) == ["kaim", "shoal", "k-member", "mondrian"]
    # A plan without k is taken at its word.
    other = Plan().changed({"promised": [{"name": "l-diversity", "l": 3}]})
    assert [c.values for c in choices(other, ["shoal"], {})] == [{}]


def test_options_of_a_method_and_other_flags():
    assert read_method("shoal:effort=max:objective=entropy") == (
        "shoal",
        {"effort": "max", "objective": "entropy"},
    )
    tried = choices(Plan(), ["shoal:effort=fast"], {"k": [5, 5], "t": [0.1, 0.2]})
    assert [c.label for c in tried] == [
        "shoal:effort=fast k=5 t=0.1",
        "shoal:effort=fast k=5 t=0.2",
    ]
    assert tried[0].plan.method.options == {"effort": "fast"}
    assert [part.spec for part in tried[1].plan.rules] == [
        {"name": "k-anonymity", "k": 5},
        {"name": "t-closeness", "t": 0.2},
    ]


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"methods": ["mondrain"]}, ParameterError, r"no method 'mondrain'.*mean 'mondrian'"),
        ({"methods": []}, ParameterError, "no method to compare"),
        ({"methods": ["shoal:max"]}, ParameterError, "NAME:OPTION=VALUE. Got 'shoal:max'"),
        ({"methods": ["shoal:effort=slow"]}, PlanError, "'effort' parameter.*Got 'slow'"),
        ({"k": []}, ParameterError, "no value of 'k' to try"),
        ({"k": [1]}, PlanError, r"'k' parameter.*Got 1 instead"),
        ({"rule_values": {"kk": [2]}}, ParameterError, r"No rule has a flag 'kk'.*mean 'k'"),
        ({"rule_values": {"t-distance": ["ordered"]}}, ParameterError, "only refines a rule"),
        ({"l": 2}, PlanError, "needs a sensitive column"),
        ({"repeats": 0}, ParameterError, "'repeats' parameter of compare.*Got 0"),
        ({"queries": -1}, ParameterError, "'queries' parameter"),
        ({"threshold": 0.0}, ParameterError, "'threshold' parameter"),
        ({"belief": 2.0}, ParameterError, "'belief' parameter"),
        ({"risk": "high"}, ParameterError, r"'risk' parameter.*'highest'.*Got 'high'"),
        ({"cost": "money"}, ParameterError, r"'cost' parameter.*'loss'.*Got 'money'"),
    ],
)
def test_what_is_refused_before_any_work(given, kind, words):
    with pytest.raises(kind, match=words):
        shoal.compare(pl.DataFrame({"age": [1, 2, 3]}), quasi="age", **given)
