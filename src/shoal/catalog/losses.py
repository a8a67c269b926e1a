"""The losses, by name."""

from __future__ import annotations

from shoal.catalog.entries import LossEntry

LOSSES: dict[str, LossEntry] = {
    entry.name: entry
    for entry in (
        LossEntry(
            "iloss",
            "share of the information in the quasi-identifiers that is gone, 0 to 1",
            "Xiao, Tao 2006; Gong, Yang, Luo 2013",
            "shoal.measures.losses:iloss",
        ),
        LossEntry(
            "iloss_paper",
            "the same with intervals counted in whole numbers",
            "Gong, Yang, Luo 2013",
            "shoal.measures.losses:iloss_paper",
        ),
        LossEntry(
            "relative_loss",
            "loss over the loss of a table that tells nothing",
            "Wang, Xu, Wang, Shi 2010",
            "shoal.measures.losses:relative_loss",
        ),
        LossEntry(
            "discernibility",
            "sum of squared class sizes; a removed row costs the whole table",
            "Bayardo, Agrawal 2005",
            "shoal.measures.losses:discernibility",
        ),
        LossEntry(
            "average_class_size",
            "mean class size over k",
            "LeFevre, DeWitt, Ramakrishnan 2006",
            "shoal.measures.losses:average_class_size",
        ),
    )
}
