"""The namespace ``frame.shoal``: the public functions with the frame as first argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from shoal.api import functions


class Namespace:
    """The public functions with a frame as their first argument: ``frame.shoal.anonymize(k=5)``."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as a method that hands on the frame."""

    @functools.wraps(function)
    def method(self: Namespace, *args: Any, **given: Any) -> Any:
        return function(self._frame, *args, **given)

    signature = inspect.signature(function)
    own, *others = signature.parameters.values()
    own = inspect.Parameter("self", own.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(parameters=[own, *others])  # type: ignore[attr-defined]
    return method


for _name in ["open", "anonymize", "attack", "audit", "compare", "estimate", "inspect", "risk"]:
    setattr(Namespace, _name, _method(getattr(functions, _name)))
