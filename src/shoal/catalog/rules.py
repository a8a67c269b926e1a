"""The catalog of privacy rules."""

from __future__ import annotations

from shoal.catalog.entries import Reading, RuleEntry

RULES: dict[str, RuleEntry] = {
    entry.name: entry
    for entry in (
        RuleEntry(
            "k-anonymity",
            "every released row looks like at least k - 1 others",
            "Someone who knows a person's quasi-identifiers finds a class of rows that fit, and "
            "cannot tell which of them is the person's.",
            "Samarati, Sweeney 1998",
            "shoal.privacy.k_anonymity:KAnonymity",
            flags=(("k", "k"),),
            crowd="k",
        ),
        RuleEntry(
            "l-diversity",
            "every class has at least l different sensitive values",
            "Inside every such class there are several different sensitive values, so finding "
            "the class does not tell the value for certain. One value may still be very likely.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.privacy.l_diversity:LDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "distinct"),
            sensitive=True,
        ),
        RuleEntry(
            "entropy-l-diversity",
            "the sensitive values of every class are as mixed as l equally frequent ones",
            "Inside every class the sensitive values are well mixed: none of them stands out by "
            "far.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.privacy.l_diversity:EntropyLDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "entropy"),
            sensitive=True,
        ),
        RuleEntry(
            "recursive-l-diversity",
            "the most frequent value of every class occurs less than c times as often as all "
            "values from the l-th on",
            "Inside every class even the most frequent sensitive value is kept in check by the "
            "others.",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.privacy.l_diversity:RecursiveLDiversity",
            flags=(("l", "l"), ("c", "c")),
            family=("l-kind", "recursive"),
            sensitive=True,
        ),
        RuleEntry(
            "frequency-l-diversity",
            "no sensitive value has more than 1 / l of the known values of a class",
            "No sensitive value is shared by more than a limited part of any class, so nobody "
            "can be sure of it.",
            "Xiao, Tao 2006",
            "shoal.privacy.l_diversity:FrequencyLDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "frequency"),
            sensitive=True,
        ),
        RuleEntry(
            "alpha-k-anonymity",
            "every class has k rows, and no protected value more than a share of alpha in it",
            "Everybody hides in a class, and in no class does a protected value have more than "
            "a limited share.",
            "Wong, Li, Fu, Wang 2006",
            "shoal.privacy.alpha_k:AlphaK",
            flags=(("alpha", "alpha"), ("k", "k"), ("alpha-value", "values")),
            sensitive=True,
            crowd="k",
            bounds="alpha (alpha = 0.5: at most half of a class)",
        ),
        RuleEntry(
            "t-closeness",
            "the sensitive values of every class are spread as in the whole table, give or take t",
            "Every class's sensitive values look nearly like those of the whole table, so "
            "finding a class teaches little.",
            "Li, Li, Venkatasubramanian 2007",
            "shoal.privacy.closeness:TCloseness",
            flags=(("t", "t"), ("t-distance", "distance"), ("missing-sensitive", "missing")),
            sensitive=True,
            figures=(
                Reading("t", "t_closeness", ordered={"distance": "ordered"}, shown=False),
                Reading("t_equal", options={"distance": "equal"}),
                Reading("t_ordered", options={"distance": "ordered"}),
            ),
            bounds="t (t = 0.2: at most 20 percentage points above the table, with equal distance)",
        ),
        RuleEntry(
            "beta-likeness",
            "no sensitive value's share in a class is more than 1 + beta times that in the table",
            "No sensitive value is much more frequent in a class than in the whole table.",
            "Cao, Karras 2012",
            "shoal.privacy.closeness:BetaLikeness",
            flags=(
                ("beta", "beta"),
                ("beta-enhanced", "enhanced"),
                ("missing-sensitive", "missing"),
            ),
            sensitive=True,
            figures=(
                Reading("beta", "basic_beta_likeness"),
                Reading("enhanced_beta", "enhanced_beta_likeness", {"enhanced": True}),
            ),
            bounds="beta (beta = 1: at most twice the share in the table)",
        ),
        RuleEntry(
            "m-invariance",
            "over all releases a person hides among the same m sensitive values or more",
            "Someone who has every release with a person still cannot distinguish the person's "
            "value "
            "from m - 1 other values: they are the same in each release.",
            "Xiao, Tao 2007",
            "shoal.privacy.m_invariance:MInvariance",
            flags=(("m", "m"),),
            sensitive=True,
            figures=(),
            lasting=True,
        ),
    )
}
