"""What the catalog says about a method, a rule, a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shoal.base.params import Param
from shoal.catalog.shapes import SHAPES, Shape


def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Method:
    """One way to group the rows.

    Parameters
    ----------
    name, story, citation
        Name in plans and on the command line, one line on what it does, where it comes from.
    path
        ``module:function`` of the grouper, imported when it is used.
    params
        Its options.
    flat_sets
        Whether nominal columns without a hierarchy become flat taxonomies for it.
    release
        Shape of what it publishes.
    rules
        Names of the rules it can serve, None for any.
    needs
        Names of rules of which at least one must be asked for.
    anytime
        Whether its grouper takes ``stop``, a function that is asked whether to end the work with
        the best found so far.
    """

    name: str
    story: str
    citation: str
    path: str
    params: tuple[Param, ...] = ()
    flat_sets: bool = False
    release: str = "generalized"
    rules: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()
    anytime: bool = False

    @property
    def shape(self) -> Shape:
        """The shape of what it publishes."""
        return SHAPES[self.release]

    def load(self) -> Callable[..., Any]:
        """Import the grouper: ``group(data, rule, rng, **options) -> Partition``."""
        call: Callable[..., Any] = _load(self.path)
        return call


@dataclass(frozen=True)
class RuleEntry:
    """One privacy model.

    Parameters
    ----------
    path
        ``module:name`` of what makes the rule from its parameters; the rule class itself holds
        the parameters as ``params``.
    flags
        Command-line flag -> parameter. The first one calls for the rule, the others only refine.
        Rules may share flags: ``--l`` calls for the l-diversity that ``--l-kind`` names.
    family
        Flag and word that choose this rule among those with the same first flag, for instance
        ``("l-kind", "entropy")``; the first of a family is its default.
    sensitive
        Whether it speaks of a sensitive column (``column`` in the plan; all of them by default).
    """

    name: str
    story: str
    citation: str
    path: str
    flags: tuple[tuple[str, str], ...]
    family: tuple[str, str] | None = None
    sensitive: bool = False

    def load(self) -> Any:
        """Import what makes the rule."""
        return _load(self.path)

    @property
    def params(self) -> tuple[Param, ...]:
        """The rule's parameters, declared once, next to the rule."""
        declared: tuple[Param, ...] = self.load().params
        return declared


@dataclass(frozen=True)
class LossEntry:
    """One measure of what a release loses; smaller is better for all of them."""

    name: str
    story: str
    citation: str
    path: str

    def load(self) -> Callable[..., Any]:
        """Import the measure: ``loss(data, partition)``."""
        call: Callable[..., Any] = _load(self.path)
        return call
