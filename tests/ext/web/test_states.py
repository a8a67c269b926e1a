"""Every state of the page and every report: room on a narrow screen, readers, the keyboard."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ext.web import states
from tests.ext.web.conftest import another, serving
from tests.ext.web.test_browser import CHROMIUM, FLAGS, Tab, sync_api

pytestmark = [
    pytest.mark.unwatched,
    pytest.mark.skipif(
        CHROMIUM is None, reason="Chromium is not installed (apt-get install chromium)"
    ),
]

# What judges the page comes from npm, and it is known to the byte what that is.
AXE = "axe-core@4.14.0"
AXE_SHA512 = (
    "f564d9c448ec67b6f5dd31fc24f99b576cfc0876e5f34ff6866dd73c41b82603"
    "5d40b2bcd480515e64b11df3003a44aa41e4714ffd1dc0d0f3d863a6df3ce971"
)
LOOKS = ((1280, "light"), (390, "dark"))
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Controls that a box which scrolls sideways hides at first.
CLIPPED = """() => [...document.querySelectorAll(".scroll, .panel")].flatMap((box) =>
  [...box.querySelectorAll("button, select, input, .button")].filter((each) => {
    const [outer, inner] = [box.getBoundingClientRect(), each.getBoundingClientRect()];
    return inner.width && (inner.right > outer.right + 1 || inner.left < outer.left - 1);
  }).map((each) => each.outerHTML.slice(0, 120)))"""
JUDGED = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .filter((each) => ["serious", "critical"].includes(each.impact))
  .map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))}`)"""


@pytest.fixture(scope="module")
def axe(request) -> str | None:
    """The judge as text, None where npm cannot get it; kept with pytest's cache, never with us."""
    folder = request.config.cache.mkdir("axe")
    kept = folder / f"{AXE.replace('@', '-')}.tgz"
    npm = shutil.which("npm")
    if not kept.is_file() and npm:
        words = [npm, "pack", AXE, "--pack-destination", str(folder), "--silent"]
        subprocess.run(words, capture_output=True, timeout=120, check=False)
    if not kept.is_file():
        return None
    raw = kept.read_bytes()
    assert hashlib.sha512(raw).hexdigest() == AXE_SHA512, f"{kept} is not the {AXE} we know"
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[Any, Any]]:
    """One browser and one page for all of it."""
    folder: Path = tmp_path_factory.mktemp("cwd")
    with serving(cwd=folder) as (_, process), sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser, process
        browser.close()


@pytest.fixture(scope="module")
def faults(server, axe, tmp_path_factory) -> dict[str, list[str]]:
    """Walk through all states once, wide and narrow, light and dark, and say what is wrong."""
    folder = tmp_path_factory.mktemp("states")
    found: dict[str, list[str]] = {"states": [], "narrow": [], "readers": []}
    tab = Tab(server[0], another(server[1]))
    for name in states.walk(tab.page, tab.base, states.clinic(folder / "klinik.csv"), folder):
        found["states"].append(name)
        for width, colours in LOOKS:
            tab.page.set_viewport_size({"width": width, "height": 900})
            tab.page.emulate_media(color_scheme=colours)
            where = f"{name} at {width}, {colours}"
            if over := tab.page.evaluate(OVER):
                found["narrow"].append(f"{where}: {over} pixels too wide")
            found["narrow"] += [f"{where}: {each}" for each in tab.page.evaluate(CLIPPED)]
            if axe:
                tab.page.evaluate(axe)
                found["readers"] += [f"{where}: {each}" for each in tab.page.evaluate(JUDGED)]
        tab.page.set_viewport_size({"width": 1280, "height": 900})
    # Reports lie on the disk, and an address that leads nowhere is one of the states.
    tab.requests = [each for each in tab.requests if not each.startswith("file:")]
    tab.complaints = [each for each in tab.complaints if "404 (Not Found)" not in each]
    tab.settle()
    return found


def test_every_step_was_walked(faults) -> None:
    steps = {name.partition("-")[0].partition(".")[0] for name in faults["states"]}
    assert steps >= {"open", "error", "see", "decide", "hierarchy", "runs", "understand", "take"}
    assert "report" in steps


def test_nothing_is_wider_than_the_screen(faults) -> None:
    assert not faults["narrow"]


def test_axe_finds_nothing_serious(faults, axe) -> None:
    if axe is None:
        pytest.skip(f"npm cannot get {AXE} (npm or the network is lacking)")
    assert not faults["readers"], "\n".join(faults["readers"])


# Where the focus is: what is said of it, and whether it can be seen, with nothing before it.
FOCUS = """(wanted) => {
  const at = document.activeElement;
  const box = at.getBoundingClientRect();
  const x = Math.min(Math.max(box.x + box.width / 2, 0), innerWidth - 1);
  const y = box.y + Math.min(box.height, 24) / 2;
  const top = document.elementFromPoint(x, y);
  const seen = Boolean(top) && (at.contains(top) || top.contains(at));
  return {there: at.matches(wanted), seen, html: at.outerHTML.slice(0, 120)};
}"""


class Hands:
    """Somebody who has a keyboard and no mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.covered: list[str] = []

    def reach(self, wanted: str) -> None:
        """Press Tab until the focus is on what is wanted; all on the way must be in sight."""
        self.page.wait_for_selector(wanted)
        for _ in range(160):
            self.page.keyboard.press("Tab")
            at = self.page.evaluate(FOCUS, wanted)
            if not at["seen"] and "body" not in at["html"][:6]:
                self.covered.append(at["html"])
            if at["there"]:
                return
        raise AssertionError(f"the keyboard does not reach {wanted}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def choose(self, wanted: str, key: str) -> None:
        """Choose in a list by typing, as a keyboard does it."""
        self.reach(wanted)
        self.page.keyboard.type(key)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_keyboard_goes_the_whole_way(server, width) -> None:
    browser, process = server
    tab = Tab(browser, another(process), viewport={"width": width, "height": 700})
    page, hands = tab.page, Hands(tab.page)
    hands.reach(".skip")
    hands.reach("form:has([name=demo]) button")
    hands.press("Enter")
    hands.reach(".headline a[href$=decide]")
    hands.press("Enter")
    page.wait_for_url("**/decide")
    hands.choose("#role-5", "keep")
    page.wait_for_function(
        "() => Number(document.querySelector('#decisions').dataset.settled) >= 1"
    )
    hands.reach("#rule-0-k")
    hands.press("Control+A")
    page.keyboard.type("7")
    page.wait_for_function("() => /-k 7|plan/.test(document.getElementById('command').textContent)")
    hands.choose("#method", "mondrian")
    page.locator("#verdict").get_by_text("Ready").wait_for()
    hands.reach("#go")
    hands.press("Enter")
    page.wait_for_url("**/runs")
    page.wait_for_selector("tr.done")
    hands.reach("#runs-table th a")
    hands.press("Enter")
    page.wait_for_selector("#groups")
    hands.reach(".headline a[href$=take]")
    hands.press("Enter")
    page.wait_for_url("**/take")
    hands.reach("a[href$='release.csv']")
    with page.expect_download() as coming:
        hands.press("Enter")
    assert coming.value.suggested_filename == "release.csv"
    assert not hands.covered
    tab.settle()
