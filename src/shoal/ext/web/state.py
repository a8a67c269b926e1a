"""The state of the page: open tables, drafts of plans, and runs."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.base.errors import InputError, ShoalError
from shoal.base.roles import Kind
from shoal.base.workers import Died, Refused
from shoal.ext.web import drafts
from shoal.ext.web.drafts import Draft
from shoal.ext.web.jobs import WorkerClient
from shoal.ext.web.read_options import kind_of, on_the_page
from shoal.ext.web.temp_folder import safe_name
from shoal.plan.plan import Plan
from shoal.tables.files import WORKBOOKS

WHERE = ("source", "table", "query")
"""Keys of a plan that say where its table is: the page has a table."""
STAGES = ("read", "encode", "group", "recode", "verify", "prove", "attack", "measure", "write")
_PAST = 50  # changes of roles that can be taken back
WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"
SAVED = "saved"  # done elsewhere, and known from a project file: not verified here


@dataclass
class WebRun:
    """One run: what was asked for, how far it is, what came out."""

    number: int
    title: str
    toml: str
    command: str
    folder: Path
    anytime: bool
    method: str
    rules: list[dict[str, Any]]
    earlier: dict[str, str] = field(default_factory=dict)
    prove: bool = False
    status: str = WAITING
    stage: str = ""
    far: str = ""
    compiling: bool = False
    enough: bool = False
    began: float = 0.0
    ended: float = 0.0
    error: str = ""
    view: dict[str, Any] | None = None
    name: str = ""
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        """Whether it still waits or works."""
        return self.status in (WAITING, RUNNING)

    @property
    def seconds(self) -> float:
        """How long it took, or has taken up to now."""
        if not self.began:
            return 0.0
        return (self.ended or time.monotonic()) - self.began

    def on_stage(self, name: str) -> None:
        """Take in how far it is: a stage, with a colon and how far that is, if anything."""
        self.compiling = name == "compile"
        if self.compiling:
            return
        stage, _, far = name.partition(": ")
        self.enough &= stage != "prove" or self.stage == stage  # that was said of the groups
        self.stage, self.far = stage, far


@dataclass
class OpenTable:
    """An opened table: where it is, what it looks like, what is decided about it."""

    number: int
    name: str
    path: Path
    shown_path: str
    folder: Path
    uploaded: bool = False
    data: dict[str, Any] = field(default_factory=lambda: {"missing": [""]})
    sheets: list[str] = field(default_factory=list)
    profile: dict[str, Any] | None = None
    before: dict[str, Any] | None = None
    error: str = ""
    stage: str = ""
    draft: Draft = field(default_factory=dict)
    runs: dict[int, WebRun] = field(default_factory=dict)
    ordered: int = 0
    undo: dict[int, list[bytes]] = field(default_factory=dict)
    past: list[dict[str, dict[str, Any]]] = field(default_factory=list)
    makers: dict[int, dict[str, str]] = field(default_factory=dict)
    earlier: dict[str, str] = field(default_factory=dict)
    opening: asyncio.Task[None] | None = None
    notes: str = ""
    reminders: list[str] = field(default_factory=list)
    dropped: WebRun | None = None

    def described(self) -> dict[str, Any]:
        """Return how a worker is told to read the table."""
        read = {key: value for key, value in self.data.items() if key not in WHERE}
        return {"path": str(self.path), **read}

    def columns(self) -> list[dict[str, Any]]:
        """Return the profiles of the columns."""
        columns: list[dict[str, Any]] = self.profile["columns"] if self.profile else []
        return columns

    def hierarchy_path(self, number: int) -> Path:
        """Return where the hierarchy of a column lies, whether there is one or not."""
        name = self.columns()[number]["name"]
        return self.folder / "hierarchies" / safe_name(name, number, ".csv")

    def redraft(self, draft: Draft) -> None:
        """Decide again, and remember the columns if a role has changed, for :meth:`undo_roles`.

        Rules that nobody changed protect the columns that are sensitive now.
        """
        if drafts.roles_of(draft) != drafts.roles_of(self.draft):
            self.past.append(self.draft["columns"])
            del self.past[:-_PAST]
        self.draft = self._ruled(draft)

    def undo_roles(self) -> None:
        """Take the last change of roles back, and nothing else."""
        if self.past:
            self.draft = self._ruled({**self.draft, "columns": self.past.pop()})

    def _ruled(self, draft: Draft) -> Draft:
        usual = [
            drafts.usual_rules(self.profile or {"columns": []}, each["columns"])
            for each in (self.draft, draft)
        ]
        return {**draft, "rules": usual[1]} if draft["rules"] == usual[0] else draft

    def use_hierarchies(self) -> None:
        """Name the hierarchy of every column that goes up one, and of no other."""
        numbers = {column["name"]: column["number"] for column in self.columns()}
        for name, column in self.draft["columns"].items():
            path = self.hierarchy_path(numbers[name])
            if column.get("kind") == Kind.TAXONOMY.value and path.exists():
                column["hierarchy"] = f"hierarchies/{path.name}"
            else:
                column.pop("hierarchy", None)

    def plan(self) -> Plan:
        """Return the plan that the draft is, or raise its faults."""
        return drafts.to_plan(self.draft, self.data)

    def new_run(self, plan: Plan, prove: bool) -> WebRun:
        """Put a run on the list."""
        from shoal.catalog import find_method

        self.ordered += 1  # a number is never used again, or a link could lead to another run
        number, full = self.ordered, plan.final()
        profile = self.profile or {"columns": []}
        self.runs[number] = WebRun(
            number=number,
            title=title(full),
            toml=plan.to_toml(),
            command=drafts.command(plan, profile, self.shown_path, [*self.earlier], prove=prove),
            folder=self.folder / f"run-{number}",
            anytime=find_method(plan.method.name).anytime,
            method=plan.method.name,
            rules=[rule.spec for rule in full.rules],
            earlier=dict(self.earlier),
            prove=prove,
        )
        return self.runs[number]


class Workbench:
    """All of it, and the two workers: one for quick questions, one for runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[int, OpenTable] = {}
        self.desk, self.press = WorkerClient(), WorkerClient()
        self._queue: asyncio.Queue[tuple[OpenTable, WebRun]] = asyncio.Queue()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._count = 0

    def start(self) -> None:
        """Begin to carry out runs, one after the other."""
        self.background(self._print())

    def background(self, work: Any) -> asyncio.Task[Any]:
        """Do something besides, and remember it: a task nobody holds may vanish."""
        task: asyncio.Task[Any] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End all work."""
        working = list(self._tasks)
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        await self.desk.close()
        await self.press.close()

    def table(self, number: int) -> OpenTable | None:
        """Return an opened table."""
        return self.tables.get(number)

    def add(self, path: Path, name: str, shown_path: str | None = None) -> OpenTable:
        """Take a file up as a table, and begin to look at it; without ``shown_path`` an upload."""
        self._count += 1
        folder = self.folder / f"table-{self._count}"
        (folder / "hierarchies").mkdir(mode=0o700, parents=True)
        uploaded = shown_path is None
        table = OpenTable(self._count, name, path, shown_path or name, folder, uploaded)
        self.tables[table.number] = table
        self.reopen(table)
        return table

    def reopen(self, table: OpenTable) -> None:
        """Look at a table (again), as its missing texts and delimiter now say."""
        table.before, table.profile = table.profile or table.before, None
        table.error, table.stage = "", "read"
        table.opening = self.background(self._open(table))

    async def _open(self, table: OpenTable, again: bool = True) -> None:
        def stage(name: str) -> None:
            table.stage = name

        try:
            if kind_of(table.name) in WORKBOOKS:
                sheets = await self.desk.ask("sheets", path=str(table.path))
                table.sheets = sheets["names"]
            folder = str(table.folder / "hierarchies")
            table.profile = await self.desk.ask(
                "look", stage, table=table.described(), folder=folder
            )
            old = table.draft or drafts.first_draft(table.profile)
            table.draft = drafts.kept_decisions(old, table.before, table.profile)
            table.use_hierarchies()
            table.past.clear()
        except Refused as error:
            table.error = on_the_page(str(error).replace(str(table.path), table.name))
        except Died as error:
            # Whoever ended the worker, the reader of the page cannot ask for the reading again; so
            # we do, once. A table that is too large ends the second worker as well.
            if again:
                await self._open(table, again=False)
            else:
                table.error = str(error)

    def forget(self, table: OpenTable) -> None:
        """Close a table: its runs, and its copy if it was uploaded, are removed."""
        for run in table.runs.values():
            self.cancel(run)
        del self.tables[table.number]
        shutil.rmtree(table.folder, ignore_errors=True)
        if table.uploaded:
            table.path.unlink(missing_ok=True)

    def drop(self, table: OpenTable, run: WebRun) -> None:
        """Take a finished run off the list; its files stay until the next one is taken off."""
        if table.dropped is not None:
            shutil.rmtree(table.dropped.folder, ignore_errors=True)
        table.dropped = table.runs.pop(run.number)

    def undrop(self, table: OpenTable) -> None:
        """Bring back the run that was taken off the list last."""
        if (run := table.dropped) is not None:
            table.dropped = None
            table.runs = dict(sorted({**table.runs, run.number: run}.items()))

    def order(self, table: OpenTable, plan: Plan, prove: bool | None = None) -> WebRun:
        """Put a run into the queue; ``prove`` as decided, unless it is said."""
        run = table.new_run(plan, bool(table.draft.get("prove")) if prove is None else prove)
        self._queue.put_nowait((table, run))
        return run

    async def _print(self) -> None:
        # A table that was named on the command line comes first: somebody waits for it.
        opening = [table.opening for table in self.tables.values() if table.opening]
        if opening:
            await asyncio.wait(opening)
        with contextlib.suppress(ShoalError):
            await self.press.ask("warm")
        while True:
            table, run = await self._queue.get()
            if run.status == WAITING:
                await self._carry_out(table, run)

    async def _carry_out(self, table: OpenTable, run: WebRun) -> None:
        run.status, run.began = RUNNING, time.monotonic()
        # A later change of a hierarchy must not change what this run is said to have used.
        frozen = table.folder / f"plan-{run.number}"
        shutil.copytree(table.folder / "hierarchies", frozen / "hierarchies", dirs_exist_ok=True)

        try:
            run.view = await self.press.ask(
                "run",
                run.on_stage,
                table=table.described(),
                plan=run.toml,
                folder=str(frozen),
                target=str(run.folder),
                command=run.command,
                name=table.name,
                shown_path=table.shown_path,
                earlier=run.earlier,
                prove=run.prove,
            )
            run.status = DONE
        except Refused as error:
            run.status, run.error = FAILED, drafts.said_of_files(str(error), run.earlier)
        except Died as error:
            if run.status != CANCELLED:
                run.status, run.error = FAILED, str(error)
        finally:
            run.ended = time.monotonic()
            shutil.rmtree(f"{run.folder}.part", ignore_errors=True)
            shutil.rmtree(frozen, ignore_errors=True)

    def cancel(self, run: WebRun) -> None:
        """End a run; nothing of it is kept."""
        if run.status == RUNNING:
            run.status = CANCELLED
            self.press.kill()
        elif run.status == WAITING:
            run.status = CANCELLED

    def enough(self, run: WebRun) -> None:
        """Have a run take the best release it has found so far, or what is proved of it."""
        if run.status == RUNNING and run.stage in ("refine", "prove"):
            run.enough = True
            self.press.enough()


def title(plan: Plan) -> str:
    """Name a run by what was asked for: ``k = 10, l = 3 · shoal``."""
    from shoal.catalog import RULES
    from shoal.plan.rule_specs import rule_flags

    told = []
    for rule in plan.rules:
        entry = RULES[rule.name]
        main = entry.flags[0][1]
        value = rule.spec.get(main)
        usual = rule_flags()[entry.family[0]].default if entry.family else None
        kind = f"{entry.family[1]} " if entry.family and entry.family[1] != usual else ""
        of = f" ({rule.column})" if rule.column else ""
        told.append(f"{kind}{main} = {value:g}{of}" if isinstance(value, (int, float)) else kind)
        if entry.crowd not in (None, main):
            told[-1] += f", {entry.crowd} = {rule.spec.get(entry.crowd)}"
    weighed = [f" · {n} × {c.importance:g}" for n, c in plan.columns.items() if c.importance != 1]
    return f"{', '.join(told)} · {plan.method.name}{''.join(weighed)}"


def known_file(path: Path) -> Path:
    """Return a file named on the command line, or say that it is not one."""
    if not path.is_file():
        raise InputError(f"{path} does not exist or is not a file. Check the name of the table.")
    return path.resolve()
