"""Shoal for scikit-learn: ``Anonymizer``, a transformer that works in memory."""

from shoal.catalog.extensions import require

require("learning")
from shoal.ext.learning.anonymizer import Anonymizer  # noqa: E402 -- after it was asked for

__all__ = ["Anonymizer"]
