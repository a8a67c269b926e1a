"""``shoal.testing``: assert in a test that a release keeps its rules."""

from __future__ import annotations

from typing import Any, Unpack

from shoal.api.arguments import AuditArguments, RuleArguments
from shoal.api.functions import audit
from shoal.api.signatures import names_of
from shoal.base.address import hide
from shoal.base.errors import ParameterError
from shoal.privacy.base import format_figures
from shoal.releases.verdict import Verdict, WorstGroup
from shoal.tables.find_hierarchies import is_path

_SHOWN = 3


def assert_release(released: Any, **given: Unpack[AuditArguments]) -> Verdict:
    """Fail unless a published table keeps its promise, and say which classes break it.

    The promise is audited from the published cells, whatever made the table, as :func:`shoal.audit`
    does.

    Parameters
    ----------
    released
        The published table: a file, the address of a database, a frame, or a release.
    given
        What :func:`shoal.audit` takes: ``quasi``, ``sensitive``, ``k``, ``l``, ``original`` and so
        on. A promise must be given, by its parameters, ``rules``, a ``plan`` or a ``manifest``.

    Returns
    -------
    Verdict
        What was found, to be asked for more.

    Raises
    ------
    AssertionError
        When the promise is broken.
    ShoalError
        When the question cannot be answered: no such file, no such column, no row, no promise.
    """
    __tracebackhide__ = True  # the line of the test is of interest, not this one
    asked: dict[str, Any] = dict(given)
    if all(asked.get(name) is None for name in (*names_of(RuleArguments), "plan", "manifest")):
        raise ParameterError(
            "assert_release was given no promise to check. Say what is to hold, such as k=5 and "
            "l=2, or give the plan of the run with plan=... ."
        )
    verdict = audit(released, **given)
    if not verdict.holds:
        name = hide(str(released)) if is_path(released) else "The table"
        raise AssertionError(_failure_text(name, verdict))
    return verdict


def _failure_text(name: str, verdict: Verdict) -> str:
    """Say what is wrong with a release, as pytest shows it."""
    lines = [f"{name}: {verdict.headline}", *(f"  - {fault}" for fault in verdict.faults)]
    counted = f"{verdict.rows:,} rows in {verdict.classes:,} classes"
    lines.append(f"  {counted}; the weakest class reaches {format_figures(verdict.achieved)}")
    lines += [f"  {_class(group)}" for group in verdict.worst[:_SHOWN]]
    return "\n".join(lines)


def _class(group: WorstGroup) -> str:
    cells = ", ".join(f"{name} = {cell!r}" for name, cell in group.cells.items())
    rows = "1 row" if group.size == 1 else f"{group.size:,} rows"
    return f"{rows} with {cells}: {', '.join(group.breaks)}"
