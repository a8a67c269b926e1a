"""Group people instead of rows, so that all rows of a person are published alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shoal.base.errors import Infeasible, SchemaError, format_names
from shoal.base.partition import Partition
from shoal.coding.encode import Encoded
from shoal.privacy import KAnonymity, Rule

Grouping = Callable[[Encoded, Rule, int], Partition]


def group_people(data: Encoded, rule: Rule, spare: int, grouping: Grouping) -> Partition:
    """Group people, each as one row, and give all rows of a person the class of that row.

    A person is grouped with the sensitive values of the first row; what the values of all rows
    break is then mended by joining whole classes, which never parts the rows of a person.

    ``spare``: the rows that may be left out. So many people may be that it is enough if each has as
    many rows as anybody.

    Raises
    ------
    SchemaError
        When a quasi-identifier differs between rows of one person.
    """
    assert data.people is not None
    first, whose = check_constant(data)
    spare //= int(np.bincount(whose).max(initial=1))
    people = replace(data.take(first), people=None)
    try:
        made = grouping(people, rule, spare)
    except Infeasible:
        # First rows may all have one value where all rows have several.
        made = grouping(people, KAnonymity(max(rule.least, 2)), spare)
    expanded = Partition.from_labels(made.labels()[whose])
    expanded = replace(expanded, cover=made.cover, notes=made.notes)
    if made.cover is None:
        from shoal.groupers.repair import repair_alike  # loads kernels

        return repair_alike(data, expanded, rule)
    if not rule.holds(data.stats(expanded)).all():
        raise Infeasible(
            f"With all rows of a person together this method finds no release in which "
            f"{rule.describe()}: it groups people by the first row of each, and cannot join "
            "classes afterwards. Use the method 'shoal'."
        )
    return expanded


def check_constant(data: Encoded) -> tuple[np.ndarray, np.ndarray]:
    """Refuse quasi-identifiers that differ between rows of one person.

    Return the first row of every person, and the number of the person of every row.
    """
    assert data.people is not None
    _, first, whose = np.unique(data.people.codes, return_index=True, return_inverse=True)
    whose = whose.reshape(-1)
    varies = data.codes != data.codes[first[whose]]
    if varies.any():
        names = [name for name, some in zip(data.names, varies.any(axis=0), strict=True) if some]
        people = np.unique(whose[varies.any(axis=1)]).size
        raise SchemaError(
            f"All rows of a person are to be published alike (person_rows = 'together', which a "
            f"pseudonym needs), and {format_names(names)} "
            f"{'differs' if len(names) == 1 else 'differ'} "
            f"between rows of one person, for {people:,} people: what is "
            "published of one row would not be true of another, and different classes are a trail. "
            "Give each person one value first (the age at the first visit), take the column out "
            "of the quasi-identifiers, or leave out person_rows and the pseudonym."
        )
    return first, whose
