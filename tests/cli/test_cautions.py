"""Warnings of silent risks, and ``--strict``, through the real command."""

import json


def test_warnings_stand_everywhere_and_strict_writes_nothing(shoal, folder):
    rows = (f"{20 + i % 4},v{i}" for i in range(40))
    (folder / "in.csv").write_text("\n".join(["age,visit", *rows]) + "\n")
    words = ("anonymize", "in.csv", "--quasi", "age", "--keep", "visit", "--k", "4")
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
    assert "(--strict) looks at the whole table for what to warn about" in flat(found.stderr)


def test_csv_safe_says_so_and_is_refused_elsewhere(shoal, folder):
    rows = (f"{20 + i % 4},{'=cmd' if i % 2 else 'x'}" for i in range(40))
    (folder / "in.csv").write_text("\n".join(["age,note", *rows]) + "\n")
    words = ("anonymize", "in.csv", "--quasi", "age", "--keep", "note", "--k", "4", "--csv-safe")
    found = shoal(*words, "--strict", "-o", "out.csv", "--json", "out.json")
    assert found.returncode == 0
    assert "texts quoted for spreadsheets 20" in flat(found.stdout)
    assert (folder / "out.csv").read_text().count(",'=cmd\n") == 20
    assert json.loads((folder / "out.json").read_text())["plan"]["release"]["csv_safe"]
    checked = shoal("audit", "out.csv", "--quasi", "age", "--k", "4", "--original", "in.csv")
    assert checked.returncode == 0
    for words_out in (("-o", "out.parquet"), ("-o", "sqlite:out.db", "--into", "t")):
        refused = shoal(*words, *words_out)
        assert refused.returncode == 2
        assert "--csv-safe is for CSV files, and the release goes to" in flat(refused.stderr)
    spark = shoal(*words, "-o", "out", "--engine", "spark")
    assert spark.returncode == 2
    assert "csv_safe = true was asked for, and that is carried out on one machine only" in flat(
        spark.stderr
    )


def flat(text):
    return " ".join(text.split())


def test_dummies_of_a_table_released_before(shoal, folder):
    words = ("anonymize", "people.csv", "--quasi", "age", "--sensitive", "disease", "--l", "2")
    words += ("--method", "dummies", "-o", "out.csv", "--json", "out.json")
    first = shoal(*words)
    assert first.returncode == 0, first.stderr
    assert "will be replaced" not in flat(first.stderr)
    before = (folder / "out.csv").read_bytes()
    strict = shoal(*words, "--force", "--strict")
    assert strict.returncode == 2
    assert "out.csv and out.json will be replaced: if that is a release of" in flat(strict.stderr)
    assert (folder / "out.csv").read_bytes() == before
    second = shoal(*words, "--force")
    assert "Both together show values that neither shows alone" in flat(second.stderr)
    warnings = json.loads((folder / "out.json").read_text())["warnings"]
    assert any("will be replaced" in text for text in warnings)
