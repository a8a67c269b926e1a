"""Addresses: what they mean, and that no password is ever seen again."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.base import address
from shoal.base.address import hide, is_address, parse, take_passwords
from shoal.base.errors import InputError, ParameterError, PlanError
from shoal.plan.plan import Plan
from shoal.tables.source import Source, parse_place, parse_target, side_table

passwords = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["C", "Z"]), min_size=6
)


@pytest.mark.parametrize(
    ("text", "settings", "table"),
    [
        ("postgresql://host/db", {"host": "host", "dbname": "db"}, None),
        (
            "postgres://ann@host:5433/db#a.b",
            {"host": "host", "port": "5433", "user": "ann", "dbname": "db"},
            "a.b",
        ),
        (
            "postgresql://ann:p%40w@[::1]:1/my%20db?sslmode=require#t%20x",
            {
                "host": "::1",
                "port": "1",
                "user": "ann",
                "password": "p@w",
                "dbname": "my db",
                "sslmode": "require",
            },
            "t x",
        ),
        ("postgresql:///db?host=/tmp/x", {"dbname": "db", "host": "/tmp/x"}, None),
        ("postgresql://a:1,b/db", {"host": "a,b", "port": "1,", "dbname": "db"}, None),
        ("postgresql://", {}, None),
    ],
)
def test_a_server_is_read(text: str, settings: dict[str, str], table: str | None) -> None:
    found, named = parse(text)
    assert dict(found.settings) == settings
    assert named == table


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("sqlite:a/b.db", "a/b.db"),
        ("sqlite:/a/b.db", "/a/b.db"),
        ("sqlite:///a/b.db", "a/b.db"),
        ("sqlite:////a/b.db", "/a/b.db"),
        ("duckdb:x%23y.duckdb", "x#y.duckdb"),
    ],
)
def test_a_file_is_read(text: str, path: str) -> None:
    found, table = parse(text + "#t")
    assert found.path == Path(path)
    assert table == "t"


def test_what_is_an_address() -> None:
    assert is_address("duckdb:x")
    assert is_address("mysql://h/d")
    assert not is_address("people.csv")
    assert not is_address("C:\\people.csv")
    assert not is_address("a:b.csv")
    assert not is_address(Path("sqlite:x"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mysql://u:hunter22@h/db", "There is no database system 'mysql'"),
        ("postgresq://u:hunter22@h/db", "Did you mean 'postgresql'?"),
        ("postgresql:/u:hunter22@h/db", "does not begin with postgresql://"),
        ("postgresql://u:hun@ter22@h/db", "more than one @ before the host"),
        ("postgresql://u:hun/ter22@h/db", "there is an @ after the host"),
        ("postgresql://u:12#hunter22@h/db", "there is an @ after the host"),
        ("postgresql://u:12?hunter22@h/db", "there is an @ after the host"),
        ("postgresql://u:hunter%zz@h/db", "a % is not followed by two digits"),
        ("postgresql://u:hunter%ff@h/db", "a % is not followed by two digits"),
        ("postgresql://h:hunter22/db", "the port after the host is not a number"),
        ("postgresql://h/db/hunter22", "there is a / after the name of the database"),
        ("postgresql://h/db?hunter22", "not a list of option=value"),
        ("postgresql://u:***@h/db", "Leave it out (user@host) and give the password with PGPASS"),
        ("sqlite://u:hunter22@h/db", "a file has no host"),
        ("sqlite:x.db?mode=ro", "it has options after a ?"),
        ("duckdb:", "it names no file"),
    ],
)
def test_a_wrong_address_is_refused_without_repeating_it(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert words in str(caught.value)
    assert "hun" not in str(caught.value)
    assert "ter22" not in str(caught.value)


@given(passwords)
def test_no_password_is_shown(password: str) -> None:
    encoded = quote(password, safe="")
    text = f"postgresql://ann:{encoded}@host/db?sslpassword={encoded}&sslmode=require#t"
    source = parse_place(text)
    assert isinstance(source, Source)
    assert dict(source.address.settings)["password"] == password
    shown = "postgresql://ann:***@host/db?sslpassword=***&sslmode=require"
    assert str(source) == f"{shown}#t"
    assert source.address.bare == "postgresql://ann@host/db?sslmode=require"
    for seen in (repr(source), f"{source}", os.fspath(source), str(source.plan_keys(Path()))):
        assert encoded not in seen
        assert password not in seen
    # A driver may repeat it in any of these ways.
    said = f"no '{password}', no {encoded}, no {text}: sorry"
    assert password not in source.address.scrub(said)
    assert encoded not in source.address.scrub(said)
    assert pickle.loads(pickle.dumps(source)) == source


@given(passwords)
def test_the_command_line_takes_passwords_out_of_its_words(password: str) -> None:
    address._TAKEN.clear()
    words = ["audit", f"--original=postgresql://ann:{password}@host/db", "people.csv"]
    hidden = take_passwords(words)
    assert hidden == ["audit", "--original=postgresql://ann:***@host/db", "people.csv"]
    encoded = quote(password, safe="")
    hidden = take_passwords([f"postgresql://ann:{encoded}@two.host/db"])
    assert hidden == ["postgresql://ann:***@two.host/db"]
    assert dict(parse(hidden[0])[0].settings)["password"] == password


@pytest.fixture(autouse=True)
def nothing_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.base.address._TAKEN", {})


def test_one_address_has_one_password() -> None:
    with pytest.raises(InputError, match=r"ann:\*\*\*@h/db was given twice"):
        take_passwords(["postgresql://ann:a@h/db", "postgresql://ann:b@h/db"])


def test_hide_leaves_other_words_alone() -> None:
    assert hide("mail ann@x.org, see postgresql://ann@h/db") == (
        "mail ann@x.org, see postgresql://ann@h/db"
    )
    assert hide("at postgresql://ann:pw@h/db: no") == "at postgresql://ann:***@h/db: no"


def test_a_plan_holds_an_address_but_no_password(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[data]\nsource = "postgresql://ann:hunter22@h/db"\ntable = "t"\n')
    with pytest.raises(PlanError) as caught:
        Plan.read(file)
    assert str(caught.value) == (
        "plan.toml, line 2: the address postgresql://ann:***@h/db has a password. A plan is kept "
        "and passed on, so it never holds one: write postgresql://ann@h/db, and give the password "
        "with PGPASSWORD or in ~/.pgpass."
    )
    file.write_text('[data]\nsource = "postgresql://ann@h/db"\ntable = "t"\n')
    plan = Plan.read(file)
    assert plan.data.source == "postgresql://ann@h/db"
    assert Plan.from_toml(plan.to_toml()).data == plan.data
    # What is handed on does not tell where the originals are.
    assert plan.public()["data"] == {"missing": [""]}


@pytest.mark.parametrize("key", ["missing", "sourec", "delimiter.x", "source.x"])
def test_a_misplaced_password_is_not_repeated(key: str) -> None:
    with pytest.raises(PlanError) as caught:
        Plan.from_toml(f'[data]\n{key} = "postgresql://ann:hunter22@h/db"\n')
    assert "hunter22" not in str(caught.value)


def test_a_table_is_named_once() -> None:
    assert str(parse_place("sqlite:x.db", "t")) == "sqlite:x.db#t"
    assert str(parse_target("sqlite:x.db", "t")) == "sqlite:x.db#t"
    assert str(parse_target("new.duckdb", "t")) == "new.duckdb#t"
    with pytest.raises(ParameterError, match="The address names the table 'a', and --table or"):
        parse_place("sqlite:x.db#a", "b")
    with pytest.raises(ParameterError, match=r"Both a table \('t'\) and a query were given"):
        parse_place("sqlite:x.db", "t", "select 1")
    with pytest.raises(ParameterError, match=r"--table 't' goes with a database, and x.csv"):
        parse_place("x.csv", "t")
    with pytest.raises(ParameterError, match=r"is a database. Name the table that the release"):
        parse_target("sqlite:x.db")
    with pytest.raises(ParameterError, match=r"'a', and --into names 'b'. Keep one"):
        parse_target("sqlite:x.db#a", "b")
    with pytest.raises(ParameterError, match=r"--into 't' goes with a database, and x.csv is none"):
        parse_target("x.csv", "t")


def test_the_second_table_stands_beside_the_first() -> None:
    found = parse_target("sqlite:x.db", 's."a.b"')
    assert isinstance(found, Source)
    assert side_table(found, "st").table == 's."a.b_st"'
