"""Attack a release together with earlier releases of the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.base.errors import InputError, ParameterError, SchemaError
from shoal.base.partition import Bools, Ints
from shoal.base.roles import Role
from shoal.measures.risks.knowledge import Draw, attacker_knowledge
from shoal.measures.risks.narrowing import KnownRelease, RemainingValues, narrow_down
from shoal.measures.risks.results import AttackResult
from shoal.measures.risks.scores import Belief
from shoal.measures.risks.searching import answers_of, belief_of, prepare_target, same_values
from shoal.measures.risks.summary import summarize_narrowed
from shoal.releases import other_notations
from shoal.releases.opened import Opened
from shoal.tables.open_table import check_columns, quasi_schema


@dataclass(frozen=True, eq=False)
class ReleaseWithOriginal:
    """A release and the table that it was made from; ``what`` errors call it."""

    opened: Opened
    original: pl.DataFrame
    what: str = "release"


def pair_with_originals(
    releases: Sequence[Opened], tables: Sequence[pl.DataFrame | None]
) -> list[ReleaseWithOriginal]:
    """Return earlier releases beside their originals, or say which has none."""
    if len(tables) > len(releases):
        raise ParameterError(
            f"{len(tables)} originals of earlier releases were given for {len(releases)} releases. "
            "Name a release (--against, against=[...]) for each, in the same order."
        )
    pairs = []
    for number, opened in enumerate(releases):
        original = tables[number] if number < len(tables) else None
        if original is None:
            raise ParameterError(
                f"Earlier release {number + 1} has no original, so nobody can say who "
                "was in it. Name the table that each was made from, in the same order, with "
                "--against-original (against_original=[...])."
            )
        beside = other_notations.interpret_with_original(opened, original)
        pairs.append(ReleaseWithOriginal(beside, original, f"earlier release {number + 1}"))
    return pairs


@dataclass(frozen=True, eq=False)
class Attacker:
    """Who is attacked, by somebody who knows how much.

    ``targets``: how many people at most. People of ``control`` are taken to have been there all
    along, with the same quasi-identifiers.
    """

    targets: int
    noise: float = 0.0
    gaps: float = 0.0
    control: pl.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class LinkedBeliefs:
    """What all releases leave to people, by sensitive column.

    ``left``: to the targets; ``tried``: to whom the control was tried on, ``outsiders`` or others;
    ``in_all``: which targets were in every release; ``beliefs``: what the newest release says.
    """

    left: Mapping[str, RemainingValues]
    tried: Mapping[str, RemainingValues] | None
    outsiders: bool
    in_all: Bools
    beliefs: tuple[Belief, ...]


def intersect(
    now: ReleaseWithOriginal,
    before: Sequence[ReleaseWithOriginal],
    hidden: Sequence[str],
    asked: Attacker,
    rng: np.random.Generator,
) -> list[AttackResult]:
    """Attack people who are in the newest table and were in an earlier one, by all of them."""
    found = follow_people(now, before, hidden, asked, rng)
    return [
        summarize_narrowed(
            belief,
            found.left[belief.of],
            None if found.tried is None else found.tried[belief.of],
            found.in_all,
            len(before),
            tuple(now.opened.quasi),
            outsiders=found.outsiders,
        )
        for belief in found.beliefs
    ]


def follow_people(
    now: ReleaseWithOriginal,
    before: Sequence[ReleaseWithOriginal],
    hidden: Sequence[str],
    asked: Attacker,
    rng: np.random.Generator,
) -> LinkedBeliefs:
    """Return what is left to people of the newest table who were in an earlier one."""
    before = [_alike(one, now.opened.quasi, hidden) for one in before]
    rows = _rows(now, before)
    outside = 0 if asked.control is None else asked.control.height
    drawn = Draw.draw(rows.shape[0], outside, min(asked.targets, rows.shape[0]), rng)
    own = Draw(rows[drawn.chosen, 0], drawn.others, drawn.outsiders)
    truths = {
        name: answers_of(
            name,
            now.original,
            asked.control,
            own,
            now.opened.column(name).missing,
            now.opened.view(name),
        )
        for name in hidden
    }
    sights = [
        _sight(one, now, hidden, rows[:, place], drawn, asked, rng)
        for place, one in enumerate([now, *before])
    ]
    ends = np.cumsum([0, drawn.chosen.size, drawn.others.size, drawn.outsiders.size]).tolist()

    def left(part: int, of: int) -> dict[str, RemainingValues] | None:
        """Narrow down one part of the people drawn, judged by the truth of targets or outsiders."""
        if ends[part] == ends[part + 1]:
            return None
        seen = [sight.only(slice(ends[part], ends[part + 1])) for sight in sights]
        return narrow_down(seen[0], seen[1:], {name: truth[of] for name, truth in truths.items()})

    main, others, outsiders = left(0, 0), left(1, 0), left(2, 1)
    return LinkedBeliefs(
        main or {},
        others if outsiders is None else outsiders,
        outsiders is not None,
        rows[drawn.chosen].min(axis=1) >= 0,
        sights[0].release.beliefs,
    )


def _alike(
    one: ReleaseWithOriginal, names: Sequence[str], hidden: Sequence[str]
) -> ReleaseWithOriginal:
    """Return an earlier release looked up by the same columns, or say what is missing."""
    check_columns(one.original, f"The original of {one.what}", names)
    try:
        opened = one.opened.known_by(names)
        for name in hidden:
            opened.view(name)
        _ = opened.published
    except (SchemaError, InputError) as error:
        raise SchemaError(f"{one.what.capitalize()} cannot be searched: {error}") from None
    return ReleaseWithOriginal(opened, one.original, one.what)


def _rows(now: ReleaseWithOriginal, before: Sequence[ReleaseWithOriginal]) -> Ints:
    """Return where everybody stands in each table who is in the newest and in another one.

    ``[people, releases]``, the newest first; -1 for who was not there.
    """
    person = next(iter(now.opened.names(Role.PERSON)), None)
    if person is None:
        raise SchemaError(
            "The attack 'intersection' follows people from release to release, and no column says "
            "whose row it is. Name that of the originals with --person (person=...)."
        )
    column = now.opened.column(person)
    frames = []
    for place, one in enumerate([now, *before]):
        what = f"The original of {one.what}" if place else "The original"
        check_columns(one.original, what, [person])
        whose = column.persons(one.original[person])
        if twice := int(whose.is_duplicated().sum()):
            raise SchemaError(
                f"{what} has {twice:,} rows of people who have several, and people are followed "
                f"from release to release with one row each ({person!r}). Keep one row of each in "
                "every table and its release."
            )
        frames.append(pl.DataFrame({"person": whose, str(place): np.arange(len(whose))}))
    joined = frames[0]
    for frame in frames[1:]:
        joined = joined.join(frame, on="person", how="left", maintain_order="left")
    rows = joined.drop("person").fill_null(-1).to_numpy().astype(np.int64)
    rows = rows[(rows[:, 1:] >= 0).any(axis=1)]
    if not rows.size:
        raise InputError(
            f"Nobody of the original is in the table of an earlier release by {person!r}, so there "
            "is nobody to follow. Give tables of the same people, with the same ids."
        )
    return rows


def _sight(
    one: ReleaseWithOriginal,
    now: ReleaseWithOriginal,
    hidden: Sequence[str],
    rows: Ints,
    drawn: Draw,
    asked: Attacker,
    rng: np.random.Generator,
) -> KnownRelease:
    """Return a release with what is known at its time of the people drawn."""
    names, opened = now.opened.quasi, one.opened
    schema = quasi_schema(one.original, opened.plan, names, opened.taxonomies)
    there = np.concatenate(
        (rows[drawn.chosen] >= 0, rows[drawn.others] >= 0, np.ones(drawn.outsiders.size, np.bool_))
    )
    # Who was not there has the first row's place, and nobody looks at it.
    own, others = (np.maximum(rows[of], 0) for of in (drawn.chosen, drawn.others))
    draw = Draw(own, others, drawn.outsiders)
    release = prepare_target(
        opened,
        [schema[name] for name in names],
        {name: draw.people(schema[name], one.original, asked.control, rng) for name in names},
        tuple(belief_of(name, opened.view(name)) for name in hidden),
    )
    codes = np.stack([side.values[: 2 * draw.size] for side in release.both], axis=1)
    missing = np.array([side.span - 1 for side in release.both])
    truth, lent = codes[: draw.size], codes[draw.size :]
    known = attacker_knowledge(truth, lent, missing, rng, noise=asked.noise, gaps=asked.gaps)
    places = {
        name: same_values(
            pl.Series(now.opened.view(name).values(name), dtype=pl.String),
            pl.Series(opened.view(name).values(name), dtype=pl.String),
        )
        for name in hidden
    }
    return KnownRelease(release, known, there, places)
