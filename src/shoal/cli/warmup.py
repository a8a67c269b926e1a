"""``shoal warmup``: compile the kernels now, so that later runs start faster."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

from shoal.base.errors import ParameterError, ShoalError
from shoal.catalog import DEFAULT_METHOD, METHODS, find_method
from shoal.cli import console
from shoal.cli import options as opt

ROWS = 300
# What a method is asked to promise here: the first that it can keep.
_PROMISES: tuple[dict[str, Any], ...] = ({"k": 2}, {"l": 2}, {"k": 2, "alpha": 0.9})
_USUAL = (DEFAULT_METHOD, "mondrian", "k-member", "kaim")


def command(
    methods: Annotated[
        list[str] | None,
        opt.flag(
            "--methods",
            "NAMES",
            f"Methods, comma-separated, or all (default: {', '.join(_USUAL)}).",
        ),
    ] = None,
) -> None:
    """Compile Shoal's kernels so that later runs start faster.

    Example: shoal warmup

    Example: shoal warmup --methods all

    Use it in container images and on shared machines. The compiled code is kept in the folder shoal
    of your cache (NUMBA_CACHE_DIR, XDG_CACHE_HOME or ~/.cache). It is compiled again after a change
    of Shoal, numba, Python or the processor.
    """
    import time

    from shoal.base.compiling import announce_compiling
    from shoal.cli.progress import BAR
    from shoal.kernels.cache_folder import keeping

    chosen = opt.split_names(methods, (), "methods") or list(_USUAL)
    chosen = list(METHODS) if chosen == ["all"] else chosen
    for name in chosen:
        find_method(name)
    folder = keeping().folder
    if folder is None:
        raise ParameterError(
            "Compiled code cannot be kept: no cache folder belongs to you alone. Set "
            "NUMBA_CACHE_DIR to a folder of your own."
        )
    began = time.perf_counter()
    steps = list(_steps(chosen))
    with announce_compiling(lambda: None) as spent, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at, (what, step) in enumerate(steps):
            BAR.show(what, (at, len(steps)))
            console.print_detail(f"{time.perf_counter() - began:.1f} s: {what}")
            step()
    word = (
        f"compiled in {spent.seconds:.0f} s" if spent.seconds else "everything was compiled already"
    )
    console.print_line(f"Ready for {', '.join(chosen)}: {word}. Kept in {folder}.")


def _steps(methods: list[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what is to be done and a call that does it, on a few synthetic patients."""
    import polars as pl

    import shoal
    from shoal.tables import demo

    whole = shoal.open(
        pl.read_csv(demo.TABLE, try_parse_dates=True).head(ROWS),
        quasi=demo.QUASI,
        sensitive=demo.SENSITIVE,
        identifier=demo.IDENTIFIER,
        hierarchies=demo.HIERARCHIES,
    )
    for name in methods:
        yield name, partial(_run, whole, name)
    if DEFAULT_METHOD in methods:
        yield "rules on sensitive values", lambda: whole.anonymize(k=2, l=2)
    yield "inspect", lambda: whole.inspect().singling
    yield "attacks", lambda: whole.anonymize(k=2, method="mondrian").with_original(whole).attack()


def _run(table: Any, method: str) -> None:
    fault: ShoalError | None = None
    for promise in _PROMISES:
        try:
            table.anonymize(method=method, **promise)
        except ShoalError as refused:
            fault = refused
        else:
            return
    if fault is not None:
        raise fault
