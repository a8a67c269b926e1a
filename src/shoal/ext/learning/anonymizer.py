"""A transformer for scikit-learn that anonymizes the rows it is fitted on."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from shoal.api.arguments import OpenArguments
from shoal.api.opening import open as open_table
from shoal.api.release import Release
from shoal.api.signatures import split_arguments
from shoal.api.table import Table
from shoal.base.errors import InputError, ParameterError
from shoal.catalog import find_method
from shoal.plan.plan import Plan
from shoal.releases.ends import ENDS
from shoal.tables.native import Native, from_native
from shoal.tables.open_table import Names, merge_plan


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Anonymize a table in memory, row by row in its own order, for a model to be trained on.

    What it returns stands in the order of the input, so anyone who knows that order finds every
    person's row. Therefore it has no ``write``, and it cannot be pickled once it is fitted. To
    publish, write ``anonymizer.release_``: the same release, its rows shuffled.

    Parameters
    ----------
    quasi
        Quasi-identifiers, by default those of the plan, without a plan all columns.
    k
        The size of the smallest class; None: what the plan promises.
    numeric
        Return the middle of each interval instead of its text, NaN where there is none.
    plan
        A plan or its file.
    settings
        Other arguments of :func:`shoal.anonymize` by name, for instance ``{"sensitive": "ill"}``.
        Columns without a role are not returned.

    Attributes
    ----------
    release_
        The release: ``release_.loss``, ``release_.risk()``, ``release_.write("table.csv")``.
    """

    def __init__(
        self,
        quasi: Names | None = None,
        *,
        k: int | None = 10,
        numeric: bool = False,
        plan: Plan | str | Path | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.quasi = quasi
        self.k = k
        self.numeric = numeric
        self.plan = plan
        self.settings = settings

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Anonymize the rows of ``X``, a frame or an array; ``y`` is ignored."""
        frame = self._rows(X, reset=True)
        given = {"k": self.k, "mid": self.numeric or None, **(self.settings or {})}
        declared, asked = split_arguments(given, OpenArguments)
        quasi = frame.columns if self.quasi is None and self.plan is None else self.quasi
        table = open_table(frame, plan=self.plan, quasi=quasi, **declared)
        table = replace(table, plan=merge_plan(table.plan, **asked))
        self.release_, self._published = _in_order(table)
        self._salt = secrets.randbits(64)
        self._fitted_on = self._digest(frame)
        return self

    def transform(self, X: Any) -> Any:
        """Return the released rows, in the order of the rows that it was fitted on.

        Other rows are refused: they lie in no class of the release, so no rule holds for them.
        """
        check_is_fitted(self, "release_")
        if self._digest(self._rows(X, reset=False)) != self._fitted_on:
            raise InputError(
                "Anonymizer.transform takes only the table that it was fitted on: other rows lie "
                "in no class of the release. Call fit_transform with the whole table."
            )
        published = self._published
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            return Native.from_frame(X).convert(published)
        return np.column_stack([column.to_numpy() for column in published])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the released columns."""
        check_is_fitted(self, "release_")
        return np.asarray(self._published.columns, dtype=object)

    def __getstate__(self) -> Any:
        """Refuse to be stored: the rows stand in their original order."""
        if "_published" in self.__dict__:
            raise InputError(
                "A fitted Anonymizer holds released rows in the order of the original and cannot "
                "be pickled or copied. Store its release: anonymizer.release_.write(...)."
            )
        return super().__getstate__()

    def __sklearn_tags__(self) -> Any:
        """Say what it takes: missing values and texts, too."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = "seed" not in (self.settings or {})
        return tags

    def _rows(self, X: Any, *, reset: bool) -> pl.DataFrame:
        """Return a frame or an array as a polars frame, checked as scikit-learn does."""
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return from_native(X)
        cells = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return pl.DataFrame(
            {f"x{i}": pl.Series(c.tolist(), strict=False) for i, c in enumerate(cells.T)}
        )

    def _digest(self, frame: pl.DataFrame) -> bytes:
        """Return what tells one table from another, under a salt of its own: no cell is kept."""
        rows = frame.hash_rows(self._salt).to_numpy()
        return hashlib.sha256(repr(frame.schema).encode() + rows.tobytes()).digest()


def _in_order(table: Table[Any]) -> tuple[Release[Any], pl.DataFrame]:
    """Return the release of a table, and its rows in the order of the table."""
    method = find_method(table.plan.method.name)
    if method.shape.exact:
        raise ParameterError(
            f"Anonymizer returns generalized rows, and {method.name!r} publishes exact ones. Take "
            "another method, or shoal.anonymize."
        )
    release, made = table.anonymize_to_look_into(lambda _stage: None)
    if made.run.rows_out < made.run.rows_in:
        raise ParameterError(
            f"{made.run.rows_in - made.run.rows_out} rows were removed, and Anonymizer must "
            "return one row for each. Leave suppress out, or take shoal.anonymize."
        )
    frame = made.opened.frame[np.argsort(made.order)]
    middle = {name for name in made.opened.quasi if f"{name}_mid" in frame.columns}
    ends = {f"{name}{end}" for name in middle for end in ENDS}
    kept = frame.select(name for name in frame.columns if name not in ends)
    return release, kept.rename({f"{name}_mid": name for name in middle})
