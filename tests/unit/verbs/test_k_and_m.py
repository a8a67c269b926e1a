"""m-invariance beside k-anonymity: people are counted, and counterfeits are nobody."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.releases.history import check
from shoal.releases.history.store import History

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
ROLES = {"quasi": ["age", "sex"], "sensitive": "ill", "person": "id"}


@pytest.mark.slow
def test_k_beside_m_counts_people_and_no_counterfeits(tmp_path):
    rng = np.random.default_rng(8)
    ids = [f"p{number}" for number in range(60)]
    ills = dict(
        zip(ids, rng.choice(["flu", "cold", "gout", "acne", "hiv"], 60).tolist(), strict=True)
    )
    false = 0
    for turn in range(3):  # a third leaves, among them most of one value
        there = [i for i in ids if turn == 0 or (rng.random() < 0.6 and ills[i] != "hiv")]
        frame = pl.DataFrame(
            {
                "id": there,
                "age": rng.integers(20, 60, len(there)).tolist(),
                "sex": ["fm"[number % 2] for number in range(len(there))],
                "ill": [ills[i] for i in there],
            }
        )
        release = shoal.anonymize(frame, m=2, k=6, history=tmp_path, method="mondrian", **ROLES)
        history = History.read(tmp_path)
        classes = history.classes(turn)
        crowds = classes.group_by("class").len()["len"]
        assert crowds.min() >= 6 > 2
        assert release.achieved["k"] == crowds.min()
        assert check.check_history(release.local_tables, history) == []
        found = release.audit(history=history)
        assert (found.holds, found.people) == (True, len(there))
        assert found.achieved["k"] == crowds.min()
        false += release.made.notes["counterfeits"]
        few = replace_k(history, turn, 1 + int(crowds.min()))
        assert "fewer than" in " ".join(check.check_history(release.local_tables, few))
    assert false > 0


def replace_k(history, turn, k):
    """Return a history that claims more people of a release than its classes have."""
    heads = [dict(head) for head in history.heads]
    heads[turn]["release"] = {**heads[turn]["release"], "k": k}
    return replace(history, heads=tuple(heads))
