"""Carry out a plan on Spark: read, reduce to tuples, group, hand out, stage, check, write."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from shoal.base import errors
from shoal.base.column_names import check_names
from shoal.base.errors import MissingExtra, ParameterError, ShoalError
from shoal.base.params import check_options
from shoal.catalog import find_method
from shoal.ext.spark import files
from shoal.ext.spark.collect_release import Brought, check_size, collect_release
from shoal.ext.spark.columns import take_in
from shoal.ext.spark.find_uncovered import read_off_there
from shoal.ext.spark.job import Job
from shoal.ext.spark.publishing import publish
from shoal.ext.spark.session import first_line, require, session, session_of
from shoal.ext.spark.settings import Spark, address
from shoal.plan.plan import Plan
from shoal.plan.rule_specs import build_rules
from shoal.privacy import Rule
from shoal.tables.compatibility import refuse
from shoal.tables.find_hierarchies import Hierarchies, find_hierarchies, is_path
from shoal.tables.native import is_spark_frame
from shoal.tables.open_table import resolve_schema
from shoal.tables.request import Request
from shoal.verbs.anonymize import StageTimer
from shoal.verbs.run import Run


def carry_out(
    data: Any,
    plan: Plan,
    hierarchies: Hierarchies | None,
    extra: Sequence[Rule],
    settings: Spark,
    clock: StageTimer,
) -> tuple[Run, dict[str, Any], Brought | None]:
    """Anonymize a Spark frame, or a folder or file of Parquet or CSV.

    Return the run, the tables of the release by name, and what was brought to this machine if the
    settings ask for that.

    Parameters
    ----------
    data, plan, hierarchies
        As for ``shoal.anonymize``.
    extra
        Rules that no plan can hold.
    """
    settings = settings if settings.out is None else replace(settings, out=address(settings.out))
    entry = find_method(plan.method.name)
    options = check_options(plan.method.options, entry.params, entry.name)
    refuse(Request(plan, entry, spark=True))  # before anybody installs Spark for what it cannot do
    require()
    # The libraries of the method are loaded while Java starts, which leaves a processor free.
    threading.Thread(target=entry.load, daemon=True).start()
    with _translated():
        with clock.stage("read"):
            spark, frame, kind, source = _opened(data, plan, settings)
            check_names(frame.columns, source or "The frame")
            files.check_out(spark, settings, source)
            table = take_in(frame, plan, texts=kind == "csv")
            head = table.head()
            taxonomies = find_hierarchies(
                plan, head.columns, None if is_path(hierarchies) else hierarchies
            )
            # Everything that can be refused without looking at a value is refused now.
            _, schema = resolve_schema(head, plan, taxonomies)
            if settings.here:
                check_size(table, settings)
        specs = [rule.spec for rule in plan.rules]
        rules = (*build_rules(specs, schema.sensitive), *extra)
        refuse(Request(plan, entry, rules, schema, spark=True))
        with files.staging(spark, settings) as folder:
            job = Job(
                spark,
                settings,
                table,
                plan,
                schema,
                taxonomies,
                entry,
                options,
                rules,
                clock,
                folder,
            )
            staged = entry.shape.stage(job)
            release, verdict = publish(job, staged, kind)
            told = read_off_there(job, staged, release)
            here = collect_release(job, staged) if settings.here else None
    run = Run(
        loss=staged.loss,
        verdict=verdict,
        method=entry.name,
        plan=staged.plan.unseeded(),
        schema=staged.schema,
        rows_in=staged.size,
        rows_out=verdict.rows,
        notes=staged.notes,
        read_off=told,
        warnings=(told.describe(),) if told is not None and told.warns else (),
    )
    return run, {"release": release}, here


def _opened(data: Any, plan: Plan, settings: Spark) -> tuple[Any, Any, str, str | None]:
    """Return the session, the table as a Spark frame, its format, and where it lies."""
    if is_spark_frame(data):
        return session_of(data), data, "parquet", None
    if not is_path(data):
        raise ParameterError(
            "The Spark engine takes a Spark frame, or the path of a folder or file of Parquet or "
            f"CSV. Got {type(data).__module__}.{type(data).__qualname__} instead: anonymize it "
            "without engine=, or make a Spark frame of it."
        )
    source = address(data)
    spark = session(settings, source)
    frame, kind = files.read(spark, source, plan.data.delimiter)
    return spark, frame, kind, source


@contextmanager
def _translated() -> Iterator[None]:
    """Say in our words what Spark says in pages of Java."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as fault:
        raise _in_our_words(str(fault), fault) from fault


def _in_our_words(text: str, fault: BaseException) -> ShoalError:
    own = re.findall(r"^\s*shoal\.base\.errors\.(\w+): (.+)$", text, re.MULTILINE)
    if own:  # one of ours, raised on an executor
        kind: type[ShoalError] = getattr(errors, own[-1][0], ShoalError)
        return kind(own[-1][1])
    if lacking := re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", text):
        return MissingExtra(
            f"The Python of Spark's executors has no module {lacking[1]!r}. Install Shoal there "
            "too (pip install 'shoal[spark]'), or set PYSPARK_PYTHON to the Python that has it "
            f"before Spark starts, for instance {sys.executable!r}. Nothing was released."
        )
    traced = re.findall(r"^(\w[\w.]*(?:Error|Exception)\b.*)$", text, re.MULTILINE)
    worker = "Python worker" in text and traced
    said = f"{traced[-1].rstrip('.')}." if worker else first_line(fault)
    return ShoalError(
        f"Spark gave up: {said} Nothing was released and nothing was written; the whole message "
        "of Spark is the cause of this error."
    )
