"""Import optional libraries, or say how to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shoal.base.errors import MissingExtra


def needed(library: str, what: str, extra: str) -> Any:
    """Import a library of an extra, or say how to install it."""
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtra(
            f"To read or write {what}, Shoal needs {library.partition('.')[0]}, which is not "
            f"installed. Install it with: pip install 'shoal[{extra}]'"
        ) from None
