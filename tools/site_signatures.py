"""What the site's page on Python shows of a function: its signature and docstring as they run.

Read from the source alone, ``**given`` would hide what a function takes, and placeholders of its
docstring would stay empty.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from griffe import Extension, Parameter, ParameterKind, Parameters


class Signatures(Extension):
    """Take the signature and the docstring of functions that ``signed`` completes."""

    def on_function(self, *, func: Any, **_: Any) -> None:
        """Look a function up where it runs."""
        if not any(str(each.value).startswith("signed(") for each in func.decorators):
            return
        found: Any = import_module(func.module.path)
        for name in func.path.removeprefix(f"{func.module.path}.").split("."):
            found = getattr(found, name)
        func.parameters = Parameters(*map(_shown, found.__signature__.parameters.values()))
        func.overloads = None
        func.docstring.value = found.__doc__


def _shown(own: inspect.Parameter) -> Parameter:
    empty = inspect.Parameter.empty
    return Parameter(
        own.name,
        kind=ParameterKind(own.kind.description),
        annotation=None if own.annotation is empty else str(own.annotation),
        default=None if own.default is empty else repr(own.default),
    )
