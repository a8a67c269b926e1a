"""The catalog of anonymization methods."""

from __future__ import annotations

from shoal.base.params import Param
from shoal.catalog.entries import AsInPaper, Method

_L_DIVERSITY = (
    "l-diversity",
    "entropy-l-diversity",
    "recursive-l-diversity",
    "frequency-l-diversity",
)


def _word(name: str, meaning: str, choices: tuple[str, ...]) -> Param:
    """Declare an option that is one of some words, the first by default."""
    return Param(name, meaning, str, default=choices[0], choices=choices)


_ROW_BY_ROW = "which rows it suppresses, and how few, is counted row by row"
_ONE_LEVEL = "it publishes every column on one level in the whole table"

_SAME = AsInPaper("Nothing differs.")
_ENDS = AsInPaper(
    "Ends of intervals that are values of the table say that somebody has them, so ours lie on a "
    "grid.",
    exact_ends=True,
)
_SING_AND_MULTI = "'singanony' and 'multianony' are the paper's algorithms 1 and 2"

_FULL_DOMAIN = (
    Param(
        "suppression",
        "largest share of the rows that may be left out (counted as loss)",
        float,
        default=0.0,
        low=0,
        high=1,
    ),
)

METHODS: dict[str, Method] = {
    entry.name: entry
    for entry in (
        Method(
            "shoal",
            "peels classes off the table, cheapest generalization first, then takes neighbouring "
            "classes apart and puts them together better; the lowest loss",
            "this project, 2026",
            "shoal.groupers.shoal:group",
            (
                Param(
                    "effort",
                    "how long to look for a lower loss",
                    str,
                    default="normal",
                    choices=("fast", "normal", "max"),
                ),
                Param(
                    "objective",
                    "what a wide cell costs: its share of the domain, or of the column's entropy",
                    str,
                    default="ncp",
                    choices=("ncp", "entropy"),
                ),
            ),
            anytime=True,
            spares=True,
            baseline=True,
            ahead="shoal.groupers.compile_ahead",
            weighs=True,
            ours="it is this project's own",
        ),
        Method(
            "kaim",
            "clusters rows by how much information a shared release takes away; missing values "
            "sit at the top of their hierarchy, no row is dropped",
            "Gong, Yang, Luo 2013",
            "shoal.groupers.kaim:group",
            (
                _word(
                    "weights",
                    "balanced: every column counts alike; unit: the paper's formula to the letter",
                    ("balanced", "unit"),
                ),
            ),
            flat_sets=True,
            weighs=True,
            paper=AsInPaper(
                "With weights 1 a column of many values (age) drowns those of few, and the loss on "
                "Adult is nearly twice ours.",
                {"weights": "unit"},
                top="*",
            ),
        ),
        Method(
            "k-member",
            "grows each class by the row that costs the least information; the classic baseline",
            "Byun, Kamra, Bertino, Li 2007",
            "shoal.groupers.k_member:group",
            (
                _word(
                    "seeds",
                    "how the next class starts: at a random row, or the row furthest from the "
                    "previous start (the paper)",
                    ("random", "furthest"),
                ),
                _word(
                    "missing",
                    "keep incomplete rows, or drop them as the literature does (counted as loss)",
                    ("keep", "drop"),
                ),
            ),
            baseline=True,
            weighs=True,
            paper=AsInPaper(
                "Ours keeps rows with a missing value; and seeds furthest from the last one spend "
                "the outliers first, which loses more on Adult (0.109 against 0.093).",
                {"seeds": "furthest", "missing": "drop"},
                exact_ends=True,
            ),
        ),
        Method(
            "l-clustering",
            "builds clusters of different sensitive values without hierarchies; a growing cluster "
            "may swallow a finished one",
            "Wang, Xu, Wang, Shi 2010",
            "shoal.groupers.l_clustering:group",
            needs=_L_DIVERSITY,
            weighs=True,
            paper=_ENDS,
        ),
        Method(
            "alpha-k",
            "clusters around seeds that lie far apart and exchanges rows between clusters until no "
            "protected sensitive value is too frequent in any; our variant of singanony and "
            "multianony",
            "this project, after Yang, Yang, Zhang 2011",
            "shoal.groupers.alpha_k:group",
            (
                _word(
                    "protect",
                    "auto: what the rule says; one: the values it names; all: every value",
                    ("auto", "one", "all"),
                ),
            ),
            ours=_SING_AND_MULTI,
        ),
        Method(
            "singanony",
            "algorithm 1 of the paper, for one sensitive value: the rows nearest to a seed form a "
            "cluster, then clusters exchange rows until the value is not too frequent in any",
            "Yang, Yang, Zhang 2011",
            "shoal.groupers.alpha_k:singanony",
            needs=("alpha-k-anonymity",),
            paper=_ENDS,
        ),
        Method(
            "multianony",
            "algorithm 2 of the paper, for every sensitive value: the row nearest to a centre that "
            "moves with every row joins while its value stays within alpha",
            "Yang, Yang, Zhang 2011",
            "shoal.groupers.alpha_k:multianony",
            needs=("alpha-k-anonymity",),
            paper=_ENDS,
        ),
        Method(
            "mondrian",
            "cuts the table in two again and again, the widest column first, while the rule holds "
            "on both sides; fast, for any rule",
            "LeFevre, DeWitt, Ramakrishnan 2006",
            "shoal.groupers.mondrian:group",
            (
                _word(
                    "cuts",
                    "strict: equal values stay together; relaxed: rows with the median value are "
                    "shared out",
                    ("strict", "relaxed"),
                ),
                _word(
                    "small",
                    "children of a hierarchy node that fail the rule: gather them into one part, "
                    "or refuse the cut (the literature)",
                    ("gather", "refuse"),
                ),
            ),
            baseline=True,
            paper=AsInPaper(
                "Small children of a hierarchy node are gathered where the paper gives up the cut.",
                {"cuts": "strict", "small": "refuse"},
                exact_ends=True,
            ),
        ),
        Method(
            "incognito",
            "publishes every column on one level of its hierarchy, the combination of levels with "
            "the least loss; for any rule",
            "LeFevre, DeWitt, Ramakrishnan 2005",
            "shoal.groupers.incognito:group",
            _FULL_DOMAIN,
            whole=_ONE_LEVEL,
            tight=False,
            paper=_SAME,
        ),
        Method(
            "l-incognito",
            "incognito under l-diversity, the baseline of L-clustering",
            "LeFevre, DeWitt, Ramakrishnan 2005; Wang, Xu, Wang, Shi 2010",
            "shoal.groupers.incognito:group",
            _FULL_DOMAIN,
            needs=_L_DIVERSITY,
            whole=_ONE_LEVEL,
            tight=False,
            paper=_SAME,
        ),
        Method(
            "simanony",
            "incognito under (alpha, k)-anonymity, the baseline of (alpha, k) clustering",
            "Wong, Li, Fu, Wang 2009",
            "shoal.groupers.incognito:group",
            _FULL_DOMAIN,
            needs=("alpha-k-anonymity",),
            whole=_ONE_LEVEL,
            tight=False,
            paper=_SAME,
        ),
        Method(
            "tp",
            "publishes classes of equal rows exactly and suppresses few others, within l times the "
            "least number",
            "Xiao, Yi, Tao 2010",
            "shoal.groupers.tp:group",
            rules=("frequency-l-diversity",),
            stars=True,
            whole="the few rows that it suppresses are few only in the table as a whole",
            rows_only=_ROW_BY_ROW,
            paper=_SAME,
        ),
        Method(
            "tp+",
            "tp, with the rows that it would suppress cut by mondrian instead",
            "Xiao, Yi, Tao 2010",
            "shoal.groupers.tp:group_plus",
            rules=("frequency-l-diversity",),
            whole="the few rows that it cuts further are few only in the table as a whole",
            rows_only=_ROW_BY_ROW,
            paper=_ENDS,
        ),
        Method(
            "dummies",
            "keeps every quasi-identifier as it is and hides each sensitive value in a set of l "
            "values; counts are estimated from the sets",
            "Sei, Takenouchi, Ohsuga 2015",
            "shoal.releases.dummies.make:draw",
            (
                _word(
                    "missing",
                    "hide: a missing sensitive value becomes a random set; keep: it stays missing",
                    ("hide", "keep"),
                ),
            ),
            release="dummies",
            rules=("l-diversity",),
            needs=("l-diversity",),
            paper=AsInPaper(
                "Stopping when no count changes by a whole row costs accuracy, so our estimate "
                "goes on to 0.01. The paper draws from a declared domain: give it with --domain.",
                estimate={"eps": 1.0},
            ),
        ),
        Method(
            "anatomy",
            "keeps every quasi-identifier as it is and publishes the sensitive values of random "
            "classes in a second table",
            "Xiao, Tao 2006",
            "shoal.groupers.anatomy:group",
            release="anatomized",
            rules=("frequency-l-diversity",),
            needs=("frequency-l-diversity",),
            rows_only="the rows of a person lie in several classes, and the values that all of "
            "these classes share are the person's",
            paper=_SAME,
        ),
        Method(
            "buckets",
            "gives rows signatures of m values by their frequency and cuts the rows of a signature "
            "in halves until each class has every value once; the baseline of m-invariance",
            "Xiao, Tao 2007",
            "shoal.groupers.buckets:group",
            rules=("m-invariance", "frequency-l-diversity"),
            needs=("m-invariance", "frequency-l-diversity"),
            whole="signatures are handed out by how frequent values are in the whole table",
            paper=_ENDS,
        ),
    )
}
