"""What an attack is tried on: a release beside its original, and earlier ones beside theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.api.arguments import several
from shoal.base.errors import ParameterError
from shoal.plan.setting import listed_names
from shoal.releases import foreign
from shoal.tables.open_table import Names
from shoal.verbs.attack import attack
from shoal.verbs.intersect import Dated

if TYPE_CHECKING:
    from shoal.measures.risks.results import Attacks


def attacked(
    release: Any,
    known: Names | None,
    control: Any,
    *,
    against: Sequence[Any] = (),
    against_original: Sequence[Any] = (),
    **tried: Any,
) -> Attacks:
    """Attack a release, see :meth:`shoal.Release.attack`."""
    if release.original is None:
        raise ParameterError(
            "An attack needs the original, the truth about the people it is tried on. Put the "
            "release beside it: release.beside(table).attack(...), or give original=..."
        )
    opened = release.here if known is None else release.here.known_by(listed_names(known))
    others = None if control is None else release.rows_of(control)
    before = _dated(release, several(against), several(against_original))
    return attack(opened, release.original, control=others, before=before, **tried)


def _dated(release: Any, releases: Sequence[Any], tables: Sequence[Any]) -> list[Dated]:
    """Return earlier releases with their originals, or say which has none."""
    if len(tables) > len(releases):
        raise ParameterError(
            f"{len(tables)} originals of earlier releases were given for {len(releases)} releases. "
            "Name a release (--against, against=[...]) for each, in the same order."
        )
    dated = []
    for number, one in enumerate(releases):
        original = tables[number] if number < len(tables) else getattr(one, "original", None)
        if original is None:
            raise ParameterError(
                f"Earlier release {number + 1} has no original beside it, so nobody can say who "
                "was in it. Name the table that each was made from, in the same order, with "
                "--against-original (against_original=[...])."
            )
        rows = release.rows_of(original)
        opened = foreign.beside(release.alike(one), rows)
        dated.append(Dated(opened, rows, f"earlier release {number + 1}"))
    return dated
