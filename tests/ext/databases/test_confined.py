"""Queries and plans that somebody else wrote: they read one table, and do nothing else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

import shoal as public
from shoal.base.address import hide, take_passwords
from shoal.base.errors import InputError, PlanError
from shoal.tables.open_table import load_table, locate_table
from shoal.tables.source import parse_place
from shoal.tables.write_files import write_table
from tests.ext.databases.cluster import Server
from tests.ext.databases.conftest import Shoal

ESCAPE = "select 1 as a) as x; {}; select * from (select 2 as a"


@pytest.fixture
def filled(database: str) -> str:
    """The address of a database of each kind with a table t."""
    write_table(pl.DataFrame({"a": [1, 2]}), database, into="t")
    return database


def ask(address: str, query: str, *, plan: public.Plan | None = None) -> pl.DataFrame:
    plan = plan or public.Plan()
    return load_table(locate_table(address, plan, None, query), plan)


def ask_as_plan(address: str, query: str) -> pl.DataFrame:
    plan = public.Plan.from_toml(f"[data]\nquery = {query!r}")
    return load_table(locate_table(address, plan), plan)


@pytest.mark.parametrize(
    "text",
    [
        "select * from t; select 2",
        "select * from t; create table u (a int)",
        ESCAPE.format("create table u (a int)"),
        ESCAPE.format("select 3"),
        "insert into t values (3)",
        "create table u (a int)",
        "with gone as (delete from t returning a) select * from gone",
        "drop table t",
    ],
)
def test_only_one_select_is_run(filled: str, text: str) -> None:
    with pytest.raises(InputError, match=r"must be one SELECT that only reads|Check the query"):
        ask(filled, text)
    assert sorted(ask(filled, "select a from t;")["a"]) == [1, 2]
    with pytest.raises(InputError, match="Check the names"):
        ask(filled, "select * from u")


def test_a_query_of_duckdb_writes_no_file(tmp_path: Path) -> None:
    address = f"duckdb:{tmp_path}/x.db"
    write_table(pl.DataFrame({"a": [1]}), address, into="t")
    for text in (f"copy t to '{tmp_path}/out.csv'", ESCAPE.format(f"copy t to '{tmp_path}/o.csv'")):
        with pytest.raises(InputError):
            ask(address, text)
    with pytest.raises(InputError, match=r"it has 2 statements\. Nothing of it was run"):
        ask(address, f"select 1; copy t to '{tmp_path}/out.csv'")
    with pytest.raises(InputError, match="it is of the kind COPY"):
        ask(address, f"copy t to '{tmp_path}/out.csv'")
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]


def test_duckdb_reads_other_files_only_where_the_user_names_them(tmp_path: Path) -> None:
    path, address = tmp_path / "other.csv", f"duckdb:{tmp_path}/x.db"
    path.write_text("a\n7\n")
    query = f"select * from read_csv('{path}')"
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute(f"create view v as {query}")
    assert ask(address, query)["a"].to_list() == [7]
    for attempt in (
        lambda: ask_as_plan(address, query),
        lambda: load_table(parse_place(address, "v"), PLAN),
    ):
        with pytest.raises(InputError, match=r"Neither a view nor a plan may read other files"):
            attempt()


PLAN = public.Plan()


@pytest.mark.parametrize(
    "text",
    ["attach 'new.db' as n", "pragma user_version = 3", "select load_extension('evil')"],
)
def test_a_query_of_sqlite_attaches_sets_and_loads_nothing(tmp_path: Path, text: str) -> None:
    address = f"sqlite:{tmp_path}/x.db"
    write_table(pl.DataFrame({"a": [1]}), address, into="t")
    with pytest.raises(InputError, match=r"must be one SELECT that only reads, and it does more"):
        ask(address, text)
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]


def test_a_plan_alone_sends_nothing_to_a_server(server: Server) -> None:
    query = "select pg_read_file('PG_VERSION') as a"
    with pytest.raises(PlanError, match=r"holds a query for postgresql.*functions.*--trust-plan"):
        ask_as_plan(server.address(), query)
    text = f"[data]\nsource = {server.address()!r}\ntable = 'patients'"
    plan = public.Plan.from_toml(text)
    with pytest.raises(PlanError, match=r"names the server postgresql.*password.*--trust-plan"):
        locate_table(None, plan)
    trusted = public.Plan.from_toml(text, trust=True)
    assert load_table(locate_table(None, trusted), trusted).height == 60
    assert ask(server.address(), "select age from patients", plan=plan).height == 60


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A plan in a folder of its own, a table and hierarchies beside the folder."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "zip.csv").write_text("".join(f"{n};*\n" for n in range(8)))
    rows = "".join(f"{n},{n % 3}\n" for n in range(8))
    (tmp_path / "t.csv").write_text(f"zip,d\n{rows}")
    return tmp_path


PARTS = {
    "hierarchy": ("", "hierarchy = '../trees/zip.csv'\n"),
    "absolute": ("", "hierarchy = '{tmp}/trees/zip.csv'\n"),
    "folder": ("[data]\nhierarchies = '../trees'\n", ""),
    "source": ("[data]\nsource = '../t.csv'\n", ""),
    "link": ("", "hierarchy = 'link.csv'\n"),
    "link in a folder": ("[data]\nhierarchies = 'trees'\n", ""),
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_a_plan_reads_outside_its_folder_only_when_trusted(
    folders: Path, parts: tuple[str, str], shoal: Shoal
) -> None:
    tree = folders / "trees" / "zip.csv"
    (folders / "plans" / "link.csv").symlink_to(tree)
    (folders / "plans" / "trees").mkdir()
    (folders / "plans" / "trees" / "zip.csv").symlink_to(tree)
    head, column = parts
    path = folders / "plans" / "plan.toml"
    path.write_text(
        f"{head}[columns.zip]\nrole = 'quasi'\n{column.format(tmp=folders)}"
        "[[rules]]\nname = 'k-anonymity'\nk = 2\n"
    )
    data = [] if "source" in head else [folders / "t.csv"]
    code, _, said = shoal("anonymize", *data, "--plan", path, "-o", "out.csv")
    assert code == 2
    assert "which lies outside its own folder" in said
    assert "--trust-plan" in said
    assert not (folders / "out.csv").exists()
    code, _, said = shoal("anonymize", *data, "--plan", path, "--trust-plan", "-o", "out.csv")
    assert code == 0, said


def test_what_the_user_names_needs_no_trust(folders: Path, shoal: Shoal) -> None:
    path = folders / "plans" / "plan.toml"
    path.write_text(
        "[data]\nsource = '../nowhere.csv'\nhierarchies = '../trees'\n"
        "[columns.zip]\nrole = 'quasi'\n[[rules]]\nname = 'k-anonymity'\nk = 2\n"
    )
    words = ("anonymize", folders / "t.csv", "--plan", path, "--hierarchies", folders / "trees")
    code, _, said = shoal(*words, "-o", "out.csv")
    assert code == 0, said


@pytest.mark.parametrize(
    "text",
    ["root:SECRET1:0\nbin:SECRET2:1\n", "a;SECRET1\nb;SECRET2\n", "a;*\nSECRET1\n", "SECRET1;;*\n"],
)
def test_no_error_repeats_a_file_that_is_no_hierarchy(folders: Path, text: str) -> None:
    (folders / "trees" / "zip.csv").write_text(text)
    with pytest.raises(public.ShoalError, match="hierarchy of column 'zip'") as caught:
        public.anonymize(folders / "t.csv", quasi=["zip"], k=2, hierarchies=folders / "trees")
    assert "SECRET" not in str(caught.value)


def test_a_password_among_pairs_is_hidden(shoal: Shoal) -> None:
    for text in (
        "host=h password=geheim dbname=d",
        "host=h password = 'ge heim\\'s' dbname=d",
        "password=geheim",
    ):
        code, out, said = shoal("inspect", text)
        assert code == 2
        assert "in the form key=value" in said
        assert "heim" not in out + said
    assert hide("could not connect: user=u PASSWORD='geheim' x") == (
        "could not connect: user=u PASSWORD=*** x"
    )
    assert take_passwords(["host=h password=geheim", "select 1 where password='a'"]) == [
        "host=h password=***",
        "select 1 where password='a'",
    ]
    with pytest.raises(PlanError, match="in the form key=value") as caught:
        public.Plan.from_toml("[data]\nsource = 'host=h password=geheim'")
    assert "geheim" not in str(caught.value)
