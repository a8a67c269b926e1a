"""Methods and settings side by side: what each promises, costs and risks."""

from shoal.verbs.compare.comparison import Comparison, Setting
from shoal.verbs.compare.running import compare

__all__ = ["Comparison", "Setting", "compare"]
