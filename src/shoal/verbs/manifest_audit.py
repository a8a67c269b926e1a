"""Compare a release with its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from shoal.base.errors import format_names
from shoal.base.to_json import to_plain_data
from shoal.catalog import find_method
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import flatten
from shoal.privacy.base import describe_rule
from shoal.releases.history.store import History
from shoal.releases.open_release import SIDES
from shoal.releases.opened import Opened
from shoal.releases.verdict import RuleResult, Verdict
from shoal.tables.files import second_path
from shoal.verbs.manifest import (
    HMAC,
    LIBRARIES,
    digest_and_size,
    is_manifest,
    left_out,
    manifest_path,
    read_manifest,
    tied_of,
    without_listed_texts,
)
from shoal.verbs.provenance import keyed_digest, of_plan
from shoal.verbs.run import versions

_RUN = "it cannot be checked from the published cells; --again (again=True) checks it"
NOT_CHECKED = {
    "made": "it cannot be checked from a release",
    "versions": "it cannot be checked from a release",
    "engine": _RUN,
    "keyed": _RUN,
    "seeded": _RUN,
    "withheld": _RUN,
    "method": f"the kind of release fits it, but {_RUN}",
    "plan": "the release keeps its roles, rules and limits; --again (again=True) checks the rest",
    "tied": "only the history of the series can confirm it: --history (history=...)",
    "steward": f"its plan fits its key; the rest: {_RUN}",
}
"""The fields of a manifest that no published cell proves or refutes, each with the reason."""
ALWAYS = ("made", "versions")
"""Those that making the release again does not show either."""


@dataclass(frozen=True)
class Remade:
    """What making a release again found.

    ``faults``: what is not as the manifest says. ``verified``: what the run verified, None if the
    bytes differ. ``unchecked``: what it could not compare, and why.
    """

    faults: Sequence[str]
    verified: Verdict | None
    unchecked: Mapping[str, str]


@dataclass(frozen=True)
class AuditedRelease:
    """A release as it was audited: where, by which plan of its manifest, and what was found.

    ``released``: its file, None if it is no file of this machine. ``others``: other rules were
    asked for than those of the plan.
    """

    released: Path | None
    opened: Opened
    plan: Plan
    verdict: Verdict
    history: History | None = None
    others: bool = False


def compare_with_manifest(
    made: Mapping[str, Any], folder: Path, audited: AuditedRelease, remade: Remade | None = None
) -> Verdict:
    """Return the verdict of an audit beside a manifest: what differs from it is a fault.

    Whatever the manifest says is compared, or named under ``not_checked``, with the reason.
    """
    verdict, opened = audited.verdict, audited.opened
    if remade is not None and remade.verified is not None and not audited.others:
        verdict = _with_people(verdict, remade.verified)
    pairs = _pairs(made, audited, verdict)
    untold = list(_unmeasured([pair for pair in pairs if pair.found is None or pair.matches]))
    faults = [
        *changed_files(made, folder, audited.released, opened),
        *_contradictions(made, audited.plan, opened),
        *_changed_rows(made, opened),
        *_changed_rules(pairs, bound="at_least" in verdict.models),
        *_changed_series(made, opened, audited.history),
        *(() if remade is None else remade.faults),
        *untold,
    ]
    return replace(
        verdict,
        holds=verdict.holds and not faults,
        faults=(*verdict.faults, *faults),
        untold=(*verdict.untold, *untold),
        models={**verdict.models, "not_checked": _not_checked(made, audited, remade)},
    )


def _not_checked(
    made: Mapping[str, Any], audited: AuditedRelease, remade: Remade | None
) -> dict[str, str]:
    """Return the fields of a manifest that were compared with nothing, each with the reason."""
    fields = {key: why for key, why in NOT_CHECKED.items() if key in made or key == "tied"}
    if remade is not None:
        fields = {key: fields[key] for key in ALWAYS} | dict(remade.unchecked)
    elif audited.history and audited.history.numbers(audited.opened.frame):
        fields.pop("tied", None)
    if made.get("steward", {}).get("plan", {}).get("evidence"):
        fields["steward.plan.evidence"] = "people wrote it, and no run depends on it"
    if "at_least" in audited.verdict.models and remade is None:
        fields["rules.reached"] = audited.verdict.models["at_least"].rstrip(".")
    if audited.others:
        fields["rules"] = "other rules were asked for"
    return fields


def _with_people(verdict: Verdict, verified: Verdict) -> Verdict:
    """Take the count of people, which no cell shows, from a run that made the same bytes."""
    if verdict.faults != (verdict.models.get("uncounted"),):
        return verdict
    models = {key: value for key, value in verdict.models.items() if key != "uncounted"}
    return replace(
        verdict,
        holds=True,
        faults=(),
        models=models,
        people=verified.people,
        rules=verified.rules,
        achieved=verified.achieved,
    )


def _contradictions(made: Mapping[str, Any], plan: Plan, opened: Opened) -> Iterator[str]:
    """Say where a manifest contradicts its own plan, or its plan the form of the release."""
    method = plan.final().method
    if made["method"] != to_plain_data(method.model_dump()):
        yield f"The manifest names the method {made['method']}, and its plan {method.model_dump()}."
    shape = find_method(method.name).shape
    if shape is not opened.shape:
        yield (
            f"The manifest says that the method {method.name!r} made it, which publishes a release "
            f"of the kind {shape.name!r}, and this is one of the kind {opened.shape.name!r}."
        )
    held = left_out({name: part.role for name, part in plan.columns.items()}, plan)
    if made["left_out"] != held:
        yield f"The manifest says that {made['left_out']} was left out, and by its plan {held} was."
    if there := [name for name in made["left_out"] if opened.has(name)]:
        yield f"The manifest says that {format_names(there)} was left out, and the release has it."
    if made["keyed"]["how"] != HMAC:
        yield f"The manifest has digests by {made['keyed']['how']!r}, and Shoal takes {HMAC}."
    if twice := [key for key in made["withheld"] if _has(made["plan"], key)]:
        yield f"The manifest says that it withholds {format_names(twice)}, and shows it."
    yield from _other_steward(made, plan)


def _has(tree: Any, key: str) -> bool:
    """Tell whether a tree has a key such as ``columns.NAME.order``; a name may hold dots."""
    if not isinstance(tree, Mapping):
        return False
    return key in tree or any(
        _has(own, key.removeprefix(f"{name}."))
        for name, own in tree.items()
        if key.startswith(f"{name}.")
    )


def _other_steward(made: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    """Say where the manifest in the figures of a run differs from what it shows of its plan."""
    if "steward" not in made:
        return
    if (made["plan"], sorted(made["withheld"])) != (
        to_plain_data(without_listed_texts(plan)[0]),
        sorted(without_listed_texts(plan)[1]),
    ):
        yield "The plan under 'steward' is not the one that the manifest shows."
    if (
        keyed_digest(bytes.fromhex(made["steward"]["key"]), "plan", of_plan(plan))
        != made["keyed"]["plan"]
    ):
        yield "The plan under 'steward' is not the one of the run: its keyed digest differs."


def _changed_rows(made: Mapping[str, Any], opened: Opened) -> list[str]:
    rows = opened.frame.height
    return (
        []
        if made["rows"] == rows
        else [f"The manifest says {made['rows']} rows; there are {rows}."]
    )


@dataclass(frozen=True)
class _Pair:
    """A rule as a manifest says it (``told``), and as the audit found it.

    ``of_people``: its promise, where people are counted or should have been; else empty.
    """

    told: Mapping[str, Any] | None
    found: RuleResult | None
    of_people: str = ""

    @property
    def matches(self) -> bool:
        """Whether both are of one promise, which may have been measured on rows alone."""
        if self.told is None or self.found is None:
            return False
        return self.told["promise"] in (self.found.promise, self.of_people)


def _pairs(made: Mapping[str, Any], audited: AuditedRelease, verdict: Verdict) -> list[_Pair]:
    """Return every rule of a manifest with what was found of it, and those that it leaves out.

    Where other rules were asked for, those of the same promise belong together.
    """
    if audited.others:
        by_promise: dict[str, list[RuleResult]] = {}
        for result in verdict.rules:
            by_promise.setdefault(result.promise, []).append(result)
        told = [rule for rule in made["rules"] if rule["promise"] in by_promise]
        return [_Pair(rule, by_promise[rule["promise"]][0]) for rule in told]
    specs = [part.spec for part in audited.plan.final().rules]
    rules = flatten(build_rules(specs, audited.opened.sensitive))
    counted = verdict.people is not None or "uncounted" in verdict.models
    found = [
        (result, describe_rule(rule, "people") if counted else "")
        for rule, result in zip(rules, verdict.rules, strict=False)
    ]
    return [
        _Pair(told, *(result or (None,)))
        for told, result in zip_longest(made["rules"], found, fillvalue=None)
    ]


def _changed_rules(pairs: Sequence[_Pair], *, bound: bool) -> Iterator[str]:
    """Say where a manifest promises or reports of its rules what the audit did not find.

    ``bound``: the figures of the audit are lower bounds, which refute none.
    """
    for pair in pairs:
        told, found = pair.told, pair.found
        if found is None:
            continue
        if told is None:
            yield f"The manifest leaves out what was reached of its plan's {found.promise!r}."
        elif not pair.matches:
            yield (
                f"The manifest promises {told['promise']!r}, and by its plan the promise is "
                f"{found.promise!r}."
            )
        elif told["holds"] != found.holds:
            yield (
                f"The manifest says of {told['promise']!r} that it "
                f"{'holds' if told['holds'] else 'does not hold'}; the audit found the opposite."
            )
        elif told["promise"] == found.promise and not bound:
            reached = to_plain_data(dict(found.achieved))
            if told["reached"] != reached:
                yield (
                    f"The manifest says that this was reached: {told['promise']} "
                    f"({told['reached']}); the audit found {reached}."
                )


def _unmeasured(pairs: Sequence[_Pair]) -> Iterator[str]:
    """Say which promises of a manifest the audit could not measure."""
    for told, found in ((pair.told, pair.found) for pair in pairs if pair.told is not None):
        if found is None:
            yield (
                f"The manifest promises {told['promise']!r}, which no rule of its plan says: it "
                "was not measured. Ask for that rule to measure it."
            )
        elif told["promise"] != found.promise:
            yield (
                f"The manifest promises {told['promise']!r}, and that {told['reached']} was "
                "reached. People were not counted: it was not measured."
            )


def _changed_series(made: Mapping[str, Any], opened: Opened, history: History | None) -> list[str]:
    """Say that a manifest names another place in a series than its history."""
    numbers = [] if history is None else history.numbers(opened.frame)
    if history is None or not numbers:
        return []
    known = [{"series": history.series, "number": n + 1} if history.series else {} for n in numbers]
    if dict(tied_of(made)) in known:
        return []
    return [f"The manifest says {made.get('tied')} of its series, and the history {known[-1]}."]


def changed_files(
    made: Mapping[str, Any], folder: Path, released: Path | None, opened: Opened | None = None
) -> list[str]:
    """Say which files of a release are not what the manifest says, or not there.

    ``opened``: what was read of ``released``, should the file have changed since.
    """
    faults = []
    named = {released.resolve()} if released is not None else set()
    if released is not None and opened is not None and not released.is_dir():
        seconds = (second_path(released, name) for name in SIDES)
        named |= {path.resolve() for path in seconds if path.exists()}
    for name, told in made["files"].items():
        path = (folder / name).resolve()
        named.discard(path)
        if not path.is_file():
            faults.append(f"{name} is named in the manifest and is not in the same folder.")
            continue
        digest, size = digest_and_size(path)
        if released is not None and opened is not None and path == released.resolve():
            digest = opened.digest or digest
        if digest != told["sha256"]:
            faults.append(f"{name} is not the file that was released: its SHA-256 differs.")
        elif size != told["bytes"]:
            faults.append(
                f"The manifest says that {name} has {told['bytes']} bytes; it has {size}."
            )
    if released is not None and released.is_dir():
        named = set()
    faults += [f"{path.name} is not named in the manifest." for path in sorted(named)]
    return faults


def beside_another(released: Path, digest: str) -> list[str]:
    """Say that the manifest beside a file is of another file; ``digest``: of what was read."""
    path = manifest_path(released)
    if path is None or not is_manifest(path):
        return []
    told = read_manifest(path)["files"].get(released.name)
    if told is None or digest in ("", told["sha256"]):
        return []
    return [
        f"{path.name} next to it describes another file: the SHA-256 differs. Either the file was "
        "changed since, or the manifest is that of an earlier release."
    ]


def other_versions(made: Mapping[str, Any]) -> list[str]:
    """Return what was another version then: bytes may differ by it."""
    now = versions(*LIBRARIES)
    then: Mapping[str, str] = made.get("versions", {})
    return [f"{n} {then[n]} then, {now[n]} now" for n in now if then.get(n, now[n]) != now[n]]


def differing(then: Mapping[str, Any], now: Mapping[str, Any]) -> Sequence[str]:
    """Say which parts of what a run was made from were others, by their keyed digests."""
    words = {"table": "the table", "plan": "the plan"}
    told = [words[key] for key in words if then.get(key) != now.get(key)]
    if len(told) == len(words):  # all are kept under one key, which comes from the seed
        return ["the seed (or all that it was made from)"]
    if "file" in now and then.get("file") != now["file"]:
        told.append("the bytes of its file")
    trees, own = then.get("hierarchies", {}), now.get("hierarchies", {})
    others = sorted(name for name in trees.keys() | own.keys() if trees.get(name) != own.get(name))
    return [*told, *(f"the hierarchy of {name!r}" for name in others)]


def differences(then: Any, now: Any, where: str = "") -> Iterator[str]:
    """Say where two trees differ, by the names of the keys that lead there."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*then, *now]):
            inner = f"{where}.{key}" if where else str(key)
            yield from differences(then.get(key), now.get(key), inner)
    elif then != now:
        yield f"{where} is {then} in the manifest, and it is {now}."


def manifest_beside(released: Path, digest: str) -> dict[str, Any] | None:
    """Return the manifest beside a file if it is of this file; ``digest``: of what was read."""
    path = manifest_path(released)
    if path is None or not is_manifest(path) or beside_another(released, digest):
        return None
    made = read_manifest(path)
    return made if digest and released.name in made["files"] else None


def claimed_m(made: Mapping[str, Any]) -> int | None:
    """Return the m of the m-invariant series that a release is one of, by its manifest."""
    plan = made["plan"]
    rules = plan.get("rules", []) if isinstance(plan, dict) else []
    found = [rule.get("m") for rule in rules if isinstance(rule, dict)]
    return next((m for m in found if isinstance(m, int) and m >= 2), None)
