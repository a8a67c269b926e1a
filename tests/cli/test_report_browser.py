"""The report in a real browser: no error, no request, nothing cut off, readable in the dark."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import shoal
from shoal.report.sections import try_attacks
from shoal.tables import demo

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

pytestmark = [
    pytest.mark.unwatched,
    pytest.mark.skipif(
        BROWSER is None, reason="Chromium is not installed (Debian: apt-get install chromium)"
    ),
]


def report(audience: str = "steward", **more: object) -> str:
    outcome = shoal.anonymize(
        demo.TABLE,
        quasi=demo.QUASI,
        sensitive=demo.SENSITIVE,
        hierarchies=demo.HIERARCHIES,
        **{"k": 5, "method": "mondrian", "seed": 1, **more},  # type: ignore[arg-type]
    )
    original = shoal.read_table(demo.TABLE)
    found, why = try_attacks(outcome.local_tables, original)
    assert not why
    return outcome.with_original(original).page(audience=audience, attacks=found, title="Patients")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "patients.html"
    path.write_text(report())
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [1280, 800, 400])
def test_the_page_opens_without_an_error_or_a_request(browser, file, wide, scheme) -> None:
    page = browser.new_page(viewport={"width": wide, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert said == []
    assert asked == [file.as_uri()]
    text = page.inner_text("body")
    for words in ("The promise is kept.", "Column by column", "Attacks that were tried"):
        assert words in text
    assert page.locator("svg[role=img]").count() >= 10
    # The page itself never scrolls sideways; wide tables scroll in their own box.
    assert page.evaluate("document.documentElement.scrollWidth") <= wide
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    brightness = [sum(map(int, each[4:-1].split(","))) for each in (ground, ink)]
    assert (brightness[0] > brightness[1]) is (scheme == "light")
    page.close()


def test_no_text_of_a_chart_is_cut_or_covers_another(browser, file) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    faults = page.evaluate(
        """() => [...document.querySelectorAll('svg.shoal-chart')].flatMap(svg => {
            const paper = svg.getBoundingClientRect();
            const boxes = [...svg.querySelectorAll('text')].map(text =>
                [text.textContent, text.getBoundingClientRect()]);
            const faults = [];
            boxes.forEach(([told, box], i) => {
                if (box.left < paper.left - 1 || box.right > paper.right + 1
                    || box.bottom > paper.bottom + 1) faults.push(['cut', told]);
                boxes.slice(i + 1).forEach(([other, near]) => {
                    const apart = box.right <= near.left + 1 || near.right <= box.left + 1
                        || box.bottom <= near.top + 4 || near.bottom <= box.top + 4;
                    if (!apart) faults.push([told, other]);
                });
            });
            return faults;
        })"""
    )
    assert faults == []
    page.close()


def test_it_prints_on_a4(browser, file, tmp_path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(file.as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    page.pdf(path=tmp_path / "x.pdf", prefer_css_page_size=True)
    printed = (tmp_path / "x.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert 2 <= printed.count(b"/Type /Page\n") <= 16
    page.close()


SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_the_report_of_adult_is_whole() -> None:
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
    outcome = shoal.anonymize(
        SHARED / "adult.csv.gz",
        quasi=quasi,
        sensitive="occupation",
        hierarchies=SHARED / "hierarchies" / "adult",
        rules=[shoal.KAnonymity(10), shoal.LDiversity(3, "occupation")],
        method="mondrian",
    )
    original = shoal.read_table(SHARED / "adult.csv.gz")
    found, why = try_attacks(outcome.local_tables, original)
    page = outcome.with_original(original).page(attacks=found)
    assert not why
    assert "48,842" in page
