"""How fast rows are grouped: against brute force, with growing n, and in the hard cases."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

from benchmarks.brute import brute_force
from benchmarks.tables import adult, numeric, resampled, with_zips
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.ext.proof.nearest import lower_bound
from shoal.groupers import k_member, kaim
from shoal.measures.losses.ncp import iloss
from shoal.privacy import KAnonymity


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def grouped(data: Encoded, k: int = 10) -> Partition:
    """Group with k-member, random seeds."""
    return k_member.group(data, KAnonymity(k), np.random.default_rng(1))


def against_brute_force(data: Encoded) -> None:
    """Interleave three runs of each."""
    brute_force(data, 10, 1, groups=1)
    grouped(data)
    ours, theirs = [], []
    for _ in range(3):
        ours.append(seconds(lambda: grouped(data)))
        theirs.append(seconds(lambda: brute_force(data, 10, 1)))
    fast, slow = float(np.median(ours)), float(np.median(theirs))
    print(
        f"k-member on {data.rows:,} rows: {fast:.2f} s; brute force {slow:.1f} s: "
        f"{slow / fast:.0f} times faster"
    )


def losses(data: Encoded) -> None:
    """Print the loss of every variant at k = 10."""
    rule = KAnonymity(10)
    bound = lower_bound(data, 10, np.random.default_rng(0))
    print(f"lower bound {bound.rate:.4f}")
    variants = {
        "k-member": lambda rng: k_member.group(data, rule, rng),
        "k-member, furthest seeds": lambda rng: k_member.group(data, rule, rng, seeds="furthest"),
        "k-member, incomplete rows dropped": lambda rng: k_member.group(
            data, rule, rng, missing="drop"
        ),
        "kaim, balanced weights": lambda rng: kaim.group(data, rule, rng),
        "kaim, unit weights": lambda rng: kaim.group(data, rule, rng, weights="unit"),
    }
    for name, group in variants.items():
        loss = iloss(data, group(np.random.default_rng(1)))
        print(
            f"{name}: ILossRate {loss.rate:.4f} (generalization {loss.generalization:.4f}, "
            f"removal {loss.removal:.4f}), {loss.rate / bound.rate:.2f} times the bound"
        )


def growth(data: Encoded) -> None:
    """Print the time from 125,000 to 1,000,000 rows."""
    times = {
        rows: seconds(lambda r=rows: grouped(resampled(data, r))) for rows in (125_000, 1_000_000)
    }
    small, large = times.values()
    print(
        f"125,000 rows {small:.2f} s, 1,000,000 rows {large:.2f} s: {large / small:.1f} times the "
        "time for 8 times the rows (resampling included)"
    )


def hard_cases(data: Encoded) -> None:
    """Print the time of a large taxonomy and of many uniform numbers."""
    cases = {
        "9 columns, one with 15,000 zip codes": with_zips(resampled(data, 100_000), 15_000),
        "6 uniform numeric columns": numeric(100_000, 6),
        "10 uniform numeric columns": numeric(100_000, 10),
    }
    for name, table in cases.items():
        print(f"100,000 rows, {name}: {seconds(lambda t=table: grouped(t)):.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process: {peak:.0f} MB")


def main() -> None:
    """Run everything on Adult."""
    data = adult()
    losses(data)
    against_brute_force(data)
    growth(data)
    hard_cases(data)


if __name__ == "__main__":
    main()
