"""A manifest that somebody forged: every field is compared, or named as not checked."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import shoal as package
from shoal.base.errors import ShoalError
from tests.cli.conftest import QUASI, Run

SEED = "98765432109876543210987"
ILL = ("--sensitive", "disease")
NAMED = ("--identifier", "name")
PERSON = ("--person", "name")
RUNS = {
    "rules": (*QUASI, *ILL, *NAMED, "--k", "4", "--l", "2", "--t", "0.5", "--coarsest", "age=20"),
    "people": (*QUASI, *ILL, *PERSON, "--k", "4", "--typed"),
    "anatomy": (*QUASI, *ILL, *NAMED, "--method", "anatomy", "--l", "2", "--l-kind", "frequency"),
    "series": (*QUASI, *ILL, *PERSON, "--m", "2", "--history", "history"),
}
GONE = object()
Audit = Callable[..., package.Verdict]


def forged(tree: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the place of every part of a manifest, with something false to put there."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield (key,), GONE
            yield from (((key, *place), own) for place, own in forged(value))
        yield ("added",), "x"
    elif isinstance(tree, list):
        yield from (
            ((at, *place), own) for at, part in enumerate(tree) for place, own in forged(part)
        )
        yield (), [] if tree else ["x"]
    elif isinstance(tree, bool):
        yield (), not tree
    elif isinstance(tree, (int, float)):
        yield (), tree + 1
    else:
        yield (), f"{tree}0"


def put(tree: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return a manifest with another value at a place."""
    whole = copy.deepcopy(tree)
    at: Any = whole
    for key in place[:-1]:
        at = at[key]
    if value is GONE:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return whole


def unnoticed(made: dict[str, Any], audit: Audit, folder: Path, part: str = "") -> list[Any]:
    """Return what may be forged in a manifest without a fault, and is not named as not checked."""
    true = audit(folder / "true.json")
    missed: list[Any] = []
    for place, value in forged(made):
        if not place[0].startswith(part):
            continue
        (folder / "forged.json").write_text(json.dumps(put(made, place, value)))
        try:
            found = audit(folder / "forged.json")
        except ShoalError:
            continue
        listed = found.models["not_checked"]
        named = place[0] in listed or ".".join(map(str, place)) in listed
        if not named and set(found.faults) <= set(true.faults):
            missed.append((place, value))
    return missed


@pytest.fixture
def release(shoal: Run, folder: Path) -> Callable[[str], dict[str, Any]]:
    def make(kind: str) -> dict[str, Any]:
        (folder / "history").mkdir()
        files = ("--seed", SEED, "-o", "r.csv", "--json", "figures")
        done = shoal("anonymize", "people.csv", *RUNS[kind], *files)
        assert done.returncode == 0, done.stderr
        made: dict[str, Any] = json.loads((folder / "r.csv.manifest.json").read_text())
        return made

    return make


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "kind",
    [
        "rules",
        "series",
        *(pytest.param(kind, marks=pytest.mark.deep) for kind in ("people", "anatomy")),
    ],
)
def test_every_field_is_compared_or_named_as_not_checked(
    release: Callable[[str], dict[str, Any]], folder: Path, kind: str
) -> None:
    made = release(kind)
    again = {"again": True, "data": folder / "people.csv", "seed": int(SEED)}
    history = {"history": folder / "history"} if kind == "series" else {}
    (folder / "true.json").write_text(json.dumps(made))
    for asked in ({}, *([history] if history else []), {**again, **history}):

        def audit(manifest: Path, asked: dict[str, Any] = asked) -> package.Verdict:
            return package.audit(folder / "r.csv", manifest=manifest, **asked)

        assert not unnoticed(made, audit, folder)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_field_of_the_figures_is_compared_when_made_again(
    release: Callable[[str], dict[str, Any]], folder: Path
) -> None:
    release("rules")
    made = json.loads((folder / "figures").read_text())["manifest"]
    (folder / "true.json").write_text(json.dumps(made))

    def again(manifest: Path) -> package.Verdict:
        asked: dict[str, Any] = {"again": True, "data": folder / "people.csv", "seed": int(SEED)}
        return package.audit(folder / "r.csv", manifest=manifest, **asked)

    # Without what is the steward's it is the manifest that may be sent.
    assert unnoticed(made, again, folder, "steward") == [(("steward",), GONE)]
    made["steward"]["plan"]["rules"][0]["k"] = 3
    (folder / "forged.json").write_text(json.dumps(made))
    found = package.audit(folder / "r.csv", manifest=folder / "forged.json")
    assert "The plan under 'steward' is not the one" in " ".join(found.faults)


def test_what_is_not_checked_is_printed_with_the_reason(
    release: Callable[[str], dict[str, Any]], shoal: Run, folder: Path
) -> None:
    release("rules")
    done = shoal("audit", "r.csv", "--manifest", "r.csv.manifest.json", "--json", "v.json")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert (
        "Not checked in the manifest: made, versions (it cannot be checked from a release)" in said
    )
    listed = json.loads((folder / "v.json").read_text())["not_checked"]
    assert set(listed) == {*("made", "versions", "engine", "keyed", "seeded"), "withheld"} | {
        *("method", "plan", "tied")
    }
    again = ("--again", "--data", "people.csv", "--seed", SEED)
    done = shoal("audit", "--manifest", "r.csv.manifest.json", *again)
    assert done.stdout.count("Not checked") == 1
    # Rules of one's own take the place of those of the manifest, which are named.
    done = shoal("audit", "--manifest", "r.csv.manifest.json", "--k", "2")
    assert "rules (other rules were asked for)" in done.stdout


def test_a_promise_that_no_rule_of_the_plan_says_was_not_measured(
    release: Callable[[str], dict[str, Any]], shoal: Run, folder: Path
) -> None:
    made = release("rules")
    more = {"promise": "everybody is safe", "holds": True, "reached": {"k": 900}}
    made["rules"].append(more)
    (folder / "more.json").write_text(json.dumps(made))
    done = shoal("audit", "r.csv", "--manifest", "more.json")
    assert done.returncode == 3
    assert "promises 'everybody is safe', which no rule of its plan says" in done.stdout
    for rules, said in (
        ([], "leaves out what was reached"),
        (
            [{**made["rules"][0], "holds": False}, *made["rules"][1:3]],
            "the audit found the opposite",
        ),
        (made["rules"][1:], "and by its plan the promise is"),
    ):
        (folder / "other.json").write_text(json.dumps({**made, "rules": rules}))
        done = shoal("audit", "r.csv", "--manifest", "other.json")
        assert done.returncode == 1 and said in done.stdout


def test_what_stands_twice_in_a_manifest_is_refused(
    release: Callable[[str], dict[str, Any]], refused: Callable[..., str], folder: Path
) -> None:
    made = json.dumps(release("rules"))
    (folder / "twice.json").write_text(made.replace('"rows":', '"rows": 4000, "rows":', 1))
    said = refused("audit", "r.csv", "--manifest", "twice.json")
    assert "'rows' stands there twice" in said
    (folder / "nan.json").write_text(made.replace('"rows": 40', '"rows": NaN', 1))
    assert "NaN is no number" in refused("audit", "r.csv", "--manifest", "nan.json")
    said = refused("audit", "r.csv", "--manifest", "r.csv.manifest.json", "--k", "0")
    assert "k" in said


def test_people_whom_the_audit_does_not_count_are_named(
    release: Callable[[str], dict[str, Any]], shoal: Run
) -> None:
    release("people")
    asked = ("audit", "r.csv", "--manifest", "r.csv.manifest.json")
    done = shoal(*asked)
    assert done.returncode == 3
    assert "different people (k-anonymity)', and that {'k': 4} was reached" in done.stdout
    done = shoal(*asked, "--again", "--data", "people.csv", "--seed", SEED)
    assert done.returncode == 0, done.stdout
