"""The lower bound equals its definition and lies below every partition's loss."""

import numpy as np
import pytest

from shoal.ext.proof import nearest as bound
from shoal.ext.proof.nearest import lower_bound
from shoal.groupers import k_member
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity
from tests.naive import joins
from tests.tables import encoded


def naive_bound(data, k):
    total = 0.0
    for t in range(data.rows):
        losses = []
        for u in range(data.rows):
            if u == t:
                continue
            loss = 0.0
            for j, domain in enumerate(data.domains):
                pair = [int(data.codes[t, j]), int(data.codes[u, j])]
                if pair[0] < domain.size:
                    loss += joins.width(domain, joins.cover(domain, pair))
            losses.append(loss)
        total += sorted(losses)[k - 2]
    return total / (data.rows * len(data.domains))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_bound_equals_its_definition(seed):
    rng = np.random.default_rng(seed)
    data = encoded(rng, 30, ["tos", "oo", "tt", "ss", "t"][seed % 5])
    for k in (2, 3, 7, 30):
        got = lower_bound(data, k, rng)
        assert got.rate == pytest.approx(naive_bound(data, k))
        assert not got.sampled
        part = k_member.group(data, KAnonymity(k), rng)
        assert iloss(data, part).rate >= got.rate - 1e-12


@pytest.mark.slow
def test_sampled_bound_is_near_the_full_one(monkeypatch):
    rng = np.random.default_rng(1)
    data = encoded(rng, 2000, "tosoo")
    full = lower_bound(data, 50, rng)
    monkeypatch.setattr(bound, "SAMPLE_WORK", 1)
    part = lower_bound(data, 50, rng)
    assert part.sampled
    assert part.rows == 200
    assert abs(part.rate - full.rate) < 5 * part.error
