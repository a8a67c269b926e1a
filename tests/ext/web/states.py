"""Every state of the page and every report, one after the other in one tab of a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

LONG = "Krankenhausbehandlungsbegruendungsschluessel"  # a name that no narrow page has room for


def clinic(path: Path, rows: int = 400) -> Path:
    """Write what a German clinic sends: semicolons, decimal commas, its own dates and gaps."""
    rng = np.random.default_rng(22)
    towns = ["Köln", "Bergisch Gladbach", "Düren", "Bonn", "Leverkusen-Opladen"]
    ills = ["I10 Bluthochdruck", "E11 Diabetes", "J45 Asthma", "F32 Depression", "M54 Rücken"]
    lines = [f"Fallnummer;Nachname;Geburtsdatum;PLZ;Wohnort;Geschlecht;Gewicht;{LONG};Diagnose"]
    for i in range(rows):
        day, month, year = rng.integers(1, 29), rng.integers(1, 13), rng.integers(1930, 2010)
        cells = [
            f"F{i:06d}",
            f"Name{i % 71}",
            f"{day:02d}.{month:02d}.{year}",
            str(50667 + 11 * int(rng.integers(0, 9))),
            str(rng.choice(towns)),
            str(rng.choice(["m", "w", "?"], p=[0.48, 0.48, 0.04])),
            f"{rng.uniform(45, 120):.1f}".replace(".", ","),
            str(rng.choice(["Notfall", "Einweisung", "k.A."])),
            str(rng.choice(ills)),
        ]
        lines.append(";".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _wait(page: Any) -> None:
    page.wait_for_function("() => !document.querySelector('[data-poll]')")


def walk(page: Any, base: str, german: Path, folder: Path) -> Iterator[str]:
    """Go from state to state as a steward does, and yield the name of each.

    ``page`` belongs to somebody who is let in at ``base``.
    """
    page.goto(f"{base}/")
    yield "open"
    page.goto(f"{base}/tables/99/see")
    yield "error"
    page.goto(f"{base}/")
    page.set_input_files("#table", german)
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_selector("#columns")
    yield "see-clinic"
    page.goto(page.url.replace("/see", "/decide"))
    yield "decide-clinic"
    page.goto(f"{base}/")
    page.get_by_role("button", name="Open synthetic patients").click()
    page.wait_for_selector("#columns")
    yield "see"
    table = page.url.removesuffix("/see")
    page.goto(f"{table}/runs")
    yield "runs-none"
    page.goto(f"{table}/decide")
    yield "decide"
    page.locator("#add").select_option("t-closeness")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("t", exact=True).wait_for()
    page.get_by_label("k", exact=True).fill("99999")
    page.locator("#verdict").get_by_text("Not yet").wait_for()
    yield "decide-not-yet"
    page.get_by_label("k", exact=True).fill("5")
    page.locator("#verdict").get_by_text("Ready").wait_for()
    yield from _hierarchies(page, table)
    yield from _runs(page, table)
    yield from _results(page, table, folder)


def _hierarchies(page: Any, table: str) -> Iterator[str]:
    page.goto(f"{table}/columns/1")
    yield "hierarchy"
    page.goto(f"{table}/columns/2")
    yield "hierarchy-none"
    page.locator("#more-ways").evaluate("more => { more.open = true; }")
    page.get_by_label("flat").check()
    page.get_by_role("button", name="Preview", exact=True).click()
    page.locator("#preview").wait_for()
    yield "hierarchy-preview"
    page.get_by_role("button", name="Use this one").click()
    page.get_by_text("Covers every value.").wait_for()
    yield "hierarchy-flat"
    page.get_by_text("Edit as text").click()
    page.locator("#text").fill("*\n  a\nb\n")
    page.get_by_role("button", name="Use this text").click()
    page.get_by_role("alert").wait_for()
    yield "hierarchy-fault"
    page.get_by_role("button", name="Remove the hierarchy").click()


def _runs(page: Any, table: str) -> Iterator[str]:
    page.goto(f"{table}/decide")
    page.locator("#option-effort").select_option("fast")
    page.wait_for_function("() => document.querySelector('#decisions').dataset.settled >= '1'")
    page.locator("#go").click()
    page.wait_for_url("**/runs")
    yield "runs-busy"
    _wait(page)
    page.fill("#sizes", "10, 20")
    page.get_by_label("mondrian", exact=True).check()
    page.get_by_role("button", name="Run them all").click()
    page.wait_for_selector("#run-5")
    page.locator("#runs-table tbody tr.done").nth(4).wait_for()
    yield "runs"


def _results(page: Any, table: str, folder: Path) -> Iterator[str]:
    page.goto(f"{table}/runs/1")
    page.wait_for_selector("#groups")
    yield "understand"
    page.goto(f"{table}/runs/1/take")
    yield "take"
    for name in ("report.html", "report.public.html"):
        with page.expect_download() as coming:
            page.get_by_role("link", name=name, exact=True).click()
        coming.value.save_as(folder / name)
    for name in ("report.html", "report.public.html"):
        page.goto((folder / name).as_uri())
        yield name.removesuffix(".html")
