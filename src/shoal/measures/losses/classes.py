"""Losses that depend on class sizes only."""

from __future__ import annotations

from shoal.measures.losses.grouped import Grouped


def discernibility(grouped: Grouped) -> float:
    """Return the sum over rows of how many rows each cannot be told from.

    A released row counts the size of its class, a row left out the whole table.

    Notes
    -----
    Bayardo and Agrawal (2005), section 3.
    """
    sizes, left = grouped.class_sizes, grouped.partition.left_out.size
    return float(sizes @ sizes + left * grouped.data.rows)


def class_size(grouped: Grouped) -> float:
    """Return rows per class; a row left out counts as if the whole table were its class.

    Notes
    -----
    C_avg of LeFevre, DeWitt, Ramakrishnan (2006), section 4, not divided by k. Departure: the
    paper's methods leave no row out, and without a price for it leaving out all but the smallest
    class would look best.
    """
    rows, left = grouped.data.rows, grouped.partition.left_out.size
    classes = grouped.class_sizes.size
    released = grouped.partition.rows.size / classes if classes else 0.0
    return (released * (rows - left) + rows * left) / rows if rows else 0.0
