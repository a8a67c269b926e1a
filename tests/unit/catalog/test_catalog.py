"""The catalog: entries load, rules are built and refused with clear words."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from shoal import catalog
from shoal.base.errors import ParameterError, PlanError
from shoal.base.params import Param
from shoal.plan import rule_specs
from shoal.plan.plan import Plan
from shoal.privacy import AlphaK, KAnonymity
from shoal.tables.compatibility import refuse
from shoal.tables.request import Request


@dataclass(frozen=True)
class Diverse:
    """A stand-in for a rule on sensitive values."""

    column: str
    count: int
    name: ClassVar[str] = "diverse"
    grows_safely: ClassVar[bool] = True
    params: ClassVar[tuple[Param, ...]] = (Param("count", "how many", int, default=2, low=1),)


@pytest.fixture
def diverse(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalog.RuleEntry(
        "diverse", "x", "z", "y 2000", f"{__name__}:Diverse", (("d", "count"),), sensitive=True
    )
    monkeypatch.setitem(catalog.RULES, "diverse", entry)


@pytest.mark.parametrize("method", catalog.METHODS.values(), ids=lambda method: method.name)
def test_options_of_a_method_are_those_of_its_function(method: catalog.Method) -> None:
    signature = inspect.signature(method.load())
    options = {n: p.default for n, p in signature.parameters.items() if p.kind == p.KEYWORD_ONLY}
    assert list(signature.parameters)[:3] == ["data", "rule", "rng"]
    assert ("stop" in options) == method.anytime
    options.pop("stop", None)
    assert ("spare" in options) == method.spares
    options.pop("spare", None)
    assert options == {param.name: param.default for param in method.params}


@pytest.mark.parametrize("loss", catalog.LOSSES.values(), ids=lambda loss: loss.name)
def test_losses_load(loss: catalog.LossEntry) -> None:
    assert list(inspect.signature(loss.load()).parameters) == ["grouped"]


def test_k_anonymity_is_built_with_its_default() -> None:
    assert rule_specs.build_rules([{"name": "k-anonymity"}], []) == (KAnonymity(10),)


@pytest.mark.usefixtures("diverse")
def test_a_rule_on_sensitive_values_holds_for_all_of_them_or_for_one() -> None:
    both = rule_specs.build_rules([{"name": "diverse", "count": 3}], ["a", "b"])
    assert both == (Diverse("a", 3), Diverse("b", 3))
    one = rule_specs.build_rules([{"name": "diverse", "column": "b"}], ["a", "b"])
    assert one == (Diverse("b", 2),)
    assert rule_specs.rule_spec(one[0]) == {"name": "diverse", "column": "b", "count": 2}


@pytest.mark.usefixtures("diverse")
def test_all_faults_of_rules_at_once() -> None:
    specs = [
        {"name": "diverse", "column": "disese"},
        {"name": "k-anonymity", "k": 1},
        {"name": "k-anonymity", "column": "disease"},
        {"name": "kanonymity"},
    ]
    with pytest.raises(PlanError) as caught:
        rule_specs.build_rules(specs, ["disease"])
    faults = caught.value.faults
    assert len(faults) == 4
    assert "not declared sensitive" in faults[0]
    assert "Did you mean 'disease'?" in faults[0]
    assert "Got 1 instead" in faults[1]
    assert "takes no 'column'" in faults[2]
    assert "Did you mean 'k-anonymity'?" in faults[3]
    with pytest.raises(PlanError, match="needs a sensitive column and none is declared"):
        rule_specs.build_rules([{"name": "diverse"}], [])


@pytest.mark.usefixtures("diverse")
def test_a_method_refuses_a_rule_it_cannot_keep() -> None:
    rule = Diverse("a", 2)
    only_k = replace(catalog.METHODS["kaim"], rules=("k-anonymity",))
    with pytest.raises(ParameterError, match="'kaim' cannot keep the rule 'diverse'"):
        refuse(Request(Plan(), only_k, [rule]))  # type: ignore[list-item]
    refuse(Request(Plan(), catalog.METHODS["kaim"], [rule]))  # type: ignore[list-item]


@pytest.mark.usefixtures("diverse")
def test_a_method_asks_for_the_rule_it_is_made_for() -> None:
    made_for_l = replace(catalog.METHODS["kaim"], needs=("diverse",))
    refuse(Request(Plan(), made_for_l, [Diverse("a", 2)]))  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="'kaim' is made for diverse, and no such rule"):
        refuse(Request(Plan(), made_for_l, [KAnonymity(2)]))


@pytest.mark.usefixtures("diverse")
def test_flags_follow_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.cli.options import with_rules

    before = {flag.replace("-", "_") for flag in rule_specs.rule_flags()} - {"d"}
    other = replace(catalog.RULES["diverse"], name="spread", family=("d-kind", "spread"))
    monkeypatch.setitem(catalog.RULES, "spread", other)
    first = replace(catalog.RULES["diverse"], family=("d-kind", "plain"))
    monkeypatch.setitem(catalog.RULES, "diverse", first)

    def command(*, rules: list[dict[str, object]]) -> object:
        return rules

    flagged = with_rules(command)
    assert set(inspect.signature(flagged).parameters) == {*before, "d", "d_kind"}
    assert flagged(k=3, d=None, d_kind=None) == [{"name": "k-anonymity", "k": 3}]
    assert flagged(k=None, d=4, d_kind=None) == [{"name": "diverse", "count": 4}]
    assert flagged(k=None, d=4.0, d_kind="spread") == [{"name": "spread", "count": 4}]
    with pytest.raises(ParameterError, match=r"one of 'plain', 'spread'. Got 'x' instead"):
        flagged(k=None, d=4, d_kind="x")
    with pytest.raises(ParameterError, match="--d-kind only refines a rule that was not asked for"):
        flagged(k=3, d=None, d_kind="spread")


def test_the_rules_that_flags_ask_for() -> None:
    asked = rule_specs.rules_asked
    assert asked({"l": 3.0}) == [{"name": "l-diversity", "l": 3}]
    assert asked({"l": 2.5, "l-kind": "entropy"}) == [{"name": "entropy-l-diversity", "l": 2.5}]
    assert asked({"l": 3.0, "l-kind": "recursive", "c": 4.0}) == [
        {"name": "recursive-l-diversity", "l": 3, "c": 4.0}
    ]
    assert asked({"t": 0.2, "t-distance": "ordered", "beta": 1.0, "beta-enhanced": True}) == [
        {"name": "t-closeness", "t": 0.2, "distance": "ordered"},
        {"name": "beta-likeness", "beta": 1.0, "enhanced": True},
    ]
    # The k of --k is that of (alpha, k) as well.
    assert asked({"alpha": 0.2, "k": 5}) == [
        {"name": "k-anonymity", "k": 5},
        {"name": "alpha-k-anonymity", "alpha": 0.2, "k": 5},
    ]
    with pytest.raises(ParameterError, match="--c only refines a rule that was not asked for"):
        asked({"l": 3.0, "c": 4.0})
    with pytest.raises(ParameterError, match="--t-distance, --alpha-value only refines"):
        asked({"t-distance": "equal", "alpha-value": ["a=b"], "k": 3})


def test_protected_values_of_a_column() -> None:
    values = ["income=>=50K", "income=x", "job=a=b"]
    specs = rule_specs.rules_asked({"alpha": 0.3, "alpha-value": values})
    first = {"name": "alpha-k-anonymity", "alpha": 0.3}
    assert specs == [
        first,
        {**first, "column": "income", "values": [">=50K", "x"]},
        {**first, "column": "job", "values": ["a=b"]},
    ]
    # What is said of a column takes the place of what is said of all; others are protected whole.
    assert rule_specs.build_rules(specs, ["income", "job", "town"]) == (
        AlphaK(0.3, 10, "town"),
        AlphaK(0.3, 10, "income", (">=50K", "x")),
        AlphaK(0.3, 10, "job", ("a=b",)),
    )
    assert len(rule_specs.build_rules(specs, ["income", "job"])) == 2
    for wrong in ("income", "=x", "income="):
        with pytest.raises(ParameterError, match=f"takes COLUMN=VALUE.*Got '{wrong}' instead"):
            rule_specs.rules_asked({"alpha": 0.3, "alpha-value": [wrong]})


def test_a_value_may_have_an_alpha_of_its_own() -> None:
    each = {"name": "alpha-k-anonymity", "column": "disease", "alpha": {"HIV": 0.1, "a:b": 0.5}}
    values = ["disease=HIV:0.1", "disease=a:b"]
    assert rule_specs.rules_asked({"alpha": 0.5, "alpha-value": values, "k": 5})[1:] == [
        {"name": "alpha-k-anonymity", "alpha": 0.5, "k": 5},
        {**each, "k": 5},
    ]
    # Without --alpha only the named values are protected, and each needs its own.
    assert rule_specs.rules_asked({"alpha-value": values[:1]}) == [{**each, "alpha": {"HIV": 0.1}}]
    with pytest.raises(ParameterError, match="--alpha-value only refines a rule that was not"):
        rule_specs.rules_asked({"alpha-value": values})
    apart = (AlphaK(0.1, 10, "disease", ("HIV",)), AlphaK(0.5, 10, "disease", ("a:b",)))
    assert rule_specs.build_rules([each], ["disease"]) == apart
    plan = Plan().replaced(rules=[each]).final()
    assert Plan.from_toml(plan.to_toml()).rules == plan.rules
    assert '{HIV = 0.1, "a:b" = 0.5}' in plan.to_toml()
    # As a release writes them down, a rule for each value.
    specs = [spec for rule in apart if (spec := rule_specs.rule_spec(rule))]
    assert rule_specs.build_rules(specs, ["disease"]) == apart
    with pytest.raises(PlanError, match=r"names values twice: in 'alpha'.*Leave 'values' out"):
        rule_specs.build_rules([{**each, "values": ["HIV"]}], ["disease"])
    with pytest.raises(PlanError, match=r"in \(0, 1\], or a table with one for each.*Got 1.5"):
        Plan().replaced(rules=[{**each, "alpha": {"HIV": 1.5}}])
    with pytest.raises(ParameterError, match=r"takes one alpha, a number. Got \{'HIV': 0.1\}"):
        AlphaK({"HIV": 0.1}, 3, "disease")  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", catalog.RULES.values(), ids=lambda entry: entry.name)
def test_every_rule_goes_through_a_plan_and_back(entry: catalog.RuleEntry) -> None:
    plan = Plan().replaced(rules=[{"name": entry.name}]).final()
    again = Plan.from_toml(plan.to_toml())
    rules = rule_specs.build_rules([part.spec for part in again.rules], ["s"])
    assert [rule.name for rule in rules] == [entry.name]
    specs = [spec for rule in rules if (spec := rule_specs.rule_spec(rule))]
    assert rule_specs.build_rules(specs, ["s"]) == rules
    assert {param.name for param in entry.params} >= {name for _, name in entry.flags}


def test_protected_values_go_through_a_plan_and_back() -> None:
    rule = AlphaK(0.25, 4, "s", ("a", 'b"'))
    spec = rule_specs.rule_spec(rule)
    assert spec is not None
    again = Plan.from_toml(Plan().replaced(rules=[spec]).to_toml())
    assert rule_specs.build_rules([part.spec for part in again.rules], ["s"]) == (rule,)
    with pytest.raises(PlanError, match="must be a list of texts"):
        Plan().replaced(rules=[{"name": "alpha-k-anonymity", "values": [1]}])
