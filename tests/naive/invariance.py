"""m-invariance in plain Python: who is in which class with which values, release after release."""

from __future__ import annotations

from collections import Counter


def violations(releases, signatures, m):
    """Say what is wrong with a series.

    ``releases``: a list of (classes, people), classes as {cells: [values]}, people as
    {person: (cells, value)}. ``signatures``: what each (person, value) hides among.
    """
    wrong = []
    for number, (classes, people) in enumerate(releases):
        inside = {cells: [] for cells in classes}
        for person, (cells, value) in people.items():
            own = signatures[person, value]
            if value not in own or len([v for v in own if v is not None]) < m:
                wrong.append((number, "signature", person))
            inside[cells].append((frozenset(own), value))
        for cells, values in classes.items():
            asked = Counter()
            for own in {sig for sig, _ in inside[cells]}:
                depth = max(Counter(v for sig, v in inside[cells] if sig == own).values())
                asked.update(dict.fromkeys(own, depth))
            if asked != Counter(values):
                wrong.append((number, "class", cells))
    return wrong


def left(releases, m):
    """Return the people for whom fewer than m values are common to all their classes.

    A person whose value changes is another record.
    """
    common: dict = {}
    for classes, people in releases:
        for person, (cells, value) in people.items():
            held = {v for v in classes[cells] if v is not None}
            common[person, value] = common.get((person, value), held) & held
    return [record for record, held in common.items() if len(held) < m]
