"""What CONTRIBUTING says of adding something is true of the files it names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
SECTIONS = ("Adding a method", "Adding a shape of release", "Adding a rule", "Adding a loss")


def named(text):
    """Return the paths of a text; NAME stands for a file that is to be written."""
    paths = re.findall(r"`((?:src|tests|docs|tools|benchmarks|experiments)/[\w./]+)`", text)
    return [path for path in paths if "NAME" not in path]


@pytest.mark.parametrize("section", SECTIONS)
def test_the_files_to_touch_exist(section):
    body = TEXT.split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    paths = named(body)
    assert any(path.startswith("src/shoal/catalog/") for path in paths)
    assert any(path.startswith("tests/") for path in paths)
    for path in paths:
        assert (ROOT / path).exists(), path
    for folder in re.findall(r"`(src/[\w/]+)/NAME\.py`", body):
        assert (ROOT / folder).is_dir(), folder


def test_every_file_named_anywhere_exists():
    assert [path for path in named(TEXT) if not (ROOT / path).exists()] == []
