"""The words for Anatomy in reports and figures."""

from __future__ import annotations

from shoal.releases.base import ShapeWords

WORDS = ShapeWords(
    classes="classes",
    sizes="Sizes of the classes",
    rows="rows in a class",
    made="sensitive values in a table of their own",
    examples="The rows of one class. The quasi-identifiers are as they were; the sensitive "
    "values of the class stand in a second table.",
    risk="This kind of release does not hide whose row is whose: its quasi-identifiers are as they "
    "were. What it hides is the sensitive value, so the belief in that is what counts.",
    gaps="Quasi-identifiers are published as they were, their gaps included.",
    shares="Sensitive values are estimated from what is published.",
)
