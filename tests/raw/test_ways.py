"""Raw files of six kinds, on every way from the file to a release; judged without Shoal."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import shoal as library
from shoal.cli import start
from shoal.ext.web.app import build
from shoal.ext.web.security import AllowedHosts
from shoal.plan.plan import Plan
from tests import inprocess
from tests.ext.web.conftest import TestClient
from tests.ext.web.test_flow import BASE, KEYS, Steward
from tests.raw.files import KINDS, Raw, judge
from tests.stages import without

for package in ("fastexcel", "xlsxwriter", "pyreadstat", "pandas"):
    pytest.importorskip(package, reason="needs pip install 'shoal[files]'")
pytestmark = pytest.mark.slow


@pytest.fixture(params=KINDS)
def raw(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Raw:
    without(monkeypatch, "restarts")
    return KINDS[request.param](tmp_path)


def sheet(raw: Raw) -> list[str]:
    return ["--sheet", raw.sheet] if raw.sheet else []


def check(raw: Raw, release: Path, sensitive: list[str]) -> None:
    published = pl.read_csv(release, infer_schema=False)
    assert judge(raw, published, sensitive) == []
    assert published.height == raw.frame.height
    manifest = Path(f"{release}.manifest.json")
    sent = release.read_text() + (manifest.read_text() if manifest.exists() else "")
    assert [text for text in raw.never if text in sent] == []


def sensitive_in(plan: Path) -> list[str]:
    columns = Plan.read(plan).columns
    return [name for name, part in columns.items() if part.role.value == "sensitive"]


def test_start_without_questions(raw: Raw) -> None:
    folder, stem = raw.path.parent, raw.path.stem
    done = inprocess.shoal(folder, "start", raw.path.name, "--yes", *sheet(raw))
    assert done.returncode == 0, done.stderr
    check(raw, folder / f"{stem}.release.csv", sensitive_in(folder / f"{stem}.plan.toml"))


def test_start_with_every_suggestion_taken(raw: Raw, monkeypatch) -> None:
    asked = []

    def prompt(text: str, default: str, **_: Any) -> str:
        asked.append(text)
        return default

    monkeypatch.setattr(start.typer, "prompt", prompt)
    monkeypatch.setattr(start, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    folder, stem = raw.path.parent, raw.path.stem
    done = inprocess.shoal(folder, "start", raw.path.name, "--no-browser", *sheet(raw))
    assert done.returncode == 0, done.stderr
    assert "not decided" not in done.stdout, "a person was asked about every column"
    assert 4 <= len(asked) <= 9, "so many questions nobody answers with care"
    check(raw, folder / f"{stem}.release.csv", sensitive_in(folder / f"{stem}.plan.toml"))


def test_init_and_anonymize_make_what_python_makes(raw: Raw) -> None:
    folder = raw.path.parent
    done = inprocess.shoal(folder, "init", raw.path.name, "-o", "plan.toml", *sheet(raw))
    assert done.returncode == 0, done.stderr
    words = (raw.path.name, "--plan", "plan.toml", "--seed", "1", "-o", "1.csv")
    done = inprocess.shoal(folder, "anonymize", *words)
    assert done.returncode == 0, done.stderr
    check(raw, folder / "1.csv", sensitive_in(folder / "plan.toml"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", library.ShoalWarning)
        named = {"sheet": raw.sheet} if raw.sheet else {}
        release = library.start(raw.path, seed=1, **named)
    release.write(folder / "2.csv")
    assert (folder / "2.csv").read_bytes() == (folder / "1.csv").read_bytes()


@pytest.fixture(scope="module")
def steward(tmp_path_factory) -> Iterator[Steward]:
    app = build(tmp_path_factory.mktemp("page"), KEYS, AllowedHosts("127.0.0.1", 8124))
    with TestClient(app, base_url=BASE + KEYS.root) as client:
        client.get("/", params={"token": KEYS.tickets.issue()})
        yield Steward(client)


def test_the_page_needs_one_click(raw: Raw, steward: Steward) -> None:
    place = steward.open(raw.path.name, raw.path.read_bytes())
    if raw.sheet:
        asked = steward.get(f"{place}/see", status=422)
        offered = next(c for c in asked["controls"] if c["name"] == "sheet")
        assert offered["value"] == raw.sheet, "the larger table is offered"
        steward.post(f"{place}/see", sheet=offered["value"], status=None)
        steward.until(f"{place}/see", lambda seen: "profile" in seen)
    seen = steward.get(f"{place}/decide")
    assert seen["ready"], seen["faults"]
    assert seen["unprotected"] == []
    steward.post(f"{place}/runs")
    assert steward.run(place)["told"]["status"] == "done"
    answer = steward.client.get(f"{place}/runs/1/files/to-send.zip")
    folder = raw.path.parent
    with zipfile.ZipFile(BytesIO(answer.content)) as box:
        box.extractall(folder / "sent")
    sensitive = [row["name"] for row in seen["rows"] if row["role"] == "sensitive"]
    check(raw, folder / "sent" / "release.csv", sensitive)
    report = (folder / "sent" / "report.public.html").read_text()
    assert [text for text in raw.never if text in report] == []
    words = ("audit", "release.csv", "--manifest", "release.csv.manifest.json")
    done = inprocess.shoal(folder / "sent", *words)
    counts_people = "cannot tell" in steward.client.get(f"{place}/runs/1/take").text.lower()
    assert done.returncode == (3 if counts_people else 0), done.stdout + done.stderr
