"""Counterfeits: told by class beside the release, and by no byte of it."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.verbs.m_invariant_series import MInvariantSeries

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "ill", "person": "id"}
OPEN: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "ill", "m": 2}


class Made:
    """The second release of a series, as files, with what nobody else knows: whose row is whose."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(5)
        self.original = pl.DataFrame(
            {
                "id": [f"p{number}" for number in range(400)],
                "age": rng.integers(20, 60, 400),
                "sex": rng.choice(["f", "m"], 400),
                # Spelled as a padded column of a database has it: a counterfeit must be, too.
                "ill": rng.choice(["flu  ", "cold ", "gout ", "hiv  ", '"x", ', "tb   "], 400),
            }
        )
        history = folder / "history"
        history.mkdir()
        self.history = history
        shoal.anonymize(self.original, m=2, history=history, **ROLES)
        # Two of three leave, and everybody with hiv: that value lives on in signatures alone.
        keep = (np.arange(400) % 3 == 0) & (self.original["ill"] != "hiv  ").to_numpy()
        self.table = self.original.filter(pl.Series(keep))
        orders: list[Any] = []
        beside = MInvariantSeries.side_tables

        def spied(self: MInvariantSeries, release: pl.DataFrame, order: Any) -> Any:
            orders.append(order)
            return beside(self, release, order)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MInvariantSeries, "side_tables", spied)
            self.release = shoal.anonymize(self.table, m=2, history=history, **ROLES)
        self.path = folder / "r.csv"
        self.release.write(self.path)
        self.lines = self.path.read_bytes().splitlines()[1:]
        self.false = orders[0] >= self.table.height


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Made(tmp_path_factory.mktemp("series"))


@pytest.mark.slow
def test_no_byte_tells_a_counterfeit(made: Made) -> None:
    false, real = made.false, ~made.false
    many = int(false.sum())
    assert many >= 30 and real.sum() == made.table.height
    assert made.path.read_bytes().count(b"\n") == false.size + 1
    # Order: places are spread like those of a random draw (Kolmogorov-Smirnov, one in a million).
    places = np.flatnonzero(false) / false.size
    steps = np.arange(1, many + 1) / many
    assert max(abs(steps - places).max(), abs(steps - 1 / many - places).max()) < 2.7 / many**0.5
    # Nor do they stand together: as many neighbours are both counterfeits as chance lets be.
    both, share = int((false[1:] & false[:-1]).sum()), many / false.size
    expected = share**2 * (false.size - 1)
    assert abs(both - expected) < 6 * expected**0.5
    # Formatting: cells of a counterfeit are spelled as those of real rows, quotes and blanks, too;
    # a value that nobody has any more is spelled as it was.
    frame = made.release.frame
    mine, theirs = (set(frame["ill"].filter(pl.Series(of))) for of in (false, real))
    assert mine - theirs <= {"hiv  "} and theirs <= set(made.original["ill"])
    assert "hiv  " in mine
    # Missing cells and numbers: none that only counterfeits have; no id, no column more.
    assert frame.columns == ["age", "sex", "ill"]
    assert frame.null_count().sum_horizontal().item() == 0
    text = made.path.read_bytes()
    assert not any(f"p{number}".encode() in text for number in range(400))
    assert b"\x00" not in text
    # Cells of quasi-identifiers: no class of counterfeits alone, in none a cell of its own.
    classes = frame.select("age", "sex").rows()
    assert {classes[at] for at in np.flatnonzero(false)} <= {
        classes[at] for at in np.flatnonzero(real)
    }
    # Duplicates: by line, counterfeits repeat no more often than real rows of their classes do.
    counted = Counter(made.lines)
    doubled = [counted[made.lines[at]] > 1 for at in range(false.size)]
    inside = [
        at for at in range(false.size) if classes[at] in {classes[i] for i in np.flatnonzero(false)}
    ]
    share_false = np.mean([doubled[at] for at in inside if false[at]])
    share_real = np.mean([doubled[at] for at in inside if real[at]])
    assert share_false <= share_real + 4 * (0.25 / many) ** 0.5


@pytest.mark.slow
def test_the_table_beside_counts_them_by_class(made: Made) -> None:
    beside = pl.read_csv(made.path.with_name("r.counterfeits.csv"), infer_schema=False)
    rows = made.release.frame.filter(pl.Series(made.false))
    counted = Counter(rows.select(pl.col("age", "sex").cast(pl.String)).rows())
    assert {row[:2]: int(row[2]) for row in beside.rows()} == counted
    assert beside.columns == ["age", "sex", "counterfeits"]


@pytest.mark.slow
def test_an_audit_beside_the_original_knows_of_them(made: Made) -> None:
    for asked in (OPEN, OPEN | {"person": "id"}):
        verdict = shoal.audit(made.path, original=made.table, **asked)
        assert verdict.holds, verdict.faults
    assert verdict.people == made.table.height
    assert made.release.with_original(made.table).audit(m=2, history=made.history).holds
    # They are nobody: no crowd is made of them.
    sizes = made.release.frame.group_by("age", "sex").len().sort("age", "sex")
    real = made.release.frame.filter(pl.Series(~made.false)).group_by("age", "sex").len()
    fewest = int(real["len"].min())  # type: ignore[arg-type]
    assert fewest < int(sizes["len"].max())  # type: ignore[arg-type]
    crowd = {key: value for key, value in OPEN.items() if key != "m"}
    assert shoal.audit(made.path, k=2, **crowd).achieved["k"] == fewest
    # Without the file beside it, or with a wrong one, rows that the original lacks are a fault.
    alone = shoal.audit(made.release.frame, original=made.table, **OPEN)
    assert any("its original only" in fault for fault in alone.faults)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.head(1), "counterfeits, its original"),
        (lambda t: t.with_columns(counterfeits=pl.lit(99)), "hold only counterfeits"),
        (lambda t: t.with_columns(counterfeits=pl.lit("many")), "not a whole number above 0"),
        (lambda t: t.drop("sex"), "has no column 'sex'"),
        (lambda t: pl.concat([t, t.head(1)]), "2 classes more than once"),
        (lambda t: t.with_columns(sex=pl.lit("x")), "classes that are not released"),
    ],
)
def test_a_wrong_table_of_counterfeits_is_a_fault(
    made: Made, tmp_path: Path, change: Any, said: str
) -> None:
    made.release.frame.write_csv(tmp_path / "r.csv")
    table = pl.read_csv(made.path.with_name("r.counterfeits.csv"), infer_schema=False)
    change(table).write_csv(tmp_path / "r.counterfeits.csv")
    verdict = shoal.audit(tmp_path / "r.csv", original=made.table, **OPEN)
    assert any(said in fault for fault in verdict.faults), verdict.faults


def test_a_value_that_the_original_lacks_is_a_fault_beyond_the_counterfeits(
    made: Made, tmp_path: Path
) -> None:
    # As many rows as there are counterfeits may have other values; one more may not.
    changed = made.release.frame.with_columns(ill=pl.lit("flu  "))
    changed.write_csv(tmp_path / "r.csv")
    beside = made.path.with_name("r.counterfeits.csv").read_bytes()
    (tmp_path / "r.counterfeits.csv").write_bytes(beside)
    verdict = shoal.audit(tmp_path / "r.csv", original=made.table, **OPEN)
    assert any("do not occur as often" in fault for fault in verdict.faults)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["1d", "1h"])
def test_a_date_that_nobody_has_any_more_is_one(tmp_path: Path, unit: str) -> None:
    days = pl.Series("ill", [0, 1, 2] * 8).cast(pl.Int64)
    when = pl.lit(pl.Series("base", ["2024-05-01"] * 24).str.to_datetime()).dt.offset_by(unit)
    frame = pl.DataFrame({"id": range(24), "age": [20, 30] * 12, "sex": ["f"] * 24, "ill": days})
    frame = frame.with_columns(ill=when + pl.col("ill") * pl.duration(days=1))
    frame = frame.with_columns(pl.col("ill").cast(pl.Date)) if unit == "1d" else frame
    shoal.anonymize(frame, m=2, history=tmp_path, **ROLES)
    gone = frame["ill"][1]
    second = shoal.anonymize(frame.filter(pl.col("ill") != gone), m=2, history=tmp_path, **ROLES)
    assert second.frame["ill"].dtype == frame["ill"].dtype
    assert gone in second.frame["ill"].to_list()
