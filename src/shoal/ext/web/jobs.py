"""Ask worker processes without blocking the web server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from shoal.base.workers import Worker


class WorkerClient:
    """A worker process for one question at a time."""

    def __init__(self) -> None:
        self._worker = Worker("shoal.ext.web.tasks")
        self._turn = asyncio.Lock()
        self.enough, self.kill = self._worker.enough, self._worker.kill

    @property
    def pid(self) -> int | None:
        """Number of the process, None while there is none."""
        return self._worker.pid

    async def ask(
        self, do: str, stage: Callable[[str], None] | None = None, **settings: Any
    ) -> Any:
        """Have something done; ``stage`` hears how far it is."""
        loop = asyncio.get_running_loop()

        def tell(name: str) -> None:
            if stage is not None:
                loop.call_soon_threadsafe(stage, name)

        async with self._turn:
            asked = asyncio.ensure_future(asyncio.to_thread(self._worker.ask, do, tell, **settings))
            try:
                return await asyncio.shield(asked)
            except asyncio.CancelledError:
                # The answer of a question that nobody waits for must not meet the next one. Again
                # and again, for the process may only just be starting.
                while not asked.done():
                    self.kill()
                    await asyncio.wait([asked], timeout=0.05)
                asked.exception()
                raise

    async def close(self) -> None:
        """End the process and wait until it is gone."""
        await asyncio.to_thread(self._worker.close)
