"""What can be measured about how the page looks: contrast in both themes."""

from __future__ import annotations

import re

import pytest

from shoal.ext.web.respond import HERE

CSS = (HERE / "static" / "page.css").read_text()
# Which colours stand on which grounds.
TEXT = ("text", "dim", "accent", "no", "ok", "gap")
PAIRS = [
    *[(ink, ground) for ink in TEXT for ground in ("sheet", "page")],
    *[(ink, "raised") for ink in ("text", "dim", "accent")],
    ("accent", "wash"),
    ("text", "wash"),
    ("no", "no-wash"),
    ("text", "no-wash"),
    ("text", "note-wash"),
    ("on-accent", "accent"),
]


def themes() -> list[tuple[str, dict[str, str]]]:
    """Return the variables of each block that sets them: light, dark by system, by choice."""
    blocks = re.findall(r"(:root[^{]*)\{([^}]*--page:[^}]*)\}", CSS)
    return [
        (f"{i} {name.strip()}", dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", body)))
        for i, (name, body) in enumerate(blocks)
    ]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_measure_knows_black_on_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize(("name", "colours"), themes(), ids=[name for name, _ in themes()])
def test_text_can_be_read(name, colours) -> None:
    weak = {
        f"{ink} on {ground}": round(contrast(colours[ink], colours[ground]), 2)
        for ink, ground in PAIRS
        if contrast(colours[ink], colours[ground]) < 4.5
    }
    assert not weak
    edges = [contrast(colours["edge"], colours[ground]) for ground in ("sheet", "page")]
    assert min(edges) >= 3  # the frame of a control


def test_both_ways_to_a_theme_give_the_same_colours() -> None:
    light, dark, light_chosen, dark_chosen = (colours for _, colours in themes())
    assert light == light_chosen
    assert dark == dark_chosen
    assert light != dark
