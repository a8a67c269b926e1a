"""No release of a fixed seed changes by a byte unless a commit says why (see runs.py)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.runs import ADULT, DIGESTS, RUNS, outcome, prepare

KNOWN = json.loads(DIGESTS.read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("golden")
    prepare(made)
    return made


# What runs on Spark is asked in tests/ext/spark, of the session that is there.
@pytest.mark.parametrize("name", RUNS)
def test_a_release_of_a_fixed_seed_keeps_its_bytes(name: str, folder: Path) -> None:
    if name.startswith("adult") and not ADULT.exists():
        pytest.skip("needs the real data sets in ../shared/data")
    assert outcome(folder, name, RUNS[name]) == KNOWN[name]
