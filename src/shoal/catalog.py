"""Every method, rule and loss by name: its parameters, their limits, where it comes from.

The command line, the plan and the docs are made from these tables, so a new method or rule is one
more entry here. Nothing heavy is imported before an entry is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from shoal.errors import ParameterError, nearest
from shoal.params import Param


def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Method:
    """One way to group the rows.

    Parameters
    ----------
    name, story, citation
        Name in plans and on the command line, one line on what it does, where it comes from.
    path
        ``module:function`` of the grouper, imported when it is used.
    params
        Its options.
    flat_sets
        Whether nominal columns without a hierarchy become flat taxonomies for it.
    release
        Shape of what it publishes.
    rules
        Names of the rules it can serve, None for any.
    needs
        Names of rules of which at least one must be asked for.
    """

    name: str
    story: str
    citation: str
    path: str
    params: tuple[Param, ...] = ()
    flat_sets: bool = False
    release: str = "generalized"
    rules: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()

    def load(self) -> Callable[..., Any]:
        """Import the grouper: ``group(data, rule, rng, **options) -> Partition``."""
        call: Callable[..., Any] = _load(self.path)
        return call


@dataclass(frozen=True)
class RuleEntry:
    """One privacy model.

    Parameters
    ----------
    path
        ``module:name`` of what makes the rule from its parameters; the rule class itself holds
        the parameters as ``params``.
    flags
        Command-line flag -> parameter. The first one calls for the rule, the others only refine.
        Rules may share flags: ``--l`` calls for the l-diversity that ``--l-kind`` names.
    family
        Flag and word that choose this rule among those with the same first flag, for instance
        ``("l-kind", "entropy")``; the first of a family is its default.
    sensitive
        Whether it speaks of a sensitive column (``column`` in the plan; all of them by default).
    """

    name: str
    story: str
    citation: str
    path: str
    flags: tuple[tuple[str, str], ...]
    family: tuple[str, str] | None = None
    sensitive: bool = False

    def load(self) -> Any:
        """Import what makes the rule."""
        return _load(self.path)

    @property
    def params(self) -> tuple[Param, ...]:
        """The rule's parameters, declared once, next to the rule."""
        declared: tuple[Param, ...] = self.load().params
        return declared


@dataclass(frozen=True)
class LossEntry:
    """One measure of what a release loses; smaller is better for all of them."""

    name: str
    story: str
    citation: str
    path: str

    def load(self) -> Callable[..., Any]:
        """Import the measure: ``loss(data, partition)``."""
        call: Callable[..., Any] = _load(self.path)
        return call


_L_DIVERSITY = (
    "l-diversity",
    "entropy-l-diversity",
    "recursive-l-diversity",
    "frequency-l-diversity",
)


def _word(name: str, meaning: str, choices: tuple[str, ...]) -> Param:
    """Declare an option that is one of some words, the first by default."""
    return Param(name, meaning, str, default=choices[0], choices=choices)


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
        ),
        Method(
            "k-member",
            "grows each group by the row that costs the least information; the classic baseline",
            "Byun, Kamra, Bertino, Li 2007",
            "shoal.groupers.k_member:group",
            (
                _word(
                    "seeds",
                    "how the next group starts: at a random row, or the row furthest from the "
                    "previous start (the paper)",
                    ("random", "furthest"),
                ),
                _word(
                    "missing",
                    "keep incomplete rows, or drop them as the literature does (counted as loss)",
                    ("keep", "drop"),
                ),
            ),
        ),
        Method(
            "l-clustering",
            "builds clusters of different sensitive values without hierarchies; a growing cluster "
            "may swallow a finished one",
            "Wang, Xu, Wang, Shi 2010",
            "shoal.groupers.l_clustering:group",
            needs=_L_DIVERSITY,
        ),
        Method(
            "alpha-k",
            "clusters around seeds that lie far apart and exchanges rows between clusters until no "
            "protected sensitive value is too frequent in any",
            "Yang, Yang, Zhang 2011",
            "shoal.groupers.alpha_k:group",
            (
                _word(
                    "protect",
                    "auto: what the rule says; one: the values it names; all: every value",
                    ("auto", "one", "all"),
                ),
                _word(
                    "growth",
                    "free: clusters form freely, then exchange rows; capped: a row joins only "
                    "while its value stays within alpha; best: the less lossy of both",
                    ("best", "free", "capped"),
                ),
            ),
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
        ),
        Method(
            "incognito",
            "publishes every column on one level of its hierarchy, the combination of levels with "
            "the least loss; for any rule",
            "LeFevre, DeWitt, Ramakrishnan 2005",
            "shoal.groupers.incognito:group",
            _FULL_DOMAIN,
        ),
        Method(
            "l-incognito",
            "incognito under l-diversity, the baseline of L-clustering",
            "LeFevre, DeWitt, Ramakrishnan 2005; Wang, Xu, Wang, Shi 2010",
            "shoal.groupers.incognito:group",
            _FULL_DOMAIN,
            needs=_L_DIVERSITY,
        ),
        Method(
            "simanony",
            "incognito under (alpha, k)-anonymity, the baseline of (alpha, k) clustering",
            "Wong, Li, Fu, Wang 2009",
            "shoal.groupers.incognito:group",
            _FULL_DOMAIN,
            needs=("alpha-k-anonymity",),
        ),
        Method(
            "tp",
            "publishes groups of equal rows exactly and suppresses few others, within l times the "
            "least number",
            "Xiao, Yi, Tao 2010",
            "shoal.groupers.tp:group",
            rules=("frequency-l-diversity",),
        ),
        Method(
            "tp+",
            "tp, with the rows that it would suppress cut by mondrian instead",
            "Xiao, Yi, Tao 2010",
            "shoal.groupers.tp:group_plus",
            rules=("frequency-l-diversity",),
        ),
    )
}

DEFAULT_METHOD = "kaim"

RULES: dict[str, RuleEntry] = {
    entry.name: entry
    for entry in (
        RuleEntry(
            "k-anonymity",
            "every released row looks like at least k - 1 others",
            "Samarati, Sweeney 1998",
            "shoal.rules.k_anonymity:KAnonymity",
            flags=(("k", "k"),),
        ),
        RuleEntry(
            "l-diversity",
            "every group has at least l different sensitive values",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.rules.l_diversity:LDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "distinct"),
            sensitive=True,
        ),
        RuleEntry(
            "entropy-l-diversity",
            "the sensitive values of every group are as mixed as l equally frequent ones",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.rules.l_diversity:EntropyLDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "entropy"),
            sensitive=True,
        ),
        RuleEntry(
            "recursive-l-diversity",
            "the most frequent value of every group occurs less than c times as often as all "
            "values from the l-th on",
            "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007",
            "shoal.rules.l_diversity:RecursiveLDiversity",
            flags=(("l", "l"), ("c", "c")),
            family=("l-kind", "recursive"),
            sensitive=True,
        ),
        RuleEntry(
            "frequency-l-diversity",
            "no sensitive value has more than 1 / l of a group",
            "Xiao, Tao 2006",
            "shoal.rules.l_diversity:FrequencyLDiversity",
            flags=(("l", "l"),),
            family=("l-kind", "frequency"),
            sensitive=True,
        ),
        RuleEntry(
            "alpha-k-anonymity",
            "every group has k rows, and no protected value more than a share of alpha in it",
            "Wong, Li, Fu, Wang 2006",
            "shoal.rules.alpha_k:AlphaK",
            flags=(("alpha", "alpha"), ("k", "k"), ("alpha-value", "values")),
            sensitive=True,
        ),
        RuleEntry(
            "t-closeness",
            "the sensitive values of every group are spread as in the whole table, give or take t",
            "Li, Li, Venkatasubramanian 2007",
            "shoal.rules.closeness:TCloseness",
            flags=(("t", "t"), ("t-distance", "distance")),
            sensitive=True,
        ),
        RuleEntry(
            "beta-likeness",
            "no sensitive value's share in a group is more than 1 + beta times that in the table",
            "Cao, Karras 2012",
            "shoal.rules.closeness:BetaLikeness",
            flags=(("beta", "beta"), ("beta-enhanced", "enhanced")),
            sensitive=True,
        ),
    )
}

DEFAULT_RULE = "k-anonymity"

LOSSES: dict[str, LossEntry] = {
    entry.name: entry
    for entry in (
        LossEntry(
            "iloss",
            "share of the information in the quasi-identifiers that is gone, 0 to 1",
            "Xiao, Tao 2006; Gong, Yang, Luo 2013",
            "shoal.losses:iloss",
        ),
        LossEntry(
            "iloss_paper",
            "the same with intervals counted in whole numbers",
            "Gong, Yang, Luo 2013",
            "shoal.losses:iloss_paper",
        ),
        LossEntry(
            "discernibility",
            "sum of squared class sizes; a removed row costs the whole table",
            "Bayardo, Agrawal 2005",
            "shoal.losses:discernibility",
        ),
        LossEntry(
            "average_class_size",
            "mean class size over k",
            "LeFevre, DeWitt, Ramakrishnan 2006",
            "shoal.losses:average_class_size",
        ),
    )
}


def find_method(name: str) -> Method:
    """Return the method called ``name`` or say which there are."""
    if name not in METHODS:
        raise ParameterError(_unknown("method", name, METHODS))
    return METHODS[name]


def find_rule(name: str) -> RuleEntry:
    """Return the rule called ``name`` or say which there are."""
    if name not in RULES:
        raise ParameterError(_unknown("rule", name, RULES))
    return RULES[name]


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    return (
        f"There is no {what} {name!r}; there are {', '.join(map(repr, names))}."
        f"{nearest(name, names)}"
    )
