"""Compile the kernels of the refinement in another process.

The first run on a machine compiles for longer than it works. Refinement comes last and takes half
of that: meanwhile another process can have its kernels ready. They are compiled by refining a table
of a few rows, so they are those that the real one asks for.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.coding.encode import encode
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.task import make_task
from shoal.groupers.shoal.trials import Trials, refined
from shoal.privacy import All, KAnonymity, LDiversity
from shoal.tables.schema import declare


def compile_refinement(*, diverse: bool) -> None:
    """Refine a small table, under a rule on its sensitive values or without one."""
    place = np.arange(24)
    frame = pl.DataFrame({"age": place % 7, "city": place % 5, "ill": place % 3})
    data = encode(frame, declare(frame, quasi=["age", "city"], sensitive=["ill"]))
    k = KAnonymity(2)
    rule = All((k, LDiversity(2, column="ill"))) if diverse else k
    task = make_task(data, rule, EFFORTS["fast"])
    refined(task, place // 4, Trials(2), np.random.default_rng(1))


def _compile(_progress: object, *, diverse: bool) -> None:
    compile_refinement(diverse=diverse)


TASKS = {"compile": _compile}
