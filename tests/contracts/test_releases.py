"""The contract of every release, whatever its shape: one suite over the whole catalog."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.catalog import METHODS
from shoal.privacy import AlphaK, FrequencyLDiversity, KAnonymity, LDiversity
from shoal.releases.base import By, Query

RULES = (KAnonymity(4), LDiversity(2, "ill"), FrequencyLDiversity(2, "ill"), AlphaK(0.6, 3, "ill"))
TREES = {
    "sex": shoal.Taxonomy.from_rows([("f", "*"), ("m", "*")], "sex"),
    "age": shoal.Taxonomy.from_rows(
        [(str(age), f"{age // 10 * 10}s", "*") for age in range(20, 60)], "age"
    ),
}


def people(rows=120):
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m", None], rows, p=[0.5, 0.4, 0.1]).tolist(),
            "ill": rng.choice(["flu", "cold", "gout", "ulcer"], rows),
            "name": [f"n{i}" for i in range(rows)],
        }
    )


def release(name):
    entry = METHODS[name]
    rule = next(
        rule
        for rule in RULES
        if (entry.rules is None or rule.name in entry.rules)
        and (not entry.needs or rule.name in entry.needs)
    )
    outcome = shoal.anonymize(
        people(),
        quasi=["age", "sex"],
        sensitive="ill",
        identifier="name",
        rules=[rule],
        method=name,
        hierarchies=TREES,
    )
    assert outcome.verdict.holds
    taken = TREES if entry.release == "generalized" else None
    opened = shoal.open_release(
        outcome.frame, sensitive="ill", st=outcome.tables.get("st"), hierarchies=taken
    )
    assert opened.shape == entry.release
    assert {name: table.shape for name, table in opened.tables.items()} == {
        name: table.shape for name, table in outcome.tables.items()
    }
    return outcome, opened.ask("ill")


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_release_answers(name):
    outcome, view = release(name)
    assert "name" not in outcome.frame.columns
    assert set(view.values("ill")) <= {"flu", "cold", "gout", "ulcer"}
    whole = view.expect(Query("ill"))
    assert whole.sum() == pytest.approx(outcome.made.rows_out)
    parts = [view.expect(Query("ill", {"age": ages})) for ages in _halves()]
    assert sum(part.sum() for part in parts) == pytest.approx(outcome.made.rows_out)
    counts = view.counts("ill", [By("age", width=20), By("sex")], estimator="iterative", level=0.9)
    assert counts.count.sum() == pytest.approx(outcome.made.rows_out)
    assert (counts.low <= counts.count + 1e-9).all()
    assert (counts.count <= counts.high + 1e-9).all()
    believed = view.posterior("ill").beliefs(np.arange(outcome.made.rows_out))
    assert np.allclose(believed.sum(axis=1), 1)
    risk = view.posterior("ill").risk()
    assert risk["worst_posterior"] == pytest.approx(believed.max())
    assert risk["mean_posterior"] == pytest.approx(believed.max(axis=1).mean())


def _halves():
    return [str(age) for age in range(20, 40)], [str(age) for age in range(40, 60)]
