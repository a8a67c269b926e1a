"""What does not go together: one table, asked by command line, Python and page."""

from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError
from shoal.catalog import METHODS
from shoal.plan.parts import TABLES
from shoal.plan.plan import Plan
from shoal.privacy import KAnonymity, MInvariance, TCloseness
from shoal.tables.compatibility import CONFLICTS, faults, refuse
from shoal.tables.open_table import settle_table
from shoal.tables.request import SPARK, Request
from tests.contracts.test_settings import sample
from tests.inprocess import shoal as command

pytest.importorskip("starlette", reason="the page needs pip install 'shoal[web]'")

from shoal.ext.web import tasks

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")

FRAME = pl.DataFrame(
    {
        "age": [20, 30, 20, 30, 40, 50] * 4,
        "town": list("abcbca") * 4,
        "ill": list("xyz") * 8,
        "id": [i // 2 for i in range(24)],
    }
)
RULES = (KAnonymity(3),)
M = (MInvariance(2, "ill"),)
COLUMNS = {
    "age": {"role": "quasi", "kind": "ordered"},
    "town": {"role": "quasi", "kind": "set"},
    "ill": {"role": "sensitive"},
}
PERSON = COLUMNS | {"id": {"role": "person"}}
TOP = COLUMNS | {"age": {"role": "quasi", "kind": "ordered", "top": 40}}
COARSE = COLUMNS | {"age": {"role": "quasi", "kind": "ordered", "coarsest": 10, "grid": 10}}
KEPT = COLUMNS | {"town": {"role": "quasi", "kind": "set", "within": True}}


class Unsafe(KAnonymity):
    """A rule whose author has not said that it grows safely, such as a largest class size."""

    name = "largest-class"
    grows_safely = False

    def __init__(self):
        super().__init__(2)


def request(columns=COLUMNS, method="shoal", rules=RULES, release=(), **more):
    plan = Plan().replaced(columns=columns, release=dict(release), method={"name": method})
    taken = settle_table(FRAME, plan, {})
    return Request(plan, METHODS[method], rules, taken.schema, **more)


def over_time():
    asked = request(spark=True)
    return replace(asked, plan=asked.plan.changed({"promised": [{"name": "m-invariance", "m": 2}]}))


def all_requests():
    """One request for every row of the table, in its order."""
    together, slack = {"person_rows": "together"}, {"slack": 0.1}
    exact = {"method": "anatomy", "rules": None}
    seeded = request(method="dummies", rules=None, spark=True)
    return [
        request(spark=True, prove=True),
        request(spark=True, strict=True),
        request(spark=True, history=True),
        request(key=True),
        request(release=together),
        request(PERSON, release={"pseudonym": True, "person_rows": "apart"}),
        request(PERSON, release=together, **exact),
        over_time(),
        request(spark=True, **exact),
        request(PERSON, spark=True),
        request(TOP, spark=True),
        replace(seeded, plan=seeded.plan.changed({"seed": 1})),
        request(PERSON, method="tp", rules=None),
        request(method="mondrian", timed=True),
        request(rules=(*M, TCloseness(0.5, "ill")), history=True),
        request(PERSON, rules=M, method="incognito", history=True),
        request(PERSON, rules=M, release=together, history=True),
        request(PERSON, rules=M),
        request(PERSON, history=True),
        request(rules=M, history=True),
        request(method="anatomy"),
        request(rules=(Unsafe(),)),
        request(method="tp", rules=(TCloseness(0.5, "ill"),)),
        request(COLUMNS | {"age": {**COLUMNS["age"], "importance": 2.0}}, method="incognito"),
        request(release={"same": ["x=y"]}, **exact),
        request(PERSON, release=slack),
        request(release=slack, **exact),
        request(prove=True, **exact),
        request(prove=True, rules=(TCloseness(0.5, "ill"),)),
        request(TOP, **exact),
        request(KEPT, method="tp"),
        request(COARSE, method="incognito"),
        request(release={"suppress": 0.1}, method="incognito"),
        request(TOP, release=slack),
        request(release={"suppress": 0.1}, prove=True),
        request(TOP, lasting=True),
        request(TOP, release={"typed": True}),
    ]


def test_every_row_of_the_table_can_hold() -> None:
    requests = all_requests()
    never = [i for i, row in enumerate(CONFLICTS) if not any(row.fault(r) for r in requests)]
    assert never == []
    for asked in requests:
        assert faults(asked)
        with pytest.raises(ParameterError):
            refuse(asked)
    refuse(request())
    refuse(request(TOP, release={"suppress": 0.1}))


def test_spark_refuses_every_setting_that_it_does_not_carry_out() -> None:
    whole = {key: sample("columns", key) for key in SPARK["columns"]} | {"role": "quasi"}
    for table, part in list(TABLES.items())[:3]:
        assert SPARK[table] < {*part.model_fields}
        for key in part.model_fields:
            given = {"columns": {"town": {"role": "quasi", key: sample(table, key)}}}
            if table != "columns":
                given = {table: {key: sample(table, key)}, "columns": {"town": whole}}
            said = faults(Request(Plan().replaced(**given), METHODS["shoal"], spark=True))
            refused = any(text.startswith(f"{key} = ") for text in said)
            assert refused == (key not in SPARK[table] | {"role"}), (key, said)


def test_a_rule_that_does_not_grow_safely_is_audited_and_not_anonymized_by() -> None:
    with pytest.raises(ParameterError, match="'largest-class' does not say that two classes"):
        shoal.anonymize(FRAME, quasi=["age"], rules=Unsafe())
    assert shoal.audit(FRAME, quasi=["age"], rules=Unsafe()).holds


SAID = {
    "slack": ({"slack": 0.2}, "anatomy", "slack = 0.2 makes generalized cells wider"),
    "together": ({"person_rows": "together"}, "mondrian", "and no column says whose row it is"),
    "suppress": ({"suppress": 0.1}, "incognito", "say --option suppression=0.1"),
}


@pytest.mark.parametrize("name", SAID)
def test_command_python_and_page_refuse_alike(name, tmp_path) -> None:
    release, method, text = SAID[name]
    rule = (
        {"name": "frequency-l-diversity", "l": 2}
        if method == "anatomy"
        else {"name": "k-anonymity", "k": 3}
    )
    columns = {"age": {"role": "quasi", "kind": "ordered"}, "ill": {"role": "sensitive"}}
    plan = Plan().replaced(columns=columns, release=release, method={"name": method}, rules=[rule])
    with pytest.raises(ParameterError) as refused:
        shoal.anonymize(FRAME, plan=plan)
    assert text in str(refused.value)
    FRAME.write_csv(tmp_path / "t.csv")
    (tmp_path / "p.toml").write_text(plan.to_toml())
    done = command(tmp_path, "anonymize", "t.csv", "--plan", "p.toml", "-o", "x.csv")
    assert done.returncode == 2
    assert str(refused.value) in done.stderr
    table = {"path": str(tmp_path / "t.csv")}
    found = tasks.check(
        SimpleNamespace(), table=table, plan=plan.to_toml(), folder=str(tmp_path), method=method
    )
    assert str(refused.value) in found["faults"]
