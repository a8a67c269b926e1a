"""Turn the caps of a rule into limits for the growth kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from shoal.coding.encode import Encoded
from shoal.kernels.limits import Limits
from shoal.privacy import Caps, ColumnCaps, Rule, flatten, joint, known_caps

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NO_LIMITS = Limits(
    target=1,
    values=np.empty((1, 0), np.int32),
    distinct=np.empty(0, np.int64),
    share=np.empty(0),
    first=np.zeros(1, np.int64),
    guarded=np.empty(0, np.bool_),
    quota=np.empty(0),
    near=np.empty((0, 2)),
)


def limits_of(
    data: Encoded, rule: Rule, size: int = 1, quota: Mapping[str, Floats] | None = None
) -> tuple[Limits, npt.NDArray[np.int32]]:
    """Return the limits of a rule and the tag of every row.

    Parts of a rule without a numeric form set no limits; the caller repairs what they ask for.
    ``quota``, the table's shares of the values of some columns, lets groups of at least ``size``
    rows keep the mix that a rule asks for from their first row on. Values too rare for a group of
    that size must not be among the rows.
    """
    caps = known_caps(rule)
    near: dict[str, tuple[float, float]] = {}
    # A group smaller than 1 / share could not hold even one row of a guarded value.
    least = [math.ceil(1.0 / cap.least_share - 1e-9) for cap in caps.columns.values()]
    for part in flatten([rule]):
        share = None if part.reading is None else (quota or {}).get(part.reading)
        if part.reading is None or share is None or (mix := part.mix(share)) is None:
            continue
        before = near.get(part.reading, (np.inf, 0.0))
        if mix.far < before[0]:
            near[part.reading] = (mix.far, float(mix.ordered) * (2.0 if mix.missing else 1.0))
        most = dict(zip(data.names_read(part.reading), mix.most.tolist(), strict=True))
        caps = joint([caps, Caps(size, {part.reading: ColumnCaps(values=most)})])
    columns = list(caps.columns)
    if columns:
        stacked = np.column_stack([data.codes_read(name) for name in columns])
        values, tags = np.unique(stacked, axis=0, return_inverse=True)
    else:
        values, tags = np.empty((1, 0), np.int32), np.zeros(data.rows, np.int64)
    sizes = [len(data.names_read(name)) for name in columns]
    shares = [
        cap.share_of(value) for name, cap in caps.columns.items() for value in data.names_read(name)
    ]
    share = np.array(shares, np.float64)
    distinct = [cap.distinct for cap in caps.columns.values()]
    limits = Limits(
        target=min(max(caps.size, 1, *distinct, *least), data.rows),
        values=np.ascontiguousarray(values, np.int32),
        distinct=np.array(distinct, np.int64),
        share=share,
        first=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        guarded=share < 1.0,
        quota=np.concatenate(
            [
                np.empty(0),
                *(
                    (quota or {}).get(name, np.zeros(z))
                    for name, z in zip(columns, sizes, strict=True)
                ),
            ]
        ),
        near=np.array([near.get(name, (np.inf, 0.0)) for name in columns]).reshape(-1, 2),
    )
    return limits, tags.astype(np.int32).ravel()


def left_over(data: Encoded, rule: Rule, rows: Ints, times: int = 1) -> int:
    """Return how many of some rows are left over, at least, by groups of so many least sizes.

    Of the rows of one value each group takes so many that the others still make it diverse.
    """
    caps = known_caps(rule)
    most = 0
    for name, cap in caps.columns.items() if data.people is None else ():
        codes, names = data.sensitive[name][rows], data.sensitive_names[name]
        count = np.bincount(codes[codes >= 0], minlength=len(names))
        size = times * max(caps.size, cap.distinct, math.ceil(1.0 / cap.least_share - 1e-9))
        share = np.array([cap.share_of(value) for value in names])
        room = np.minimum(np.floor(share * size + 1e-9), size + 1 - max(cap.distinct, 1))
        groups = np.where(room < size, (rows.size - count) // np.maximum(size - room, 1), rows.size)
        most = max(most, int((count - room * groups).max(initial=0)))
    return most
