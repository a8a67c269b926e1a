"""Every privacy model on one group, in plain Python, straight from its definition.

A group is the list of its sensitive values, None for missing; ``table`` is the list of the whole
table's. Numbers are fractions where the definition allows it, so nothing is lost to rounding.
"""

# ruff: noqa: E741 -- the papers' own letter

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, combinations, product
from operator import mul

EPSILON = 1e-9

# The rules of the catalog that stand here, each with a table that meets the bound of its sentence
# exactly: its parameters, the values of a group, and the share that the sentence states.
TWINS = {
    "k-anonymity": ({"k": 3}, ["a", "b", "c"], 3),
    "l-diversity": ({"l": 3}, ["a", "b", "c", "a"], 3),
    "entropy-l-diversity": ({"l": 3.0}, ["a", "b", "c"], 3),
    "recursive-l-diversity": ({"l": 2, "c": 2.01}, ["a", "a", "b"], 2),
    "frequency-l-diversity": ({"l": 2}, ["a", "a", "b", "c"], "1/2"),
    "alpha-k-anonymity": ({"alpha": 0.5, "k": 4}, ["a", "a", "b", "c", None], 0.5),
    "t-closeness": ({"t": 0.25}, ["a", "a", "a", "b"], 0.25),
    "m-invariance": ({"m": 2}, ["a", "a", "b", "c"], "1/2"),
    "beta-likeness": ({"beta": 0.5}, ["a", "a", "a", "b"], 1.5),
}


def known(values):
    return [value for value in values if value is not None]


GAP = "\x00"  # a missing value that counts as a value


def read(values, missing):
    """The values as a rule reads them: a missing one is one more value, or is left out."""
    return [GAP if value is None and missing == "value" else value for value in values]


def shares(values):
    total = len(known(values))
    return {value: Fraction(n, total) for value, n in Counter(known(values)).items()}


def k_anonymity(group, k):
    return len(group) >= k


def distinct(group, l):
    return len(set(known(group))) >= l


def perplexity(group):
    """exp(entropy)."""
    if not known(group):
        return 0.0
    return math.exp(-sum(float(p) * math.log(p) for p in shares(group).values()))


def entropy(group, l):
    return perplexity(group) >= l - EPSILON


def ratio(group, l):
    """r_1 / (r_l + ... + r_m), None when there is no l-th value."""
    counts = sorted(Counter(known(group)).values(), reverse=True)
    tail = sum(counts[l - 1 :])
    return Fraction(counts[0], tail) if tail else None


def recursive(group, c, l):
    found = ratio(group, l)
    # c as written, 0.1 and not the nearest binary number.
    return found is not None and found < Fraction(str(c))


def frequency(group, l):
    return bool(known(group)) and max(shares(group).values()) <= Fraction(1, l)


def largest_share(group, values=None):
    wanted = shares(group).items()
    return max((p for value, p in wanted if values is None or value in values), default=Fraction(0))


def alpha_k(group, alpha, k, values=None):
    enough = len(group) >= k and known(group)
    return bool(enough) and largest_share(group, values) <= Fraction(str(alpha))


def equal_distance(group, table):
    """The least mass that must move when every move is equally far: what lies above the table's."""
    p, q = shares(group), shares(table)
    return sum((max(p[value] - q[value], Fraction(0)) for value in p), Fraction(0))


def ordered_distance(group, table):
    """The earth mover's distance on the line of the table's values, by moving earth.

    Takes what is too much at the lowest place to the lowest places that lack it; on a line no plan
    is cheaper (:func:`every_plan` tries them all).
    """
    places = sorted(set(known(table)))
    if len(places) < 2:
        return Fraction(0)
    p, q = shares(group), shares(table)
    spare = [[i, p.get(v, 0) - q[v]] for i, v in enumerate(places) if p.get(v, 0) > q[v]]
    lack = [[i, q[v] - p.get(v, 0)] for i, v in enumerate(places) if p.get(v, 0) < q[v]]
    work = Fraction(0)
    while spare:
        moved = min(spare[0][1], lack[0][1])
        work += moved * abs(spare[0][0] - lack[0][0])
        for side in (spare, lack):
            side[0][1] -= moved
            if not side[0][1]:
                side.pop(0)
    return work / (len(places) - 1)


def every_plan(group, table):
    """The same by linear programming duality: the dearest prices with slope at most one.

    On a line the prices may as well rise or fall by exactly one from place to place, so all of
    them can be tried.
    """
    places = sorted(set(known(table)))
    if len(places) < 2:
        return Fraction(0)
    p, q = shares(group), shares(table)
    surplus = [p.get(v, Fraction(0)) - q[v] for v in places]
    best = Fraction(0)
    steps = range(len(places) - 1)
    for size in range(len(places)):
        for falls in combinations(steps, size):
            price, worth = 0, Fraction(0)
            for i, extra in enumerate(surplus):
                worth += price * extra
                price += -1 if i in falls else 1
            best = max(best, worth)
    return best / (len(places) - 1)


def ordered_beside_missing(group, table):
    """The ordered distance where the missing value is at distance 1 from every other.

    First the missing share becomes the table's: its surplus goes to the known values in the table's
    proportions, or what it lacks comes from the group's in theirs. Then the rest moves in order.
    """
    p, q = (Fraction(len(of) - len(known(of)), len(of)) for of in (group, table))
    rest = ordered_distance(group, table) if known(group) else Fraction(0)
    return abs(p - q) + (1 - max(p, q)) * rest


def least_work(group, table):
    """The earth mover's distance itself with the missing value at distance 1, by all prices.

    The missing value's price is 0, neighbours' differ by one step at most, and none is further from
    0 than all steps together.
    """
    places = sorted(set(known(table)))
    steps = max(len(places) - 1, 1)
    p, q = (Counter(read(of, "value")) for of in (group, table))
    surplus = [Fraction(p[v], len(group)) - Fraction(q[v], len(table)) for v in places]
    best = Fraction(0)
    for first in range(-steps, steps + 1):
        for moves in product((-1, 0, 1), repeat=len(places) - 1):
            prices = list(accumulate(moves, initial=first))
            if max(map(abs, prices)) <= steps:
                best = max(best, sum(map(mul, prices, surplus), Fraction(0)))
    return best / steps


def t_closeness(group, table, t, distance="equal", missing="value"):
    if not known(table) or not known(read(group, missing)):
        return False
    if distance == "ordered":
        far = ordered_beside_missing if missing == "value" else ordered_distance
        return far(group, table) <= Fraction(str(t))
    return equal_distance(read(group, missing), read(table, missing)) <= Fraction(str(t))


def gains(group, table):
    """(p - q) / q of the values in the group."""
    p, q = shares(group), shares(table)
    return {value: (p[value] - q[value]) / q[value] for value in p}


def beta_likeness(group, table, beta, enhanced=False, missing="value"):
    if not known(table) or not known(read(group, missing)):
        return False
    group, table = read(group, missing), read(table, missing)
    q = shares(table)
    for value, gain in gains(group, table).items():
        bound = Fraction(str(beta))
        if enhanced and gain > 0 and gain > -math.log(q[value]) + EPSILON:
            return False
        if gain > bound:
            return False
    return True


def delta(group, table):
    """The largest |ln(p / q)| of the values that the group has."""
    p, q = shares(group), shares(table)
    return max((abs(math.log(p[value] / q[value])) for value in p), default=0.0)


def passes(data, rule, rows):
    """Whether rows of an encoded table, as one group, keep a rule, or each of several."""
    if hasattr(rule, "rules"):
        return all(passes(data, each, rows) for each in rule.rules)
    if rule.name == "k-anonymity":
        return k_anonymity(rows, rule.k)
    codes, names = data.sensitive[rule.column], data.sensitive_names[rule.column]
    table = [names[code] if code >= 0 else None for code in codes]
    group = [table[row] for row in rows]
    if rule.name == "alpha-k-anonymity":
        return alpha_k(group, rule.alpha, rule.k, rule.values)
    if rule.name == "recursive-l-diversity":
        return recursive(group, rule.c, rule.l)
    if rule.name == "t-closeness":
        return t_closeness(group, table, rule.t, rule.distance, rule.missing)
    if rule.name == "beta-likeness":
        return beta_likeness(group, table, rule.beta, rule.enhanced, rule.missing)
    if rule.name == "m-invariance":
        return frequency(group, rule.m)
    readings = {
        "l-diversity": distinct,
        "entropy-l-diversity": entropy,
        "frequency-l-diversity": frequency,
    }
    return readings[rule.name](group, rule.l)
