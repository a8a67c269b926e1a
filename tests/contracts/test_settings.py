"""Every key of a plan survives every way in and out: file, command, Python, page.

What a key may hold is read off its declaration, so that a new one is walked by itself.
"""

import contextlib
import inspect
import re
import shlex
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

import shoal
from shoal.api.table import Table
from shoal.base.errors import ShoalError
from shoal.catalog import RULES
from shoal.cli import anonymize as anonymize_command
from shoal.plan.apply_changes import arguments, promise_arguments
from shoal.plan.parts import LIMITS, TABLES
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import rules_asked
from shoal.plan.setting import declared_settings, join_texts, split_texts
from shoal.tables.open_table import merge_plan
from tests.inprocess import shoal as run_command

FRAME = pl.DataFrame(
    {"age": [20, 30, 20, 30] * 3, "town": list("abcb") * 3, "ill": list("xyz") * 4}
)
ROLES = {"age": {"role": "quasi"}, "town": {"role": "quasi"}, "ill": {"role": "sensitive"}}
KEYS = [(table, key) for table, part in TABLES.items() for key in part.model_fields]


def sample(table, key):
    """A value that is not the default, of the type that is declared."""
    field = TABLES[table].model_fields[key]
    kinds = [k for k in get_args(field.annotation) or (field.annotation,) if k is not type(None)]
    words = [word for kind in kinds for word in get_args(kind) if isinstance(word, str)]
    words += [word for word in kinds if isinstance(word, str)]
    if words:
        return words[-1]
    if key in ("role", "kind"):
        return {"role": "person", "kind": "ordered"}[key]
    if key == "same":
        return ["low=high,higher"]
    if "tuple" in str(field.annotation):
        return ["", "-1"] if (table, key) == ("data", "missing") else ["low", "high"]
    if bool in kinds:
        return not field.default
    if int in kinds:
        return 3
    return 0.25 if float in kinds else "x"


def plan_with(table, key):
    """A plan with one key set, and what is needed beside it."""
    columns = {name: dict(part) for name, part in ROLES.items()}
    base = Plan().replaced(method={"name": "mondrian"})  # which a paper has
    if table != "columns":
        return base.replaced(**{table: {key: sample(table, key)}, "columns": columns})
    columns["age"][key] = sample(table, key)
    return base.replaced(columns=columns)


@pytest.fixture
def heard(monkeypatch, tmp_path):
    """Run a command up to the point where the table would be read; return the plan it means."""

    def run(command, plan):
        said = []
        monkeypatch.setattr(
            anonymize_command,
            "_release",
            lambda _source, full, declare, *_: said.append(
                merge_plan(full, **declare(FRAME.columns))
            ),
        )
        monkeypatch.setattr("shoal.releases.history.store.history_of", lambda *_: None)
        (tmp_path / "plan.toml").write_text(plan.to_toml())
        (tmp_path / "seed.txt").write_text("7")
        (tmp_path / "seed.txt").chmod(0o600)
        done = run_command(tmp_path, *shlex.split(command)[1:])
        assert done.returncode == 0, done.stderr
        return said[0]

    return run


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_a_file_keeps_it(table, key) -> None:
    plan = plan_with(table, key)
    assert plan != Plan().replaced(columns=ROLES)
    assert Plan.from_toml(plan.to_toml()).tree() == plan.tree()


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_a_command_keeps_it(table, key, heard) -> None:
    plan = plan_with(table, key)
    command = plan.to_command("t.csv", ["--trust-plan"])
    assert heard(command, plan).asks_the_same(plan), command


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_python_keeps_it(table, key, monkeypatch, tmp_path) -> None:
    plan = plan_with(table, key)
    said = []
    monkeypatch.setattr(Table, "settled", None)
    monkeypatch.setattr("shoal.api.opening.find_hierarchies", lambda *_: {})
    monkeypatch.setattr(Table, "_carried_out", lambda _self, full, *_, **__: (said.append(full), 0))
    (tmp_path / "plan.toml").write_text(plan.to_toml())
    monkeypatch.chdir(tmp_path)
    call = plan.to_python("t.csv")
    exec(call.replace("'t.csv'", "FRAME"), {"shoal": shoal, "FRAME": FRAME})
    assert said[0].asks_the_same(plan), call


@pytest.mark.parametrize(("table", "key"), [("columns", "within"), ("release", "pseudonym")])
def test_no_command_asks_for_what_a_plan_refuses(table, key, heard) -> None:
    columns = ROLES | {"id": {"role": "person"}, "town": {"role": "quasi", "kind": "set"}}
    if table == "columns":
        columns["town"] = columns["town"] | {key: False}
    plan = Plan().replaced(columns=columns, **({} if table == "columns" else {table: {key: False}}))
    command = plan.to_command("t.csv")
    assert f"--{key}" not in command
    assert heard(command, plan).asks_the_same(plan), command


def test_flags_and_arguments_say_every_key_that_has_one() -> None:
    own = {
        (table, key): each
        for table in TABLES
        for key, each in declared_settings(TABLES[table]).items()
    }
    flagless = {place for place, setting in own.items() if setting.flag is None}
    assert {k for k in KEYS if "plan=" in plan_with(*k).to_python("t.csv")} == flagless
    # The flag of a domain takes a file, and that of a pseudonym a column, which the plan has not.
    flagless |= {("columns", "domain"), ("release", "pseudonym")}
    assert {k for k in KEYS if "--plan" in plan_with(*k).to_command("t.csv")} == flagless


def test_what_is_declared_is_read_by_some_code() -> None:
    """A setting that is declared, and that nobody carries out, would be taken and ignored."""
    home = Path(shoal.__file__).parent
    code = "\n".join(path.read_text() for path in home.rglob("*.py"))
    read = {*re.findall(r"\.(\w+)", code), *LIMITS}  # limits are asked one by one
    assert {key for table, key in KEYS if table != "evidence"} - read == set()


def test_everything_at_once_is_one_command(heard) -> None:
    columns = {
        "age": {"role": "quasi", "kind": "ordered", "top": 90, "coarsest": 10, "importance": 2.0},
        "city, or town": {"role": "quasi", "sets": "allowed", "order": ["a b", "c, d"]},
        "hospital": {"role": "quasi", "within": True},
        "ill": {"role": "sensitive"},
        "id": {"role": "person"},
    }
    release = {"pseudonym": True, "sets": "never", "suppress": 0.05, "slack": 0.1, "typed": True}
    rules = [{"name": "recursive-l-diversity", "l": 3, "c": 4.0}, {"name": "k-anonymity", "k": 4}]
    plan = Plan(seed=7).replaced(
        columns=columns,
        release=release,
        rules=rules,
        method={"name": "mondrian", "cuts": "relaxed"},
        data={"missing": ["", "?"], "encoding": "cp1252"},
    )
    command = plan.to_command("my table.csv")
    assert "--plan" not in command
    assert "--seed-file seed.txt" in command and "--seed " not in command
    assert heard(command, plan).asks_the_same(plan), command


FLAGS = [(entry, flag) for entry in RULES.values() for flag, _ in entry.flags]


@pytest.mark.parametrize(("entry", "flag"), FLAGS, ids=lambda each: getattr(each, "name", each))
def test_python_takes_every_flag_of_every_rule(entry, flag, monkeypatch) -> None:
    params = {param.name: param for param in entry.params}

    def value(param):
        if param.type is tuple:
            return ["ill=x"]
        return True if param.type is bool else param.choices[-1] if param.choices else 2

    names = {own.replace("-", "_"): name for own, name in entry.flags}
    first, asked = next(iter(names)), flag.replace("-", "_")
    given = {own: value(params[names[own]]) for own in {first, asked}}
    given = {own: 0.5 if own in ("alpha", "t") else number for own, number in given.items()}
    if entry.family:
        given[entry.family[0].replace("-", "_")] = entry.family[1]
    said = []
    monkeypatch.setattr(Table, "_carried_out", lambda _self, full, *_, **__: (said.append(full), 0))
    shoal.open(FRAME, quasi=["age"], sensitive=["ill"]).anonymize(**given)
    rules = [rule.spec for rule in said[0].rules if rule.name == entry.name]
    assert any(names[asked] in spec for spec in rules), (given, rules)
    with contextlib.suppress(ShoalError):  # a table that was not anonymized, without a history
        shoal.audit(FRAME, quasi=["age"], sensitive=["ill"], **given)


def test_one_value_of_a_rule_needs_no_list() -> None:
    one, listed = (rules_asked({"alpha": 0.5, "alpha-value": v}) for v in ("ill=x", ["ill=x"]))
    assert one == listed


def test_texts_come_back_from_one_text() -> None:
    texts = ["a", " b", "c ", "d, e", 'f"g', '"h"', "i\nj", "", "k=l"]
    assert split_texts(join_texts(texts)) == texts
    assert split_texts('a, "b ,c" ,d e') == ["a", "b ,c", "d e"]
    assert split_texts("a ,b", known={"a "}) == ["a ", "b"]


def test_signatures_write_every_argument_out() -> None:
    from shoal.verbs import attack, compare

    shown = inspect.signature(shoal.anonymize).parameters
    for name in (*arguments(), *promise_arguments(), "quasi", "method", "seed", "strict"):
        assert name in shown, name
    assert "sets" not in inspect.signature(Table.anonymize).parameters  # settled when it was opened
    for function, verb in ((shoal.compare, compare.compare), (shoal.attack, attack.attack)):
        real = inspect.signature(verb).parameters
        for name, parameter in inspect.signature(function).parameters.items():
            if name in real and name not in ("plan", "original", "keep", "table"):
                assert parameter.default == real[name].default, name
    for function in (shoal.open, shoal.open_release, shoal.audit, shoal.risk, shoal.compare):
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds
        for name, parameter in inspect.signature(function).parameters.items():
            wanted = parameter.annotation == "Any" or "None" in parameter.annotation
            assert parameter.default is not None or wanted, name


@pytest.mark.parametrize("function", [shoal.anonymize, shoal.compare, shoal.audit, shoal.open])
def test_an_unknown_argument_is_refused(function) -> None:
    meant = r"\(\) got an unexpected keyword argument 'quassi'\. Did you mean 'quasi'\?"
    with pytest.raises(TypeError, match=f"^{function.__name__}{meant}"):
        function(FRAME, quassi=["age"])


@pytest.mark.parametrize("word", ["kind", "grid", "domain"])
def test_an_argument_is_named_as_its_key(word: str) -> None:
    assert word in TABLES["columns"].model_fields
    assert word in inspect.signature(shoal.open).parameters
    with pytest.raises(TypeError, match=rf"'{word}s'\. Did you mean '{word}'\?"):
        shoal.anonymize(FRAME, **{f"{word}s": {"age": "x"}})


def test_an_unknown_argument_of_an_attack_is_refused() -> None:
    release = shoal.open_release(FRAME, quasi="age").with_original(FRAME)
    meant = r"'attaks'\. Did you mean 'attacks'\?"
    with pytest.raises(TypeError, match=meant):
        release.attack(attaks="linkage")
    with pytest.raises(TypeError, match=meant):
        shoal.attack(FRAME, original=FRAME, known="age", attaks="linkage")
