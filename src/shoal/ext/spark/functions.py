"""Spark's functions on columns, under the name that everybody gives them: loaded when called."""

from __future__ import annotations

from typing import Any


class _Functions:
    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import functions

        return getattr(functions, name)


F: Any = _Functions()
