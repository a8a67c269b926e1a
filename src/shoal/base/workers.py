"""Run tasks in another process that can be stopped at any time.

``Worker("some.module")`` runs ``python -m shoal.base.workers some.module``, which does what the
``TASKS`` of that module say: functions from plain data to plain data that are told a ``progress``
first. One line of JSON in, ``{"do": name, "with": {...}}``, or ``{"do": "enough"}`` while a method
refines; lines of JSON out, ``{"stage": name}`` as often as it changes, then ``{"done": ...}`` or
``{"failed": {"kind", "text"}}``. When the pipe closes, because who asked is gone, the process ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import IO, Any

from shoal.base import system
from shoal.base.errors import ShoalError
from shoal.base.to_json import to_plain_data

MEMORY = (
    "There is not enough memory for this table. Try fewer rows or columns, another method, or a "
    "machine with more memory."
)
UNEXPECTED = (
    "Something went wrong that Shoal did not foresee ({name}). Its details stand in the terminal "
    "that this was started from; please report them with the method and the shape of the table."
)


class Refused(ShoalError):
    """The worker said no, in words for the reader."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


class Died(ShoalError):
    """The worker ended without an answer."""

    def __init__(self, code: int) -> None:
        self.code = code
        how = f"code {code}"
        if code < 0:
            how = f"signal {-code}, {system.signal_name(-code)}".removesuffix(", ")
        super().__init__(
            f"The job ended before it was done ({how}). Often that is the system running out of "
            "memory: try fewer columns, another method, or a machine with more. Nothing was "
            "written, and everything else goes on."
        )


class Worker:
    """A process that is started when it is first needed, and again after it was ended.

    Parameters
    ----------
    module
        The module whose ``TASKS`` it does.
    paths
        Folders besides the installed packages in which modules are found.
    quiet
        Whether what it says on stderr is of no interest.
    """

    def __init__(self, module: str, paths: Sequence[str] = (), *, quiet: bool = False) -> None:
        self.module, self.paths, self.quiet = module, paths, quiet
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._killed = self._closed = False

    @property
    def pid(self) -> int | None:
        """Number of the process, None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def send(self, do: str, **settings: Any) -> subprocess.Popen[str]:
        """Have something done, without waiting for it."""
        process = self._running()
        self._write(process, {"do": do, "with": settings})
        return process

    def ask(self, do: str, stage: Callable[[str], object] | None = None, **settings: Any) -> Any:
        """Have something done and wait for the answer; ``stage`` hears how far it is."""
        process = self.send(do, **settings)
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):  # ended, or closed by another thread
            while line := process.stdout.readline():
                message = json.loads(line)
                if "done" in message:
                    return message["done"]
                if "failed" in message:
                    raise Refused(**message["failed"])
                if stage is not None:
                    stage(message["stage"])
        raise Died(_reaped(process))

    def enough(self) -> None:
        """Ask a method that refines to take the best it has."""
        if self._process is not None:
            self._write(self._process, {"do": "enough"})

    def kill(self) -> None:
        """End the process, whatever it is doing; the next question starts another one."""
        with self._lock:
            if self._process is not None:
                self._killed = True
                self._process.kill()

    def close(self) -> None:
        """End the process for good: a thread that still holds questions cannot start it again."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            _reaped(process)

    def _running(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._closed:
                raise Refused("Closed", "The worker was dismissed before all was done.")
            process = self._process
            if process is not None and (self._killed or process.poll() is not None):
                _reaped(process)
                process = None
            self._process, self._killed = process or self._start(), False
            return self._process

    def _start(self) -> subprocess.Popen[str]:
        paths = [*self.paths, os.environ.get("PYTHONPATH", "")]
        return subprocess.Popen(  # noqa: S603 -- a module of ours
            # -P: nothing that lies in the folder of the data may pass for one of our modules.
            [sys.executable, "-P", "-m", "shoal.base.workers", self.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self.quiet else None,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            **system.own_session(),  # ctrl-C in the terminal is for the parent
        )

    @staticmethod
    def _write(process: subprocess.Popen[str], message: Mapping[str, Any]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it is gone: reading will tell
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()


def _reaped(process: subprocess.Popen[str]) -> int:
    """Wait for the end of a process, let its pipes go, and return its code."""
    code = process.wait()
    # Not earlier: another thread may be reading, and lets go only when the process is gone.
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError):  # what it did not read
            pipe.close()
    return code


class _StageReports:
    """Passes stages on, each once, and tells whether to take the best so far."""

    def __init__(self, out: IO[str], enough: threading.Event) -> None:
        self.out, self.enough, self.last = out, enough, ""

    def __call__(self, stage: str) -> bool:
        if stage != self.last:
            self.last = stage
            if stage == "prove":  # what was enough was the refinement before it
                self.enough.clear()
            _send(self.out, {"stage": stage})
        return self.enough.is_set()


def _send(out: IO[str], message: dict[str, Any]) -> None:
    out.write(json.dumps(to_plain_data(message)) + "\n")
    out.flush()


def _listen(inbox: queue.SimpleQueue[dict[str, Any]], enough: threading.Event) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "enough":
            enough.set()
        else:
            inbox.put(message)
    # Nobody is left to hear an answer; a kernel cannot be asked to stop, so leave at once.
    os._exit(0)


def _answer(module: str, message: dict[str, Any], stages: _StageReports) -> dict[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a result carries its own
            return {"done": import_module(module).TASKS[message["do"]](stages, **message["with"])}
    except ShoalError as error:
        return {"failed": {"kind": type(error).__name__, "text": str(error)}}
    except MemoryError:
        return {"failed": {"kind": "MemoryError", "text": MEMORY}}
    except Exception as error:  # whatever it is, who asked has to show something
        traceback.print_exc()
        text = UNEXPECTED.format(name=type(error).__name__)
        return {"failed": {"kind": "Unexpected", "text": text}}


def main(module: str) -> None:
    """Do tasks of a module until the pipe closes."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    enough = threading.Event()
    threading.Thread(target=_listen, args=(inbox, enough), daemon=True).start()
    while True:
        message = inbox.get()
        enough.clear()
        _send(out, _answer(module, message, _StageReports(out, enough)))


if __name__ == "__main__":
    main(sys.argv[1])
