"""A process that measures: a point a line on its standard input, the numbers a line on its output."""

from __future__ import annotations

import json
import sys
from typing import Any

from shoal.errors import ShoalError
from shoal.experiments.sources import Sources


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Measure one point; what goes wrong on purpose is an answer too."""
    from shoal.experiments.asking import ask, example
    from shoal.experiments.measuring import confirm, measure

    point = task["point"]
    call = {"queries": ask, "example": example}.get(point.get("kind", ""), measure)
    if task.get("confirm"):
        call = confirm
    try:
        return call(point, Sources(**task["sources"]))
    except ShoalError as error:
        return {"failed": str(error)}


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
