"""What goes into a database comes out as it was, on all three of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.base.errors import InputError, OutputError, ParameterError
from shoal.ext.databases.database import BATCH
from shoal.ext.databases.reading import read_source
from shoal.ext.databases.writing import check_target, written
from shoal.tables.source import Source, parse_place, parse_target
from tests.ext.databases.cluster import Server


def source(address: str, table: str | None = None, query: str | None = None) -> Source:
    found = parse_place(address, table, query)
    assert isinstance(found, Source)
    return found


def put(address: str, table: str, frame: pl.DataFrame, *, force: bool = False) -> None:
    goal = parse_target(address, table)
    assert isinstance(goal, Source)
    with written({goal: frame}, force=force):
        pass


def get(address: str, table: str | None = None, query: str | None = None) -> pl.DataFrame:
    return read_source(source(address, table, query))


ALL = pl.DataFrame(
    {
        "text": ["a", None, "ä'\"\n"],
        "int": pl.Series([1, None, -(2**62)], dtype=pl.Int64),
        "small": pl.Series([1, None, 2], dtype=pl.Int16),
        "real": [1.5, None, 0.1],
        "bool": [True, None, False],
        "day": [dt.date(2020, 2, 29), None, dt.date(1, 1, 1)],
        "moment": [dt.datetime(2020, 1, 2, 3, 4, 5, 678), None, dt.datetime(1999, 1, 1)],
    }
)


def test_types_and_gaps_survive(database: str) -> None:
    put(database, "t", ALL)
    found = get(database, "t")
    wide = {"small": pl.Int64} if database.startswith("sqlite") else {}
    assert found.equals(ALL.cast(wide))  # type: ignore[arg-type]
    assert found.schema == ALL.cast(wide).schema  # type: ignore[arg-type]


def test_unusual_types_have_a_place(database: str) -> None:
    frame = pl.DataFrame(
        {
            "tiny": pl.Series([1, None], dtype=pl.Int8),
            "unsigned": pl.Series([2**32 - 1, None], dtype=pl.UInt32),
            "exact": pl.Series([Decimal("-12.50"), None], dtype=pl.Decimal(10, 2)),
            "category": pl.Series(["a", None], dtype=pl.Categorical),
            "nothing": [None, None],
            "time": [dt.time(1, 2, 3), None],
            "set": [["x", 'y"'], None],
            "zoned": pl.Series([dt.datetime(2020, 6, 1), None]).dt.replace_time_zone("Asia/Tokyo"),
        }
    )
    put(database, "t", frame)
    found = get(database, "t")
    assert found["tiny"].to_list() == [1, None]
    assert found["unsigned"].to_list() == [2**32 - 1, None]
    assert [cell and float(cell) for cell in found["exact"]] == [-12.5, None]
    assert found["category"].to_list() == ["a", None]
    assert found["nothing"].to_list() == [None, None]
    if database.startswith("sqlite"):
        # It has no types for these: text, as in a CSV file.
        assert found["set"].to_list() == ['["x", "y\\""]', None]
        assert found["zoned"].to_list() == ["2020-06-01 00:00:00+09:00", None]
    else:
        assert found["set"].to_list() == [["x", 'y"'], None]
        assert found["time"].to_list() == [dt.time(1, 2, 3), None]
        assert found["zoned"].to_list()[0] == frame["zoned"].to_list()[0]


def test_a_type_without_a_place_is_named(database: str) -> None:
    frame = pl.DataFrame({"a": [1], "odd": [{"x": 1}]})
    with pytest.raises(OutputError, match=r"has no type for the columns 'odd' \(Struct"):
        put(database, "t", frame)
    if database.startswith("postgresql"):
        long = pl.DataFrame({"ä" * 32: [1]})
        with pytest.raises(OutputError, match="Names of columns are too long"):
            put(database, "t", long)
        with pytest.raises(OutputError, match="is too long: 64 bytes, and postgresql keeps 63"):
            check_target([parse_target(database, "x" * 64)])  # type: ignore[list-item]


def test_null_and_empty_and_nan_are_missing(database: str) -> None:
    put(database, "t", pl.DataFrame({"s": ["", " ", "?", "x"], "f": [float("nan"), 1.0, None, 2]}))
    assert get(database, "t")["s"].to_list() == [None, None, "?", "x"]
    assert get(database, "t")["f"].to_list() == [None, 1.0, None, 2.0]
    assert read_source(source(database, "t"), ["?"])["s"].to_list() == [None, None, None, "x"]


def test_many_batches_are_one_table(database: str) -> None:
    rows = 2 * BATCH + 5
    frame = pl.DataFrame({"i": range(rows), "s": ["x"] * (rows - 1) + ["last"]})
    put(database, "t", frame)
    assert get(database, "t").sort("i").equals(frame)


def test_a_query_is_read(database: str) -> None:
    put(database, "t", ALL)
    found = get(database, query='select "int" as n, text from t where text is not null; ')
    assert found.sort("n")["n"].to_list() == [-(2**62), 1]
    assert get(database, query="select text from t -- a comment at the end").height == 3
    for query, words in (
        ("", "The query is empty"),
        ("select text from t where text = 'none'", "has column names .'text'. but no rows"),
        ("select nothing from t", "Cannot read a query on"),
        ("delete from t", "must be one SELECT that only reads|Cannot read a query on"),
        ("select 1 as a; delete from t", "must be one SELECT that only reads, and it has"),
    ):
        with pytest.raises(InputError, match=words):
            get(database, query=query)
    assert get(database, "t").height == 3
    if database.startswith("postgresql"):  # the others number them
        with pytest.raises(InputError, match="has duplicate column names: 'a'"):
            get(database, query="select 1 as a, 2 as a")


def test_a_table_must_be_named_and_exist(database: str) -> None:
    put(database, "patients", ALL)
    with pytest.raises(ParameterError, match=r"is a database. Say what .* the tables: 'patients'"):
        get(database)
    with pytest.raises(InputError, match=r"no table 'patint' .* Did you mean 'patients'\? It has"):
        get(database, "patint")
    put(database, '"a.b"', ALL)
    with pytest.raises(InputError, match=r"Did you mean '\"a.b\"', in double quotes\?"):
        get(database, "a.b")


def test_an_existing_table_is_replaced_only_with_force(database: str) -> None:
    put(database, "t", ALL)
    goal = parse_target(database, "t")
    assert isinstance(goal, Source)
    for call in (lambda: check_target([goal]), lambda: put(database, "t", ALL.head(1))):
        with pytest.raises(OutputError, match=r"already exists. Choose another name with"):
            call()
    check_target([goal], force=True)
    assert get(database, "t").height == 3
    put(database, "t", ALL.head(1).select("text"), force=True)
    assert get(database, "t").to_dict(as_series=False) == {"text": ["a"]}


def test_the_input_is_never_written_over(database: str) -> None:
    put(database, "t", ALL)
    goal = parse_target(database, "t")
    assert isinstance(goal, Source)
    query = "select a.text from t a join (select text from t) b on a.text = b.text"
    for given_ in (source(database, "t"), source(database, query=query)):
        with pytest.raises(OutputError, match="never writes over the data it reads"):
            check_target([goal], force=True, inputs=[given_])
        with (
            pytest.raises(OutputError, match="never writes over the data it reads"),
            written({goal: ALL}, force=True, inputs=[given_]),
        ):
            pass
    assert get(database, "t").height == 3


def test_a_view_is_not_replaced_and_hides_no_input(database: str, server: Server) -> None:
    put(database, "t", ALL)
    _view(database, server)
    assert get(database, "v").height == 3
    with pytest.raises(OutputError, match="is a view, which Shoal never replaces"):
        check_target([parse_target(database, "v")], force=True)  # type: ignore[list-item]
    with pytest.raises(OutputError, match="never writes over the data it reads"):
        check_target(
            [parse_target(database, "t")],  # type: ignore[list-item]
            force=True,
            inputs=[source(database, "v")],
        )


def _view(database: str, server: Server) -> None:
    sql = "create view v as select text from t"
    if database.startswith("postgresql"):
        server.sql(sql)
    elif database.startswith("duckdb"):
        import duckdb

        with duckdb.connect(database.removeprefix("duckdb:")) as connection:
            connection.execute(sql)
    else:
        import sqlite3

        with sqlite3.connect(database.removeprefix("sqlite:")) as connection:
            connection.execute(sql)
        connection.close()


def test_all_or_nothing(database: str) -> None:
    put(database, "t", ALL)
    goals = {parse_target(database, "t"): ALL.head(1), parse_target(database, "t_st"): ALL}
    with pytest.raises(KeyboardInterrupt), written(goals, force=True):  # type: ignore[arg-type]
        raise KeyboardInterrupt
    assert get(database, "t").height == 3
    with pytest.raises(InputError, match="has no table 't_st'"):
        get(database, "t_st")
    bad = {parse_target(database, "new"): ALL, parse_target(database, "t"): ALL}
    with (
        pytest.raises(OutputError, match="already exists"),
        written(bad),  # type: ignore[arg-type]
    ):
        pass
    with pytest.raises(InputError, match="has no table 'new'"):
        get(database, "new")


def test_a_new_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    for system in ("duckdb", "sqlite"):
        goal = parse_target(f"{system}:{tmp_path / system}", "t")
        with pytest.raises(KeyError), written({goal: ALL}):  # type: ignore[dict-item]
            raise KeyError
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(OutputError, match=r"the directory .*none does not exist. Create it"):
            check_target([parse_target(f"{system}:{tmp_path}/none/x", "t")])  # type: ignore[list-item]


exact = st.decimals(allow_nan=False, allow_infinity=False, places=4).filter(
    lambda number: abs(number) < 10**20
)


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=st.lists(st.none() | exact, min_size=20, max_size=60))
def test_exact_numbers_stay_exact_on_a_server(
    server: Server, numbers: list[Decimal | None]
) -> None:
    frame = pl.DataFrame({"x": pl.Series(numbers, dtype=pl.Decimal(38, 4))})
    put(server.address(), "n", frame.with_row_index("i"), force=True)
    found = get(server.address(), "n").sort("i")["x"]
    assert [None if cell is None else cell.normalize() for cell in found] == [
        None if cell is None else cell.normalize() for cell in numbers
    ]


@pytest.mark.parametrize("method", ["mondrian", "dummies", "anatomy"])
def test_a_release_of_every_shape_is_audited_from_the_database(
    database: str, people: pl.DataFrame, method: str
) -> None:
    put(database, "patients", people)
    rule: dict[str, object] = {"k": 3} if method == "mondrian" else {}
    if method != "mondrian":
        rules = {"dummies": shoal.LDiversity, "anatomy": shoal.FrequencyLDiversity}
        rule = {"rules": [rules[method](2, "disease")]}
    outcome = shoal.anonymize(
        database,
        table="patients",
        quasi=["age", "sex", "zip"],
        sensitive="disease",
        method=method,
        typed=method == "mondrian",
        **rule,  # type: ignore[arg-type]
    )
    assert isinstance(outcome.frame, pl.DataFrame)
    names = {"release": "out", "st": "out_st"}
    goals = {parse_target(database, names[name]): frame for name, frame in outcome.tables.items()}
    with written(goals):  # type: ignore[arg-type]
        pass
    released = get(database, "out")
    if method == "mondrian":
        assert released["age_lo"].dtype.is_integer()
    else:
        assert set(released["sex"]) == {"f", "m"}
    if method == "mondrian":
        return
    verdict = shoal.audit(
        f"{database}#out",
        quasi=["age", "sex", "zip"],
        sensitive=["disease"],
        original=f"{database}#patients",
        **rule,  # type: ignore[arg-type]
    )
    assert verdict.holds, verdict.faults
    assert verdict.models["shape"] == {"dummies": "dummies", "anatomy": "anatomized"}[method]


def test_a_declared_domain_goes_into_the_database_with_the_release(
    database: str, people: pl.DataFrame
) -> None:
    put(database, "patients", people)
    every = [*people["disease"].drop_nulls().unique().to_list(), "plague", "scurvy"]
    release = shoal.anonymize(
        database,
        table="patients",
        quasi=["age", "sex", "zip"],
        sensitive="disease",
        domain={"disease": every},
        method="dummies",
        l=len(every),
    )
    release.write(f"{database}#out")
    assert set(get(database, "out_domain")["value"]) == set(every)
    opened = shoal.open_release(f"{database}#out", quasi=["age", "sex"], sensitive="disease")
    assert opened.audit(l=len(every)).holds
    assert set(opened.estimate("disease").counts.values) == set(every)


def test_tables_are_read_and_written_from_python(database: str, people: pl.DataFrame) -> None:
    shoal.write_table(people, f"{database}#patients")
    found = shoal.read_table(f"{database}#patients")
    assert found.equals(people)
    with pytest.raises(OutputError, match="already exists"):
        shoal.write_table(people, database, into="patients")
    with pytest.raises(OutputError, match="never writes over the data it reads"):
        shoal.write_table(people, database, True, [f"{database}#patients"], into="patients")


def test_inspect_takes_an_address(database: str, people: pl.DataFrame) -> None:
    put(database, "patients", people)
    assert shoal.inspect(database, table="patients").rows == 60
    found = shoal.inspect(database, query="select age, sex from patients where age < 30")
    assert [look.column.name for look in found.columns] == ["age", "sex"]
    with pytest.raises(ParameterError, match=r"table= and query= go with the address of a databas"):
        shoal.inspect(people, table="x")


def test_a_table_too_large_for_memory_is_refused_while_it_is_read(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(database, "t", pl.DataFrame({"a": ["a text"] * 1000}))
    monkeypatch.setattr("shoal.base.memory.free_memory", lambda: 1000)
    with pytest.raises(InputError, match=r"has 1,000 rows and more, and reading it takes"):
        get(database, "t")


@pytest.mark.filterwarnings("ignore:The sets of values in column")
def test_a_published_table_says_nothing_that_is_not_published(database: str) -> None:
    rows = 60
    texts = {
        "who": [f"name-of-a-person-{i:03}" for i in range(rows)],
        "city": [f"name-of-a-city-{i:03}" for i in range(rows)],
        "ill": [f"name-of-an-illness-{i % 30:03}" for i in range(rows)],
    }
    table = pl.DataFrame(
        {name: pl.Series(t, dtype=pl.Enum(sorted({*t}))) for name, t in texts.items()}
    )
    table = table.with_columns(age=pl.Series([None if i % 7 == 0 else i for i in range(rows)]))
    release = shoal.anonymize(
        table,
        quasi=["age", "city"],
        sensitive="ill",
        identifier="who",
        method="k-member",
        options={"missing": "drop"},
        k=4,
    )
    release.write(parse_target(database, "release"))
    found = get(database, "release")
    published = found.select(pl.concat_str(pl.all())).to_series().str.join("\n").item()
    hidden = [text for cells in texts.values() for text in cells if text not in published]
    assert len(hidden) > rows
    assert found.columns == ["city", "ill", "age"]
    file = source(database, "release").address.path
    raw = b"" if file is None else Path(file).read_bytes()
    assert not [text for text in hidden if text.encode() in raw]
