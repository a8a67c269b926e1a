"""Compute what an attacker learns about each target.

He looks for the released rows that fit what he knows of a person; when none fits all of it (some of
what he knows is wrong), for those that fit most of it. Among these he takes a row for the likelier
the fewer values its cells fit: who is 39 is likelier behind ``39`` than behind ``*``. Nothing is
drawn here: where he would choose at random among equals, the chance that he is right is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.partition import Bools, Floats, Ints, ragged_positions
from shoal.measures.risks.matching import ANY, Bits, Index, Items, blocks, distinct, pairs
from shoal.releases.estimates.bayes import tally
from shoal.releases.posterior import Posterior
from shoal.releases.readback import Sides

_CELLS = 1 << 22  # beliefs (people times values) held at once
_EQUAL = 1e-9  # two beliefs this close are the same belief


@dataclass(frozen=True, eq=False)
class Belief:
    """What a release says of one sensitive column, class by class, and of the table as a whole.

    ``posterior`` has the classes of the release by what the attacker can know; ``prior`` is the
    share of every value without looking anybody up.
    """

    of: str
    posterior: Posterior
    prior: Floats


@dataclass(frozen=True, eq=False)
class Target:
    """A release as it is searched: its columns, and its classes, which weigh as many rows.

    ``likely`` is per column and class the logarithm of the chance that somebody of that class has
    just the value that is known of him: the fewer values a cell fits, the likelier it is his.
    """

    both: list[Sides]
    classes: Items
    likely: Floats
    beliefs: tuple[Belief, ...] = ()


@dataclass(frozen=True, eq=False)
class Guess:
    """What is believed of one sensitive value of some people, a figure each.

    Parameters
    ----------
    answer
        The true value; -1 for one that the release does not have, -2 when it is missing, and then
        the other figures mean nothing.
    support, possible
        Number of values among the likeliest rows, and whether the true one is among them.
    certain
        Whether all rows that fit at all have the true value.
    top, ties
        Belief in the likeliest value, and number of values believed as much.
    own
        Belief in the true value.
    ruled
        Belief in the true value after the likeliest false ones have been ruled out.
    last
        Whether the true value is the only one left among the likeliest rows after that.
    """

    answer: Ints
    support: Ints
    possible: Bools
    certain: Bools
    top: Floats
    ties: Ints
    own: Floats
    ruled: Floats
    last: Bools

    @classmethod
    def joined(cls, parts: Sequence[Guess]) -> Guess:
        """Return the guesses about some people after those about others."""
        fields = zip(*(vars(guess).values() for guess in parts), strict=True)
        return cls(*(np.concatenate(pieces) for pieces in fields))

    def take(self, people: Ints | Bools) -> Guess:
        """Return the guesses about some of the people."""
        return Guess(*(figures[people] for figures in vars(self).values()))

    @property
    def known(self) -> Bools:
        """Whose true value is known."""
        return np.asarray(self.answer != -2)

    @property
    def hit(self) -> Floats:
        """Chance that the likeliest value (one of them) is the true one."""
        return np.where(self.own >= self.top - _EQUAL, 1.0 / self.ties, 0.0)

    @property
    def alike(self) -> Bools:
        """Whether the likeliest rows have one value alone, and it is the true one."""
        return np.asarray((self.support == 1) & self.possible)


@dataclass(frozen=True, eq=False)
class Scores:
    """What was found about some people.

    Parameters
    ----------
    candidates
        Rows that fit what is known of a person, or fit most of it.
    fits
        Whether those rows fit all of it.
    present
        Whether any row fits what is true of the person.
    likeliest
        How many of those rows are the likeliest.
    linked
        Chance that one of the likeliest, taken at random, is the person's own row.
    guesses
        By sensitive column.
    """

    candidates: Floats
    fits: Bools
    present: Bools
    likeliest: Floats
    linked: Floats
    guesses: dict[str, Guess]


def score(
    release: Target, knowledge: Ints, truth: Ints, answers: Sequence[Ints], rule_out: int
) -> Scores:
    """Attack people about whom something is known.

    Parameters
    ----------
    release
        What is attacked.
    knowledge
        What the attacker takes for true of each person: positions, or ``ANY`` for what he does
        not know.
    truth
        What is true of each person.
    answers
        Per belief of the release the true sensitive value of every person; -1 for a value that
        the release does not have, -2 when it is missing.
    rule_out
        Number of false values that the attacker can rule out besides.

    Notes
    -----
    Which row is a person's own cannot be told from files whose rows are shuffled. It is one of the
    rows that fit the truth, the likelier the fewer values its cells fit (each value under a cell
    being as likely); with these chances the pick is judged. Where the order of rows was known,
    this came within a fifth of the true rate; docs/reference/attacks.md has the figures.
    """
    m = knowledge.shape[1]
    tuples, which = distinct(np.hstack((knowledge, truth)))
    people, items = which.size, release.classes.size
    order = np.argsort(which, kind="stable")
    edges = np.searchsorted(which[order], np.arange(tuples.shape[0] + 1))
    totals = {name: np.zeros(people) for name in ("rows", "fits", "present", "likeliest", "linked")}
    parts: list[list[tuple[Ints, Guess]]] = [[] for _ in release.beliefs]
    widest = max((belief.prior.size for belief in release.beliefs), default=1)
    index = Index.build(release.both, np.vstack((knowledge, truth)), release.classes)
    for begin, end in blocks(tuples.shape[0], max(items, 4 * widest), most=4 * _CELLS):
        keys, true = tuples[begin:end, :m], tuples[begin:end, m:]
        bits, whole = _candidates(index, keys)
        seen = Pairs.from_bits(release, bits, keys)
        own = index.joint(true)
        best_ones, chance, truly = _pick(seen, Pairs.from_bits(release, own, true), end - begin)
        mine = order[edges[begin] : edges[end]]
        at = which[mine] - begin
        many = tally(seen.row, seen.size, end - begin)
        for name, figures in zip(totals, (many, whole, truly > 0, best_ones, chance), strict=True):
            totals[name][mine] = figures[at]
        for guesses, belief, answer in zip(parts, release.beliefs, answers, strict=True):
            mixed, near = (
                _mixed(belief, evidence, end - begin) for evidence in (seen, seen.likeliest())
            )
            guesses.append((mine, _guess(mixed, near, at, answer[mine], rule_out)))
    names = [belief.of for belief in release.beliefs]
    return Scores(
        totals["rows"],
        totals["fits"] > 0,
        totals["present"] > 0,
        totals["likeliest"],
        totals["linked"],
        dict(zip(names, map(_joined, parts), strict=True)),
    )


def believed(release: Target, index: Index, keys: Ints) -> list[Floats]:
    """Return the belief in every value of what is known of each person, by sensitive column."""
    seen = Pairs.from_bits(release, _candidates(index, keys)[0], keys)
    return [_mixed(belief, seen, keys.shape[0]) for belief in release.beliefs]


def guessed(beliefs: Floats, answer: Ints) -> Guess:
    """Return what follows from the belief in every value, person by person."""
    return _guess(beliefs, beliefs, np.arange(answer.size), answer, 1)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a person and a class: rows of the class, and how likely each of them is his.

    The likeliest classes of a person weigh 1, the others less.
    """

    row: Ints
    item: Ints
    size: Floats
    weight: Floats

    @classmethod
    def from_bits(cls, release: Target, bits: Bits, keys: Ints) -> Pairs:
        """Take the classes (bits) that fit what is known of each person."""
        row, item = pairs(bits)
        weight = release.likely.sum(axis=0)[item]
        for j, column in enumerate(keys.T):
            if (blind := column == ANY).any():  # a column that is not known tells nothing
                weight -= np.where(blind[row], release.likely[j][item], 0.0)
        if row.size:
            first = np.flatnonzero(np.diff(row, prepend=-1))
            best_of = np.zeros(keys.shape[0])
            best_of[row[first]] = np.maximum.reduceat(weight, first)
            weight -= best_of[row]
        # However unlikely, a candidate stays possible: exp must not become 0.
        return cls(row, item, release.classes.weight[item], np.exp(np.maximum(weight, -500.0)))

    def likeliest(self) -> Pairs:
        """Return the pairs of every person that no other is likelier than."""
        top = self.weight > 1 - _EQUAL
        return Pairs(self.row[top], self.item[top], self.size[top], self.weight[top])


def _pick(seen: Pairs, own: Pairs, people: int) -> tuple[Floats, Floats, Floats]:
    """Return how many rows are likeliest, the chance that one of them is right, and of how many."""
    best_ones = seen.likeliest()
    likeliest = tally(best_ones.row, best_ones.size, people)
    truly = tally(own.row, own.size * own.weight, people)
    if not own.row.size:
        return likeliest, np.zeros(people), truly
    items = int(max(best_ones.item.max(initial=0), own.item.max())) + 1
    keys = own.row * items + own.item  # ascending, as the pairs are
    wanted = best_ones.row * items + best_ones.item
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    right = np.where(keys[at] == wanted, own.size[at] * own.weight[at], 0.0)
    chance = tally(best_ones.row, right, people)
    return likeliest, chance / np.maximum(likeliest * truly, 1.0), truly


def _candidates(index: Index, keys: Ints) -> tuple[Bits, Bools]:
    """Return the classes (bits) that fit best, and whether they fit in every column."""
    bits = index.joint(keys)
    whole = np.asarray(bits.any(axis=1))
    lost = np.flatnonzero(~whole)
    for begin, end in blocks(lost.size, index.items.size, most=8 * _CELLS):
        bits[lost[begin:end]] = index.most(keys[lost[begin:end]])
    return bits, whole


def _mixed(belief: Belief, seen: Pairs, rows: int) -> Floats:
    """Return the belief in every value, over all candidate rows together, ``[rows, values]``.

    Rows whose value is missing say nothing. When all of them are silent, the table as a whole
    still says something.
    """
    posterior, item = belief.posterior, seen.item
    size = belief.prior.size
    runs = np.diff(posterior.starts)[item]
    at = ragged_positions(posterior.starts[:-1][item], runs)
    weight = np.repeat(posterior.mass[item] * seen.weight, runs) * posterior.share[at]
    keys = np.repeat(seen.row, runs) * size + posterior.values[at]
    mixed = tally(keys, weight, rows * size).reshape(rows, size)
    mass = mixed.sum(axis=1, keepdims=True)
    return np.where(mass > 0, mixed / np.where(mass > 0, mass, 1.0), belief.prior)


def _guess(mixed: Floats, near: Floats, at: Ints, answer: Ints, rule_out: int) -> Guess:
    size = mixed.shape[1]
    if not size:
        mixed, near, size = np.zeros((mixed.shape[0], 1)), np.zeros((mixed.shape[0], 1)), 1
    support = np.count_nonzero(near, axis=1)[at]
    top = mixed.max(axis=1)
    ties = (mixed >= top[:, None] - _EQUAL).sum(axis=1)
    own = np.where(answer >= 0, mixed[at, np.maximum(answer, 0)], 0.0)
    possible = (answer >= 0) & (near[at, np.maximum(answer, 0)] > 0)
    certain = (own > 0) & (np.count_nonzero(mixed, axis=1)[at] == 1)
    # The likeliest false values: the likeliest of all without the true one, if it is among them.
    many = min(rule_out + 1, size)
    likeliest = -np.sort(-np.partition(mixed, size - many, axis=1)[:, size - many :], axis=1)
    reach = np.cumsum(likeliest, axis=1)
    least = likeliest[at, -1]
    before = reach[at, many - 2] if many > 1 else np.zeros(at.size)
    among = np.where(own >= least, reach[at, -1] - own, before)
    gone = among if many == rule_out + 1 else 1.0 - own  # there may be no more values than that
    left = np.maximum(1.0 - gone, own)
    ruled = own / np.where(left > 0, left, 1.0)
    last = possible & (support <= rule_out + 1)
    return Guess(answer, support, possible, certain, top[at], ties[at], own, ruled, last)


def _joined(parts: list[tuple[Ints, Guess]]) -> Guess:
    """Put the guesses of all blocks back into the order of the people."""
    order = np.argsort(np.concatenate([mine for mine, _ in parts]))
    return Guess.joined([guess for _, guess in parts]).take(order)
