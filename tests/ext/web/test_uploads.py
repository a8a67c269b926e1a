"""Files of Excel, Stata and SPSS on the page, and texts that are not read at once."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import polars as pl
import pytest

from shoal.ext.web import read_options
from shoal.tables.write_files import write_table
from tests.ext.web.conftest import TestClient
from tests.ext.web.test_flow import Steward, steward, where  # noqa: F401 -- a fixture

pytest.importorskip("fastexcel", reason="needs pip install 'shoal[files]'")
pytest.importorskip("pyreadstat", reason="needs pip install 'shoal[files]'")
import xlsxwriter

PEOPLE = pl.DataFrame(
    {
        "age": [20 + i % 9 for i in range(30)],
        "sex": [("f", "m")[i % 2] for i in range(30)],
        "disease": [("flu", "cold", "gout")[i % 3] for i in range(30)],
    }
)


def opened(steward: Steward, name: str, raw: bytes) -> tuple[str, dict]:  # noqa: F811
    """Upload a file and return its place, and what is shown when it was read or refused."""
    answer = steward.post("/open", files={"table": (name, raw)}, status=None)
    place = where(answer).removesuffix("/see")
    return place, steward.until(f"{place}/see", lambda seen: "profile" in seen)


def workbook(**sheets: pl.DataFrame) -> bytes:
    raw = io.BytesIO()
    with xlsxwriter.Workbook(raw, {"in_memory": True}) as book:
        for name, frame in sheets.items():
            frame.write_excel(book, worksheet=name)
    return raw.getvalue()


def test_of_several_sheets_one_is_asked_for(steward: Steward) -> None:  # noqa: F811
    raw = workbook(Notes=pl.DataFrame({"note": ["hello", "there"]}), People=PEOPLE)
    place, seen = opened(steward, "Study.XLSX", raw)
    assert seen["head"] == "Which sheet of Study.XLSX is the table?"
    assert seen["text"].endswith("Choose the one that is the table.")
    assert "--sheet" not in seen["text"]
    offered = next(each for each in seen["controls"] if each["name"] == "sheet")
    assert offered["value"] == "People", "the larger table is offered, not the codebook"
    control, hidden = seen["controls"]
    assert control["choices"] == ["", "People", "Notes"]
    assert hidden["name"] == "hidden"
    page = steward.client.get(f"{place}/see", headers={"accept": "text/html"}).text
    assert '<option value="People" selected>People</option>' in page
    steward.post(f"{place}/see", sheet="People", status=None)
    seen = steward.until(f"{place}/see", lambda seen: "profile" in seen)
    assert seen["profile"]["rows"] == 30
    # What repeats the run says which sheet, too.
    number = int(place.rpartition("/")[2])
    assert steward.client.app.state.bench.tables[number].plan().data.sheet == "People"
    steward.post(f"{place}/close")


def test_what_a_workbook_hides_is_decided_on_the_page(steward: Steward) -> None:  # noqa: F811
    raw = io.BytesIO()
    with xlsxwriter.Workbook(raw, {"in_memory": True}) as book:
        PEOPLE.write_excel(book, worksheet="People", hidden_columns=["sex"])
    place, seen = opened(steward, "Hidden.xlsx", raw.getvalue())
    assert "1 column ('sex') cannot be seen" in seen["text"]
    assert seen["text"].endswith("choose it under Hidden.")
    steward.post(f"{place}/see", hidden="skip", status=None)
    seen = steward.until(f"{place}/see", lambda seen: "profile" in seen)
    assert [column["name"] for column in seen["profile"]["columns"]] == ["age", "disease"]
    assert "--hidden skip" in steward.get(f"{place}/decide")["command"]
    steward.post(f"{place}/close")


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_files_of_statistics_programs(
    steward: Steward,  # noqa: F811
    tmp_path: Path,
    ending: str,
) -> None:
    write_table(PEOPLE, tmp_path / f"people{ending}")
    place, seen = opened(steward, f"people{ending}", (tmp_path / f"people{ending}").read_bytes())
    assert [column["name"] for column in seen["profile"]["columns"]] == PEOPLE.columns
    assert [each["name"] for each in seen["controls"]] == ["encoding", "labels"]
    assert not seen["texts"], "no delimiter is asked for"
    steward.post(f"{place}/close")


def test_a_text_in_an_old_encoding_is_read_when_it_is_chosen(steward: Steward) -> None:  # noqa: F811
    lines = ["town;day", *(f"Köln;{1 + i % 12:02d}/{1 + i % 12:02d}/2024" for i in range(20))]
    place, seen = opened(steward, "clinic.csv", "\n".join(lines).encode("mac_roman"))
    assert seen["text"].endswith("Choose how it is stored under Encoding.")
    steward.post(f"{place}/see", encoding="mac_roman", status=None)
    seen = steward.until(f"{place}/see", lambda seen: "profile" in seen)
    (note,) = seen["profile"]["notes"]
    assert "can be read in 2 ways" in note
    assert "--dates" not in note
    steward.post(f"{place}/see", encoding="mac_roman", dates="d/m/y", missing="", status=None)
    seen = steward.until(f"{place}/see", lambda seen: "profile" in seen)
    assert [column["type"] for column in seen["profile"]["columns"]] == ["text", "date"]
    number = int(place.rpartition("/")[2])
    told = steward.client.app.state.bench.tables[number].plan().data
    assert (told.encoding, told.dates) == ("mac_roman", "d/m/y")
    steward.post(f"{place}/close")


def test_without_the_extra_it_says_what_to_install(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = client.get("/", headers={"accept": "text/html"}).text
    assert ".xlsx" in page
    assert "shoal[files]" not in page
    real = importlib.util.find_spec
    monkeypatch.setattr(
        read_options, "find_spec", lambda name: None if name == "fastexcel" else real(name)
    )
    page = client.get("/", headers={"accept": "text/html"}).text
    assert ".xlsx" not in page
    assert "For Excel files install <code>shoal[files]</code> first" in page


@pytest.fixture
def client(steward: Steward) -> TestClient:  # noqa: F811
    return steward.client
