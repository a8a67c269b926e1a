"""People and their values counted in plain loops: what every rule asks of a class."""

import math
from collections import defaultdict


def classes_of(cells, persons, values):
    """Rows by what is published of them: a list of (person, value) each."""
    found = defaultdict(list)
    for cell, person, value in zip(cells, persons, values, strict=True):
        found[cell].append((person, value))
    return list(found.values())


def counted(rows):
    """Return the different people, those with a known value, and how many have each value."""
    people = {person for person, _ in rows}
    pairs = {(person, value) for person, value in rows if value is not None}
    counts = defaultdict(int)
    for _, value in pairs:
        counts[value] += 1
    return people, {person for person, _ in pairs}, counts


GAP = "\x00"  # a missing value that counts as a value


def with_gaps(rows, counts):
    """Add how many people have a missing value."""
    more = defaultdict(int, counts)
    if gaps := {person for person, value in rows if value is None}:
        more[GAP] = len(gaps)
    return more


def keeps(rule, rows, whole):
    """Say whether one class keeps a rule; ``whole``: all rows that were released."""
    people, holders, counts = counted(rows)
    if rule.name == "k-anonymity":
        return len(people) >= rule.k
    everyone, table_holders, table = counted(whole)
    if not table_holders:
        return False
    if getattr(rule, "missing", "ignore") == "value":
        counts, table = with_gaps(rows, counts), with_gaps(whole, table)
        holders, table_holders = people, everyone
        known = sum(counts.values()) - counts.get(GAP, 0), sum(table.values()) - table.get(GAP, 0)
    if not holders:
        return False
    total, table_total = sum(counts.values()), sum(table.values())
    if rule.name == "l-diversity":
        return len(counts) >= rule.l and len(holders) >= rule.l
    if rule.name == "entropy-l-diversity":
        entropy = -sum(n / total * math.log(n / total) for n in counts.values())
        return math.exp(entropy) >= rule.l - 1e-9 and len(holders) >= rule.l - 1e-9
    if rule.name == "recursive-l-diversity":
        ranked = sorted(counts.values(), reverse=True)
        return len(holders) >= rule.l and ranked[0] < rule.c * sum(ranked[rule.l - 1 :])
    if rule.name == "frequency-l-diversity":
        return max(counts.values()) * rule.l <= len(holders)
    if rule.name == "alpha-k-anonymity":
        guarded = [n for v, n in counts.items() if rule.values is None or v in rule.values]
        return len(people) >= rule.k and all(n / len(holders) <= rule.alpha + 1e-9 for n in guarded)
    if rule.name == "t-closeness":
        shares = [counts[v] / total - table[v] / table_total for v in sorted(table)]
        if rule.distance == "equal":
            return sum(map(abs, shares)) / 2 <= rule.t + 1e-9
        if rule.missing == "value":
            p, q = counts.get(GAP, 0) / total, table.get(GAP, 0) / table_total
            values = sorted(set(table) - {GAP})
            share = [counts[v] / max(known[0], 1) - table[v] / known[1] for v in values]
            run = [sum(share[: i + 1]) for i in range(len(share))]
            far = sum(map(abs, run)) / max(len(share) - 1, 1)
            return abs(p - q) + (1 - max(p, q)) * far <= rule.t + 1e-9
        run = [sum(shares[: i + 1]) for i in range(len(shares))]
        return sum(map(abs, run)) / max(len(shares) - 1, 1) <= rule.t + 1e-9
    assert rule.name == "beta-likeness"
    for value, n in counts.items():
        p, q = n / len(holders), table[value] / len(table_holders)
        bound = min(rule.beta, max(-math.log(q), 0.0)) if rule.enhanced else rule.beta
        if (p - q) / q > bound + 1e-9:
            return False
    return True
