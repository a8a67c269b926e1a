"""How well a classifier trained on a release does on the original.

The rows of the original are parted once: one part is held out, and every classifier, whatever it
was trained on, is tested on the original rows of that part. It is trained on the *released* rows of
the other part. The release itself was made from the whole table, as it would be published.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.base.errors import MissingExtra, SchemaError, format_names, suggest_nearest
from shoal.base.partition import Bools, Floats, Ints
from shoal.base.roles import Role
from shoal.measures.losses.features import features, read_beside
from shoal.releases.base import View
from shoal.releases.opened import Opened
from shoal.tables.cells import as_text, sorted_values
from shoal.tables.original import Original
from shoal.tables.schema import Schema

# Rows. Training on 20,000 was right about one in a hundred times more often on the census sample,
# for all releases and the original alike, and took far longer.
MOST_LEARNT, MOST_TESTED = 10_000, 20_000
MOST_CLASSES = 10
HELD_OUT = 0.3
FEWEST = 20  # rows to train on, and to test on


@dataclass(frozen=True)
class Score:
    """How often a classifier is right.

    ``accuracy``: share of the test rows. ``balanced``: mean over the classes of the share of their
    rows, so that a frequent class counts no more than a rare one.
    """

    accuracy: float
    balanced: float
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class PredictionTask:
    """What is to be predicted, and on which rows it is tested.

    Parameters
    ----------
    target
        The column to predict, from the quasi-identifiers and the columns passed through.
    classes
        What the classes are called.
    of_value
        The class of the values of the column, by their texts.
    truth
        The class of every row of the original, -1 where the value is missing or has none.
    held
        Which rows of the original are held out.
    tested
        The rows that are tested on.
    seed
        Repeats the choice of rows.
    """

    target: str
    classes: tuple[str, ...]
    of_value: Mapping[str, int]
    truth: Ints
    held: Bools
    tested: Ints
    seed: int


def has_library() -> bool:
    """Tell whether scikit-learn can be imported."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return False
    return True


def check_library() -> None:
    """Refuse to train without scikit-learn."""
    if not has_library():
        raise MissingExtra(
            "Training a classifier needs scikit-learn, which is not installed. Install it with: "
            "pip install 'shoal[ml]'. Everything else works without it (--no-classifier, "
            "classifier=False)."
        )


def choose_target(schema: Schema, wanted: str | None) -> str | None:
    """Return the column to predict: the one wanted, or the first sensitive one."""
    able = [*schema.sensitive, *schema.keep]
    if wanted is None:
        return schema.sensitive[0] if schema.sensitive else None
    if wanted not in able:
        role = f" It is declared {schema[wanted].role.value}." if wanted in schema else ""
        raise SchemaError(
            f"The column {wanted!r} cannot be predicted.{role} A classifier predicts a sensitive "
            f"column, or one that is passed through; there are: {format_names(able)}."
            f"{suggest_nearest(wanted, able)}"
        )
    return wanted


def make_task(
    frame: pl.DataFrame, schema: Schema, target: str, seed: int = 0
) -> PredictionTask | str:
    """Part the rows and sort the values of the target into classes, or say why it cannot be done.

    A number of more than a few values becomes four classes of about equal frequency; of other
    columns only the commonest values are predicted, and rows with another are left aside.
    """
    column = schema[target].clean(frame[target])
    values = sorted_values(column)
    texts = as_text(values)
    counts = column.drop_nulls().value_counts(name="count")
    names, of_position = _classes(values, texts, _aligned(values, counts, target))
    of_value = {
        text: label
        for text, label in zip(texts.to_list(), of_position.tolist(), strict=True)
        if label >= 0
    }
    truth = _codes(as_text(column), of_value)
    rows = np.flatnonzero(truth >= 0)
    rng = np.random.default_rng([seed, 1])
    tested = np.sort(rng.permutation(rows)[: int(rows.size * HELD_OUT)])
    held = np.zeros(frame.height, np.bool_)
    held[tested] = True
    if tested.size > MOST_TESTED:
        tested = np.sort(rng.choice(tested, MOST_TESTED, replace=False))
    if tested.size < FEWEST:
        return (
            f"only {rows.size} rows have a value in {target!r}, and {int(FEWEST / HELD_OUT) + 1} "
            "are needed"
        )
    learnt = truth[~held]
    if np.unique(learnt[learnt >= 0]).size < 2:
        return f"{target!r} has one value only"
    if not any(column.role in (Role.QUASI, Role.KEEP) for column in schema.columns):
        return "there is no column to predict from"
    return PredictionTask(target, names, of_value, truth, held, tested, seed)


def _aligned(values: pl.Series, counts: pl.DataFrame, name: str) -> Ints:
    order = pl.DataFrame({name: values})
    aligned = order.join(counts, on=name, how="left", maintain_order="left")["count"]
    return aligned.fill_null(0).to_numpy().astype(np.int64)


def _classes(values: pl.Series, texts: pl.Series, counts: Ints) -> tuple[tuple[str, ...], Ints]:
    size = len(values)
    if size <= MOST_CLASSES:
        return tuple(texts.to_list()), np.arange(size)
    if values.dtype.is_numeric() or values.dtype.is_temporal():
        # A value belongs to the quarter that its middle row falls into.
        middle = (np.cumsum(counts) - counts / 2) / counts.sum()
        quarter = np.minimum((middle * 4).astype(np.int64), 3)
        present, class_of = np.unique(quarter, return_inverse=True)
        ends = [texts.filter(pl.Series(quarter == bin_number)) for bin_number in present]
        return tuple(f"{end[0]} to {end[-1]}" for end in ends), class_of.reshape(-1).astype(
            np.int64
        )
    kept = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    class_of = np.full(size, -1, np.int64)
    class_of[kept] = np.arange(kept.size)
    return tuple(texts.gather(kept).to_list()), class_of


def _codes(texts: pl.Series, of_value: Mapping[str, int]) -> Ints:
    if not of_value:
        return np.full(len(texts), -1, np.int64)
    codes = texts.replace_strict(
        list(of_value), list(of_value.values()), default=None, return_dtype=pl.Int64
    )
    return codes.fill_null(-1).to_numpy()


def majority(task: PredictionTask) -> Score:
    """Always say the class that is most frequent in the training rows."""
    learnt = task.truth[~task.held]
    guess = int(np.bincount(learnt[learnt >= 0]).argmax())
    return _score(task, np.full(task.tested.size, guess))


def on_original(task: PredictionTask, table: Original) -> Score:
    """Train on the original rows themselves: what can be reached without any anonymization."""
    reading = read_beside(Opened({"release": table.frame}, table.schema.columns), table, raw=True)
    weights = _certain(task.truth, len(task.classes))
    return _fit(task, reading, table, weights, np.flatnonzero(~task.held))


def on_release(
    task: PredictionTask,
    reading: Opened,
    order: Ints,
    table: Original,
    blurred: View | None = None,
) -> Score:
    """Train on the released rows that do not come from a row held out.

    Parameters
    ----------
    reading
        The release beside the original.
    order
        The row of the original that every released row comes from, known inside a run only.
    blurred
        The rows of :func:`training_rows`, ready to be asked, when the target is not published as
        single values: then each row counts for every class with the probability that they give it.
    """
    released = reading.frame
    rows = training_rows(task, order)
    if blurred is None:
        texts = as_text(table.schema[task.target].clean(released[task.target]))
        weights = _certain(_codes(texts, task.of_value), len(task.classes))
    else:
        weights = np.zeros((released.height, len(task.classes)))
        values = blurred.values(task.target)
        into = np.zeros((len(values), len(task.classes)))
        for row, value in enumerate(values):
            if value in task.of_value:
                into[row, task.of_value[value]] = 1.0
        chosen = _sample(task, np.arange(rows.size))
        rows = rows[chosen]
        weights[rows] = blurred.posterior(task.target).beliefs(chosen) @ into
    return _fit(task, reading, table, weights, rows)


def training_rows(task: PredictionTask, order: Ints) -> Ints:
    """Return the released rows that do not come from a row held out."""
    return np.flatnonzero(~task.held[order])


def _certain(codes: Ints, many: int) -> Floats:
    weights = np.zeros((codes.size, many))
    labelled = np.flatnonzero(codes >= 0)
    weights[labelled, codes[labelled]] = 1.0
    return weights


def _sample(task: PredictionTask, rows: Ints) -> Ints:
    if rows.size <= MOST_LEARNT:
        return rows
    return np.sort(np.random.default_rng([task.seed, 2]).choice(rows, MOST_LEARNT, replace=False))


def _fit(
    task: PredictionTask,
    reading: Opened,
    table: Original,
    weights: Floats,
    rows: Ints,
) -> Score:
    """Train on some released rows and test on the rows held out."""
    check_library()
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    start = time.perf_counter()
    rows = _sample(task, rows[weights[rows].sum(axis=1) > 0])
    at, classes = np.nonzero(weights[rows] > 1e-9)
    if np.unique(classes).size < 2:  # whoever has seen one class says that one
        only = int(classes[0]) if classes.size else 0
        guess = np.full(task.tested.size, only)
        return _score(task, guess, time.perf_counter() - start)
    without = [task.target]
    inputs = features(reading, table, rows=rows, tested=task.tested, without=without)
    model = LogisticRegression(max_iter=200, tol=1e-3)
    # One thread adds up in one order, however many cores are free.
    with warnings.catch_warnings(), threadpool_limits(1):
        # A score a little short of the optimum still compares releases.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(inputs.released[at].astype(np.float32), classes, weights[rows][at, classes])
        guess = np.asarray(model.predict(inputs.original.astype(np.float32)))
    return _score(task, guess, time.perf_counter() - start)


def _score(task: PredictionTask, guess: npt.NDArray[np.integer], seconds: float = 0.0) -> Score:
    truth = task.truth[task.tested]
    right = guess == truth
    sizes = np.bincount(truth)
    hits = np.bincount(truth, right, sizes.size)
    return Score(float(right.mean()), float((hits[sizes > 0] / sizes[sizes > 0]).mean()), seconds)
