"""The shapes of a release, by name: what is published, and where each is made, checked and read."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shoal.catalog.extensions import require

DOMAIN = "domain"
"""The table of a release that lists the declared domains: ``column`` and ``value``."""


@dataclass(frozen=True)
class Shape:
    """One shape of release: a package of four modules, loaded when one of them is needed.

    Parameters
    ----------
    name, story
        What it is called, and one line on what is published.
    package
        Its package. ``make.publish`` publishes what a method made, ``check.check`` asks the
        published tables alone whether they keep their promise (and imports nothing of ``make``),
        ``view`` tells the shape by its marks and opens a release to be asked, ``words.WORDS`` says
        what reports call things.
    promise
        The rule that it is made for: an audit reports it whatever is asked.
    exact
        Quasi-identifiers are published as they were.
    drawn
        What its methods draw at random is itself the protection, so that a seed undoes it.
    tables
        Names of the published tables.
    domains
        Its values are drawn from the domain of their column; one that is declared is published as
        a table of its own, :data:`DOMAIN`.
    own
        Columns of the first table that are the shape's own, whatever is declared.
    spark
        ``module:function`` that stages it on Spark; empty when Spark cannot make it.
    no_spark
        Why Spark cannot make it.
    """

    name: str
    story: str
    package: str
    promise: str
    exact: bool = True
    drawn: bool = True
    tables: tuple[str, ...] = ("release",)
    domains: bool = False
    own: tuple[str, ...] = ()
    spark: str = ""
    no_spark: str = ""

    @property
    def make(self) -> Any:
        """The module that publishes it."""
        return import_module(f"{self.package}.make")

    @property
    def check(self) -> Any:
        """The module that checks it."""
        return import_module(f"{self.package}.check")

    @property
    def view(self) -> Any:
        """The module that opens it."""
        return import_module(f"{self.package}.view")

    @property
    def words(self) -> Any:
        """What reports and figures call things in it."""
        return import_module(f"{self.package}.words").WORDS

    def stage(self, job: Any) -> Any:
        """Stage it on Spark."""
        require("spark")
        module, _, name = self.spark.partition(":")
        return getattr(import_module(module), name)(job)


GENERALIZED = Shape(
    "generalized",
    "one table whose quasi-identifiers say less: intervals, sets, labels of a hierarchy, *",
    "shoal.releases.generalized",
    promise="k-anonymity",
    exact=False,
    drawn=False,
    spark="shoal.ext.spark.shards:stage_generalized",
)

# In the order in which their marks are looked for; whatever has none is read as generalized.
SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape(
            "anatomized",
            "quasi-identifiers as they were with the number of a class, and a second table with "
            "the sensitive values of every class",
            "shoal.releases.anatomy",
            promise="frequency-l-diversity",
            tables=("release", "st"),
            own=("group_id",),
            no_spark="it publishes a second table, and a release on Spark is one table",
        ),
        Shape(
            "dummies",
            "quasi-identifiers as they were, every sensitive value hidden in a set of values",
            "shoal.releases.dummies",
            promise="l-diversity",
            domains=True,
            spark="shoal.ext.spark.draw_dummies:stage_dummies",
        ),
        GENERALIZED,
    )
}
