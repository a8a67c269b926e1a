"""The rules and the losses, by name."""

from __future__ import annotations

from shoal.catalog.entries import LossEntry, RuleEntry

RULES: dict[str, RuleEntry] = {
    entry.name: entry
    for entry in (
        RuleEntry(
            "k-anonymity",
            "every released row looks like at least k - 1 others",
            "Samarati, Sweeney 1998",
            "shoal.privacy.k_anonymity:KAnonymity",
            flags=(("k", "k"),),
        ),
        RuleEntry(
            "l-diversity",
            "every group has at least l different sensitive values",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.privacy.l_diversity:LDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "distinct"),
            sensitive=True,
        ),
        RuleEntry(
            "entropy-l-diversity",
            "the sensitive values of every group are as mixed as l equally frequent ones",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.privacy.l_diversity:EntropyLDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "entropy"),
            sensitive=True,
        ),
        RuleEntry(
            "recursive-l-diversity",
            "the most frequent value of every group occurs less than c times as often as all "
            "values from the l-th on",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.privacy.l_diversity:RecursiveLDiversity",
            flags=(("l", "l"), ("c", "c")),
            family=("l-kind", "recursive"),
            sensitive=True,
        ),
        RuleEntry(
            "frequency-l-diversity",
            "no sensitive value has more than 1 / l of a group",
            "Xiao, Tao 2006",
            "shoal.privacy.l_diversity:FrequencyLDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "frequency"),
            sensitive=True,
        ),
        RuleEntry(
            "alpha-k-anonymity",
            "every group has k rows, and no protected value more than a share of alpha in it",
            "Wong, Li, Fu, Wang 2006",
            "shoal.privacy.alpha_k:AlphaK",
            flags=(("alpha", "alpha"), ("k", "k"), ("alpha-value", "values")),
            sensitive=True,
        ),
        RuleEntry(
            "t-closeness",
            "the sensitive values of every group are spread as in the whole table, give or take t",
            "Li, Li, Venkatasubramanian 2007",
            "shoal.privacy.closeness:TCloseness",
            flags=(("t", "t"), ("t-distance", "distance")),
            sensitive=True,
        ),
        RuleEntry(
            "beta-likeness",
            "no sensitive value's share in a group is more than 1 + beta times that in the table",
            "Cao, Karras 2012",
            "shoal.privacy.closeness:BetaLikeness",
            flags=(("beta", "beta"), ("beta-enhanced", "enhanced")),
            sensitive=True,
        ),
    )
}

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
