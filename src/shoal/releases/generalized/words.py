"""The words for generalized releases in reports and figures."""

from __future__ import annotations

from shoal.releases.base import ShapeWords

WORDS = ShapeWords(
    classes="classes",
    sizes="How many rows look alike",
    rows="rows that look alike",
    made="{quasi} quasi-identifiers generalized",
    examples="",
    risk="Somebody knows all quasi-identifiers of a person and looks for that person's row. The "
    "risk is one divided by the number of rows that fit.",
    gaps="A missing quasi-identifier is published as *, with all rows of its class. A value that "
    "was hidden is published as the top of its hierarchy; where that is called * too, or there is "
    "no hierarchy, nobody can tell which is which.",
    shares="A generalized cell counts in equal parts for everything that it covers.",
)
