"""Slow twins of the risks and attacks: plain loops over rows, cells read one by one."""

from __future__ import annotations

from tools.soaking.checker import covers


def fits(cell, value, *, gaps="own"):
    """Whether a published cell may stand for a value; None is missing on both sides."""
    if cell is None:
        return gaps == "open" or value is None
    return cell == "*" or (value is not None and covers(cell, value, None))


def risks(rows):
    """1 / number of rows with the same cells, for every row."""
    return [1 / sum(other == row for other in rows) for row in rows]


def people(rows, population, fit):
    """For every row the number of people whom all of its cells fit."""
    return [
        sum(all(fit(j, cell, person[j]) for j, cell in enumerate(row)) for person in population)
        for row in rows
    ]


def attack(rows, hidden, people, true, fit, width, m):
    """Attack people one by one; return per person the chances of all four attacks.

    ``rows``: released cells; ``hidden``: their sensitive values, None when missing; ``people``:
    what is known (and true) of each; ``true``: their sensitive values; ``fit(j, cell, value)``;
    ``width(j, cell)``: how many values a cell fits; ``m``: values that can be ruled out.
    """
    found = []
    for person, answer in zip(people, true, strict=True):
        agree = [
            sum(fit(j, c, v) for j, (c, v) in enumerate(zip(row, person, strict=True)))
            for row in rows
        ]
        inside = [i for i, many in enumerate(agree) if many == max(agree)]
        weight = {}
        for i in inside:
            weight[i] = 1.0
            for j, cell in enumerate(rows[i]):
                weight[i] /= width(j, cell)
        most = max(weight.values())
        near = [i for i in inside if weight[i] > most * (1 - 1e-9)]
        truly = sum(weight.values()) if max(agree) == len(person) else None
        linked = most / truly if truly else 0.0
        found.append((linked, *_values(hidden, weight, near, answer, m)))
    return found


def _values(hidden, weight, near, answer, m):
    def shares(rows):
        mass = {}
        for i in rows:
            if hidden[i] is not None:
                mass[hidden[i]] = mass.get(hidden[i], 0.0) + weight.get(i, 1.0)
        whole = sum(mass.values())
        return {value: each / whole for value, each in mass.items()}

    everything = range(len(hidden))
    prior = {}
    for i in everything:
        if hidden[i] is not None:
            prior[hidden[i]] = prior.get(hidden[i], 0.0) + 1.0
    prior = {value: each / sum(prior.values()) for value, each in prior.items()}
    near = shares(near) or prior
    belief = shares(weight) or prior
    top = max(belief.values())
    likeliest = [value for value, share in belief.items() if share > top - 1e-9]
    hit = 1 / len(likeliest) if answer in likeliest else 0.0
    false = sorted((share for value, share in belief.items() if value != answer), reverse=True)
    left = 1 - sum(false[:m])
    ruled = belief.get(answer, 0.0) / left if answer in belief else 0.0
    alike = list(near) == [answer]
    last = answer in near and len(near) <= m + 1
    return alike, hit, last, ruled
