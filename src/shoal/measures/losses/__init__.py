"""Information loss of a release."""

from dataclasses import replace

from shoal.catalog import LOSSES
from shoal.measures.losses.grouped import Grouped
from shoal.measures.losses.ncp import Loss, in_parts


def measured(grouped: Grouped) -> Loss:
    """Return the loss in its parts, and every loss of the catalog by name."""
    by_name = {name: float(entry.load()(grouped)) for name, entry in LOSSES.items()}
    return replace(in_parts(grouped), by_name=by_name)
