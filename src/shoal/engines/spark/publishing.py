"""Write the published half of a staged table, read it back, verify it, and give it its name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from shoal.base.errors import NotVerified
from shoal.engines.spark import files
from shoal.engines.spark.files import Files, move_into_place
from shoal.engines.spark.job import KEPT, Job, Seen, Staged
from shoal.engines.spark.layout import repeatable, shuffled, written
from shoal.releases.check_counts import unite
from shoal.releases.verdict import Verdict


def publish(job: Job, staged: Staged, kind: str) -> tuple[dict[str, Any], Verdict]:
    """Return the tables of the release, on a disk and verified, and what the check found.

    The staged table is checked beside the writing: neither depends on the other, and what one
    leaves idle the other uses.

    ``kind``: the format of a folder, when its name does not say it.
    """
    from pyspark import inheritable_thread_target

    destination = Destination(job, kind)
    try:
        with ThreadPoolExecutor(1) as beside:
            check = inheritable_thread_target(staged.checks.staged)
            checking = beside.submit(check, destination.shown(staged))
            with job.clock.stage("write"):
                release = destination.write(staged)
                others = destination.write_beside(staged)
            with job.clock.stage("verify"):
                seen = staged.checks.release(release, *others)
                verdict = _united(job, checking.result(), seen)
        with job.clock.stage("write"):
            return destination.finish(), verdict
    except BaseException:
        destination.discard()
        raise


class Destination:
    """Where a release goes: a hidden folder first, and its own name only when it is verified."""

    def __init__(self, job: Job, kind: str) -> None:
        self._job, self._files = job, Files(job.spark)
        out = job.settings.out
        self._name = "" if out is None else self._files.name(out)
        suffix, said = files.ending(self._name)
        self.kind = said or (kind if out is not None else "parquet")
        self.one = bool(suffix)
        self._schemas: dict[str, Any] = {}
        self._kept: str | None = None
        if out is not None:
            self._folder = f"{job.folder}/release"
        elif job.settings.staging is not None or not job.folder.startswith("file:"):
            # Next to the staging folder, which will be gone; whoever gave it cleans it.
            self._folder = job.folder.replace("/.shoal-", "/shoal-release-").removesuffix(".part")
        else:
            self._kept = files.kept_folder(job.spark)
            self._folder = f"{self._kept}/release"

    def shown(self, staged: Staged) -> list[Any]:
        """Return the published columns as they are written."""
        return list(written(staged.rows.select(*staged.layout.published), self.kind).values())

    def write(self, staged: Staged) -> Any:
        """Write the rows that are published, under their real names, in an order of their own.

        Return them as they are read back, their columns numbered.
        """
        columns = staged.layout.published
        cells = [cell.alias(name) for cell, name in zip(self.shown(staged), columns, strict=True)]
        rows = staged.rows.where(KEPT)
        if staged.plan.seed is not None:
            rows = repeatable(rows, columns, staged.plan.seed, one=self.one)
        elif not staged.in_order:
            rows = shuffled(rows, columns)
        # Pieces that are each in order, one after the other, are as good as one.
        rows = (rows.coalesce(1) if self.one else rows).select(*cells)
        return self._written("release", rows.toDF(*staged.layout.names)).toDF(*columns)

    def write_beside(self, staged: Staged) -> list[Any]:
        """Write the other tables of the release, and return them as they are read back."""
        back = []
        for name, table in staged.beside.items():
            # Numbered, whatever they are called: Spark takes a dot for a part of a column.
            names = table.columns
            rows = table.toDF(*(f"c{i}" for i in range(len(names))))
            rows = (rows.coalesce(1) if self.one else rows).select(
                *written(rows, self.kind).values()
            )
            back.append(self._written(name, rows.toDF(*names)))
        return back

    def finish(self) -> dict[str, Any]:
        """Give the tables their names, the first one last, and return them, read from there."""
        out, names = self._job.settings.out, [*self._schemas]
        if out is not None:
            pairs = [(self._place(name), self._place(name, out)) for name in reversed(names)]
            move_into_place(self._files, pairs, force=self._job.settings.force)
        return {name: self._read(name, self._place(name, out)) for name in names}

    def _place(self, name: str, path: str | None = None) -> str:
        path = path or self._folder
        return path if name == "release" else files.beside(path, name)

    def _written(self, name: str, table: Any) -> Any:
        self._schemas[name] = table.schema
        files.write(table, self._place(name), self.kind, self._name)
        return self._read(name, self._place(name))

    def _read(self, name: str, path: str) -> Any:
        schema = self._schemas[name]
        return files.read_back(self._job.spark, path, self.kind, self._name, schema)

    def discard(self) -> None:
        """Leave nothing behind."""
        for name in ("release", *self._schemas):
            self._files.delete(self._kept or self._place(name))


def _united(job: Job, staged: Seen, release: Seen) -> Verdict:
    faults = [*staged.faults, *release.faults]
    if staged.published != release.published:
        faults.append(
            f"The {release.published[0]:,} rows that were written are not the "
            f"{staged.published[0]:,} rows to publish."
        )
    return checked(unite([*staged.findings, *release.findings], job.rules, faults))


def checked(verdict: Verdict) -> Verdict:
    """Refuse to hand over what does not keep its promise."""
    if not verdict.holds:
        faults = "\n".join(verdict.faults) or "a rule does not hold."
        raise NotVerified(
            f"The release was not handed over, because checking it found: {faults}\n"
            "If the input did not change meanwhile, this is a fault in Shoal: please report it "
            "with the method, its options and the shape of the table."
        )
    return verdict
