"""Losses saved before a change and compared after it (benchmarks.methods --save, --against)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.before import Figure, compare, load, save

BEFORE = {
    "adult, k=5, shoal": Figure(0.2, 1.0),
    "adult, k=5, kaim": Figure(0.3, 2.0),
    "adult, k=5, mondrian": Figure(0.4, 3.0),
    "adult, k=5, incognito": Figure(None, 0.1, "Infeasible"),
    "adult, k=5, alpha-k": Figure(0.5, 1.0),
    "adult, k=5, gone": Figure(0.6, 1.0),
}
AFTER = {
    "adult, k=5, shoal": Figure(0.1, 0.5),
    "adult, k=5, kaim": Figure(0.3, 2.0),
    "adult, k=5, mondrian": Figure(0.41, 3.0),
    "adult, k=5, incognito": Figure(0.7, 0.2),
    "adult, k=5, alpha-k": Figure(None, 0.1, "Infeasible"),
    "adult, k=5, added": Figure(0.6, 1.0),
}


def test_what_loses_more_or_is_refused_now_is_worse() -> None:
    lines, worse = compare(BEFORE, AFTER)
    assert [line.split(": ")[0] for line in worse] == [
        "adult, k=5, mondrian",
        "adult, k=5, alpha-k",
    ]
    assert "| adult, k=5, shoal | 0.200000 | 0.100000 | 1.00 | 0.50 | 0.50 |" in lines
    assert (
        "3 runs: 1 with the same loss, 1 lower, 1 higher; mean loss 0.300000 before, 0.270000 now"
        in ("\n".join(lines))
    )
    assert lines[-2:] == ["Only before: adult, k=5, gone", "Only now: adult, k=5, added"]


def test_the_same_twice_is_not_worse() -> None:
    assert compare(BEFORE, BEFORE)[1] == []


def test_a_file_is_read_as_it_was_saved_and_refused_for_other_rows(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    save(path, {"rows": 100}, BEFORE)
    assert load(path, {"rows": 100}) == BEFORE
    with pytest.raises(ValueError, match="'rows': 100"):
        load(path, {"rows": 200})
