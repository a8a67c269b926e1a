"""The shape of a release comes from its marks and what is declared, never from a harmless list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import QUASI, Run

TAGS = "age,disease,tags\n" + "".join(
    f'{20 + i},{("flu", "cold")[i % 2]},"[""a"", ""b""]"\n' for i in range(30)
)
SENSITIVE = ("--sensitive", "disease")
DUMMIES = (*QUASI, *SENSITIVE, "--method", "dummies", "--l", "2")
ANATOMY = (*QUASI, *SENSITIVE, "--method", "anatomy", "--l", "2", "--l-kind", "frequency")


@pytest.fixture
def tags(folder: Path) -> Path:
    """Everybody is alone with his age, and a harmless column holds lists."""
    (folder / "tags.csv").write_text(TAGS)
    return folder


@pytest.mark.parametrize(
    "words", [(), SENSITIVE, ("--sensitive", "tags"), ("--sensitive", "disease,tags")]
)
def test_a_harmless_list_keeps_no_promise(shoal: Run, tags: Path, words: tuple[str, ...]) -> None:
    done = shoal("audit", "tags.csv", "--quasi", "age", *words)
    assert done.returncode == 1, done.stdout
    assert "BROKEN   every class has at least 10 rows (k-anonymity); reached: k = 1" in done.stdout
    assert "The file breaks its promise." in done.stdout


def test_lists_that_nobody_declared_change_no_other_answer(shoal: Run, tags: Path) -> None:
    (tags / "plain.csv").write_text(
        "\n".join(line.rsplit(',"[', 1)[0] for line in TAGS.splitlines()).replace(",tags", "")
    )
    for words in (
        ("risk", *SENSITIVE, "--quasi", "age"),
        ("attack", "--known", "age", "--seed", "1"),
    ):
        told = []
        for name in ("tags.csv", "plain.csv"):
            tables = ("plain.csv", name) if words[0] == "attack" else (name,)
            done = shoal(words[0], *tables, *words[1:])
            assert done.returncode == 0, done.stderr
            told.append(done.stdout)
        assert told[0] == told[1]
        assert "dummies" not in told[0]


@pytest.mark.parametrize(("made", "rule"), [(DUMMIES, "l"), (ANATOMY, "frequency_l")])
def test_who_asks_for_nothing_is_told_that_people_can_be_found(
    shoal: Run, folder: Path, made: tuple[str, ...], rule: str
) -> None:
    assert shoal("anonymize", "people.csv", *made, "-o", "x.csv").returncode == 0
    done = shoal("audit", "x.csv", *QUASI, *SENSITIVE)
    assert done.returncode == 1
    assert "BROKEN   every class has at least 10 rows (k-anonymity)" in done.stdout
    assert f"The values published instead of 'disease' reach: {rule} = 2" in done.stdout
    kind = ("--l-kind", "frequency") if made is ANATOMY else ()
    assert shoal("audit", "x.csv", *QUASI, *SENSITIVE, "--l", "2", *kind).returncode == 0


def test_sets_of_several_lengths_are_no_dummy_values(shoal: Run, folder: Path) -> None:
    cells = ('["a", "b"]', '["a", "b", "c"]')
    (folder / "x.csv").write_text(
        "age;ill\n" + "".join(f"{20 + i // 4};{cells[i % 2]}\n" for i in range(20))
    )
    done = shoal("audit", "x.csv", "--quasi", "age", "--sensitive", "ill", "--l", "2")
    assert done.returncode == 2
    assert "The sets of column 'ill' have 2 different lengths ([2, 3])" in done.stderr
