"""Turn the errors of parsers into Shoal's errors, and check the shape of parsed data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import InputError, ShoalError

_LONGEST = 200  # characters of a parser's own sentence
_Kinds = tuple[type[BaseException], ...]


def _of_zip() -> _Kinds:
    import lzma
    import struct
    import zipfile
    import zlib

    # RuntimeError: a password; NotImplementedError: a way to pack that is not known; the others
    # come from a directory that is wrong.
    damaged = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError)
    return (*damaged, RuntimeError, NotImplementedError, KeyError, *_of_numbers(), OSError)


def _of_xml() -> _Kinds:
    from xml.etree import ElementTree as Xml

    # ValueError: an encoding of several bytes; LookupError: one that nobody knows.
    return Xml.ParseError, ValueError, LookupError


def _of_json() -> _Kinds:
    return ValueError, RecursionError  # broken JSON and broken UTF-8 are ValueErrors


def _of_numbers() -> _Kinds:
    return ValueError, OverflowError


def _of_polars() -> _Kinds:
    import polars as pl

    # A panic of its Rust code on bytes that it did not expect is no Exception.
    errors = pl.exceptions
    return (errors.PolarsError, errors.PanicException, *_of_numbers(), OSError)


def _of_arrow() -> _Kinds:
    import pyarrow as pa

    return pa.ArrowException, OSError, *_of_numbers()


def _of_excel() -> _Kinds:
    from fastexcel import FastExcelError

    return FastExcelError, *_of_polars()


def _of_statistics() -> _Kinds:
    from pyreadstat import PyreadstatError, ReadstatError

    # TypeError: a column whose name is lost.
    return ReadstatError, PyreadstatError, TypeError, *_of_polars()


# What each parser raises on a damaged file; a library is asked only when it is used.
_RAISED = {
    "arrow": _of_arrow,
    "excel": _of_excel,
    "json": _of_json,
    "number": _of_numbers,
    "polars": _of_polars,
    "statistics": _of_statistics,
    "toml": _of_json,
    "xml": _of_xml,
    "zip": _of_zip,
}


@dataclass(frozen=True)
class Unreadable:
    """How a file that cannot be read is refused: whatever is wrong in it, our error says so.

    ``what``: what cannot be read, the beginning of the sentence. ``advice``: what to do next.
    """

    what: str
    advice: str
    error: type[ShoalError] = InputError

    def fault(self, why: str = "") -> ShoalError:
        """Return the error."""
        return self.error(f"{self.what}{f' ({why})' if why else ''}. {self.advice}")

    @contextmanager
    def parsing(self, *parsers: str) -> Iterator[None]:
        """Turn what parsers raise in the block into the error, with the cause chained.

        Only calls of parsers stand inside, so that a fault of our own is not taken for one of the
        file.
        """
        expected = tuple(kind for parser in parsers for kind in _RAISED[parser]())
        try:
            yield
        except ShoalError:
            raise
        except expected as fault:
            said = " ".join(str(fault).split())[:_LONGEST] or type(fault).__name__
            if isinstance(fault, RecursionError):
                said = "lists or tables in it are nested hundreds deep"
            raise self.fault(said.rstrip(".")) from fault

    def check_shape(self, value: Any, form: Any) -> None:
        """Refuse a tree of JSON that is not of a form.

        ``form``: a type, or several; ``[form]`` for a list; ``{"key": form}`` for keys that must be
        there, ``{"key?": form}`` that may be, ``{str: form}`` for all others: without it none may
        be there.
        """
        if why := _misfit(value, form, ""):
            raise self.fault(why)


def read_json(raw: bytes) -> Any:
    """Read JSON that says everything once; another reader would take the other of two."""
    return json.loads(raw.decode(), object_pairs_hook=_each_once, parse_constant=_no_number)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} stands there twice")
    return tree


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _misfit(value: Any, form: Any, where: str) -> str:
    here = where or "the whole"
    if isinstance(form, list):
        if not isinstance(value, list):
            return f"{here} is no list"
        found = (_misfit(own, form[0], f"{where}[{at}]") for at, own in enumerate(value))
    elif isinstance(form, Mapping):
        if not isinstance(value, dict):
            return f"{here} is no table of keys"
        named = {key.rstrip("?"): own for key, own in form.items() if isinstance(key, str)}
        needed = [key for key in form if isinstance(key, str) and not key.endswith("?")]
        if lost := [key for key in needed if key not in value]:
            return f"{here} lacks {lost[0]!r}"
        if str not in form and (more := [key for key in value if key not in named]):
            return f"{here} has {more[0]!r}, which does not belong there"
        found = (
            _misfit(own, named.get(key, form.get(str)), f"{where}.{key}")
            for key, own in value.items()
        )
    else:
        kinds = form if isinstance(form, tuple) else (form,)
        # True is a whole number in Python and in no file.
        right = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        return "" if right or object in kinds else f"{here} is {_word(value)}"
    return next((fault for fault in found if fault), "")


def _word(value: Any) -> str:
    words = {dict: "a table of keys", list: "a list", str: "a text", bool: "true or false"}
    return words.get(type(value), "empty" if value is None else "a number")
