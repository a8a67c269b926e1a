"""How well roles are guessed, on 497 labelled columns in seven languages."""

from __future__ import annotations

import pytest

from tests.guessing.measure import Score, guesses, score
from tests.guessing.values import HERE, SHARED, Labelled

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> list:
    return guesses()


def test_the_list_is_long_enough_and_speaks_seven_languages(found) -> None:
    own = [label for label, _, _ in found if label.language != "shared"]
    assert len(own) >= 300
    assert {label.language for label in own} == {"de", "en", "es", "fr", "it", "nl", "pt"}
    held_out = sum(label.held_out for label in own) / len(own)
    assert 0.25 < held_out < 0.4


def test_columns_that_could_identify_are_found(found) -> None:
    for part in (True, False):
        figures = score([each for each in found if each[0].held_out is part])
        assert figures.recall >= 0.95
        assert figures.precision >= 0.9
        assert figures.safe >= 0.98


def test_every_language_is_found(found) -> None:
    for language in ("de", "en", "es", "fr", "it", "nl", "pt"):
        assert score([each for each in found if each[0].language == language]).recall >= 0.9


def test_nothing_is_called_harmless(found) -> None:
    assert all(role != "keep" for _, role, _ in found)
    assert all(reason for _, _, reason in found)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not here")
def test_the_figures_of_the_docs(found) -> None:
    page = (HERE.parents[1] / "docs" / "guessing.md").read_text()
    parts = {
        "open": [each for each in found if not each[0].held_out],
        "held out": [each for each in found if each[0].held_out],
        "all": found,
    }
    for name, part in parts.items():
        columns, *shares = vars(score(part)).values()
        row = " | ".join([name, str(columns), *(f"{100 * share:.1f} %" for share in shares)])
        assert f"| {row} |" in page


def test_figures_are_counted_right() -> None:
    labels = [Labelled("t", "en", name, role) for name, role in zip("abcd", _ROLES, strict=True)]
    said = ("quasi", "undecided", "identifier", "sensitive")
    told = [(label, role, "") for label, role in zip(labels, said, strict=True)]
    assert score(told) == Score(4, 1 / 2, 1.0, 1 / 2, 1 / 4, 1 / 2)


_ROLES = ("quasi", "identifier", "sensitive", "sensitive")
