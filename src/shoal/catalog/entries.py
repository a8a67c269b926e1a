"""The classes of catalog entries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from shoal.base.params import Param
from shoal.catalog.shapes import SHAPES, Shape


def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class AsInPaper:
    """How a method is run exactly as its paper has it, where our default differs.

    Parameters
    ----------
    why
        Why our default is another, or that it is the same.
    options
        Its options as in the paper.
    exact_ends
        Whether intervals end at data, on no grid.
    top
        What the top of every hierarchy is published as; empty: as the hierarchy calls it.
    estimate
        How counts are estimated from the release, by the parameters of the estimate.
    """

    why: str
    options: Mapping[str, Any] = field(default_factory=dict)
    exact_ends: bool = False
    top: str = ""
    estimate: Mapping[str, Any] = field(default_factory=dict)

    def describe(self) -> str:
        """Say what it sets."""
        parts = [f"{name} = {value}" for name, value in self.options.items()]
        parts += ["intervals end at values of the table (no grid)"] if self.exact_ends else []
        parts += [f"the top of a hierarchy is published as {self.top}"] if self.top else []
        parts += [f"estimates with {name} = {value:g}" for name, value in self.estimate.items()]
        return "; ".join(parts) or "the same as by default"


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
    spares
        Whether its grouper takes ``spare``, the number of rows that it may leave out.
    whole
        Why its answer for a part of the table is no part of its answer for the whole, so that the
        table cannot be cut into shards; empty: shards can be grouped one by one.
    rows_only
        Why it cannot count people where a person has several rows; empty: it can.
    baseline
        Whether it is compared with others when nobody says which.
    ahead
        Module of a worker's task that compiles its kernels while the table is read.
    tight
        Whether a class is published with the join of its members and nothing wider, so that the
        ends of an interval occur.
    weighs
        Whether it goes by the importance of the columns.
    stars
        Whether it publishes ``*`` for rows that it suppresses, which no coarsest level allows.
    paper
        How it is run as in its paper; None: no paper has it.
    ours
        Of a method that no paper has: which ones are the papers' instead.
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
    spares: bool = False
    whole: str = ""
    rows_only: str = ""
    baseline: bool = False
    ahead: str = ""
    tight: bool = True
    weighs: bool = False
    stars: bool = False
    paper: AsInPaper | None = None
    ours: str = ""

    @property
    def shape(self) -> Shape:
        """The shape of what it publishes."""
        return SHAPES[self.release]

    def load(self) -> Callable[..., Any]:
        """Import the grouper: ``group(data, rule, rng, **options) -> Partition``."""
        call: Callable[..., Any] = _load(self.path)
        return call


@dataclass(frozen=True)
class Reading:
    """A figure by which a rule measures a sensitive column, whatever is promised of it.

    Parameters
    ----------
    name
        What the figure is called; words are joined by ``_``.
    model
        The privacy model under which its weakest value over all columns stands; empty: none.
    options
        How the rule is made for it; other parameters have their defaults.
    ordered
        The same for a column whose values have an order, where that differs.
    shown
        Whether tables of all figures have it.
    """

    name: str
    model: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    ordered: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = True


@dataclass(frozen=True)
class RuleEntry:
    """One privacy model.

    What the rule itself can say (which way its parameters are safer, its conditions for kernels,
    how far a table lets it go, its sentence, whether shards can answer for it) stands in its class.

    Parameters
    ----------
    plain
        What it is good for, for the reader who is not an expert.
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
    crowd
        The parameter that says how many rows must look alike, if one does.
    figures
        How columns are measured by it; None: by the figure of its first parameter.
    bounds
        How it bounds the share that a single sensitive value has in a class, if it does.
    lasting
        Whether it speaks of all releases, and needs the history of them; the page keeps none.
    """

    name: str
    story: str
    plain: str
    citation: str
    path: str
    flags: tuple[tuple[str, str], ...]
    family: tuple[str, str] | None = None
    sensitive: bool = False
    crowd: str | None = None
    figures: tuple[Reading, ...] | None = None
    bounds: str = ""
    lasting: bool = False

    def load(self) -> Any:
        """Import what makes the rule."""
        return _load(self.path)

    @property
    def params(self) -> tuple[Param, ...]:
        """The rule's parameters, declared once, next to the rule."""
        declared: tuple[Param, ...] = self.load().params
        return declared

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The figures by which it measures columns."""
        if self.figures is not None:
            return self.figures
        figures: Mapping[str, str] = self.load().figures
        main = self.flags[0][1]
        model = self.name.replace("-", "_")
        return tuple(Reading(name, model) for name, param in figures.items() if param == main)

    def make(self, column: str | None, options: Mapping[str, Any]) -> Any:
        """Make the rule; parameters that ``options`` lacks have their defaults."""
        defaults = {param.name: param.default for param in self.params}
        own = {"column": column} if self.sensitive else {}
        return self.load()(**own, **(defaults | dict(options)))


@dataclass(frozen=True)
class Estimator:
    """One way to estimate how many rows have a value that is hidden in sets."""

    name: str
    path: str
    params: tuple[Param, ...] = ()

    def load(self) -> Callable[..., Any]:
        """Import the estimate."""
        call: Callable[..., Any] = _load(self.path)
        return call


@dataclass(frozen=True)
class LossEntry:
    """One measure of what a release loses; the less the better, and 0 is the least there can be.

    Parameters
    ----------
    name, title, story, citation
        Name of its figure, what tables and axes call it, one line on it, where it comes from.
    path
        ``module:function`` of the measure: ``loss(grouped) -> float``, see
        :class:`shoal.measures.losses.Grouped`. A row that is left out must not look cheap.
    high
        The most it can be.
    form
        How a number of it is written.
    shown
        Whether tables for people have it; files have every loss.
    """

    name: str
    title: str
    story: str
    citation: str
    path: str
    high: float = math.inf
    form: str = ".4g"
    shown: bool = True

    def load(self) -> Callable[..., float]:
        """Import the measure."""
        call: Callable[..., float] = _load(self.path)
        return call

    def written(self, value: float) -> str:
        """Return a number of it as people write it: 2.33 %."""
        return f"{value:{self.form}}".replace("%", " %")
