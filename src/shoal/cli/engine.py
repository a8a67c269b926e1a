"""The option --engine and the options that only Spark takes."""

from __future__ import annotations

from shoal.base.errors import ParameterError, suggest_nearest
from shoal.catalog.extensions import require


def wants_spark(
    engine: str,
    master: str | None,
    driver_tuples: int | None,
    *,
    strict: bool = False,
    prove: bool = False,
    history: object = None,
) -> bool:
    """Tell whether Spark does the work, and refuse its flags without it."""
    from shoal.tables.compatibility import refuse_on_spark

    engines = ("local", "spark")
    if engine not in engines:
        raise ParameterError(
            f"--engine must be one of {', '.join(map(repr, engines))}. Got {engine!r} instead."
            f"{suggest_nearest(engine, engines)}"
        )
    if engine == "local" and (master is not None or driver_tuples is not None):
        raise ParameterError(
            "--master and --driver-tuples are for Spark, and the engine is local. Add "
            "--engine spark, or leave them out."
        )
    if engine == "spark":
        require("spark")
        refuse_on_spark(strict=strict, prove=prove, history=history)
    return engine == "spark"
