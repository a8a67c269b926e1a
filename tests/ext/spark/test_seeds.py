"""With a seed a run on Spark repeats byte for byte; no file of it says what is not published."""

import polars as pl
import pytest

import shoal
from tests.ext.spark.conftest import ROLES, people, to_spark

GIVEN = {**ROLES, "missing": ["?"], "seed": 7}
CASES = {
    "rows removed": ({"method": "k-member", "k": 3, "options": {"missing": "drop"}}, {}),
    "in shards": ({"method": "mondrian", "k": 4, "l": 2}, {"driver_tuples": 120}),
}


@pytest.fixture
def adaptive(spark):
    """Queries planned anew as they run, as on a cluster; texts in files as they are."""
    settings = {"spark.sql.adaptive.enabled": "true", "spark.sql.parquet.compression.codec": "none"}
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield spark
    for key, value in before.items():
        spark.conf.set(key, value)


@pytest.mark.parametrize("case", CASES)
def test_a_seed_repeats_a_run_byte_for_byte(adaptive, tmp_path, case):
    asked, settings = CASES[case]
    frame = people(300)
    pieces = [
        to_spark(adaptive, frame).repartition(2, "id"),
        to_spark(adaptive, frame.sample(300, shuffle=True, seed=1)).repartition(3, "note"),
    ]
    files = []
    for number, table in enumerate(pieces):
        out = tmp_path / f"{number}.parquet"
        made = shoal.anonymize(
            table, **GIVEN, **asked, engine=shoal.Spark(out=str(out), **settings)
        )
        files.append(out.read_bytes())
    assert (made.made.notes["shards"] > 1) == bool(settings)
    assert files[0] == files[1]
    if settings:
        return  # how a folder is written has nothing to do with shards
    folder = tmp_path / "folder"
    shoal.anonymize(pieces[1], **GIVEN, **asked, engine=shoal.Spark(out=str(folder), **settings))
    rows = pl.concat(map(pl.read_parquet, sorted(folder.glob("*.parquet"))))
    assert rows.equals(pl.read_parquet(tmp_path / "0.parquet"))


def test_without_a_seed_the_order_is_another_one(adaptive, tmp_path):
    table = to_spark(adaptive, people(60))
    asked = {**ROLES, "missing": ["?"], "k": 3, "method": "mondrian"}
    files = []
    for number in range(2):
        out = tmp_path / f"{number}.parquet"
        shoal.anonymize(table, **asked, engine=shoal.Spark(out=str(out)))
        files.append(pl.read_parquet(out))
    columns = files[0].columns
    assert files[0].sort(columns).equals(files[1].sort(columns))
    assert not files[0].equals(files[1])


@pytest.mark.parametrize(
    ("case", "name"), [("rows removed", "out.parquet"), ("in shards", "folder")]
)
def test_no_byte_of_a_file_says_what_is_not_published(adaptive, tmp_path, name, case):
    asked, settings = CASES[case]
    number = pl.int_range(300) // 2 + 1000  # all of one length: none is part of another
    frame = people(300).with_columns(
        id=pl.format("person-with-the-number-{}", pl.int_range(300) + 1000),
        city=pl.format("a-long-name-of-a-city-{}", number),
        disease=pl.format("a-long-name-of-a-disease-{}", number),
    )
    roles = {**ROLES, "quasi": [*ROLES["quasi"], "city"], "missing": ["?"], "keep": []}
    out = tmp_path / name
    engine = shoal.Spark(out=str(out), **settings)
    shoal.anonymize(to_spark(adaptive, frame), **roles, **asked, engine=engine)
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    tables = [
        pl.read_parquet(file) if file.suffix == ".parquet" else shoal.read_table(file)
        for file in written
        if file.suffix in (".parquet", ".csv")
    ]
    cells = "\n".join(pl.concat(tables).select(pl.concat_str(pl.all().fill_null(""))).to_series())
    everything = b"".join(file.read_bytes() for file in written)
    hidden = {
        column: [text for text in frame[column].unique() if text not in cells]
        for column in ("id", "city", "disease")
    }
    assert len(hidden["id"]) == 300
    assert bool(hidden["disease"]) == (case == "rows removed")
    assert not [text for texts in hidden.values() for text in texts if text.encode() in everything]
