"""Check a release with dummy values from its published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.errors import InputError, format_names
from shoal.base.partition import Bools, GroupStats, Histogram, Ints
from shoal.privacy.base import Rule
from shoal.releases.dummies.domain import declared_domain, domain_faults
from shoal.releases.exact.check import compare, judge, kept, plausible, truth
from shoal.releases.opened import Opened
from shoal.releases.verdict import Verdict, single_rules
from shoal.tables.cells import as_text, find_positions, sorted_values
from shoal.tables.domain import STAR
from shoal.tables.original import Original
from shoal.tables.set_cells import read_sets


def check(opened: Opened, rules: Sequence[Rule], source: Original | None = None) -> Verdict:
    """Check an opened release; with its source, also that it says nothing wrong.

    Every row is a group of its own whose values are those of its set, each once. With the source,
    every set must hold the true value, be sorted, and everything else be as it was.

    Notes
    -----
    A cell without a set (a missing value that the plan keeps missing) promises nothing and is not
    asked about.
    """
    released, wanted = opened.frame, single_rules(rules)
    told = opened.forbidden()
    if source is not None and source.order is None:
        told += plausible(released, source.frame, kept(opened, source), opened.sensitive)
    for name in opened.sensitive:
        told += domain_faults(opened, name)
    sets: dict[str, _Sets] = {}
    for name in dict.fromkeys(rule.column for rule in wanted if rule.column is not None):
        lists = read_sets(released[name]) if name in released.columns else None
        if lists is None:
            raise InputError(
                f"Column {name!r} holds no sets of values: a cell of a release with dummy values "
                'is a list such as ["asthma", "flu"]. Its columns are '
                f"{format_names(released.columns)}."
            )
        sets[name] = _Sets.read(lists, declared_domain(opened, name))
    stats: dict[str | None, GroupStats] = {None: GroupStats(opened.published.sizes, {})}
    for name, drawn in sets.items():
        void = opened.column(name).missing if name in opened.sensitive else ()
        stats[name] = GroupStats(drawn.lengths, {name: drawn.histogram(void)})
        if drawn.unsorted:
            told.append(
                f"{drawn.unsorted:,} sets of column {name!r} are not sorted, or hold a value twice."
            )
        if drawn.strange:
            told.append(
                f"The sets of column {name!r} hold {drawn.strange:,} values that its domain lacks: "
                "every value of a set must come from it."
            )
        if (different := np.unique(drawn.lengths)).size > 1:
            told.append(
                f"The sets of column {name!r} have {different.size} different lengths "
                f"({format_names(different.tolist(), 5)}): dummy values make sets of one length."
            )
    if source is not None and source.order is not None:
        told += compare(released, source)
        for name, drawn in sets.items():
            if lacking := drawn.lacking(truth(name, source)):
                told.append(f"{lacking:,} sets of column {name!r} lack the true value.")
        told += _narrowed(released, sets, source)
    return judge(wanted, stats, told, released.height, opened.published.sizes.size)


@dataclass(frozen=True, eq=False)
class _Sets:
    """The sets of a column: values in order, codes set after set, which rows have a set."""

    names: pl.Series
    codes: Ints
    lengths: Ints
    kept: Bools
    strange: int  # values in them that its domain lacks

    @classmethod
    def read(cls, lists: pl.Series, domain: pl.Series | None = None) -> _Sets:
        known = lists.drop_nulls()
        flat = known.list.explode(empty_as_null=False)
        names = sorted_values(
            flat if domain is None else pl.concat([domain, flat.rename(domain.name)])
        )
        places = pl.Series(np.arange(len(names), dtype=np.int64))
        codes = flat.replace_strict(names, places, return_dtype=pl.Int64).to_numpy()
        lengths = known.list.len().to_numpy().astype(np.int64)
        strange = 0 if domain is None else len(names) - domain.n_unique()
        return cls(names, codes, lengths, lists.is_not_null().to_numpy(), strange)

    @property
    def owner(self) -> Ints:
        return np.repeat(np.arange(self.lengths.size), self.lengths)

    @property
    def unsorted(self) -> int:
        """Sets in another order than the values' own: an order could carry a message."""
        owner = self.owner
        wrong = (np.diff(self.codes) <= 0) & (np.diff(owner) == 0)
        return int(np.unique(owner[1:][wrong]).size)

    def histogram(self, void: Sequence[str]) -> Histogram:
        """Count each set as a group of its own, a value that it has twice once.

        ``void``: texts that mean missing, which add no diversity.
        """
        span = max(len(self.names), 1)
        known = ~as_text(self.names).str.strip_chars().is_in(["", STAR, *void]).to_numpy()
        keys = (self.owner * span + self.codes)[known[self.codes]]
        if self.unsorted:
            keys = np.unique(keys)
        codes = keys % span
        starts = np.searchsorted(keys, np.arange(self.lengths.size + 1) * span)
        whole = np.bincount(codes, minlength=span).astype(np.int64)
        ones = np.ones(codes.size, np.int64)
        gaps = int(self.lengths.sum()) - codes.size
        names = tuple(as_text(self.names))
        return Histogram(starts.astype(np.int64), codes, ones, whole, names, whole_gaps=gaps)

    def lacking(self, truth: pl.Series) -> int:
        """Count the rows whose true value is known and not in their set."""
        wanted = find_positions(truth, self.names)[self.kept]
        has = np.zeros(self.lengths.size, np.bool_)
        owner = self.owner
        has[owner[self.codes == wanted[owner]]] = True
        known = truth.is_not_null().to_numpy()
        return int((~has & known[self.kept]).sum() + (known & ~self.kept).sum())


def _narrowed(released: pl.DataFrame, sets: Mapping[str, _Sets], source: Original) -> list[str]:
    """Find people whose rows repeat a value under different sets: their overlap says it."""
    faults = []
    for name in sets if source.persons is not None else ():
        rows = pl.DataFrame(
            {"who": source.persons, "truth": truth(name, source), "set": read_sets(released[name])}
        )
        apart = rows.group_by("who", "truth").agg(pl.col("set").n_unique() > 1)["set"].sum()
        if apart:
            faults.append(
                f"{apart:,} people have the same value of {name!r} in several rows under different "
                "sets, and only one value is in all of these."
            )
    return faults
