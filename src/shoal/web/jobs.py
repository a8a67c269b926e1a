"""The server's end of a worker: ask, hear how far it is, end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Callable
from typing import Any

from shoal.base.errors import ShoalError

_LINE = 1 << 27  # bytes of one answer


class Refused(ShoalError):
    """The worker said no, in words for the reader."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        super().__init__(text)


class Died(ShoalError):
    """The worker ended without an answer."""

    def __init__(self, code: int | None) -> None:
        self.code = code
        how = f"code {code}"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                how = f"signal {-code}, {signal.Signals(-code).name}"
        super().__init__(
            f"The job ended before it was done ({how}). Often that is the system running out of "
            "memory: try fewer columns, another method, or a machine with more. Nothing was "
            "written, and the page goes on."
        )


class Worker:
    """A process that answers one question at a time, started when it is first needed."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Future[asyncio.subprocess.Process] | None = None
        self._turn = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """Number of the process, None while there is none."""
        alive = self._process is not None and self._process.returncode is None
        return self._process.pid if alive and self._process else None

    async def start(self) -> asyncio.subprocess.Process:
        """Return the process, a new one if the last has ended."""
        if self._process is None or self._process.returncode is not None:
            # Shielded: a process that is being started when nobody wants it any more must still
            # be known, or nobody could end it.
            self._starting = asyncio.ensure_future(_spawn())
            self._process = await asyncio.shield(self._starting)
        return self._process

    async def ask(
        self,
        do: str,
        stage: Callable[[str], None] | None = None,
        **given: Any,
    ) -> Any:
        """Have something done; ``stage`` hears how far it is."""
        async with self._turn:
            process = await self.start()
            assert process.stdin is not None
            assert process.stdout is not None
            line = json.dumps({"do": do, "with": given}) + "\n"
            try:
                process.stdin.write(line.encode())
                await process.stdin.drain()
                while heard := await process.stdout.readline():
                    message = json.loads(heard)
                    if "done" in message:
                        return message["done"]
                    if "failed" in message:
                        raise Refused(**message["failed"])
                    if stage is not None:
                        stage(message["stage"])
            except (ConnectionError, asyncio.CancelledError) as fault:
                # The answer of a question that nobody waits for must not meet the next one.
                self.kill()
                if isinstance(fault, asyncio.CancelledError):
                    raise
            raise Died(await process.wait())

    def enough(self) -> None:
        """Ask a method that refines to take the best it has."""
        if self._process is not None and self._process.stdin is not None and self.pid:
            self._process.stdin.write(b'{"do": "enough"}\n')

    def kill(self) -> None:
        """End the process, whatever it is doing: it writes only into folders we then remove."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process and wait until it is gone."""
        if self._starting is not None:
            self._process = await self._starting
        self.kill()
        if self._process is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._process.wait(), 5)


async def _spawn() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        # Nothing that lies in the folder of the data may pass for one of our modules.
        "-P",
        "-m",
        "shoal.web.worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE,
        start_new_session=True,  # ctrl-C in the terminal is the server's to hear
    )
