"""What a frame offers as ``frame.shoal``: the public functions with that frame."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from shoal.api import functions
from shoal.api.opening import open as open_table


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


for _function in (
    open_table,
    functions.anonymize,
    functions.attack,
    functions.audit,
    functions.compare,
    functions.estimate,
    functions.inspect,
    functions.risk,
):
    setattr(Namespace, _function.__name__, _method(_function))
