"""Columns published unchanged: shown with every verdict, a warning above one per cent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.api.opening import read_table
from shoal.base.errors import ShoalWarning
from shoal.measures.exposure import Exposure
from shoal.measures.exposure import exposure as measured
from shoal.releases.published import read
from tests.naive import exposure as naive

SHARED = Path(__file__).parents[4] / "shared" / "data"


def exposure(
    frame: pl.DataFrame, quasi: list[str], sensitive: tuple[str, ...] = ()
) -> Exposure | None:
    return measured(read(frame, quasi), sensitive)


def people(rows: int = 60) -> pl.DataFrame:
    numbers = range(rows)
    return pl.DataFrame(
        {
            "age": [20 + i % 6 for i in numbers],
            "town": ["AB"[i % 2] for i in numbers],
            "ill": [("flu", "cold", "gout", "rash")[i % 4] for i in numbers],
            "admitted": [f"2024-01-{1 + i % 28:02d}" for i in numbers],
            "mode": ["web"] * rows,
        }
    )


def released(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 40))
    return pl.DataFrame(
        {
            "q": rng.integers(0, 4, rows),
            "s": [None if v == 0 else f"s{v}" for v in rng.integers(0, 4, rows)],
            "o": rng.integers(0, 9, rows),
        },
        schema_overrides={"s": pl.String},
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_counts_are_those_of_the_slow_twin(seed: int) -> None:
    frame = released(seed)
    found = exposure(frame, ["q"], ("s",))
    assert found is not None
    assert found.unique == naive.unique(frame, ["q", "s", "o"])
    assert found.before == naive.unique(frame, ["q"])
    alone = {name: naive.unique(frame, ["q", name]) for name in ("s", "o")}
    assert found.worst_unique == max(alone.values()) == alone[found.worst]


def test_the_sentence() -> None:
    frame = pl.DataFrame({"q": ["a"] * 4, "admitted": [1, 2, 3, 3]})
    found = exposure(frame, ["q"])
    assert found is not None
    assert found.describe() == (
        "Someone who also knows a person's 'admitted' could single out 50.0 % of the rows. These "
        "values are published unchanged. Consider making these columns quasi-identifiers."
    )
    both = exposure(frame.with_columns(z=pl.Series([1, 1, 1, 1])), ["q"])
    assert both is not None
    assert both.describe().startswith(
        "Someone who also knows a person's 'admitted' and 'z' could single out 50.0 % of the rows "
        "(50.0 % by 'admitted' alone)."
    )
    six = exposure(frame.with_columns(**{f"c{j}": pl.lit(j) for j in range(5)}), ["q"])
    assert six is not None
    assert "'c2' and 2 more could single out" in six.describe()


def test_nothing_exact_says_nothing() -> None:
    assert exposure(pl.DataFrame({"q": ["a", "a"]}), ["q"]) is None
    sets = pl.DataFrame({"q": ["a", "a"], "s": [["x", "y"], ["x", "z"]]})
    assert exposure(sets, ["q"], ("s",)) is None
    typed = pl.DataFrame({"q_lo": [1, 1], "q_hi": [2, 2]})
    assert exposure(typed, ["q"]) is None


def test_a_lone_sensitive_column_is_said_and_no_warning() -> None:
    """Whoever knows the one value that is hidden has nothing more to learn."""
    outcome = shoal.anonymize(people(), quasi=["age", "town"], sensitive=["ill"], k=5)
    exposed = outcome.made.exposure
    assert exposed is not None
    assert exposed.secret
    assert not outcome.warnings
    told = exposed.describe()
    assert "also knows a person's 'ill'" in told
    assert told.replace("'", "&#39;") in outcome.page()


@pytest.mark.slow
def test_a_column_passed_through_is_a_warning_everywhere(tmp_path: Path) -> None:
    given = {"quasi": ["age", "town"], "sensitive": ["ill"], "keep": ["admitted", "mode"], "k": 5}
    with pytest.warns(ShoalWarning, match="a person's 'ill', 'admitted' and 'mode' could"):
        outcome = shoal.anonymize(people(), **given)
    assert outcome.made.exposure is not None
    told = outcome.made.exposure.describe()
    assert outcome.warnings == (told,)
    assert outcome.to_dict()["exposure"]["sentence"] == told
    assert outcome.to_dict()["exposure"]["warning"]
    html = told.replace("'", "&#39;")
    # Among the open risks of the first page, also for the public: it is counted on published cells.
    for audience in ("steward", "public"):
        page = outcome.page(audience=audience)
        assert html in page.split('id="open"')[1].split('id="details"')[0]
    # An audit and the risk of the file say the same, by the file alone.
    plan = outcome.plan
    verdict = shoal.audit(outcome.frame, plan=plan, original=people())
    assert verdict.holds
    assert verdict.to_dict()["exposure"]["sentence"] == told
    page = shoal.open_release(outcome.frame, plan=plan).page()
    assert html in page.split('id="open"')[1].split('id="details"')[0]
    assert shoal.risk(outcome.frame, plan=plan).to_dict()["exposure"]["sentence"] == told


def test_what_the_quasi_identifiers_tell_already_is_no_warning() -> None:
    outcome = shoal.anonymize(
        people(),
        quasi=["age", "town"],
        sensitive=["ill"],
        keep=["mode"],
        method="dummies",
        rules=[shoal.LDiversity(2, "ill")],
    )
    assert outcome.made.exposure is not None
    assert outcome.made.exposure.columns == ("mode",)
    assert not outcome.made.exposure.warns


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not here")
def test_heart_with_its_columns_passed_through() -> None:
    frame = read_table(SHARED / "heart.csv.gz")
    quasi, rest = ["age", "sex"], ["trestbps", "chol", "thalch", "oldpeak"]
    with pytest.warns(ShoalWarning, match="values are published unchanged"):
        outcome = shoal.anonymize(frame, quasi=quasi, sensitive=["cp"], keep=rest, k=10)
    assert outcome.verdict.holds
    assert outcome.made.exposure is not None
    assert outcome.made.exposure.share > 0.9
