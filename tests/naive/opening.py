"""Opening whole nodes in plain Python: one class after the other, everything counted anew."""


class Nodes:
    """Open nodes by number: what they cost a row and the entries under them."""

    def __init__(self, rows, k, top, room):
        self.rows, self.k, self.room = rows, k, room
        self.cost, self.under = {0: top}, {0: set(range(len(rows)))}
        self.of = [0] * len(rows)

    def size(self, g):
        return sum(r for r, own in zip(self.rows, self.of, strict=True) if own == g)

    def loss(self):
        return sum(r * self.cost[g] for r, g in zip(self.rows, self.of, strict=True))

    def cheapest(self, t, but):
        """Return the cheapest node over an entry that is not among some, None for none."""
        able = [(self.cost[g], g) for g in self.cost if t in self.under[g] and g not in but]
        return min(able)[1] if able else None

    def closing(self, g, members):
        """Return what the other rows of a node lose if it closes."""
        lost = 0.0
        for t, own in enumerate(self.of):
            if own == g and t not in members:
                h = self.cheapest(t, {g})
                lost += self.rows[t] * ((1e12 if h is None else self.cost[h]) - self.cost[g])
        return lost

    def fates(self, members, cost):
        """Return which nodes give rows, how many, and whether they close; None if not worth it."""
        have = {}
        for t in members:
            have[self.of[t]] = have.get(self.of[t], 0) + self.rows[t]
        spare = {g: min(have[g], self.size(g) - self.k) for g in have}
        fate, quota, change = dict.fromkeys(have, 0), dict.fromkeys(have, 0), 0.0
        closing = {g: self.closing(g, set(members)) for g in have}
        for g in tuple(have):
            gain = self.cost[g] - cost
            if gain > 0 and have[g] > spare[g] and closing[g] - have[g] * gain < -spare[g] * gain:
                fate[g], quota[g] = "close", have[g]
                change += closing[g] - have[g] * gain
            elif gain > 0 and spare[g] > 0:
                fate[g], quota[g] = "take", spare[g]
                change -= spare[g] * gain
        taken = sum(quota.values())
        while taken < self.k and change < -1e-9:
            ways = []
            for g in tuple(have):
                loss = cost - self.cost[g]
                if fate[g] == 0 and spare[g] > 0:
                    ways.append((loss, g, "take", min(spare[g], self.k - taken)))
                if fate[g] != "close" and have[g] > quota[g]:
                    more = have[g] - quota[g]
                    ways.append((loss + closing[g] / more, g, "close", more))
            if not ways:
                return None
            each, g, fate[g], brings = min(ways, key=lambda way: way[0])
            change, taken = change + each * brings, taken + brings
            quota[g] = have[g] if fate[g] == "close" else self.size(g) - self.k
        return (fate, quota) if change < -1e-9 else None

    def attempt(self, members, cost):
        """Open a node over some entries if the loss falls."""
        if (found := self.fates(members, cost)) is None:
            return
        fate, quota = found
        shut = {g for g in fate if fate[g] == "close"}
        new = min(g for g in range(self.room) if g not in self.cost)
        goes, taken = {}, 0
        for gains in (True, False):
            for t in members:
                g = self.of[t]
                if (self.cost[g] > cost) != gains or fate[g] == 0:
                    continue
                if fate[g] == "take":
                    if self.rows[t] > quota[g] or (not gains and taken >= self.k):
                        continue
                    quota[g] -= self.rows[t]
                goes[t] = new
                taken += self.rows[t]
        for t, g in enumerate(self.of):
            if g in shut and t not in goes:
                goes[t] = self.cheapest(t, shut)
        costs = {**self.cost, new: cost}
        if taken < self.k or None in goes.values():
            return
        rise = (self.rows[t] * (costs[h] - self.cost[self.of[t]]) for t, h in goes.items())
        if sum(rise) >= -1e-9:
            return
        self.cost = {g: c for g, c in costs.items() if g not in shut}
        self.under[new] = set(members)
        self.of = [goes.get(t, g) for t, g in enumerate(self.of)]
        for t, g in enumerate(self.of):
            h = self.cheapest(t, {g})
            cheaper = h is not None and self.cost[h] < self.cost[g] - 1e-12
            if cheaper and self.size(g) - self.rows[t] >= self.k:
                self.of[t] = h
