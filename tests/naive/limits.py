"""Limits, checked on released rows beside their originals, cell by cell, in plain Python."""

import math
import re


def ends_of(cell):
    """Return what a cell of numbers covers."""
    if met := re.fullmatch(r"\[(-?[\d.]+|-inf)-(-?[\d.]+|inf)\]", cell):
        return float(met[1]), float(met[2])
    if cell.endswith("+"):
        return float(cell[:-1]), math.inf
    if cell.startswith("<="):
        return -math.inf, float(cell[2:])
    return float(cell), float(cell)


def number_faults(cell, value, coarsest=None, finest=None, top=None, bottom=None):
    """Say what is wrong with a cell for a number; None is missing, and published as ``*``."""
    if cell == "*":
        return ["* for a known value"] if value is not None and coarsest is not None else []
    low, high = ends_of(cell)
    faults = [] if value is not None and low <= value <= high else ["does not cover"]
    coded = (high == math.inf and low == top) or (low == -math.inf and high == bottom)
    if coarsest is not None and high - low > coarsest and not coded:
        faults.append("too wide")
    if finest is not None and high - low < finest:
        faults.append("too narrow")
    if top is not None and (low > top or (high > top and high < math.inf)):
        faults.append("told beyond the top")
    if top is not None and low == high >= top:
        faults.append("exact beyond the top")
    if bottom is not None and (high < bottom or (low < bottom and low > -math.inf)):
        faults.append("told below the bottom")
    if bottom is not None and low == high <= bottom:
        faults.append("exact below the bottom")
    return faults


def label_faults(cell, value, paths, coarsest=None, finest=None):
    """Say what is wrong with a label for a value, given the path of every value to the top."""
    if value is None:
        return [] if cell == "*" else ["a gap is not told"]
    if cell == "*":  # somebody else of the class has a gap
        return ["* for a known value"] if coarsest is not None else []
    path = paths[value]
    if cell not in path:
        return ["does not cover"]
    levels = [level for level, label in enumerate(path) if label == cell]
    faults = []
    if coarsest is not None and min(levels) > coarsest:
        faults.append("too coarse")
    if finest is not None and max(levels) < finest:
        faults.append("too fine")
    return faults
