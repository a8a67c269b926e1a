"""What classes tell of every sensitive value, class by class and person by person."""

from __future__ import annotations

from tests.naive.people import classes_of, counted


def shares(cells, persons, values):
    """Return by value its share in the table, its highest share in a class, and the doubled."""
    classes = [counted(rows) for rows in classes_of(cells, persons, values)]
    _, holders, table = counted(list(zip(persons, values, strict=True)))
    told = {}
    for value, many in table.items():
        whole = many / len(holders)
        here = [(len(own), n[value] / len(known)) for own, known, n in classes if n[value]]
        doubled = sum(size for size, share in here if share >= 2 * whole - 1e-9)
        told[value] = (whole, max(share for _, share in here), doubled)
    return told
