"""Fourteen releases of a small table, each judged by code that shares nothing with the package.

``python -m benchmarks.broken_plans`` prints one line a plan: ``good``, ``BAD`` (handed out and
wrong), ``refused`` (the check found a fault) or ``failed`` (an error before anything was made).
:mod:`benchmarks.broken_makers` runs it on broken copies of the package.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd

from tools.soaking.checker import Promise, faults

TOWNS = {f"{a}{b}{c}": (f"{a}{b}", a, "all") for a in "xy" for b in "pq" for c in "12"}
QUASI = ("o_age", "t_town", "s_job")
PLANS: tuple[dict[str, Any], ...] = (
    {"method": "shoal", "k": 3},
    {"method": "shoal", "k": 3, "effort": "fast"},
    {"method": "shoal", "k": 3, "l": 2},
    {"method": "shoal", "k": 3, "t": 0.5},
    {"method": "shoal", "k": 3, "typed": True},
    {"method": "shoal", "k": 3, "beta": 2.0},
    {"method": "k-member", "k": 3, "alpha": 0.6},
    {"method": "kaim", "k": 3},
    {"method": "mondrian", "k": 3, "l": 2},
    {"method": "incognito", "k": 3},
    {"method": "l-clustering", "l": 2},
    {"method": "alpha-k", "k": 3, "alpha": 0.6},
    {"method": "dummies", "l": 2},
    {"method": "anatomy", "l": 2, "l_kind": "frequency"},
)


def table(rows: int = 36) -> pd.DataFrame:
    """Return a table with a column of every kind, and some missing values."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "who": [f"p{n}" for n in range(rows)],
            "o_age": rng.integers(20, 60, rows).astype(float),
            "t_town": rng.choice([*TOWNS], rows),
            "s_job": rng.choice(["nurse", "clerk", "judge"], rows),
            "ill": rng.choice(list("aabbcde"), rows),
            "tag": rng.permutation(rows),
        }
    )
    frame.loc[3, "o_age"] = np.nan
    return frame


def outcome(frame: pd.DataFrame, plan: dict[str, Any]) -> str:
    """Return what becomes of a plan."""
    import shoal

    trees = {"t_town": shoal.Taxonomy.from_rows([(k, *v) for k, v in TOWNS.items()], "t_town")}
    try:
        with warnings.catch_warnings(action="ignore"):
            made = shoal.anonymize(
                frame, quasi=[*QUASI], sensitive="ill", identifier="who", keep="tag",
                kind={"s_job": "set"}, hierarchies=trees, seed=7, **plan,
            )  # fmt: skip
    except shoal.NotVerified:
        return "refused"
    except Exception as error:  # any error stops a run: nothing is handed out
        return f"failed ({type(error).__name__})"
    second = made.tables.get("st")
    shapes = {"dummies": "dummies", "anatomy": "anatomy"}
    alpha = plan.get("alpha")
    promise = Promise(
        shapes.get(plan["method"], "generalized"), QUASI, "ill", "tag", "who",
        k=plan.get("k", 1), alpha=alpha, t=plan.get("t"), beta=plan.get("beta"),
        distinct=plan.get("l") if "l_kind" not in plan else None,
        frequency=plan.get("l") if "l_kind" in plan else None, typed=plan.get("typed", False),
        all_rows="method" in plan and plan["method"] != "incognito",
        paths={"t_town": {leaf: {leaf, *way} for leaf, way in TOWNS.items()}},
    )  # fmt: skip
    found = faults(frame, pd.DataFrame(made.frame), second, promise)
    found = [fault for fault in found if "order of the original" not in fault]
    return f"BAD ({found[0]})" if found else "good"


def main() -> None:
    """Print what becomes of every plan."""
    frame = table()
    for plan in PLANS:
        words = " ".join(f"{key}={value}" for key, value in plan.items())
        sys.stdout.write(f"{outcome(frame, plan)}\t{words}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
