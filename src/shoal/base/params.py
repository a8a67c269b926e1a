"""Declared limits of parameters, and the one sentence that all parameter errors use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shoal.base.errors import ParameterError, suggest_nearest

Safer = Literal["more", "less"]


@dataclass(frozen=True)
class Param:
    """One parameter of a method or a rule: its limits, its default, what it means.

    ``choices`` for words; ``low``/``high`` (inclusive) for numbers, ``open_low`` excludes ``low``.
    ``safer``: of a rule's number, whether more of it or less promises more privacy. ``each``: of a
    rule's number that may differ from value to value (``{HIV = 0.1, Flu = 0.5}``), the parameter
    that names values.
    """

    name: str
    meaning: str
    type: type = float
    default: Any = None
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    choices: tuple[str, ...] = ()
    safer: Safer | None = None
    each: str = ""

    def allowed(self) -> str:
        """Say in words what may be given."""
        if self.choices:
            return "one of " + ", ".join(repr(choice) for choice in self.choices)
        noun = {
            int: "a whole number",
            float: "a number",
            bool: "true or false",
            str: "a text",
            tuple: "a list of texts",
        }
        text = noun.get(self.type, self.type.__name__)
        if self.low > -math.inf or self.high < math.inf:
            left = "(" if self.open_low or self.low == -math.inf else "["
            right = ")" if self.high == math.inf else "]"
            text += f" in {left}{_number(self.low)}, {_number(self.high)}{right}"
        return text + (", or a table with one for each value" if self.each else "")

    def check(self, value: Any, owner: str) -> Any:
        """Return ``value`` as the declared type, or raise the one parameter sentence."""
        if self.each and isinstance(value, Mapping) and value:
            return {str(name): self.check(own, owner) for name, own in value.items()}
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if self.type is tuple and isinstance(value, (list, tuple)):
            if not all(isinstance(each, str) for each in value):
                raise self._error(value, owner)
            value = tuple(value)
        if not isinstance(value, self.type) or (isinstance(value, bool) and self.type is not bool):
            raise self._error(value, owner)
        if self.choices and value not in self.choices:
            raise self._error(value, owner, suggest_nearest(str(value), self.choices))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            too_low = value <= self.low if self.open_low else value < self.low
            if not math.isfinite(value) or too_low or value > self.high:
                raise self._error(value, owner)
        return value

    def read(self, text: str) -> Any:
        """Return what a text says in the declared type, or else the text itself, to be refused."""
        try:
            if self.type is bool:
                return {"true": True, "false": False}[text.lower()]
            return self.type(text)
        except (ValueError, KeyError):
            return text

    def _error(self, value: Any, owner: str, hint: str = "") -> ParameterError:
        usual = "" if self.default is None else f" ({self.default!r} if left out)"
        return ParameterError(
            f"The {self.name!r} parameter of {owner} must be {self.allowed()}. "
            f"Got {value!r} instead.{hint} It means: {self.meaning}{usual}."
        )


def check_options(
    options: Mapping[str, Any], declared: tuple[Param, ...], owner: str
) -> dict[str, Any]:
    """Check every option against its declaration and fill in the defaults."""
    known = {param.name: param for param in declared}
    for name in options:
        if name not in known:
            listed = ", ".join(repr(param) for param in known) or "no options"
            raise ParameterError(
                f"{owner} has no parameter {name!r}; it takes "
                f"{listed}.{suggest_nearest(name, known)}"
            )
    return {
        name: param.check(options[name], owner) if name in options else param.default
        for name, param in known.items()
    }


def _number(value: float) -> str:
    return f"{value:g}" if math.isfinite(value) else ("inf" if value > 0 else "-inf")
