"""Take docs/report.png and docs/page.png: a report and the page, as a browser shows them.

`python -m tools.take_pictures` needs Chromium and the group `dev`; it is run by hand after a change
of the report or the page.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.ext.web.conftest import serving

DOCS = Path(__file__).parent.parent / "docs"
SHOAL = Path(sys.executable).with_name("shoal")


def main() -> None:
    """Start a release of the demo's patients, and show its report and its table on the page."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        for words in (["demo", "--out", "demo"], ["start", "demo/patients.csv", "--yes"]):
            subprocess.run([SHOAL, *words], cwd=folder, check=True, capture_output=True)  # noqa: S603
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page.goto((folder / "patients.report.html").as_uri())
        page.screenshot(path=DOCS / "report.png")
        with serving("demo/patients.csv", cwd=folder) as (address, _):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address)
            page.get_by_role("link", name="patients.csv").click()
            page.wait_for_load_state("networkidle")
            page.screenshot(path=DOCS / "page.png")
        browser.close()


if __name__ == "__main__":
    main()
