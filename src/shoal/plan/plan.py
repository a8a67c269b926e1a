"""The class Plan: everything that repeats a run, also as a TOML file."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr, ValidationError

from shoal.base.address import hide
from shoal.base.errors import ParameterError, PlanError, ShoalError
from shoal.base.params import Param
from shoal.base.parsing import Unreadable
from shoal.base.roles import Role
from shoal.catalog import DEFAULT_RULE, METHODS, RULES, AsInPaper, find_paper
from shoal.plan import text as plan_text
from shoal.plan.apply_changes import apply_changes, collect_changes
from shoal.plan.data import DataPart
from shoal.plan.faults import describe_fault, option_faults
from shoal.plan.origin import Origin, leads_out, refuse_untrusted
from shoal.plan.parts import ColumnPart, EvidencePart, MethodPart, ReleasePart, RulePart
from shoal.plan.rule_specs import smallest_class
from shoal.plan.setting import Part


class Plan(Part):
    """A run, declared. Columns that are not named are not released.

    Parameters
    ----------
    seed
        Repeats the run, byte for byte. Keep it to yourself: it also tells the row order, and a
        short one can be found by trying. Without one, randomness comes from the operating system.
    data, columns, method, rules, release, evidence
        The tables of the file, see ``shoal init``.
    """

    seed: int | None = Field(default=None, ge=0, repr=False)
    data: DataPart = DataPart()
    columns: dict[str, ColumnPart] = Field(default_factory=dict)
    method: MethodPart = MethodPart()
    rules: tuple[RulePart, ...] = (RulePart(name=DEFAULT_RULE),)
    release: ReleasePart = ReleasePart()
    evidence: EvidencePart = EvidencePart()

    _origin: Origin = PrivateAttr(default_factory=Origin)
    _seeded: bool = PrivateAttr(default=False)

    @classmethod
    def from_toml(
        cls, text: str, source: str = "plan", folder: Path | None = None, *, trust: bool = False
    ) -> Plan:
        """Read a plan from TOML text; every fault is reported at once, with its line.

        ``trust``: let it read what lies outside ``folder``, and ask a server; a plan may have been
        written by somebody else.
        """
        advice = "Correct it (a plan needs three levels), or write one with: shoal init DATA."
        with Unreadable(f"{source} is not valid TOML", advice, PlanError).parsing("toml"):
            tree = tomllib.loads(text)
        plan = _validated(tree, source, text)
        plan._origin = Origin(folder or Path(), trust)
        return plan

    @classmethod
    def read(cls, path: str | Path, *, trust: bool = False) -> Plan:
        """Read ``plan.toml``; paths in it are relative to its folder.

        ``trust``: let it read what lies outside its folder, and ask a server.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise PlanError(
                f"The plan {str(path)!r} does not exist. Write one with: shoal init DATA -o {path}"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise PlanError(f"The plan {str(path)!r} cannot be read: {error}.") from None
        return cls.from_toml(text, path.name, path.parent, trust=trust)

    @classmethod
    def from_public(cls, tree: Mapping[str, Any], folder: Path) -> Plan:
        """Make a plan of what :meth:`public` told; paths in it start at ``folder`` and stay there.

        ``tree`` may come from somebody else.
        """
        plan = _validated(tree, "the manifest", "")
        plan._origin = Origin(folder, False)
        return plan

    def read_as(self, other: Plan) -> Plan:
        """Return the plan with paths that start, and may lead, where another one's do."""
        plan = self._copy()
        plan._origin = other._origin
        return plan

    def to_toml(self, reasons: Mapping[str, str] | None = None) -> str:
        """Write the plan as commented TOML; ``reasons`` become comments of the columns."""
        return plan_text.write(self.tree(), reasons or {})

    def public(self) -> dict[str, Any]:
        """Return the plan as plain data for manifests and reports.

        Without the seed, and without where the original table is and what was asked there: a
        query can name persons. Domains are sorted: who declares one lists last what nobody has.
        """
        tree = self.tree()
        for part in tree["columns"].values():
            if "domain" in part:
                part["domain"] = sorted(part["domain"])
        tree.pop("seed", None)
        where = ("source", "table", "query", "history")
        tree["data"] = {key: value for key, value in tree["data"].items() if key not in where}
        return tree

    @property
    def declares_domain(self) -> bool:
        """Whether a column declares its domain."""
        return any(part.domain is not None for part in self.columns.values())

    def names(self, role: Role) -> list[str]:
        """Return the columns of one role, in the order of the plan."""
        return [name for name, part in self.columns.items() if part.role == role]

    def allows_sets(self, name: str) -> bool:
        """Tell whether a column of names may be published as sets of values."""
        own = self.columns[name].sets if name in self.columns else None
        return (own or self.release.sets) != "never"

    @property
    def paper(self) -> AsInPaper | None:
        """How its method is run as in the paper, if that is asked for."""
        return find_paper(self.method.name) if self.release.as_in_paper else None

    @property
    def trusted(self) -> bool:
        """Whether the plan is the caller's own word, and not a file that others may have made."""
        return self._origin.trusted

    def path(self, name: str) -> Path:
        """Return a path of the plan as seen from where the program runs.

        One that leads out of the plan's folder, also by a link, is refused unless the plan is
        trusted or the caller named it.
        """
        origin = self._origin
        place = origin.folder / name
        free = origin.trusted or name in origin.named
        if not free and leads_out(place, origin.folder):
            raise refuse_untrusted(f"The plan names {name!r}, which lies outside its own folder")
        return place

    def relative(self, path: str | Path) -> str:
        """Return a path as the plan writes it: as seen from the plan's own folder."""
        return Path(os.path.relpath(path, self._origin.folder)).as_posix()

    def changed(self, tree: Mapping[str, Any]) -> Plan:
        """Return the plan with the changes of :func:`shoal.plan.apply_changes.collect_changes`.

        Files and folders that are given as paths are written as seen from the plan's own folder,
        and may lie outside it: the caller named them.
        """
        tables = {
            key: {k: self.relative(v) if isinstance(v, Path) else v for k, v in part.items()}
            if key == "data"
            else part
            for key, part in tree.items()
        }
        default_rule = "rules" not in self.model_fields_set
        plan = self._again(apply_changes(self.tree(), tables, default_rule=default_rule))
        data = tables.get("data", {}).values()
        named = {value for value in data if isinstance(value, str)}
        plan._origin = replace(self._origin, named=self._origin.named | named)
        return plan

    def arguments(self) -> dict[str, Any] | None:
        """Return what a call has to give for the same run; None if no arguments say it all."""
        from shoal.plan.command import arguments_of  # few runs say what they are

        given = arguments_of(self.final().tree(), Plan().final().tree())
        try:
            return given if Plan().changed(collect_changes(given)).asks_the_same(self) else None
        except ShoalError:
            return None

    def asks_the_same(self, other: Plan) -> bool:
        """Tell whether two plans ask for the same, whatever the seed and the order of the rules."""
        trees = [plan.final().tree() for plan in (self, other)]
        for tree in trees:
            tree.pop("seed", None)
            tree["rules"] = sorted(map(repr, tree["rules"]))
        return trees[0] == trees[1]

    def to_command(self, data: str, more: Sequence[str] = ()) -> str:
        """Return the command that carries it out: by flags, or by plan.toml if they cannot say it.

        ``more``: words that no plan holds. Reports show this command, so the seed is in a file.
        """
        from shoal.plan.command import words_of

        given = self.arguments()
        words = None if given is None else words_of(given)
        seed = ["--seed-file", "seed.txt"] if self.seeded else []
        said = ["--plan", "plan.toml"] if words is None else words
        return shlex.join(["shoal", "anonymize", data, *said, *more, *seed, "-o", "release.csv"])

    def to_python(self, data: str, **more: Any) -> str:
        """Return the call in Python that carries it out, as :meth:`to_command` does.

        ``more``: arguments that no plan holds. The seed is read with ``pathlib.Path``.
        """
        from shoal.plan.command import call_of

        given = self.arguments()
        seed = ['seed=int(Path("seed.txt").read_text())'] if self.seeded else []
        return call_of(data, {**({"plan": "plan.toml"} if given is None else given), **more}, *seed)

    def replaced(self, **tables: Any) -> Plan:
        """Return the plan with other tables, as plain data, in place of its own."""
        return self._again({**self.tree(), **tables})

    def tree(self) -> dict[str, Any]:
        """Return the plan as plain data; what a column does not say is left out."""
        tree = self.model_dump(mode="json", exclude_none=True)
        tree["columns"] = {
            name: {key: value for key, value in part.items() if value != []}
            for name, part in tree["columns"].items()
        }
        if not tree["evidence"]:
            del tree["evidence"]
        return tree

    @property
    def seeded(self) -> bool:
        """Whether it has a seed, or had one."""
        return self._seeded or self.seed is not None

    def unseeded(self) -> Plan:
        """Return the plan as a release keeps it: whoever gets that must not get the seed."""
        plan = self._copy(seed=None)
        plan._seeded = self.seeded
        return plan

    def final(self, settled: Plan | None = None) -> Plan:
        """Return the plan as it is carried out: every default of its method and rules written out.

        ``settled``: the plan that says of every column what it is, once the table is known. The k
        of k-anonymity is the k of every rule that has one and does not say it.
        """
        own = self.method.options
        defaults = _defaults(METHODS[self.method.name].params)
        if self.paper is not None:
            defaults |= self.paper.options
            for name, value in self.paper.options.items():
                if own.get(name, value) != value:
                    raise ParameterError(
                        f"The option {name} = {own[name]} of {self.method.name!r} was given, and "
                        f"as in its paper it is {value}. Leave out the option, or --as-in-paper "
                        "(as_in_paper=True)."
                    )
        agreed = smallest_class([part.spec for part in self.rules if part.name == DEFAULT_RULE])
        rules = []
        for part in self.rules:
            entry = RULES[part.name]
            common = {entry.crowd: agreed} if entry.crowd and agreed else {}
            rules.append(RulePart(**(_defaults(entry.params) | common | part.spec)))
        method = MethodPart(**(defaults | own), name=self.method.name)
        columns = self.columns if settled is None else settled.columns
        return self._copy(method=method, rules=tuple(rules), columns=columns)

    def _copy(self, **parts: Any) -> Plan:
        """Return the plan with parts that are known to be right."""
        return self.model_copy(update=parts)

    def _again(self, tree: dict[str, Any]) -> Plan:
        """Return the plan that plain data make; only what differs has to be validated."""
        own = self.tree()
        other = {key: part for key, part in tree.items() if part != own.get(key)}
        columns = self._with_roles(own["columns"], other.pop("columns", own["columns"]))
        if columns is None:
            other["columns"] = tree["columns"]
        fresh = _validated(other, "", "") if other else self
        parts = {key: getattr(fresh, key) for key in other}
        return self._copy(**parts if columns is None else {"columns": columns, **parts})

    def _with_roles(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, ColumnPart] | None:
        """Return other columns if only roles differ, which cannot be wrong by themselves."""
        if any(part != {**old.get(n, {}), "role": part.get("role")} for n, part in new.items()):
            return None
        return {
            name: self.columns[name].model_copy(update={"role": Role(part["role"])})
            if name in self.columns
            else ColumnPart(role=part["role"])
            for name, part in new.items()
        }


def _validated(tree: Mapping[str, Any], source: str, text: str) -> Plan:
    """Make the plan, or report everything that is wrong with it at once."""
    faults: list[str] = []
    plan = None
    try:
        plan = Plan.model_validate(tree)
    except ValidationError as error:
        faults = [
            hide(describe_fault(fault, Plan.model_fields, source, text)) for fault in error.errors()
        ]
    faults += option_faults(tree, source, text)
    if faults or plan is None:
        raise PlanError(faults)
    return plan


def _defaults(params: tuple[Param, ...]) -> dict[str, Any]:
    return {param.name: param.default for param in params if param.default is not None}
