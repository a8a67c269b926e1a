"""Make the hierarchy of a column from its values: one function for each way."""

from shoal.tables.coded_hierarchies import ages, countries, decades, icd10, nuts, rare, weeks
from shoal.tables.hierarchy_methods import flat, quantiles
from shoal.tables.makers import dates, frequencies, intervals, prefixes

__all__ = [
    "ages",
    "countries",
    "dates",
    "decades",
    "flat",
    "frequencies",
    "icd10",
    "intervals",
    "nuts",
    "prefixes",
    "quantiles",
    "rare",
    "weeks",
]


def __dir__() -> list[str]:
    """List the makers alone."""
    return __all__
