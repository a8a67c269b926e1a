"""What Spark says in pages of Java, in our words; needs no Spark."""

from __future__ import annotations

from shoal.base import errors
from shoal.ext.spark.engine import _in_our_words


def test_an_error_of_ours_comes_back_from_an_executor_as_itself() -> None:
    raised = errors.InputError("Column 'ill' holds a value that was not there.")
    module = type(raised).__module__
    text = f"Job aborted\n  File x, line 1\n{module}.InputError: {raised}\n\tat org.apache"
    told = _in_our_words(text, RuntimeError(text))
    assert type(told) is errors.InputError
    assert str(told) == str(raised)


def test_a_module_that_executors_lack_is_named() -> None:
    text = "ModuleNotFoundError: No module named 'shoal'"
    told = _in_our_words(text, RuntimeError(text))
    assert isinstance(told, errors.MissingExtra)
    assert "has no module 'shoal'" in str(told)
