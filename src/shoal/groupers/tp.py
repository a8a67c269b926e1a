"""TP: suppress few rows for frequency l-diversity, with a bound (Xiao, Yi, Tao 2010).

Rows with the same quasi-identifiers are a group, published exactly. A group in which a sensitive
value is too frequent gives rows to the residue, which is published with ``*`` throughout (TP) or
cut further by Mondrian (TP+).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.base.errors import ParameterError
from shoal.base.partition import Cover, Partition
from shoal.catalog import find_method
from shoal.coding.encode import Encoded
from shoal.coding.tuples import entries
from shoal.groupers import mondrian
from shoal.groupers.judge import Bools, Ints, Judge
from shoal.kernels.tp import PHASE, new_state, remove
from shoal.privacy import Rule, flatten
from shoal.tables.domain import Taxonomy


def group(data: Encoded, rule: Rule, rng: np.random.Generator) -> Partition:
    """Publish the groups of equal rows exactly and the residue as ``*``.

    Notes
    -----
    Sections 4 and 5 of the paper: at most l times as many rows lose their quasi-identifiers as in
    the best solution. Choices: rows of one group and value are alike, so those that go are drawn at
    random; a missing quasi-identifier is a value like any other; rows with a missing sensitive
    value stay in their group while it has a known one. In phase three, of the groups that share
    equally few peaks with the residue, the one with most peaks is lowered. The notes of the
    partition tell the residue's size and the last phase needed.
    """
    partition, _, notes = _split(data, rule, rng)
    return replace(partition, notes=notes)


def group_plus(data: Encoded, rule: Rule, rng: np.random.Generator) -> Partition:
    """TP+: publish the groups of equal rows exactly and cut the residue further.

    Notes
    -----
    The paper leaves the method for the residue open; here it is strict Mondrian.
    """
    partition, residue, notes = _split(data, rule, rng)
    if not residue.size:
        return replace(partition, cover=None, notes=notes)
    inside = replace(
        data,
        codes=np.ascontiguousarray(data.codes[residue]),
        sensitive={name: codes[residue] for name, codes in data.sensitive.items()},
    )
    cut = mondrian.group(inside, rule, rng)
    exact = partition.starts[:-1]  # the residue is the last group
    return Partition(
        np.concatenate([partition.rows[: exact[-1]], residue[cut.rows]]),
        np.concatenate([exact, exact[-1] + cut.starts[1:]]),
        notes=notes,
    )


def _split(
    data: Encoded, rule: Rule, rng: np.random.Generator
) -> tuple[Partition, Ints, dict[str, int]]:
    """Return groups of equal rows with the residue as the last one, the residue, and figures."""
    wanted = _diversity(rule)
    Judge(data, rule)  # refuses a table that cannot be l-diverse
    _, entry, _ = entries(data.codes)
    gone, phase = _residue(data, wanted, entry, rng)
    labels = np.where(gone, entry.max() + 1, entry)
    partition = Partition.from_labels(labels)
    residue = np.flatnonzero(gone)
    notes = {"residue": int(residue.size), "phase": phase}
    if not residue.size:
        return partition, residue, notes
    cover = Cover.none(partition.groups, len(data.domains))
    for j, domain in enumerate(data.domains):
        if isinstance(domain, Taxonomy):
            cover.node[-1, j] = domain.root
        else:
            cover.lo[-1, j], cover.hi[-1, j] = 0, domain.size
    return replace(partition, cover=cover), residue, notes


def _diversity(rule: Rule) -> tuple[str, int]:
    """Return the sensitive column and its l."""
    rules = flatten([rule])
    if len(rules) == 1 and rules[0].name in (find_method("tp").rules or ()):
        assert rules[0].column is not None and rules[0].diversity is not None
        return rules[0].column, rules[0].diversity
    raise ParameterError(
        "TP keeps frequency l-diversity of one sensitive column and nothing else. Got the promise "
        f"that {rule.describe()}. Use the rule frequency-l-diversity alone, or another method, "
        "such as mondrian."
    )


def _residue(
    data: Encoded, wanted: tuple[str, int], entry: Ints, rng: np.random.Generator
) -> tuple[Bools, int]:
    """Say which rows go to the residue, and which phase was the last one needed."""
    column, l = wanted  # noqa: E741 -- the papers' letter
    codes = data.sensitive[column]
    values = max(len(data.sensitive_names[column]), 1)
    groups = int(entry.max()) + 1
    known = np.flatnonzero(codes >= 0)
    keys = entry[known] * values + codes[known]
    order = np.lexsort((rng.permutation(known.size), keys))
    runs, start, count = np.unique(keys[order], return_index=True, return_counts=True)
    starts = np.searchsorted(runs, np.arange(groups + 1) * values)
    state = new_state(starts, runs % values, count, values)
    homeless = bool((state.size[entry[codes < 0]] == 0).any())
    remove(state, l, homeless)
    gone = np.zeros(data.rows, np.bool_)
    rank = np.arange(known.size) - np.repeat(start, count)
    gone[known[order]] = rank >= np.repeat(state.left, count)
    # A group that has lost all its known values takes its unknown ones along.
    gone |= (codes < 0) & (state.size == 0)[entry]
    return gone, int(state.figures[PHASE])
