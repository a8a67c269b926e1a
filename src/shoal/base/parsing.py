"""Files from others: what a parser raises becomes our error, and the shape of a tree is checked."""

from __future__ import annotations

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


def _of_excel() -> _Kinds:
    from fastexcel import FastExcelError

    return FastExcelError, *_of_polars()


def _of_statistics() -> _Kinds:
    from pyreadstat import PyreadstatError, ReadstatError

    return ReadstatError, PyreadstatError, *_of_polars()


# What each parser raises on a damaged file; a library is asked only when it is used.
_RAISED = {
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

        ``form``: a type, or several; ``[form]`` for a list; ``{str: form}`` for names that may be
        anything; ``{"key": form}`` for keys that must be there, ``{"key?": form}`` that may be.
        """
        if why := _misfit(value, form, ""):
            raise self.fault(why)


def _misfit(value: Any, form: Any, where: str) -> str:
    here = where or "the whole"
    if isinstance(form, list):
        if not isinstance(value, list):
            return f"{here} is no list"
        found = (_misfit(own, form[0], f"{where}[{at}]") for at, own in enumerate(value))
    elif isinstance(form, Mapping):
        if not isinstance(value, dict):
            return f"{here} is no table of keys"
        if str in form:
            found = (_misfit(own, form[str], f"{where}.{key}") for key, own in value.items())
        else:
            keys = {key.rstrip("?"): own for key, own in form.items()}
            lost = [key for key in form if not key.endswith("?") and key not in value]
            if lost:
                return f"{here} lacks {lost[0]!r}"
            found = (
                _misfit(value[key], own, f"{where}.{key}")
                for key, own in keys.items()
                if key in value
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
