"""The tasks that worker processes carry out for the page."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.base.errors import SchemaError, ShoalError, ShoalWarning
from shoal.base.partition import GroupStats
from shoal.base.roles import Role
from shoal.catalog import find_method
from shoal.catalog.extensions import require
from shoal.coding.encode import encode_hidden
from shoal.ext.web import hierarchies
from shoal.ext.web.feasible import feasibility
from shoal.ext.web.profiles import profile
from shoal.ext.web.read_options import on_the_page
from shoal.ext.web.temp_folder import safe_name
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.releases.open_release import open_published
from shoal.tables.compatibility import faults
from shoal.tables.find_hierarchies import find_hierarchies
from shoal.tables.hierarchy import write_hierarchy
from shoal.tables.open_table import read_data, resolve_schema
from shoal.tables.request import Request
from shoal.tables.schema import Schema
from shoal.verbs.first_plan import first_plan
from shoal.verbs.inspect import inspect, uniqueness

Tell = Callable[[str], object]

SIZES = (2, 5, 10, 20)

# The table that was read last: pages and runs ask about the same one again and again.
_last: dict[str, Any] = {}


def frame_of(table: Mapping[str, Any]) -> pl.DataFrame:
    """Read the table that a message names, or take it from the last message."""
    key = json.dumps(table, sort_keys=True)
    if _last.get("key") != key:
        _last.clear()
        frame, digest = read_data(table["path"], reading(table).data)
        _last.update(key=key, frame=frame, digest=digest, histograms={}, standing={})
    frame = _last["frame"]
    assert isinstance(frame, pl.DataFrame)
    return frame


def reading(table: Mapping[str, Any]) -> Plan:
    """Return the plan that says how a table is read, and nothing more."""
    data = {key: value for key, value in table.items() if key != "path" and value is not None}
    return Plan().changed({"data": data})


def sheets(_tell: Tell, *, path: str) -> dict[str, Any]:
    """Return the sheets of a workbook."""
    require("exchange")
    from shoal.ext.exchange.workbooks import sheet_names

    return {"names": sheet_names(Path(path))}


def warm(_tell: Tell) -> dict[str, Any]:
    """Import what every run needs, so that the first one does not wait for it."""
    import shoal.groupers.shoal
    import shoal.verbs.anonymize  # noqa: F401

    return {}


def look(tell: Tell, *, table: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Open a table, say what it holds, and suggest a plan; guessed hierarchies go to a folder."""
    tell("read")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ShoalWarning)
        frame = frame_of(table)
    tell("look")
    inspection = inspect(frame, reading(table), {})
    first = first_plan(inspection, reading(table))
    trees = Path(folder)
    for number, name in enumerate(frame.columns):
        if name in first.trees:
            file = trees / safe_name(name, number, ".csv")
            write_hierarchy(first.taxonomies[name], file, force=True)
    inspection = inspection.with_schema(first.schema)
    texts = [str(warning.message) for warning in heard] + inspection.look_alike_notes
    notes = [on_the_page(text) for text in texts]
    return profile(frame, inspection) | {"notes": notes}


def check(
    _tell: Tell,
    *,
    table: Mapping[str, Any],
    plan: str,
    folder: str,
    method: str,
    prove: bool = False,
) -> dict[str, Any]:
    """Say what stands in the way of a plan, what singles rows out, and what the table allows."""
    frame = frame_of(table)
    asked = Plan.from_toml(plan, "", Path(folder))
    found: list[str] = []
    schema: Schema | None = None
    try:
        taxonomies = find_hierarchies(asked, frame.columns)
        asked, schema = resolve_schema(frame, asked, taxonomies)
        for name, taxonomy in taxonomies.items():
            lacking = hierarchies.lacking(taxonomy, frame[name], schema[name])
            if lacking["rows"]:
                found.append(
                    f"The hierarchy of column {name!r} lacks {len(lacking['values']):,} values "
                    f"that are in {lacking['rows']:,} rows. Add them on its page."
                )
    except SchemaError as error:
        found += map(on_the_page, error.faults)
    except ShoalError as error:
        found.append(str(error))
    rules: list[dict[str, Any]] = []
    if schema is not None:
        whole = _whole(frame, schema)
        rules = feasibility(asked, schema.sensitive, whole)
        found += _fit(asked, schema, method, prove)
    names = {role: [n for n in asked.names(role) if n in frame.columns] for role in Role}
    return {
        "faults": found,
        "rules": rules,
        "standing": _standing(frame, names[Role.QUASI]),
        "known_too": _standing(frame, [*names[Role.QUASI], *names[Role.UNDECIDED]]),
        "beliefs": [_belief(frame, names[Role.QUASI], name) for name in names[Role.SENSITIVE]],
    }


def _fit(plan: Plan, schema: Schema, method: str, prove: bool) -> list[str]:
    try:
        entry, specs = find_method(method), [rule.spec for rule in plan.final().rules]
        rules = build_rules(specs, schema.sensitive)
    except ShoalError as error:
        return str(error).splitlines()
    return faults(Request(plan, entry, rules, schema, prove=prove))


def _whole(frame: pl.DataFrame, schema: Schema) -> GroupStats:
    kept: dict[Any, GroupStats] = _last["histograms"]
    key = schema.person, *((name, schema[name].missing) for name in schema.sensitive)
    if key not in kept:
        kept[key] = encode_hidden(frame, schema).whole()
    return kept[key]


def _standing(frame: pl.DataFrame, quasi: Sequence[str]) -> dict[str, Any] | None:
    """Say how many rows share their quasi-identifiers with few others, missing as a value."""
    if not quasi:
        return None
    kept: dict[Any, dict[str, Any]] = _last["standing"]
    key = tuple(quasi)
    if key not in kept:
        kept[key] = {"rows": frame.height, **uniqueness(frame, key, SIZES)}
    return kept[key]


def _belief(frame: pl.DataFrame, quasi: Sequence[str], sensitive: str) -> dict[str, Any]:
    """Say what is learned of a sensitive value in the table as it is, by who knows the rest.

    ``alone``: rows in classes that hold one known value only; ``belief``: the share of the
    likeliest value in a row's class, on average; ``guess``: that of the likeliest in the table.
    """
    kept: dict[Any, dict[str, Any]] = _last["standing"]
    key = ("belief", sensitive, *quasi)
    if key not in kept:
        # By number: polars would take a column called * or ^a$ for a pattern.
        by = [str(place) for place in range(len(quasi))]
        known = [frame[name].alias(place) for name, place in zip(quasi, by, strict=True)]
        cells = pl.DataFrame([*known, frame[sensitive].alias("value")]).drop_nulls("value")
        every = cells.with_columns(pl.lit(0).alias("all"))
        counted = every.group_by([*by, "all", "value"]).len("rows")
        belief = counted.group_by([*by, "all"]).agg(
            size=pl.col("rows").sum(), most=pl.col("rows").max(), values=pl.len()
        )
        rows = max(cells.height, 1)
        likeliest = counted.group_by("value").agg(pl.col("rows").sum())["rows"].to_numpy()
        kept[key] = {
            "column": sensitive,
            "alone": int(belief.filter(pl.col("values") == 1)["size"].sum()) / rows,
            "belief": int(belief["most"].sum()) / rows,
            "guess": int(likeliest.max(initial=0)) / rows,
        }
    return kept[key]


def tree(
    _tell: Tell, *, table: Mapping[str, Any], column: str, step: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Show, make, check or change the hierarchy of a column."""
    return hierarchies.work(frame_of(table), column, step, given)


def published(
    _tell: Tell, *, path: str, plan: str, folder: str, sensitive: Sequence[str]
) -> dict[str, Any]:
    """Open an earlier release with what is decided; say what it holds, or what it lacks."""
    asked = Plan.from_toml(plan, "", Path(folder))
    opened = open_published(path, asked)
    for name in sensitive:
        opened.view(name)
    return {"rows": opened.frame.height, "classes": opened.published.sizes.size}


def run(
    tell: Tell,
    *,
    table: Mapping[str, Any],
    plan: str,
    folder: str,
    target: str,
    command: str,
    name: str,
    shown_path: str,
    earlier: Mapping[str, str],
    prove: bool = False,
) -> dict[str, Any]:
    """Anonymize, measure, and write everything there is to take away; all of it or nothing."""
    from shoal.api.opening import read
    from shoal.ext.web import classes, results
    from shoal.report.release_report import Provenance
    from shoal.report.sections import try_attacks

    tell("read")
    frame = frame_of(table)
    asked = Plan.from_toml(plan, "plan.toml", Path(folder))
    opened = replace(read(frame, asked), digest=_last["digest"])
    release, made = opened.anonymize_to_look_into(tell, [*earlier.values()], prove=prove)
    release = release.with_original(opened)
    tell("attack")
    attacks, why = try_attacks(release.local_tables, opened.frame)
    tell("measure")
    view = results.view(release, attacks, why)
    view["made_of"] = {
        name: [part.role.value, part.kind and part.kind.value, _digest(asked, part.hierarchy)]
        for name, part in asked.columns.items()
        if part.role.published
    }
    view["picked"] = [] if view["exact"] else classes.pick(made, opened.settled.frame)
    tell("write")
    hidden = Path(f"{target}.part")
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(mode=0o700, parents=True)
    origin = Provenance(command, name, opened.digest)
    results.write(release, hidden, asked, view, attacks, origin, shown_path, [*earlier])
    hidden.rename(target)
    return view


def _digest(plan: Plan, hierarchy: str | None) -> str:
    """Return what tells one hierarchy from another, empty without one."""
    return hashlib.sha256(plan.path(hierarchy).read_bytes()).hexdigest() if hierarchy else ""


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "warm": warm,
    "look": look,
    "sheets": sheets,
    "check": check,
    "tree": tree,
    "published": published,
    "run": run,
}
