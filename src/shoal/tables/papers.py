"""The worked tables of the four papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.tables.domain import STAR, Taxonomy


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(";")] for line in text.strip().splitlines()]


def table(text: str) -> pl.DataFrame:
    """Read a table written one row a line: whole numbers, texts, ``*`` for missing."""
    head, *rows = _rows(text)
    columns = {}
    for name, cells in zip(head, zip(*rows, strict=True), strict=True):
        column = pl.Series([None if cell == STAR else cell for cell in cells], dtype=pl.String)
        number = column.cast(pl.Int64, strict=False)
        columns[name] = number if number.null_count() == column.null_count() else column
    return pl.DataFrame(columns)


def _tree(column: str, text: str) -> Taxonomy:
    """Read a hierarchy, one path from a value to the top a line."""
    return Taxonomy.from_rows(_rows(text), column)


def paired(rows: Sequence[Sequence[int]], cells: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Publish groups of rows, numbered from 1, with the cells of their group, in the input's order.

    ``cells``: per column the cell of each group.
    """
    place = {row: number for number, group in enumerate(rows) for row in group}
    order = [place[row] for row in sorted(place)]
    return pl.DataFrame({name: [each[at] for at in order] for name, each in cells.items()})


# Gong, Yang, Luo 2013

KAIM_1 = table("""
age; gender; zipcode; disease
*;   M;      12000;   Gastric ulcer
*;   M;      14000;   Dyspepsia
26;  F;      18000;   Pneumonia
28;  M;      19000;   Bronchitis
32;  M;      *;       *
39;  M;      24000;   Pneumonia
41;  *;      *;       Flu
36;  F;      22000;   Gastritis
48;  F;      *;       Pneumonia
*;   F;      21000;   Flu
""")
KAIM_TREES = {
    "age": _tree(
        "age",
        """
        26; [20,30); [20,50)
        28; [20,30); [20,50)
        32; [30,40); [20,50)
        36; [30,40); [20,50)
        39; [30,40); [20,50)
        41; [40,50); [20,50)
        48; [40,50); [20,50)
        """,
    ),
    "gender": _tree("gender", "M; Person\nF; Person"),
    "zipcode": _tree(
        "zipcode",
        """
        12000; [10000,15000); [10000,25000)
        14000; [10000,15000); [10000,25000)
        18000; [15000,20000); [10000,25000)
        19000; [15000,20000); [10000,25000)
        21000; [20000,25000); [10000,25000)
        22000; [20000,25000); [10000,25000)
        24000; [20000,25000); [10000,25000)
        """,
    ),
}
KAIM_GROUPS = ((1, 2), (3, 4), (5, 6), (8, 10), (7, 9))
KAIM_3 = paired(
    KAIM_GROUPS,
    {
        "age": ("*", "[20,30)", "[30,40)", "*", "[40,50)"),
        "gender": ("M", "*", "M", "F", "*"),
        "zipcode": ("[10000,15000)", "[15000,20000)", "*", "[20000,25000)", "*"),
    },
)

# Wang, Xu, Wang, Shi 2010

L_CLUSTERING_1 = table("""
age; zipcode; disease
51;  12562;   Heart disease
50;  12552;   Cancer
51;  12532;   Heart disease
54;  12555;   Cancer
54;  12555;   Heart disease
54;  12555;   Tracheitis
55;  12532;   Cancer
52;  12561;   Tracheitis
52;  12533;   Tracheitis
53;  12553;   Tracheitis
""")
L_CLUSTERING_TREES = {  # figure 1
    "age": _tree(
        "age",
        """
        50; [50~51]; [50~55]
        51; [50~51]; [50~55]
        52; [52~53]; [50~55]
        53; [52~53]; [50~55]
        54; [54~55]; [50~55]
        55; [54~55]; [50~55]
        """,
    ),
    "zipcode": _tree(
        "zipcode",
        """
        12532; 1253*; 125**
        12533; 1253*; 125**
        12552; 1255*; 125**
        12553; 1255*; 125**
        12555; 1255*; 125**
        12561; 1256*; 125**
        12562; 1256*; 125**
        """,
    ),
}
L_CLUSTERING_2 = paired(
    ((1, 2, 3), (4, 5, 6, 7), (8, 9, 10)),
    {"age": ("[50~51]", "[54~55]", "[52~53]"), "zipcode": ("125**",) * 3},
)
L_CLUSTERING_GROUPS = ((1, 2, 8), (3, 7, 9), (4, 5, 6, 10))
L_CLUSTERING_3 = paired(
    L_CLUSTERING_GROUPS,
    {"age": ("[50~52]", "[51~55]", "[53~54]"), "zipcode": ("125**", "1253*", "1255*")},
)
L_CLUSTERING_4 = paired((range(1, 11),), {"age": ("[50~55]",), "zipcode": ("125**",)})
L_CLUSTERING_5 = table("""
age; zipcode; disease
51;  12320;   Heart disease
56;  12320;   Cancer
56;  12320;   Cancer
51;  12320;   Heart disease
""")

# Yang, Yang, Zhang 2011

ALPHA_K_1A = table("""
age; sex; country; disease
25;  M;   USA;     Lues
30;  F;   Haiti;   Heart
28;  M;   USA;     Lues
31;  F;   Haiti;   Cancer
""")
# Of tables (b) and (c) the groups are the paper's, the cells what these groups have in common.
ALPHA_K_GROUPS = ((1, 3), (2, 4))
ALPHA_K_1B = paired(
    ALPHA_K_GROUPS,
    {"age": ("[25-28]", "[30-31]"), "sex": ("M", "F"), "country": ("USA", "Haiti")},
)
ALPHA_K_1C = paired((range(1, 5),), {"age": ("[25-31]",), "sex": ("*",), "country": ("*",)})

# Sei, Takenouchi, Ohsuga 2015

DUMMIES_1 = table("""
name;   gender; age; address; job;    disease
Alex;   M;      41;  13000;   Artist; Fever
Becky;  F;      41;  17025;   Artist; Sty
Carl;   M;      50;  13021;   Writer; Cancer
Diana;  F;      51;  14053;   Nurse;  Pus
Edward; M;      68;  15000;   Writer; Chill
Flora;  F;      69;  16022;   Nurse;  HIV
Greg;   M;      72;  13001;   Artist; Cut
Hanna;  F;      77;  17001;   Artist; Cancer
""")
DUMMIES_DOMAIN = ("Cancer", "Chill", "Cold", "Cut", "Fever", "Flu", "HIV", "Pus", "Sty")
DUMMIES_2 = paired(
    ((1, 2), (3, 4), (5, 6), (7, 8)),
    {
        "gender": ("*",) * 4,
        "age": ("41", "50-51", "68-69", "72-77"),
        "address": ("13*-17*", "13*-14*", "15*-16*", "13*-17*"),
        "job": ("Artist", "*", "*", "Artist"),
    },
)
DUMMIES_3 = paired(
    ((1, 7), (2, 8), (3, 5), (4, 6)),
    {
        "gender": ("M", "F", "M", "F"),
        "age": ("41-72", "41-77", "50-68", "51-69"),
        "address": ("13*", "17*", "13*-15*", "14*-16*"),
        "job": ("Artist", "Artist", "Writer", "Nurse"),
    },
)
DUMMIES_4 = (
    ("Fever", "Flu"),
    ("Fever", "Sty"),
    ("Cancer", "Cold"),
    ("HIV", "Pus"),
    ("Chill", "Cut"),
    ("Cold", "HIV"),
    ("Cut", "Fever"),
    ("Cancer", "Flu"),
)
DUMMIES_5 = table("""
gender; age; address; job;    disease
M;      31;  13000;   Artist; Fever
M;      31;  13000;   Artist; Sty
M;      52;  13021;   Writer; Cancer
M;      52;  13021;   Writer; HIV
""")
DUMMIES_6 = table("""
gender; age; disease
M;      25;  Cancer
M;      29;  Cancer
M;      54;  Cancer
M;      78;  Cold
F;      20;  Cold
F;      55;  Cut
F;      56;  Cut
F;      59;  Cut
""")
DUMMIES_7_CLASSES = (2, 4, 1, 3, 4, 3, 1, 2)
DUMMIES_7 = table("""
group_id; disease; count
1; Cancer; 1
1; Cut;    1
2; Cancer; 1
2; Cut;    1
3; Cold;   1
3; Cut;    1
4; Cancer; 1
4; Cold;   1
""")


@dataclass(frozen=True)
class Example:
    """A worked example: a paper's table, what the paper publishes of it, and how we do.

    Parameters
    ----------
    title, citation
        What the method is for, and the paper.
    shown, made
        What the paper calls the table and its release.
    original, quasi, sensitive, trees, domain
        The table and what is declared of it.
    published, groups
        The release of the paper, in the order of the table, and its groups of rows, from 1.
    method, flags
        Our method, and the promise by the flags of the command line.
    """

    title: str
    citation: str
    shown: str
    made: str
    original: pl.DataFrame
    quasi: Sequence[str]
    published: pl.DataFrame
    groups: Sequence[Sequence[int]]
    method: str
    flags: Mapping[str, Any]
    trees: Mapping[str, Taxonomy] = field(default_factory=dict)
    domain: Sequence[str] = ()
    sensitive: str = "disease"


_ALPHA_K: dict[str, Any] = {
    "title": "(alpha, k)-anonymity by clustering",
    "citation": "Yang, Yang, Zhang 2011",
    "shown": "Table 1 (a)",
    "original": ALPHA_K_1A,
    "quasi": ("age", "sex", "country"),
}
EXAMPLES = {
    "kaim": (
        Example(
            "k-anonymity for tables with missing values (KAIM)",
            "Gong, Yang, Luo 2013",
            "Table 1",
            "Table 3, k = 2",
            KAIM_1,
            ("age", "gender", "zipcode"),
            KAIM_3.with_columns(KAIM_1["disease"]),
            KAIM_GROUPS,
            "kaim",
            {"k": 2},
            KAIM_TREES,
        ),
    ),
    "l-clustering": (
        Example(
            "l-diversity by clustering, without hierarchies",
            "Wang, Xu, Wang, Shi 2010",
            "Table 1",
            "Table 3, l = 3 (zip codes along figure 1)",
            L_CLUSTERING_1,
            ("age", "zipcode"),
            L_CLUSTERING_3.with_columns(L_CLUSTERING_1["disease"]),
            L_CLUSTERING_GROUPS,
            "l-clustering",
            {"l": 3},
        ),
    ),
    "alpha-k": (
        Example(
            made="Table 1 (b), k = 2, alpha = 0.5, protecting Cancer",
            published=ALPHA_K_1B.with_columns(ALPHA_K_1A["disease"]),
            groups=ALPHA_K_GROUPS,
            method="singanony",
            flags={"k": 2, "alpha": 0.5, "alpha-value": ("disease=Cancer",)},
            **_ALPHA_K,
        ),
        Example(
            made="Table 1 (c), k = 2, alpha = 0.5, protecting every value",
            published=ALPHA_K_1C.with_columns(ALPHA_K_1A["disease"]),
            groups=(range(1, 5),),
            method="multianony",
            flags={"k": 2, "alpha": 0.5},
            **_ALPHA_K,
        ),
    ),
    "dummies": (
        Example(
            "dummy values: l-diversity with the quasi-identifiers as they are",
            "Sei, Takenouchi, Ohsuga 2015",
            "Table 1",
            "Table 4, l = 2",
            DUMMIES_1.drop("name"),
            ("gender", "age", "address", "job"),
            DUMMIES_1.drop("name").with_columns(
                disease=pl.Series([list(pair) for pair in DUMMIES_4])
            ),
            (),
            "dummies",
            {"l": 2},
            domain=DUMMIES_DOMAIN,
        ),
    ),
}
"""By the word for ``shoal demo --paper``."""
