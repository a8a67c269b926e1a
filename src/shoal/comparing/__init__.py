"""Methods and settings side by side: what each promises, costs and risks."""

from shoal.comparing.comparison import Comparison, Setting
from shoal.comparing.queries import METHODS, compare_queries
from shoal.comparing.running import compare

__all__ = ["METHODS", "Comparison", "Setting", "compare", "compare_queries"]
