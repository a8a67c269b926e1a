"""Mondrian, Incognito and TP through a whole run: what is published passes verification."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError
from shoal.catalog import METHODS
from shoal.cli import console
from shoal.plan.plan import Plan
from shoal.privacy import (
    AlphaK,
    BetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    LDiversity,
)
from shoal.tables.compatibility import refuse
from shoal.tables.domain import Taxonomy
from shoal.tables.request import Request


def people(rows=400):
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "age": [None if x < 0.05 else int(20 + 60 * x) for x in rng.random(rows)],
            "town": rng.choice(["Ayr", "Bath", "Cork", "[Deal]", None], rows).tolist(),
            "job": rng.choice(["cook", "baker", "nurse", "doctor", "smith", None], rows).tolist(),
            "ill": rng.choice(["flu", "cold", "ulcer", "gout", "cough", None], rows).tolist(),
        }
    )


JOBS = Taxonomy.from_rows(
    [
        ("cook", "food", "*"),
        ("baker", "food", "*"),
        ("nurse", "health", "*"),
        ("doctor", "health", "*"),
        ("smith", "smith", "*"),
    ],
    "job",
)

CASES = [
    ("mondrian", KAnonymity(5), {}),
    ("mondrian", KAnonymity(5), {"cuts": "relaxed", "small": "refuse"}),
    ("mondrian", EntropyLDiversity(2.5, "ill"), {}),
    ("incognito", KAnonymity(5), {}),
    ("incognito", KAnonymity(5), {"suppression": 0.1}),
    ("l-incognito", LDiversity(3, "ill"), {}),
    ("simanony", AlphaK(0.5, 4, "ill"), {}),
    ("tp", FrequencyLDiversity(2, "ill"), {}),
    ("tp+", FrequencyLDiversity(2, "ill"), {}),
]


@pytest.mark.slow
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize(("method", "rule", "options"), CASES)
def test_a_run_is_verified_and_repeats(method, rule, options, typed):
    frame = people()
    outcomes = [
        shoal.anonymize(
            frame,
            quasi=["age", "town", "job"],
            sensitive="ill",
            hierarchies={"job": JOBS},
            method=method,
            options=options,
            rules=[rule],
            seed=3,
            typed=typed,
        )
        for _ in range(2)
    ]
    first = outcomes[0]
    assert first.verdict.holds
    assert first.verdict.uncovered == ()
    assert 0 < first.loss.rate < 1
    assert first.frame.equals(outcomes[1].frame)
    assert (
        first.made.rows_in - first.made.rows_out
        <= options.get("suppression", 0) * first.made.rows_in
    )
    notes = json.loads(first.to_json())["notes"]
    assert bool(notes) == (method != "mondrian")


def test_the_baselines_name_their_rules():
    refuse(Request(Plan(), METHODS["l-incognito"], [LDiversity(2, "ill")]))
    refuse(Request(Plan(), METHODS["incognito"], [LDiversity(2, "ill")]))
    for name in ("l-incognito", "simanony", "tp", "tp+"):
        with pytest.raises(ParameterError, match=r"cannot keep the rule 'beta|Got: beta-"):
            refuse(Request(Plan(), METHODS[name], [BetaLikeness(1.0, "ill")]))


def test_the_command_line_tells_what_a_method_found(capsys):
    frame = people()
    outcome = shoal.anonymize(
        frame, quasi=["age", "town"], method="incognito", rules=[KAnonymity(5)], seed=3
    )
    console.show(outcome.made.pieces())
    levels = outcome.made.notes["levels"]
    said = f"Found: levels age {levels['age']}, town {levels['town']}; minimal "
    assert said in capsys.readouterr().out
    console.show(replace(outcome.made, notes={}).pieces())
    assert "Found" not in capsys.readouterr().out
