"""What a published table reaches under every privacy model, whether it was promised or not.

The names of the models and of their figures are those of pycanon's report, so that programs that
read one can read the other; ours go further. Where pycanon's reading of a model is not the model's
own, the figure here is the model's:

- recursive (c, l)-diversity compares the *most* frequent value with the tail, as its paper does;
  pycanon takes the least frequent one, which says c = 1 of almost any table;
- enhanced beta-likeness has no figure when a value's gain is above its own bound -ln q, for then no
  beta will do; pycanon gives the largest bound instead;
- entropy l is rounded down with room for rounding errors: three equal shares are worth 3, not 2.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from shoal.base.partition import GroupStats, Histogram
from shoal.privacy import AlphaK, FrequencyLDiversity, RecursiveLDiversity
from shoal.privacy.closeness import distance, gains
from shoal.privacy.l_diversity import effective


def models(
    stats: GroupStats, quasi: Sequence[str], ordered: Collection[str] = ()
) -> dict[str, Any]:
    """Return the figures of all models, over all sensitive columns and for each of them.

    Parameters
    ----------
    stats
        Class sizes, and a histogram per sensitive column.
    quasi
        Names of the quasi-identifiers, to say what was looked at.
    ordered
        Sensitive columns whose values have an order (numbers, dates): their t is the ordered
        distance, that of all others the equal one. Both stand under ``columns``.

    Notes
    -----
    A figure over several sensitive columns is that of the weakest. Without a sensitive column all
    figures but k are None. Delta-disclosure speaks of the values that a class has; what a class
    lacks it excludes with certainty, and no finite delta would allow that.
    """
    k = int(stats.sizes.min()) if stats.sizes.size else 0
    columns = {
        name: _column(hist, stats, name, name in ordered) for name, hist in stats.histograms.items()
    }
    each = list(columns.values())

    def least(key: str) -> Any:
        return min((figures[key] for figures in each), default=None)

    def most(key: str) -> Any:
        return max((figures[key] for figures in each), default=None)

    entropy = least("entropy_l")
    ratio = _ratio(stats, least("l"))
    return {
        "data": {"quasi-identifiers": list(quasi), "sensitive attributes": list(columns)},
        "k_anonymity": {"k": k},
        "alpha_k_anonymity": {"alpha": most("alpha"), "k": k},
        "l_diversity": {"l": least("l")},
        "entropy_l_diversity": {
            "l": None if entropy is None else math.floor(entropy + 1e-9),
            "exact": entropy,
        },
        "recursive_c_l_diversity": {
            "c": None if ratio is None else math.floor(ratio + 1e-12) + 1,
            "l": least("l"),
            "ratio": ratio,
        },
        "frequency_l_diversity": {"l": least("frequency_l")},
        "basic_beta_likeness": {"beta": most("beta")},
        "enhanced_beta_likeness": {"beta": most("enhanced_beta")},
        "t_closeness": {"t": most("t")},
        "delta_disclosure": {"delta": most("delta")},
        "classes": _classes(stats),
        "columns": columns,
    }


def _column(hist: Histogram, stats: GroupStats, name: str, ordered: bool) -> dict[str, Any]:
    """Return the figures of one sensitive column."""
    equal, ranked = (float(distance(hist, kind).max(initial=0.0)) for kind in ("equal", "ordered"))
    gain, q = gains(hist)
    beta = max(float(gain.max(initial=0.0)), 0.0)
    bounded = bool((gain <= np.maximum(-np.log(q), 0.0) + 1e-12).all())
    alone = GroupStats(stats.sizes, {name: hist})
    present = int(np.count_nonzero(hist.whole))
    return {
        "values": present,
        "missing": int(stats.sizes.sum() - hist.known.sum()),
        "classes_without_value": int((hist.known == 0).sum()),
        "classes_lacking_a_value": int((hist.distinct < present).sum()),
        "alpha": AlphaK(1.0, 1, name).achieved(alone)["alpha"],
        "l": int(hist.distinct.min(initial=present)),
        "entropy_l": float(effective(hist).min(initial=present)),
        "frequency_l": FrequencyLDiversity(2, name).achieved(alone)["frequency_l"],
        "beta": beta,
        "enhanced_beta": beta if bounded else math.inf,
        "t": ranked if ordered else equal,
        "t_equal": equal,
        "t_ordered": ranked,
        "delta": float(np.abs(np.log1p(gain)).max(initial=0.0)),
    }


def _ratio(stats: GroupStats, l: int | None) -> float | None:  # noqa: E741 -- the papers' letter
    """Return the largest ratio of a top count to its tail from rank l on; needs l of 2 or more."""
    if l is None or l < 2:
        return None
    rules = [RecursiveLDiversity(l, 1.0, name) for name in stats.histograms]
    return max(float(rule.achieved(stats)["recursive_c"]) for rule in rules)


def _classes(stats: GroupStats) -> dict[str, Any]:
    sizes = stats.sizes
    return {
        "number": int(sizes.size),
        "rows": int(sizes.sum()),
        "smallest": int(sizes.min()) if sizes.size else 0,
        "largest": int(sizes.max(initial=0)),
        "mean": float(sizes.mean()) if sizes.size else 0.0,
        "single": int((sizes == 1).sum()),
    }
