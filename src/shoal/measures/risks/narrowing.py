"""Narrow down a person's values over several releases.

He knows in which releases a person was, and the quasi-identifiers at each time. In every one he
finds the rows that may be the person's (:mod:`shoal.measures.risks.scores`) and what their values
are; those that some release rules out are gone, if the value is the same in all. Of those left he
takes the one for which the product of his beliefs in all releases is highest. That is no belief
(the same people stand in one release after the other, so what these tell is not independent), but
it picks the true value more often than the belief in the newest release does, restricted to what is
left: for 30.8 instead of 27.6 % of 2,000 people of three releases of the ACS sample, l = 5. Where
nothing is left, the value has changed, and he goes by the newest release alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.base.partition import Bools, Floats, Ints
from shoal.measures.risks.matching import Index, blocks
from shoal.measures.risks.scores import Guess, Target, believed, guessed

_CELLS = 1 << 22  # beliefs (people times values) held at once


@dataclass(frozen=True, eq=False)
class KnownRelease:
    """One release, and what is known of people at its time.

    Parameters
    ----------
    release
        The release, with a belief for every sensitive column.
    known
        Positions of what is known of every person, ``[people, columns]``.
    there
        Who was in the table.
    places
        By sensitive column where each value of the newest release stands among those of this one;
        -1 for a value that this one does not have.
    """

    release: Target
    known: Ints
    there: Bools
    places: Mapping[str, Ints]

    def only(self, people: slice) -> KnownRelease:
        """Return the same of some of the people."""
        return KnownRelease(self.release, self.known[people], self.there[people], self.places)


@dataclass(frozen=True, eq=False)
class RemainingValues:
    """What is left of one sensitive column to some people.

    ``alone`` and ``after``: what is believed with the newest release, and with all of them;
    ``none``: for whom no value is left, so that ``after`` is ``alone``.
    """

    alone: Guess
    after: Guess
    none: Bools


def narrow_down(
    now: KnownRelease, before: Sequence[KnownRelease], answers: Mapping[str, Ints]
) -> dict[str, RemainingValues]:
    """Return what is left to people in every sensitive column; ``answers``: the true values."""
    names = [belief.of for belief in now.release.beliefs]
    widest = max((belief.prior.size for belief in now.release.beliefs), default=1)
    every = [now, *before]
    indexes = [Index.build(s.release.both, s.known, s.release.classes) for s in every]
    items = max(sight.release.classes.size for sight in every)
    parts: dict[str, list[tuple[Guess, Guess, Bools]]] = {name: [] for name in names}
    for begin, end in blocks(now.known.shape[0], max(items, 4 * widest), most=4 * _CELLS):
        seen = [
            dict(zip(names, believed(s.release, index, s.known[begin:end]), strict=True))
            for s, index in zip(every, indexes, strict=True)
        ]
        for name in names:
            own = left = seen[0][name]
            for sight, told in zip(before, seen[1:], strict=True):
                held = sight.there[begin:end, None]
                left = _shares(left * np.where(held, _carried(sight, told[name], name), 1.0))
            none = left.sum(axis=1) <= 0
            left = np.where(none[:, None], own, left)
            answer = answers[name][begin:end]
            parts[name].append((guessed(own, answer), guessed(left, answer), none))
    return {name: _joined(pieces) for name, pieces in parts.items()}


def _carried(sight: KnownRelease, told: Floats, name: str) -> Floats:
    """Return what a release says of every value that the newest one has, person by person."""
    places = sight.places[name]
    return np.where(places >= 0, told[:, np.maximum(places, 0)], 0.0)


def _shares(weights: Floats) -> Floats:
    """Let the weights of each person add up to one, if there are any."""
    mass = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(mass > 0, mass, 1.0))


def _joined(pieces: Sequence[tuple[Guess, Guess, Bools]]) -> RemainingValues:
    alone, after, none = zip(*pieces, strict=True)
    return RemainingValues(Guess.joined(alone), Guess.joined(after), np.concatenate(none))
