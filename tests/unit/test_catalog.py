"""The catalog: entries load, rules are built and refused with clear words."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from shoal import catalog, rule_specs
from shoal.errors import ParameterError, PlanError
from shoal.params import Param
from shoal.rules import KAnonymity


@dataclass(frozen=True)
class Diverse:
    """A stand-in for a rule on sensitive values."""

    column: str
    count: int
    name: ClassVar[str] = "diverse"
    params: ClassVar[tuple[Param, ...]] = (Param("count", "how many", int, default=2, low=1),)


@pytest.fixture
def diverse(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalog.RuleEntry(
        "diverse", "x", "y 2000", f"{__name__}:Diverse", (("d", "count"),), sensitive=True
    )
    monkeypatch.setitem(catalog.RULES, "diverse", entry)


@pytest.mark.parametrize("method", catalog.METHODS.values(), ids=lambda method: method.name)
def test_options_of_a_method_are_those_of_its_function(method: catalog.Method) -> None:
    signature = inspect.signature(method.load())
    options = {n: p.default for n, p in signature.parameters.items() if p.kind == p.KEYWORD_ONLY}
    assert list(signature.parameters)[:3] == ["data", "rule", "rng"]
    assert options == {param.name: param.default for param in method.params}


@pytest.mark.parametrize("loss", catalog.LOSSES.values(), ids=lambda loss: loss.name)
def test_losses_load(loss: catalog.LossEntry) -> None:
    assert list(inspect.signature(loss.load()).parameters)[:2] == ["data", "partition"]


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
    with pytest.raises(ParameterError, match="'kaim' cannot keep the rule 'diverse'"):
        rule_specs.check_fit(catalog.METHODS["kaim"], [rule])  # type: ignore[list-item]
    rule_specs.check_fit(replace(catalog.METHODS["kaim"], rules=None), [rule])  # type: ignore[list-item]


@pytest.mark.usefixtures("diverse")
def test_flags_follow_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.cli.options import with_rules

    other = replace(catalog.RULES["diverse"], name="spread", family=("d-kind", "spread"))
    monkeypatch.setitem(catalog.RULES, "spread", other)
    first = replace(catalog.RULES["diverse"], family=("d-kind", "plain"))
    monkeypatch.setitem(catalog.RULES, "diverse", first)

    def command(*, rules: list[dict[str, object]]) -> object:
        return rules

    flagged = with_rules(command)
    assert set(inspect.signature(flagged).parameters) == {"k", "d", "d_kind"}
    assert flagged(k=3, d=None, d_kind=None) == [{"name": "k-anonymity", "k": 3}]
    assert flagged(k=None, d=4, d_kind=None) == [{"name": "diverse", "count": 4}]
    assert flagged(k=None, d=4.0, d_kind="spread") == [{"name": "spread", "count": 4}]
    with pytest.raises(ParameterError, match=r"one of 'plain', 'spread'. Got 'x' instead"):
        flagged(k=None, d=4, d_kind="x")
    with pytest.raises(ParameterError, match="--d-kind only refines a rule that was not asked for"):
        flagged(k=3, d=None, d_kind="spread")
