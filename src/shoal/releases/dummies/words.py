"""The words for dummy values in reports and figures."""

from __future__ import annotations

from shoal.releases.base import ShapeWords

WORDS = ShapeWords(
    classes="classes",
    sizes="Rows with the same quasi-identifiers",
    rows="rows that look alike",
    made="sensitive values hidden in sets",
    examples="Some published rows. The quasi-identifiers are as they were; in place of each "
    "sensitive value stands a set of values of which one is true.",
    risk="This kind of release does not hide whose row is whose: its quasi-identifiers are as they "
    "were. What it hides is the sensitive value, so the belief in that is what counts.",
    gaps="Quasi-identifiers are published as they were, their gaps included.",
    shares="Sensitive values are estimated from what is published.",
    estimated="Estimated from the published sets.",
    again="Publish a table with dummy values once, or keep the same sets (--history): somebody "
    "with two releases of it with fresh dummies keeps only the values that are in both sets, and "
    "with few more only the true one is left (docs/methods/dummies.md has the figures).",
    domain="A domain is declared: of its values those that no row has come out near 0 when counts "
    "are estimated, so that a reader who estimates can rule them out. Judge the protection by "
    "the belief that 'shoal audit' shows, not by l alone (docs/methods/dummies.md).",
)
