"""Write the published half of a staged table, read it back, verify it, and give it its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.engines.spark import files
from shoal.engines.spark.checking import same_rows
from shoal.engines.spark.files import Files, move_into_place
from shoal.engines.spark.job import KEPT, Job, Staged
from shoal.engines.spark.layout import shuffled, written
from shoal.errors import NotVerified
from shoal.verify import Verdict
from shoal.verify_counts import unite


def publish(job: Job, staged: Staged, kind: str) -> tuple[Any, Verdict]:
    """Return the release, on a disk and verified, and what the check found.

    ``kind``: the format of a folder, when its name does not say it.
    """
    place = Place(job, kind)
    try:
        with job.clock.stage("write"):
            place.write(staged)
        with job.clock.stage("verify"):
            verdict = _verified(job, staged, place)
        with job.clock.stage("write"):
            return place.finish(), verdict
    except BaseException:
        place.discard()
        raise


class Place:
    """Where a release goes: a hidden folder first, and its own name only when it is verified."""

    def __init__(self, job: Job, kind: str) -> None:
        self._job, self._files = job, Files(job.spark)
        out = job.settings.out
        self._name = "" if out is None else self._files.name(out)
        suffix, said = files.ending(self._name)
        self.kind = said or (kind if out is not None else "parquet")
        self.one = bool(suffix)
        if out is not None:
            self._folder = f"{job.folder}/release"
        elif job.settings.staging is not None or not job.folder.startswith("file:"):
            # Next to the staging folder, which will be gone; whoever gave it cleans it.
            self._folder = job.folder.replace("/.shoal-", "/shoal-release-").removesuffix(".part")
        else:
            self._folder = f"{files.kept_folder()}/release"

    def shown(self, staged: Staged) -> list[Any]:
        """Return the published columns as they are written."""
        return list(written(staged.rows.select(*staged.layout.published), self.kind).values())

    def write(self, staged: Staged) -> None:
        """Write the rows that are published, under their real names, in an order of their own."""
        columns = staged.layout.published
        cells = [cell.alias(name) for cell, name in zip(self.shown(staged), columns, strict=True)]
        rows = shuffled(staged.rows.where(KEPT).select(*cells), columns, 1 if self.one else None)
        files.write(rows.toDF(*staged.layout.names), self._folder, self.kind, self._name)

    def read_back(self, columns: Sequence[str]) -> Any:
        """Read what was written, its columns numbered."""
        found = files.read_back(self._job.spark, self._folder, self.kind, self._name, list(columns))
        return found.toDF(*columns)

    def finish(self) -> Any:
        """Give the release its name and return it, read from there."""
        out = self._job.settings.out
        if out is None:
            return self._job.spark.read.parquet(self._folder)
        move_into_place(self._job.spark, self._folder, self._job.settings)
        return files.read(self._job.spark, out, "\t" if self._name.endswith(".tsv") else ",")[0]

    def discard(self) -> None:
        """Leave nothing behind."""
        self._files.delete(self._folder)


def _verified(job: Job, staged: Staged, place: Place) -> Verdict:
    layout, passed = staged.layout, staged.layout.passed()
    release = place.read_back(layout.published)
    inputs = {inner: job.table.at(name) for inner, name in {**layout.before, **passed}.items()}
    faults = same_rows(job.table.rows, staged.rows, release, inputs, place.shown(staged))
    parts, more = staged.verify(release)
    return checked(unite(parts, job.rules, [*faults, *more]))


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
