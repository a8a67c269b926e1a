"""Compare methods and settings."""

from shoal.verbs.compare.comparison import ComparedSetting, Comparison
from shoal.verbs.compare.running import compare

__all__ = ["ComparedSetting", "Comparison", "compare"]
