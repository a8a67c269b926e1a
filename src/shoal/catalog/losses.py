"""The catalog of information losses, with their names in comparisons and JSON."""

from __future__ import annotations

from shoal.catalog.entries import LossEntry

DEFAULT_LOSS = "loss"

LOSSES: dict[str, LossEntry] = {
    entry.name: entry
    for entry in (
        LossEntry(
            "loss",
            "information loss",
            "share of the information in the quasi-identifiers that is gone",
            "Xiao, Tao 2006; Gong, Yang, Luo 2013",
            "shoal.measures.losses.ncp:loss",
            high=1.0,
            form=".2%",
        ),
        LossEntry(
            "loss_paper",
            "information loss in whole numbers",
            "the same with intervals counted in whole numbers",
            "Gong, Yang, Luo 2013",
            "shoal.measures.losses.ncp:loss_paper",
            high=1.0,
            shown=False,
        ),
        LossEntry(
            "relative_loss",
            "relative loss",
            "loss divided by the loss of a table without any information; cells that are "
            "missing already "
            "cannot lose anything",
            "Wang, Xu, Wang, Shi 2010",
            "shoal.measures.losses.ncp:relative_loss",
            shown=False,
        ),
        LossEntry(
            "discernibility",
            "discernibility",
            "sum of squared class sizes; a row left out costs the whole table",
            "Bayardo, Agrawal 2005",
            "shoal.measures.losses.classes:discernibility",
            form=",.0f",
            shown=False,
        ),
        LossEntry(
            "class_size",
            "mean class size",
            "rows per class; a row left out counts as a class of the whole table",
            "LeFevre, DeWitt, Ramakrishnan 2006",
            "shoal.measures.losses.classes:class_size",
            form=",.1f",
            shown=False,
        ),
    )
}
