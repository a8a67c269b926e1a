"""The errors and warnings of Shoal.

Every message names the cause, what was got, what is allowed, and the next step.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Sequence


class ShoalError(Exception):
    """Base of every error that Shoal raises on purpose."""


class ShoalWarning(UserWarning):
    """Something legal that the reader should know about: the run goes on."""


def warn(text: str) -> None:
    """Say what the reader should know although the run goes on."""
    warnings.warn(text, ShoalWarning, stacklevel=3)


def warn_each(texts: Iterable[str]) -> None:
    """Say several things that the reader should know."""
    for text in texts:
        warnings.warn(text, ShoalWarning, stacklevel=3)


class InputError(ShoalError):
    """A file or frame that cannot be read as a table."""


class SchemaError(ShoalError):
    """Roles, kinds or hierarchies that do not fit the table; may carry several faults."""

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults: list[str] = [faults] if isinstance(faults, str) else list(faults)
        super().__init__("\n".join(self.faults))


class PlanError(SchemaError):
    """A plan with faults: unknown keys, wrong types, values out of range."""


class ParameterError(ShoalError):
    """A parameter outside its declared limits."""


class Infeasible(ShoalError):
    """No release of this table can keep the promise that was asked for."""


class NotVerified(ShoalError):
    """The release does not keep its promise: nothing was written."""


class Cautioned(ShoalError):
    """Something to warn about in a run that was to be strict: nothing was released."""


class OutputError(ShoalError):
    """The release cannot be written where it was asked to go."""


class MissingExtra(ShoalError):
    """An optional library is needed that is not installed."""


def suggest_nearest(name: str, choices: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` when a choice is close to ``name``, else an empty string."""
    options = list(choices)
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    if not close:
        folded = {option.casefold(): option for option in options}
        close = [folded[name.casefold()]] if name.casefold() in folded else []
    return f" Did you mean {close[0]!r}?" if close else ""


def format_names(names: Iterable[object], shown: int = 12) -> str:
    """Write some names in one line, the first dozen when there are more."""
    texts = [repr(str(name)) for name in names]
    line = ", ".join(texts[:shown])
    return f"{line}, ... ({len(texts)} in all)" if len(texts) > shown else line or "none"
