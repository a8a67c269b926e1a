"""Compare methods and settings."""

from shoal.verbs.compare.choices import ComparedSetting
from shoal.verbs.compare.comparison import Comparison
from shoal.verbs.compare.running import compare

__all__ = ["ComparedSetting", "Comparison", "compare"]
