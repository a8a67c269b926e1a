"""A release like an earlier one, checked with pandas and plain Python, cell by cell."""

from __future__ import annotations

import re

import pandas as pd

_INTERVAL = re.compile(r"^\[(-?[\d.]+)-(-?[\d.]+)\]$")


def covers(cell, value, tree=None):
    """Say whether a published cell covers a value; ``tree``: the leaves under each label."""
    if cell == "*":
        return True
    if value is None or value != value:
        return False
    if tree is not None:
        return str(value) in tree.get(cell, (cell,))
    if found := _INTERVAL.match(cell):
        return float(found[1]) <= float(value) <= float(found[2])
    if cell.startswith("{"):
        return str(value) in cell[1:-1].split(", ")
    return cell == str(value)


def classes(frame, quasi):
    """Return the classes of a release: by cells its rows."""
    return dict(list(frame.groupby(list(quasi), dropna=False)))


def faults(earlier, now, original, quasi, sensitive, keeps, trees=None):
    """Say everything that is wrong with a release like an earlier one.

    Rows carry a ``mark`` by which their source is found. ``keeps(values, whole)``: whether a class
    with these sensitive values keeps the promise in a table with those.
    """
    told = []
    source = original.set_index("mark")
    for row in now.to_dict("records"):
        told += [
            f"{name} {row[name]} does not cover its source"
            for name in quasi
            if not covers(row[name], source.loc[row["mark"], name], (trees or {}).get(name))
        ]
        if source.loc[row["mark"], sensitive] != row[sensitive]:
            told.append("a sensitive value changed")
    if sorted(now["mark"]) != sorted(original["mark"]):
        told.append("rows are lost or twice")
    columns = [*quasi, sensitive]
    both = pd.concat([earlier[columns], now[columns]])
    for name, table in (("release", now), ("union", both)):
        whole = table[sensitive].tolist()
        for cells, part in classes(table, quasi).items():
            if not keeps(part[sensitive].tolist(), whole):
                told.append(f"the {name} breaks the promise in {cells}")
    return told
