"""How near to the best possible: what no release can lose less than, and how long that takes."""

from __future__ import annotations

import argparse
import resource

import numpy as np

from benchmarks.tables import adult
from shoal.ext.proof.bound import Proof, lower_bound
from shoal.ext.proof.nearest import lower_bound as loose
from shoal.groupers import shoal
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity

COMPLETE = 32_561
"""Rows of adult.data, of which 30,162 have no gap in the quasi-identifiers."""


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(words: list[str] | None = None) -> None:
    """Print the bound of Adult beside what the method shoal loses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, nargs="*", default=[10, 5])
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1])
    parser.add_argument("--all", action="store_true", help="all 48,842 rows, with their gaps")
    asked = parser.parse_args(words)
    data = adult()
    if not asked.all:
        data = data.take(np.flatnonzero(~data.missing.any(axis=1)[:COMPLETE]))
    lower_bound(data.take(np.arange(200)), 5)  # compiles
    for k in asked.k:
        before = _spent()
        bound = lower_bound(data, k)
        print(f"{data.rows:,} rows, k = {k}: {bound.rate:.5f} after {bound.passes} passes,")
        print(f"  {_spent() - before:.0f} s of processor time; the loose bound says")
        print(f"  {loose(data, k, np.random.default_rng(0)).rate:.4f}")
        for seed in asked.seeds:
            before, rng = _spent(), np.random.default_rng(seed)
            part = shoal.group(data, KAnonymity(k), rng, effort=asked.effort)
            proof = Proof(iloss(data, part).rate, bound)
            took = f"{_spent() - before:.1f} s of processor time"
            print(f"  effort {asked.effort}, seed {seed}, {took}: {proof.describe()}", flush=True)


if __name__ == "__main__":
    main()
