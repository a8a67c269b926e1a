"""Slow twins of the risks and attacks: plain loops over rows, cells read one by one."""

from __future__ import annotations

from shoal.notation import read


def fits(cell, value, column, *, gaps="own", raw=False, dtype=None, leaves=None):
    """Whether a published cell may stand for a value; None is missing on both sides."""
    if cell is None:
        return gaps == "open" or value is None
    if raw:
        return value is not None and cell == value
    if cell == "*":
        return True
    if value is None:
        return False
    if leaves is not None:
        return value in leaves[cell]
    found = read(cell, *([dtype] if dtype is not None else []))
    if found.form == "interval":
        return float(found.parts[0]) <= float(value) <= float(found.parts[1])
    if dtype is not None:
        return float(found.parts[0]) == float(value)
    return value in found.parts


def risks(rows):
    """1 / number of rows with the same cells, for every row."""
    return [1 / sum(other == row for other in rows) for row in rows]


def people(rows, population, fit):
    """For every row the number of people whom all of its cells fit."""
    return [
        sum(all(fit(j, cell, person[j]) for j, cell in enumerate(row)) for person in population)
        for row in rows
    ]
