"""Does a release keep its record's signatures? Asked of its published cells and of the history.

Nothing here knows how signatures were handed out. The classes are put together again from what is
published, people are put into them as the history says, and the values of each class are counted.
"""

from __future__ import annotations

import polars as pl

from shoal.base.errors import ParameterError, format_names
from shoal.privacy import MInvariance
from shoal.releases.counterfeits import COUNTERFEITS, class_names, false_rows
from shoal.releases.history.store import History
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text, missing_to_null
from shoal.tables.domain import STAR
from shoal.tables.set_cells import read_sets

SETS_KEPT = "dummy values"
"""What a history is about that keeps sets of dummy values."""


def invariance_faults(
    opened: Opened,
    column: str,
    m: int,
    records: pl.DataFrame,
    classes: pl.DataFrame,
    before: pl.DataFrame | None = None,
    crowd: int = 1,
) -> list[str]:
    """Say what keeps a release from being m-invariant in its series.

    1. A record of an earlier release (``before``) still has its signature.
    2. A signature has at least m known values, and that of its record among them.
    3. A class has the values of its people's signatures: for each signature as many of every value
       as it has people with the value that most of them have.
    4. What more rows a class has than people are counterfeits, and as many as are published.
    5. A class has at least ``crowd`` people, whatever counterfeits it has.
    """
    published = opened.published
    own = records.filter(pl.col("column") == column)
    faults = [] if before is None else _kept(before.filter(pl.col("column") == column), own)
    there = classes.join(
        own.select("person", "value", "signature"),
        on=["person", "value"],
        how="left",
        nulls_equal=True,
    )
    lost = there.filter(pl.col("signature").is_null()).height
    if lost:
        return [*faults, f"{lost:,} people of the release have no signature in the history."]
    known = pl.col("signature").list.drop_nulls().list.n_unique()
    apart = ~pl.col("signature").list.contains(pl.col("value"), nulls_equal=True)
    if few := there.filter((known < m) | apart).height:
        faults.append(
            f"{few:,} people of the release have a signature of fewer than {m} values, or one "
            "without their own."
        )
    faults += _unbalanced(opened, column, there)
    faults += _counterfeits(opened, class_names(published), there)
    people = there.group_by("class").agg(pl.col("person").n_unique())["person"]
    if few := int((people < crowd).sum()):
        faults.append(f"{few:,} classes have fewer than {crowd} people, counterfeits not counted.")
    return faults


def _kept(before: pl.DataFrame, records: pl.DataFrame) -> list[str]:
    """Say whose signature has changed since an earlier release, or was lost."""
    both = before.join(records, on=["person", "value"], how="left", suffix="_now", nulls_equal=True)
    same = pl.col("signature").list.sort() == pl.col("signature_now").list.sort()
    lost = both.filter(~same.fill_null(value=False)).height
    return [f"{lost:,} records have another signature than in earlier releases."] if lost else []


def _unbalanced(opened: Opened, column: str, there: pl.DataFrame) -> list[str]:
    """Say how many classes have other values than the signatures of their people ask for."""
    published = opened.published
    texts = as_text(
        missing_to_null(opened.frame[column], ("", STAR, *opened.column(column).missing))
    )
    seen = (
        pl.DataFrame({"class": class_names(published).gather(published.labels), "value": texts})
        .group_by("class", "value")
        .agg(pl.len().alias("rows"))
    )
    depth = (
        there.group_by("class", "signature", "value")
        .agg(pl.len().alias("people"))
        .group_by("class", "signature")
        .agg(pl.col("people").max().alias("rows"))
    )
    asked = (
        depth.explode("signature")
        .rename({"signature": "value"})
        .group_by("class", "value")
        .agg(pl.col("rows").sum().alias("asked"))
    )
    both = seen.join(asked, on=["class", "value"], how="full", coalesce=True, nulls_equal=True)
    wrong = both.filter(pl.col("rows").ne_missing(pl.col("asked")))["class"].n_unique()
    if not wrong:
        return []
    return [f"{wrong:,} classes do not have the values of the signatures of their people."]


def _counterfeits(opened: Opened, names: pl.Series, there: pl.DataFrame) -> list[str]:
    """Say where counterfeits are not counted as they are published."""
    people = there.group_by("class").agg(pl.len().alias("people"))
    rows = pl.DataFrame({"class": names, "rows": opened.published.sizes})
    more = rows.join(people, on="class", how="full", coalesce=True).select(
        "class", (pl.col("rows").fill_null(0) - pl.col("people").fill_null(0)).alias("more")
    )
    table = opened.tables.get(COUNTERFEITS)
    if table is None:  # of a release that was opened by itself
        short = more.filter(pl.col("more") < 0).height
        return [f"{short:,} classes have fewer rows than people."] if short else []
    false, faults = false_rows(opened.published, table)
    both = more.join(pl.DataFrame({"class": names, "told": false}), on="class", how="full")
    wrong = both.filter(pl.col("more").fill_null(0) != pl.col("told").fill_null(0)).height
    return faults + ([f"The counterfeits of {wrong:,} classes are told wrongly."] if wrong else [])


def set_faults(
    opened: Opened,
    records: pl.DataFrame,
    classes: pl.DataFrame,
    before: pl.DataFrame | None = None,
) -> list[str]:
    """Say what keeps people from having the sets of dummy values that the history says.

    1. A record of an earlier release (``before``) still has its set.
    2. A set holds the value of its record.
    3. In every class of rows that look alike, the published sets are those of its people.
    """
    faults = []
    for name in opened.sensitive:
        own = records.filter(pl.col("column") == name)
        there = classes.filter(pl.col("column") == name)
        if before is not None:
            faults += _kept(before.filter(pl.col("column") == name), own)
        strange = ~pl.col("signature").list.contains(pl.col("value"), nulls_equal=True)
        if wrong := own.filter(pl.col("value").is_not_null() & strange).height:
            faults.append(f"{wrong:,} people have a set of {name!r} without their value.")
        asked = there.join(own, on=["person", "value"], how="left", nulls_equal=True)
        published = opened.published
        lists = read_sets(opened.frame[name])
        sets = lists if lists is not None else opened.frame[name].cast(pl.List(pl.String))
        seen = pl.DataFrame(
            {"class": class_names(published).gather(published.labels), "signature": sets}
        )
        key = pl.col("signature").list.sort().list.join("\x1f")
        both = (
            frame.group_by("class", key.alias("set")).agg(pl.len().alias("rows"))
            for frame in (seen, asked.select("class", "signature"))
        )
        apart = next(both).join(
            next(both), on=["class", "set"], how="full", nulls_equal=True, suffix="_asked"
        )
        if wrong := apart.filter(pl.col("rows").ne_missing(pl.col("rows_asked"))).height:
            faults.append(
                f"{wrong:,} sets of {name!r} are not those that the history says of the people of "
                "their class."
            )
    return faults


def check_history(opened: Opened, history: History) -> list[str]:
    """Say what keeps a release from being what its history says, and m-invariant with the others.

    Who was in a class is known from the history alone; whether that is what is published is asked
    of the cells.
    """
    number = history.number(opened.frame)
    if number is None:
        history.check_released({"The release": opened.frame})
    assert number is not None
    about = history.heads[number]["about"]
    if about["rule"] == SETS_KEPT:
        if lost := [name for name in about["sensitive column"] if name not in opened.sensitive]:
            raise ParameterError(
                f"The history {history.folder} is one of dummy values of {format_names(lost)}, "
                "which is not a sensitive column of this release. Name it with --sensitive."
            )
        return set_faults(opened, history.records, history.classes(number))
    column, m = about["sensitive column"], about.get("m", 2)
    if about["rule"] != MInvariance.name or not opened.has(column):
        raise ParameterError(
            f"The history {history.folder} is one of {about['rule']} of the column {column!r}, and "
            "this is asked of m-invariance and a release with that column. Leave it out."
        )
    crowd = int(history.heads[number]["release"].get("k", 1))
    classes = history.classes(number)
    return invariance_faults(opened, column, m, history.records, classes, crowd=crowd)
