"""The process that touches the tables: one line of JSON in, lines of JSON out.

In: ``{"do": name, "with": {...}}``, and ``{"do": "enough"}`` while a method refines. Out:
``{"stage": name}`` as often as the stage changes, then ``{"done": ...}`` or ``{"failed": {"kind",
"text"}}``. When the pipe closes, because the server is gone, the process ends.
"""

from __future__ import annotations

import json
import math
import os
import queue
import sys
import threading
import traceback
import warnings
from typing import IO, Any

from shoal.base.errors import ShoalError

MEMORY = (
    "There is not enough memory for this table. Try fewer rows or columns, another method, or a "
    "machine with more memory."
)
UNEXPECTED = (
    "Something went wrong that Shoal did not foresee ({name}). Its details stand in the terminal "
    "that runs 'shoal serve'; please report them with the method and the shape of the table."
)


def plain(value: Any) -> Any:
    """Return data that JSON can hold: no numpy, no infinity."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        return plain(value.item()) if getattr(value, "ndim", 0) == 0 else plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


class _Told:
    """Passes stages on, each once, and tells whether to take the best so far."""

    def __init__(self, out: IO[str], enough: threading.Event) -> None:
        self.out, self.enough, self.last = out, enough, ""

    def __call__(self, stage: str) -> bool:
        if stage != self.last:
            self.last = stage
            send(self.out, {"stage": stage})
        return self.enough.is_set()


def send(out: IO[str], message: dict[str, Any]) -> None:
    """Write one message."""
    out.write(json.dumps(plain(message)) + "\n")
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


def _answer(message: dict[str, Any], told: _Told) -> dict[str, Any]:
    from shoal.web.tasks import TASKS

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an outcome carries its own
            return {"done": TASKS[message["do"]](told, **message["with"])}
    except ShoalError as error:
        return {"failed": {"kind": type(error).__name__, "text": str(error)}}
    except MemoryError:
        return {"failed": {"kind": "MemoryError", "text": MEMORY}}
    except Exception as error:  # whatever it is, the page has to show something
        traceback.print_exc()
        text = UNEXPECTED.format(name=type(error).__name__)
        return {"failed": {"kind": "Unexpected", "text": text}}


def main() -> None:
    """Answer messages until the pipe closes."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    inbox: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    enough = threading.Event()
    threading.Thread(target=_listen, args=(inbox, enough), daemon=True).start()
    while True:
        message = inbox.get()
        enough.clear()
        send(out, _answer(message, _Told(out, enough)))


if __name__ == "__main__":
    main()
