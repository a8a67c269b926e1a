"""What is tried on the command: runs, kills, full disks, writers at the same time."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from soaking.checker import Promise, check
from soaking.tables import Case, make_case

SHOAL = str(Path(sys.executable).with_name("shoal"))

# The command line again and again in one process: loading it takes longer than most runs.
LOOP = """
import contextlib, io, json, sys, warnings
from shoal.cli.app import run
answers = sys.stdout
for line in sys.stdin:
    sys.argv = ["shoal", *json.loads(line)]
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
        try:
            code = run()
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException as fault:
            import traceback
            code = 1
            traceback.print_exc()
    print(json.dumps([code, heard.getvalue()]), file=answers, flush=True)
"""


class Fault(Exception):
    """Something that must never happen; the text says what, and the folder is kept."""


class Command:
    """The command line in a process that stays."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, *words: str) -> tuple[int, str]:
        """Run a command; return its exit code and all that it said."""
        if self.process is None:
            self.process = subprocess.Popen(  # noqa: S603 -- our own words
                [sys.executable, "-W", "ignore", "-c", LOOP],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Fault(f"the process died (exit code {self.process.wait()})")
        code, text = json.loads(line)
        return code, text

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()


@contextlib.contextmanager
def folder_for(name: str, seed: int) -> Iterator[Path]:
    """Yield a folder that is kept, and named, when something is wrong in it."""
    folder = Path(tempfile.mkdtemp(prefix=f"soak-{name}-{seed}-"))
    try:
        yield folder
    except Exception as fault:
        again = f"python tools/soak.py --only {name} --seed {seed}"
        raise Fault(f"{fault!r}\nRepeat it: {again}\nIts files: {folder}") from fault
    shutil.rmtree(folder)


def run(seed: int, command: Command, counts: Counter[str]) -> None:
    """Anonymize a random table; the release keeps its promise, or there is none and a reason."""
    with folder_for("run", seed) as folder:
        case = make_case(folder, np.random.default_rng(seed))
        out = folder / f"out{case.suffix}"
        words = (*case.words, "-o", str(out))
        code, said = command(*words)
        _expect(code in (0, 2) and "Traceback" not in said, f"exit code {code} of {words}: {said}")
        if code == 2:
            _expect(not out.exists(), f"refused and written all the same: {said}")
            counts["refused"] += 1
            return
        _right(case, out, said)
        counts["releases"] += 1
        counts[f"method {case.words[case.words.index('--method') + 1]}"] += 1


def kill(seed: int, _: Command, counts: Counter[str]) -> None:
    """Kill a run at any moment: the old file stays as it was, or the new one is whole."""
    with folder_for("kill", seed) as folder:
        rng = np.random.default_rng(seed)
        case = _large(folder, rng)
        out = folder / "there" / "out.csv"
        out.parent.mkdir()
        out.write_text("old\n")
        process = _start(*case.words, "-o", str(out), "--force")
        if rng.random() < 0.5:  # any moment of the run
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.2, 6))
        else:  # the moment at which the file changes
            while process.poll() is None and {p.name for p in out.parent.iterdir()} == {"out.csv"}:
                time.sleep(0.0002)
        process.send_signal(signal.SIGKILL)
        killed = process.wait() == -signal.SIGKILL
        counts["killed" if killed else "ended before it was killed"] += 1
        whole = {out.name, f"{out.name}.manifest.json"}
        _expect_told(out)
        if out.read_text() != "old\n":
            _right(case, out, "written before the kill")
            counts["whole although killed"] += killed
        for left in out.parent.iterdir():
            hidden = left.name.startswith(".") and left.name.endswith(".part")
            _expect(left.name in whole or hidden, f"a kill left {left.name}")


def _expect_told(out: Path) -> None:
    """A manifest stands beside no release but the one that it tells of."""
    made = out.with_name(f"{out.name}.manifest.json")
    if made.exists():
        told = json.loads(made.read_text())["files"][out.name]["sha256"]
        _expect(told == sha256(out.read_bytes()).hexdigest(), "a manifest of another release")


def full_disk(seed: int, _: Command, counts: Counter[str]) -> None:
    """Let the disk be full: a message, exit code 2, and the old file as it was."""
    with folder_for("disk", seed) as folder:
        rng = np.random.default_rng(seed)
        case = _large(folder, rng)
        with _small_disk(folder / "disk") as (disk, limits):
            disk.joinpath("old.csv").write_text("old\n")
            before = {path.name: path.read_bytes() for path in disk.iterdir()}
            name = str(rng.choice(["old.csv", "new.csv", "new.parquet", "new.csv.gz"]))
            words = (*case.words, "-o", str(disk / name), "--force")
            process = _start(*words, preexec_fn=limits)
            said = process.communicate(timeout=300)[1]
            if process.returncode == 0:
                _right(case, disk / name, said)
                counts["fitted a small disk"] += 1
                return
            _expect(process.returncode == 2, f"exit code {process.returncode}: {said}")
            _expect("Traceback" not in said, said)
            after = {path.name: path.read_bytes() for path in disk.iterdir()}
            _expect(after == before, f"a full disk left {sorted(after)}: {said}")
            counts["full disks"] += 1


def writers(seed: int, _: Command, counts: Counter[str]) -> None:
    """Let several write the same file at once: without --force one of them does, all of it."""
    with folder_for("writers", seed) as folder:
        rng = np.random.default_rng(seed)
        case = _large(folder, rng)
        out = folder / "there" / "out.csv"
        out.parent.mkdir()
        force = ("--force",) if rng.random() < 0.5 else ()
        started = [_start(*case.words, "-o", str(out), *force) for _ in range(3)]
        said = [process.communicate(timeout=300)[1] for process in started]
        codes = sorted(process.returncode for process in started)
        if force:
            _expect(codes == [0, 0, 0], f"exit codes {codes}: {said}")
        else:
            _expect(codes == [0, 2, 2], f"exit codes {codes}: {said}")
        _right(case, out, "")
        names = {path.name for path in out.parent.iterdir()}
        _expect(names == {"out.csv", "out.csv.manifest.json"}, f"writers left {sorted(names)}")
        _expect_told(out)
        counts["three writers at once"] += 1


TRIALS: dict[str, Callable[[int, Command, Counter[str]], None]] = {
    "run": run,
    "kill": kill,
    "disk": full_disk,
    "writers": writers,
}


def _expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise Fault(otherwise)


def _right(case: Case, out: Path, said: str) -> None:
    wrong = check(case.table, out, case.promise)
    _expect(not wrong, f"{wrong[:3]} by {case.words}: {said}")
    secrets = set(case.table["id"])
    published = out.read_bytes()
    shown = [name for name in secrets if name.encode() in published]
    _expect(not shown, f"identifiers in the bytes of {out.name}: {shown[:3]}")


def _large(folder: Path, rng: np.random.Generator) -> Case:
    """A table whose release is large enough to be cut short."""
    rows = 4000
    table = pd.DataFrame(
        {
            "id": [f"ID-{rng.integers(1 << 60):015x}" for _ in range(rows)],
            "o_age": rng.integers(0, 90, rows),
            "s_city": rng.choice(["Rome", "Oslo", "Lima"], rows),
            "ill": rng.choice(["flu", "cold", "gout"], rows),
            "tag": rng.permutation(rows),
        }
    )
    file = folder / "people.csv"
    table.to_csv(file, index=False)
    words = ("anonymize", str(file), "--quasi", "o_age,s_city", "--sensitive", "ill")
    words += ("--identifier", "id", "--keep", "tag", "--method", "mondrian", "--k", "5")
    promise = Promise("generalized", ("o_age", "s_city"), "ill", "tag", "id", k=5)
    return Case(table, file, words, promise, ".csv")


def _start(*words: str, preexec_fn: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 -- our own words
        [SHOAL, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=preexec_fn,  # noqa: PLW1509 -- sets a limit and nothing else
    )


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[tuple[Path, Callable[[], None] | None]]:
    """Yield a folder with room for 16 KB: a disk of its own for root, else a limit on files."""
    folder.mkdir()
    mounted = False
    if os.geteuid() == 0 and shutil.which("mount"):
        done = subprocess.run(  # noqa: S603
            ["mount", "-t", "tmpfs", "-o", "size=16k", "soak", str(folder)],  # noqa: S607
            capture_output=True,
            check=False,
        )
        mounted = done.returncode == 0

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))

    try:
        yield folder, None if mounted else limit
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607
