"""Measure a published table under every privacy model.

The figures are those of the rules of the catalog. The names of the models are those of pycanon's
report, so that programs that read one can read the other; ours go further. Where pycanon's reading
of a model is not the model's own, the figure here is the model's:

- recursive (c, l)-diversity compares the *most* frequent value with the tail, as its paper does;
  pycanon takes the least frequent one, which says c = 1 of almost any table;
- enhanced beta-likeness has no figure when a value's gain is above its own bound -ln q, for then no
  beta will do; pycanon gives the largest bound instead;
- entropy l is rounded down with room for rounding errors: three equal shares are worth 3, not 2;
- a class without a known value keeps no promise on the column: its alpha is infinite;
- t, beta and delta count a missing value as a value of its own, as the rules do unless told not to.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from shoal.base.partition import GroupStats, with_missing
from shoal.catalog import RULES, RuleEntry
from shoal.privacy import RecursiveLDiversity, Rule
from shoal.privacy.base import least_safe, safer_direction
from shoal.privacy.closeness import gains
from shoal.releases.verdict import DELTA


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
    names = list(stats.histograms)
    columns = {name: _counts(stats, name) for name in names}
    summary: dict[str, dict[str, Any]] = {}
    for entry in RULES.values():
        for reading in entry.readings:
            rules = [
                entry.make(name, (name in ordered and reading.ordered) or reading.options)
                for name in (names if entry.sensitive else [None])
            ]
            if reading.model:
                summary[reading.model] = _weakest(entry, rules, stats)
            for rule in rules:
                if rule.column is not None:
                    figure = _main(entry, rule)
                    columns[rule.column][reading.name] = rule.achieved(stats)[figure]
    for name in names:
        gain, _ = gains(stats.read(with_missing(name)))
        columns[name][DELTA] = float(np.abs(np.log1p(gain)).max(initial=0.0))
    deltas = [figures[DELTA] for figures in columns.values()]
    return {
        "data": {"quasi-identifiers": list(quasi), "sensitive attributes": names},
        **summary,
        **_whole_numbers(summary, stats),
        "delta_disclosure": {"delta": max(deltas, default=None)},
        "classes": _classes(stats),
        "columns": columns,
    }


def _main(entry: RuleEntry, rule: Rule) -> str:
    """Return the figure that is a value of the rule's first parameter."""
    return next(name for name, param in rule.figures.items() if param == entry.flags[0][1])


def _weakest(entry: RuleEntry, rules: Sequence[Rule], stats: GroupStats) -> dict[str, Any]:
    """Return the figures of a rule by parameter, those of the weakest column."""
    reached = [rule.achieved(stats) for rule in rules]
    without = dict.fromkeys(param for param in entry.load().figures.values())
    if entry.crowd in without:  # the size of classes needs no sensitive column
        without[entry.crowd] = int(stats.sizes.min()) if stats.sizes.size else 0
    return without | {
        param: least_safe(safer_direction(rules[0], name), *(figures[name] for figures in reached))
        for name, param in (rules[0].figures.items() if rules else ())
    }


def _whole_numbers(summary: dict[str, dict[str, Any]], stats: GroupStats) -> dict[str, Any]:
    """Return the two models whose numbers pycanon writes as whole ones, ours beside them.

    The c of recursive diversity is that for the l which the table reaches; there is none below 2.
    """
    entropy, l = summary["entropy_l_diversity"]["l"], summary["l_diversity"]["l"]  # noqa: E741
    ratio = None
    if l is not None and l >= 2:
        rules = [RecursiveLDiversity(l, 1.0, name) for name in stats.histograms]
        ratio = max(float(rule.achieved(stats)["recursive_c"]) for rule in rules)
    return {
        "entropy_l_diversity": {
            "l": None if entropy is None else math.floor(entropy + 1e-9),
            "exact": entropy,
        },
        "recursive_c_l_diversity": {
            "c": None if ratio is None else math.floor(ratio + 1e-12) + 1,
            "l": l,
            "ratio": ratio,
        },
    }


def _counts(stats: GroupStats, name: str) -> dict[str, Any]:
    """Return what there is to count in a sensitive column."""
    hist = stats.histograms[name]
    present = int(np.count_nonzero(hist.whole))
    return {
        "values": present,
        "missing": int(stats.gaps(name).sum()),
        "classes_without_value": int((hist.known == 0).sum()),
        "classes_lacking_a_value": int((hist.distinct < present).sum()),
    }


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
