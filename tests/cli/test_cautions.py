"""Warnings of silent risks, and ``--strict``, through the real command."""

import json


def test_warnings_stand_everywhere_and_strict_writes_nothing(shoal, folder):
    rows = (f"{20 + i % 4},v{i}" for i in range(40))
    (folder / "in.csv").write_text("\n".join(["age,visit", *rows]) + "\n")
    words = ("anonymize", "in.csv", "--quasi", "age", "--other", "visit", "--k", "4")
    words += ("-o", "out.csv", "--json", "out.json", "--report", "out.html")
    before = sorted(folder.iterdir())
    strict = shoal(*words, "--strict")
    assert strict.returncode == 2
    assert "Nothing was released, because warnings are errors here" in flat(strict.stderr)
    assert "Column 'visit' is passed through as it is" in flat(strict.stderr)
    assert sorted(folder.iterdir()) == before
    found = shoal(*words)
    assert found.returncode == 0
    assert "Column 'visit' is passed through as it is" in flat(found.stderr)
    assert "'visit'" in json.loads((folder / "out.json").read_text())["warnings"][0]
    assert "is passed through as it is" in (folder / "out.html").read_text()


def test_strict_is_refused_on_spark(shoal):
    found = shoal("anonymize", "people.csv", "--strict", "--engine", "spark", "-o", "out")
    assert found.returncode == 2
    assert "--strict looks at the whole table for what to warn about" in flat(found.stderr)


def flat(text):
    return " ".join(text.split())
