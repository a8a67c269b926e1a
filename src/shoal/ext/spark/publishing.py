"""Write the published columns on Spark, verify them, and name the release."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from shoal.base.errors import NotVerified
from shoal.ext.spark import files
from shoal.ext.spark.files import Files, move_into_place
from shoal.ext.spark.job import KEPT, Job, Seen, Staged
from shoal.ext.spark.layout import repeatable, shuffled, written
from shoal.releases.check_counts import merge_findings
from shoal.releases.verdict import Verdict


def publish(job: Job, staged: Staged, kind: str) -> tuple[Any, Verdict]:
    """Return the release, on a disk and verified, and what the check found.

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
            with job.clock.stage("verify"):
                seen = staged.checks.release(release)
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
        self._schema: Any = None
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
        release = rows.toDF(*staged.layout.names)
        self._schema = release.schema
        files.write(release, self._folder, self.kind, self._name)
        return self._read(self._folder).toDF(*columns)

    def finish(self) -> Any:
        """Give the release its name, and return it, read from there."""
        settings = self._job.settings
        if settings.out is None:
            return self._read(self._folder)
        move_into_place(self._files, self._folder, settings.out, force=settings.force)
        return self._read(settings.out)

    def _read(self, path: str) -> Any:
        return files.read_back(self._job.spark, path, self.kind, self._name, self._schema)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._files.delete(self._kept or self._folder)


def _united(job: Job, staged: Seen, release: Seen) -> Verdict:
    faults = [*staged.faults, *release.faults]
    if staged.published != release.published:
        faults.append(
            f"The {release.published[0]:,} rows that were written are not the "
            f"{staged.published[0]:,} rows to publish."
        )
    return refuse_unverified(
        merge_findings([*staged.findings, *release.findings], job.rules, faults)
    )


def refuse_unverified(verdict: Verdict) -> Verdict:
    """Refuse to hand over what does not keep its promise."""
    if not verdict.holds:
        faults = "\n".join(verdict.faults) or "a rule does not hold."
        raise NotVerified(
            f"The release was not handed over, because checking it found: {faults}\n"
            "If the input did not change meanwhile, this is a fault in Shoal: please report it "
            "with the method, its options and the shape of the table."
        )
    return verdict
