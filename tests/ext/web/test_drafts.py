"""Decisions as a plan and as a command line: both must say the same."""

from __future__ import annotations

import sys
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest

from shoal.api.functions import inspect
from shoal.catalog import METHODS, RULES
from shoal.ext.web import drafts, forms
from shoal.ext.web.pages import hierarchies
from shoal.ext.web.profiles import profile
from shoal.ext.web.state import title
from shoal.ext.web.temp_folder import private_folder, safe_name
from shoal.plan.plan import Plan

FRAME = pl.DataFrame(
    {
        "age": [1, 2, 3, 4],
        "city, or town": ["a", "b", "a", "?"],
        "diagnosis": ["x", "y", "x", "z"],
        "note": ["n1", "n1", "n2", "n2"],
    }
)
PROFILE = profile(FRAME, inspect(FRAME))


def plan(rules=None, method="shoal", columns=None, **more) -> Plan:
    draft = drafts.first_draft(PROFILE)
    draft["columns"] = columns or {
        "age": {"role": "quasi", "kind": "ordered"},
        "city, or town": {"role": "quasi", "kind": "set"},
        "diagnosis": {"role": "sensitive"},
    }
    if rules:
        draft["rules"] = rules
    draft["method"] = {"name": method, **drafts.defaults(METHODS[method].params)}
    return drafts.to_plan(draft | more, {"missing": ["", "?"]})


@pytest.mark.parametrize(
    "made",
    [
        plan(),
        plan([{"name": "k-anonymity", "k": 3}, {"name": "l-diversity", "l": 2}]),
        plan([{"name": "entropy-l-diversity", "l": 1.5}], "mondrian"),
        plan([{"name": "recursive-l-diversity", "l": 2, "c": 3.0}], "k-member"),
        plan([{"name": "alpha-k-anonymity", "alpha": 0.6, "k": 2}], "alpha-k"),
        plan([{"name": "t-closeness", "t": 0.3, "distance": "ordered"}], "incognito"),
        plan([{"name": "beta-likeness", "beta": 2.0, "enhanced": True}]),
        plan([{"name": "frequency-l-diversity", "l": 2}], "anatomy", seed=7),
        plan(release={"typed": True, "csv_safe": True}),
    ],
    ids=lambda made: title(made.final()),
)
def test_the_command_asks_for_the_same_as_the_plan(made) -> None:
    command = drafts.command(made, PROFILE, "my table.csv")
    assert command.startswith("shoal anonymize 'my table.csv' --quasi")
    # Reports show the command: it says where the seed is, not what it is.
    assert "--seed " not in command
    assert ("--seed-file seed.txt" in command) == (made.seed is not None)
    # tests/contracts/test_settings.py reads commands back.
    assert "--kind" not in command


@pytest.mark.parametrize(
    "made",
    [
        plan(columns={"age": {"role": "quasi", "kind": "taxonomy", "hierarchy": "h/age.csv"}}),
        plan([{"name": "l-diversity", "l": 2, "column": "diagnosis"}]),
        plan([{"name": "l-diversity", "l": 2}, {"name": "entropy-l-diversity", "l": 2}]),
        plan(
            [{"name": "k-anonymity", "k": 3}, {"name": "alpha-k-anonymity", "alpha": 0.6, "k": 2}]
        ),
    ],
)
def test_what_flags_cannot_say_is_left_to_the_plan(made) -> None:
    command = drafts.command(made, PROFILE, "t.csv")
    assert command == "shoal anonymize t.csv --plan plan.toml -o release.csv"
    assert Plan.from_toml(made.to_toml()).final().public() == made.final().public()


def test_what_nobody_decided_about_is_not_released() -> None:
    draft = drafts.first_draft(PROFILE)
    assert draft["columns"]["note"]["role"] == "undecided"
    assert draft["columns"]["diagnosis"]["role"] == "sensitive"
    read = drafts.from_form({"role.0": "quasi", "role.3": "nonsense"}, PROFILE, draft)
    assert drafts.roles_of(read) == drafts.roles_of(draft) | {"age": "quasi"}
    del draft["columns"]["note"]  # as an uploaded plan may
    assert drafts.roles_of(drafts.from_form({}, PROFILE, draft))["note"] == "drop"


def test_every_fault_of_a_draft_is_told_at_once() -> None:
    draft = drafts.first_draft(PROFILE)
    draft["rules"] = []
    draft["columns"] = {"age": {"role": "keep"}}
    draft["method"]["effort"] = "huge"
    with pytest.raises(drafts.Faults) as heard:
        drafts.to_plan(draft, {})
    text = str(heard.value)
    for part in ("No rule was chosen", "quasi-identifier", "'effort' parameter of shoal"):
        assert part in text


def test_every_parameter_of_the_catalog_has_a_control() -> None:
    entries = [*METHODS.values(), *RULES.values()]
    for entry in entries:
        for param in entry.params:
            control = forms.field(param, param.default, "x.")
            assert control["label"] == param.name
            assert control["meaning"]
            form = {f"x.{param.name}": str(control["value"])} if control["value"] != "" else {}
            if control["kind"] == "checkbox" and not control["value"]:
                form = {}
            read = drafts._values((param,), form, "x.")
            if param.default is not None:
                assert param.check(read[param.name], entry.name) == param.default


def test_file_names_are_safe_and_different() -> None:
    names = ["age", "../../etc/passwd", "", "a/b", "a b", "a_b", "column_3", "é", "x" * 300]
    made = [safe_name(name, i, ".csv") for i, name in enumerate(names)]
    assert len({name.lower() for name in made}) == len(made)
    assert made[0] == "age.csv"
    for name in made:
        assert "/" not in name
        assert not name.startswith(".")
        assert len(name) < 100


def test_where_no_process_can_be_asked_for_no_folder_is_taken_for_an_orphan(tmp_path, monkeypatch):
    # Windows: there is no getuid, and kill(pid, 0) would send ctrl-C.
    monkeypatch.delattr("os.getuid")
    monkeypatch.setattr("os.kill", lambda *_: pytest.fail("a signal was sent"))
    other = tmp_path / "shoal-page-999999999-x"
    other.mkdir()
    with private_folder(tmp_path) as folder:
        assert folder.exists()
        assert other.exists()
    assert not folder.exists()


def test_the_folder_is_private_and_goes_with_those_of_dead_servers(tmp_path) -> None:
    orphan = tmp_path / "shoal-page-999999999-x"
    orphan.mkdir()
    (orphan / "table.csv").write_text("secret")
    stranger = tmp_path / "shoal-page-notes"
    stranger.mkdir()
    with private_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "x").write_text("y")
        assert not orphan.exists()
    assert not folder.exists()
    assert stranger.exists()
    with pytest.raises(KeyboardInterrupt), private_folder(tmp_path) as folder:
        raise KeyboardInterrupt
    assert not folder.exists()
    assert Path(sys.executable).exists()


def test_what_has_an_order_is_generalized_to_intervals() -> None:
    frame = pl.DataFrame(
        {"a": [1, 2], "b": [1.5, 2.5], "c": [date(2024, 1, 1)] * 2, "d": [datetime(2024, 1, 1)] * 2}
    )
    columns = profile(frame, inspect(frame))["columns"]
    assert {drafts.usual_kind(column) for column in columns} == {"ordered"}
    ways = [hierarchies._usual(column) for column in columns]
    assert ways == ["intervals", "intervals", "dates", "dates"]
