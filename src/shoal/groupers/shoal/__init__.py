"""`shoal`, our own method, and the default: starts and improvements, declared as stages."""

from shoal.groupers.shoal.search import group

__all__ = ["group"]
