"""Results yield sentences and tables: terminal, notebook and report show the same ones."""

from __future__ import annotations

import re
from html import unescape

import polars as pl
import pytest

import shoal
from shoal.base.results import Caution, Result, ResultTable
from shoal.cli import console

TABLE = pl.DataFrame(
    {
        "age": [30 + row % 17 for row in range(80)],
        "town": [f"<b>{row % 5}</b>" for row in range(80)],
        "ill": ["flu", "flu", "cold", "<script>alert(1)</script>"] * 20,
    }
)
ROLES = {"quasi": ["age", "town"], "sensitive": "ill"}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    table = shoal.open(TABLE, **ROLES)
    release = table.anonymize(k=4, method="mondrian", seed=2**70)
    both = release.with_original(table)
    compared = table.compare(methods="mondrian", k=[2, 900], queries=0, classifier=False)
    return {
        "run": release.made,
        "verdict": both.audit(k=50),
        "risks": both.risk(),
        "attacks": both.attack(targets=20, seed=1),
        "estimates": release.estimate("ill", "town"),
        "inspection": table.inspect(),
        "comparison": compared,
    }


NAMES = ["run", "verdict", "risks", "attacks", "estimates", "inspection", "comparison"]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("name", NAMES)
def test_all_that_a_result_says_is_shown(
    name: str, results: dict[str, Result], capsys: pytest.CaptureFixture[str]
) -> None:
    result = results[name]
    pieces = list(result.pieces())
    tables, said = result.tables(), result.describe()
    assert said and (tables or name == "run")
    assert len(tables) == sum(isinstance(piece, ResultTable) for piece in pieces)
    texts = [*said, *(str(cell) for t in tables for row in (t.heads, *t.rows) for cell in row)]
    page = unescape(
        re.sub(r"</?(p|div|table|thead|tbody|tr|th|td|strong)\b[^>]*>", "\n", html(result))
    )
    assert [text for text in texts if text not in page] == []
    console.show(pieces)
    out, err = capsys.readouterr()
    shown = " ".join((out + err).split())
    assert [text for text in said if " ".join(text.split()) not in shown] == []


def html(result: Result) -> str:
    page = result._repr_html_()
    assert "<script" not in page and "<b>" not in page
    return page


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_notebook_shows_no_value_of_the_table() -> None:
    one = TABLE.with_columns(ill=pl.Series(["flu", *["secret-value"] * 79]))
    table = shoal.open(one, **ROLES)
    asked = {"rules": shoal.FrequencyLDiversity(3, "ill"), "methods": "mondrian", "k": 2}
    compared = table.compare(**asked, queries=0, classifier=False)
    (setting,) = compared.settings
    assert "secret-value" in setting.detail and not setting.verified
    assert "secret-value" in "".join(map(str, compared.pieces(detailed=True)))
    assert "secret-value" not in compared._repr_html_() + table.inspect()._repr_html_()


def test_a_warning_is_marked_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    class Found(Result):
        def pieces(self):
            yield "Nothing & nobody."
            yield Caution("Mind the <gap>.")
            yield ResultTable(("a", "b"), [(1, None)], "Title", meanings={"": "All.", "b": "why"})

    found = Found()
    assert found.describe() == ["Nothing & nobody.", "Mind the <gap>."]
    page = found._repr_html_()
    assert "<p>Nothing &amp; nobody.</p>" in page and "Title" in page
    assert "<strong>Warning:</strong> Mind the &lt;gap&gt;." in page
    assert "All.; b: why" in page
    console.show(found.pieces())
    out, err = capsys.readouterr()
    assert "Warning: Mind the <gap>." in err and "b: why" in out
