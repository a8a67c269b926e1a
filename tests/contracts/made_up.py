"""A rule, a method and a loss that the catalog does not have: one module, one entry each.

``python -m tests.contracts.made_up COMMANDS`` is the command line with them in the catalog, for a
list of commands, each a list of words.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from shoal.base.params import Param
from shoal.base.partition import GroupStats, Partition
from shoal.catalog import LOSSES, METHODS, RULES, LossEntry, Method, RuleEntry
from shoal.coding.encode import Encoded
from shoal.measures.losses.grouped import Grouped
from shoal.privacy import Limit, Rule
from shoal.privacy.base import Bools, all_missing


@dataclass(frozen=True)
class Coverage:
    """A group has at least ``p`` percent of the known values of the table.

    Grows safely: a union has the values of both.
    """

    p: float
    column: str

    name: ClassVar[str] = "coverage"
    grows_safely: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = False
    diversity: ClassVar[None] = None
    least: ClassVar[int] = 1
    figures: ClassVar[Mapping[str, str]] = {"coverage_p": "p"}
    params: ClassVar[tuple[Param, ...]] = (
        Param("p", "least percentage", float, default=2.0, low=0, high=100, safer="more"),
    )

    @property
    def reading(self) -> str:
        return self.column

    def holds(self, stats: GroupStats) -> Bools:
        return np.asarray(self._percent(stats) >= self.p - 1e-9)

    def conditions(self) -> None:
        return

    def mix(self, share: Any) -> None:
        return

    def obstacle(self, whole: GroupStats) -> str | None:
        return all_missing(whole.histograms[self.column], self.name, self.column)

    def limits(self, whole: GroupStats) -> tuple[Limit, ...]:
        return (Limit("p", 100, "the whole table as one group"),)

    def achieved(self, stats: GroupStats) -> dict[str, Any]:
        percent = self._percent(stats)
        return {"coverage_p": float(percent.min()) if percent.size else 0.0}

    def describe(self) -> str:
        return f"every class has at least {self.p:g} % of the known values of {self.column!r}"

    def _percent(self, stats: GroupStats) -> Any:
        hist = stats.histograms[self.column]
        return 100 * hist.known / max(int(hist.whole.sum()), 1)


def lump(data: Encoded, rule: Rule, rng: np.random.Generator, *, sign: str = "plain") -> Partition:
    """Put all rows into one group."""
    return Partition.from_labels(np.zeros(data.rows, np.int64))


def largest_crowd(grouped: Grouped) -> float:
    """Return the share of the rows that the largest class has; rows left out count with it."""
    rows, left = grouped.data.rows, grouped.partition.left_out.size
    return (int(grouped.class_sizes.max(initial=0)) + left) / rows if rows else 0.0


RULE = RuleEntry(
    "coverage",
    "every class has at least p percent of the known values",
    "Every crowd holds a good part of what is known.",
    "Nobody 2026",
    f"{__name__}:Coverage",
    flags=(("coverage", "p"),),
    sensitive=True,
)
METHOD = Method(
    "lump",
    "puts all rows into one group",
    "Nobody 2026",
    f"{__name__}:lump",
    (Param("sign", "no matter", str, default="plain", choices=("plain", "bold")),),
    whole="it looks at all rows at once",
)
LOSS = LossEntry(
    "crowding",
    "largest crowd",
    "share of the rows that the largest class has",
    "Nobody 2026",
    f"{__name__}:largest_crowd",
    high=1.0,
    form=".3f",
)
ENTRIES = ((RULES, RULE), (METHODS, METHOD), (LOSSES, LOSS))


def main() -> None:
    """Run command lines with the three entries in the catalog; print what each says, as JSON."""
    from tests.contracts import made_up  # entries name this module as the tests import it
    from tests.inprocess import shoal

    for table, entry in made_up.ENTRIES:
        table[entry.name] = entry  # type: ignore[index]
    for words in json.loads(sys.argv[1]):
        done = shoal(Path.cwd(), *words, columns=200)
        sys.stdout.write(json.dumps([done.returncode, done.stdout, done.stderr]) + "\n")


if __name__ == "__main__":
    main()
