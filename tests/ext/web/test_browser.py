"""The page in a real browser, from opening a table to auditing what was taken away."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.ext.web.login_links import write_lead
from shoal.tables import demo
from tests.ext.web.conftest import SHARED, another, serving

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.unwatched,
    pytest.mark.skipif(
        CHROMIUM is None, reason="Chromium is not installed (apt-get install chromium)"
    ),
]

SHOAL = Path(sys.executable).with_name("shoal")
FLAGS = [
    f"--{flag}"
    for flag in (
        "no-sandbox",
        "disable-gpu",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "no-first-run",
    )
]
PATIENCE = 120_000  # milliseconds; the first run on a machine compiles
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def adult(tmp_path_factory) -> Path:
    """A slice of Adult when it is at hand, with its '?'; else the synthetic patients."""
    folder = tmp_path_factory.mktemp("data")
    if not SHARED.is_dir():
        return Path(shutil.copy(demo.TABLE, folder / "patients.csv.gz"))
    frame = pl.read_csv(SHARED / "adult.csv.gz", n_rows=4000)
    names = ["age", "workclass", "education", "marital-status", "sex", "native-country", "income"]
    texts = [pl.col(n).fill_null("?") for n in names if frame[n].dtype == pl.String]
    frame.select(names).with_columns(texts).write_csv(folder / "adult.csv")
    return folder / "adult.csv"


# Controls without a name that a screen reader could say.
NAMELESS = """() => [...document.querySelectorAll("input, select, textarea, button, summary, a")]
  .filter((each) => each.type !== "hidden" && !each.closest("[hidden], [aria-hidden=true]"))
  .filter((each) => !(each.labels && each.labels.length) && !each.getAttribute("aria-label")
    && !each.textContent.trim() && !each.querySelector("title"))
  .map((each) => each.outerHTML)"""


class Tab:
    """A page of the browser that remembers every complaint and every request."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.base = address.split("/?", maxsplit=1)[0]
        self.context = browser.new_context(accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        self.page.wait_for_url(f"{self.base}/")

    def _heard(self, message: Any) -> None:
        # That a page answered 422 to a form that cannot be run is told by the page itself.
        expected = "the server responded with a status of 422" in message.text
        if message.type in ("error", "warning") and not expected:
            self.complaints.append(message.text)

    def decide(self) -> None:
        """Go to where the roles of the first table are decided, once the server has read it."""
        self.page.goto(f"{self.base}/tables/1/decide")  # See, as long as it is being read
        self.page.wait_for_selector("#columns")
        self.page.goto(f"{self.base}/tables/1/decide")

    def settle(self) -> None:
        """Close, and hold the tab to what every page must keep."""
        self.context.close()
        assert not self.complaints
        origin = self.base.rpartition("/")[0]
        strange = [r for r in self.requests if not r.startswith((origin, "data:", "blob:"))]
        assert not strange

    def wait_for_runs(self) -> None:
        self.page.wait_for_function("() => !document.querySelector('[data-poll]')")

    def save(self, name: str, folder: Path) -> Path:
        with self.page.expect_download() as coming:
            self.page.get_by_role("link", name=name, exact=True).click()
        coming.value.save_as(folder / name)
        return folder / name


@pytest.fixture(scope="module")
def server(adult, tmp_path_factory) -> Iterator[tuple[str, Any]]:
    with serving(str(adult), cwd=tmp_path_factory.mktemp("cwd")) as running:
        yield running


def test_from_opening_to_an_audited_download(browser, server, adult, tmp_path) -> None:
    tab = Tab(browser, another(server[1]), color_scheme="light")
    page = tab.page
    assert "token" not in page.url
    page.get_by_role("link", name=adult.name).click()
    page.wait_for_selector("#columns")
    if SHARED.is_dir():
        assert page.get_by_text("Does it mean that the value is missing?").count() == 1
        page.get_by_role("button", name="Yes, treat it as missing").click()
        page.wait_for_function(
            "() => document.body && !document.body.innerText.includes('Does it mean')"
        )
        page.wait_for_selector("#columns")
    page.get_by_role("link", name="Decide").last.click()

    # What the form says is checked while it is filled in.
    k = page.get_by_label("k", exact=True)
    k.fill("999999999")
    page.get_by_text("the largest k possible is").first.wait_for()
    assert page.locator("#verdict").get_by_text("Not yet.").is_visible()
    page.locator("#again").wait_for()
    assert page.locator("#go").count() == 0  # what cannot be kept is not offered
    k.fill("8")
    page.locator("#verdict").get_by_text("Ready.").wait_for()
    page.get_by_label("l", exact=True).wait_for()  # a sensitive column begins with this rule
    page.get_by_text("largest l possible").wait_for()
    assert page.get_by_label("l", exact=True).input_value() == "2"
    assert k.input_value() == "8"
    page.locator("#option-effort").select_option("fast")
    page.wait_for_function("() => document.querySelector('#decisions').dataset.settled >= '1'")
    page.locator("#go").click()
    page.wait_for_url("**/runs")
    tab.wait_for_runs()
    page.locator("#run-1").get_by_text("verified").wait_for()

    # A second run stands beside the first, and the chart leads to both.
    page.fill("#sizes", "10")  # a guessed hierarchy may name values of fewer than 20 rows
    page.get_by_label("mondrian", exact=True).check()
    page.get_by_label("shoal", exact=True).uncheck()
    page.get_by_role("button", name="Run them all").click()
    page.wait_for_selector("#run-2")
    page.locator("#runs-table tbody tr.done").nth(1).wait_for()
    page.locator("svg a").first.click()
    page.wait_for_url(re.compile(r"/runs/\d$"))
    page.get_by_role("link", name="Run", exact=False).first.click()
    page.locator("#run-1 th a").click()
    page.wait_for_selector("#groups")
    assert page.locator(".charts svg").count() >= 5
    sizes = page.locator("#groups tbody td:first-child").all_inner_texts()
    assert sizes
    assert min(int(size.replace(",", "")) for size in sizes) >= 8

    page.get_by_role("link", name="Download").last.click()
    kept = tab.save("What you keep", tmp_path)
    with zipfile.ZipFile(kept) as archive:  # the plan names hierarchies, which lie beside it
        archive.extractall(tmp_path)
    command = page.locator("#command").inner_text()
    tab.settle()
    done = subprocess.run(
        [str(SHOAL), "audit", "release.csv", "--plan", "plan.toml", "--original", str(adult)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert command.startswith("shoal anonymize")


def test_a_private_file_leads_to_the_page(browser, server, tmp_path) -> None:
    path = tmp_path / "open.html"
    address = another(server[1])
    write_lead(path, address)
    page = browser.new_context().new_page()
    page.goto(path.as_uri())
    page.wait_for_url(f"{server[0].split('?')[0]}")
    assert page.get_by_role("heading", level=1).inner_text() != "Locked"
    assert "token" not in page.evaluate("document.location.href")
    late = browser.new_context().new_page()
    late.goto(address)
    assert late.get_by_role("heading", level=1).inner_text() == "This address was used"


def test_the_cookie_goes_to_no_other_port(browser, server) -> None:
    tab = Tab(browser, another(server[1]))
    heard: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(f"{self.path} {self.headers.get('Cookie', '')}")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        tab.context.new_page().goto(f"http://127.0.0.1:{other.server_port}/")
        other.shutdown()
    assert heard
    assert not any("shoal_" in text and "shoal_theme" not in text for text in heard)
    assert tab.page.evaluate("document.cookie") == ""
    tab.context.close()


def test_a_hierarchy_is_made_and_edited_with_the_keyboard(browser, server) -> None:
    tab = Tab(browser, another(server[1]))
    page = tab.page
    tab.decide()
    page.get_by_role("link", name=re.compile("hierarchy of (sex|marital)")).first.click()
    page.locator("#more-ways").evaluate("more => { more.open = true; }")
    page.get_by_label("flat").check()
    page.get_by_role("button", name="Make it").click()
    page.get_by_text("Covers every value.").wait_for()
    values = page.locator("#tree > li > details > ul > li:visible")
    many = values.count()
    page.locator("#find").fill(values.first.locator("bdi").inner_text())
    assert values.count() < many
    page.locator("#find").fill("")
    page.get_by_text("Edit as text").click()
    top, one, two, *rest = page.locator("#text").input_value().splitlines()
    lines = [top, "  Both of them", f"  {one}", f"  {two}", *rest]
    page.locator("#text").fill("\n".join(lines))
    page.get_by_role("button", name="Use this text").click()
    page.locator("#tree bdi.strong").get_by_text("Both of them").wait_for()
    page.get_by_text("Edit as text").click()
    lines = page.locator("#text").input_value().splitlines()
    page.locator("#text").fill("\n".join([*lines[:-1], ""]))
    page.get_by_role("button", name="Use this text").click()
    page.get_by_text("are not covered").wait_for()  # coverage is told at once
    page.get_by_role("button", name="Add all").click()
    page.get_by_text("Covers every value.").wait_for()
    page.get_by_text("Edit as text").click()
    page.locator("#text").fill("*\n  a\nb\n")
    page.get_by_role("button", name="Use this text").click()
    assert "is not indented" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Remove the hierarchy").click()
    tab.settle()


def test_cancel_and_colours(browser, server) -> None:
    tab = Tab(browser, another(server[1]), viewport={"width": 800, "height": 900})
    page = tab.page
    tab.decide()
    page.locator("#option-effort").select_option("max")
    page.locator("#go").click()
    page.wait_for_url("**/runs")
    row = page.locator("#runs-table tbody tr").first
    row.get_by_role("button", name="Cancel").click()
    page.locator("#runs-table tbody tr").first.get_by_text("cancelled, nothing kept").wait_for()
    page.get_by_role("button", name="dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.wait_for_function(
        "at => fetch(at).then(r => r.text()).then(t => t.includes('data-theme=\"dark\"'))",
        arg=f"{tab.base}/",
    )
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground))) < 60
    tab.settle()


def test_a_bad_file_and_hostile_values(browser, server, tmp_path) -> None:
    tab = Tab(browser, another(server[1]))
    page = tab.page
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3\n")
    page.set_input_files("#table", bad)
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_text("has ragged rows").wait_for()

    names = [f"age {HOSTILE}", "zip</title><script>alert(1)</script>", "diagnosis {{ 7*7 }}"]
    rows = [
        {names[0]: 20 + i % 9, names[1]: f"{HOSTILE}{i % 4}", names[2]: f"</td>{HOSTILE}{i % 3}"}
        for i in range(120)
    ]
    table = tmp_path / "table <b onclick=alert(1)>.parquet"
    pl.DataFrame(rows).write_parquet(table)
    page.goto(f"{tab.base}/")
    page.set_input_files("#table", table)
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_selector("#columns")
    assert page.locator("#columns th bdi").first.inner_text() == names[0]
    number = re.search(r"tables/(\d+)", page.url)[1]
    page.goto(f"{tab.base}/tables/{number}/decide")
    for place, role in enumerate(("quasi", "quasi", "sensitive")):
        page.locator(f"#role-{place}").select_option(role)
    page.get_by_label("k", exact=True).fill("3")
    page.locator("#option-effort").select_option("fast")
    page.locator("#verdict").get_by_text("Ready.").wait_for()
    page.get_by_role("link", name=re.compile("hierarchy of zip")).click()
    page.locator("#more-ways").evaluate("more => { more.open = true; }")
    page.get_by_label("flat").check()
    page.get_by_role("button", name="Make it").click()
    page.get_by_text("Covers every value.").wait_for()
    assert page.locator("#tree bdi").nth(1).inner_text() == f"{HOSTILE}0"
    page.goto(f"{tab.base}/tables/{number}/decide")
    page.locator("#go").click()
    page.wait_for_url("**/runs")
    tab.wait_for_runs()
    page.locator("#run-1 th a").click()
    page.wait_for_selector("#groups")
    assert HOSTILE in page.locator("#groups").inner_text()
    for path in ("see", "decide", "runs", "runs/1", "runs/1/take", "columns/1"):
        page.goto(f"{tab.base}/tables/{number}/{path}")
        assert "owned" not in page.title()
        assert page.locator("main img, main script, [onerror], [onclick]").count() == 0
        assert page.evaluate(NAMELESS) == []
        assert "49" not in page.locator("h1").inner_text()
    tab.settle()


def test_without_scripts_plain_forms_lead_all_the_way(browser, server) -> None:
    tab = Tab(browser, another(server[1]), java_script_enabled=False)
    page = tab.page
    page.get_by_role("button", name="Open synthetic patients").click()
    page.get_by_role("link", name="Decide").last.click()
    assert page.get_by_label("l", exact=True).input_value() == "2"
    page.locator("#add").select_option("t-closeness")
    page.get_by_role("button", name="Add", exact=True).click()
    assert page.get_by_label("t", exact=True).input_value()
    page.locator("#method").select_option("mondrian")
    page.locator("#go").click()
    page.wait_for_url("**/runs")
    page.locator("tr.done").wait_for()  # the page reloads itself
    page.locator("#run-1 th a").click()
    assert page.locator("#groups tbody tr").count() >= 2
    assert page.get_by_role("button", name="Copy").count() == 0  # it would do nothing
    tab.settle()
