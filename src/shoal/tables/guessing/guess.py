"""Guess the role and kind of every column, with reasons.

A guess is a proposal for a person to read. It never says that a column is harmless: what there is
no evidence for stays undecided, and is not released.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from shoal.base.errors import SchemaError
from shoal.base.roles import Kind, Role
from shoal.tables.guessing import names
from shoal.tables.guessing.dependencies import derived
from shoal.tables.guessing.hierarchies import no_hierarchy
from shoal.tables.guessing.roles import Evidence, Guess, role_of
from shoal.tables.schema import Column, Schema, guess_kind, plain, unknown_column


def guess(
    frame: pl.DataFrame,
    *,
    roles: Mapping[str, Role | str] | None = None,
    kinds: Mapping[str, Kind | str] | None = None,
    taxonomies: Iterable[str] = (),
) -> Schema:
    """Guess the role and kind of every column of ``frame``, with reasons.

    Parameters
    ----------
    roles, kinds
        What is already known; the rest is guessed.
    taxonomies
        Names of the columns that have a hierarchy.
    """
    roles, kinds, have = roles or {}, kinds or {}, set(taxonomies)
    faults = [
        unknown_column(name, frame.columns)
        for name in dict.fromkeys([*roles, *kinds])
        if name not in frame.columns
    ]
    if faults:
        raise SchemaError(faults)
    guesses = guessed_roles(frame)
    columns = []
    for name in frame.columns:
        role, reason = (Role(roles[name]), "declared") if name in roles else guesses[name]
        kind = None
        if role is Role.QUASI:
            kind, why = guess_kind(frame[name], name in have)
            if name in kinds:
                kind, why = Kind(kinds[name]), "kind declared"
            reason = f"{reason}; {why}"
            if kind is Kind.SET and name not in roles and name not in kinds:
                lacking = no_hierarchy(frame[name], name)
                if lacking:
                    role, kind, reason = Role.UNDECIDED, None, f"{guesses[name][1]}, but {lacking}"
        columns.append(Column(name, role, kind, reason))
    return Schema(tuple(columns))


def guessed_roles(frame: pl.DataFrame) -> dict[str, Guess]:
    """Guess every column's role by itself, then what the columns say about each other."""
    short = names.without_prefix(frame.columns)
    beside = any(names.matching_word(name, names.PERSON) for name in short.values())
    guesses = {
        name: role_of(Evidence(frame[name], short[name], beside_names=beside))
        for name in frame.columns
    }
    sources = [
        name
        for name, (role, _) in guesses.items()
        if role is Role.QUASI and frame[name].null_count() < frame.height
    ]
    left = [
        name
        for name, (role, _) in guesses.items()
        if role is Role.UNDECIDED and plain(frame[name].dtype) and not frame[name].is_null().all()
    ]
    why = derived(frame, left, sources) if left and sources else {}
    return guesses | {name: (Role.QUASI, how) for name, how in why.items()}
