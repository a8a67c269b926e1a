"""The part of a report for the decision to release.

Nothing here says that a law is kept. Each question is answered with the figure that measures it;
the judgement is left to the people who sign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl
from markupsafe import escape

from shoal.base.roles import Role
from shoal.measures.deduced_values import read_off
from shoal.measures.risks.results import Attacks
from shoal.plan.plan import Plan
from shoal.releases.verdict import Verdict
from shoal.report.words import role_words
from shoal.show.charts.words import format_number
from shoal.show.figures.plots import Plots
from shoal.show.figures.subject import Subject
from shoal.tables.cells import as_text
from shoal.tables.guessing.patterns import DATES, IDENTIFYING

# Stands where the digests of the release go, which are known when it has been written.
DIGESTS = "[digests of the release: see its manifest]"

FIELDS = {
    "purpose": "Purpose of the release",
    "recipient": "Who gets it",
    "legal_basis": "Legal basis",
    "decided_by": "Who decided",
    "why": "Why this promise",
}

# HIPAA, 45 CFR 164.514(b)(2)(i): the identifier, names of columns, and what values look like.
_NO_FORM: tuple[str, ...] = ()
HIPAA: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Names",
        r"(?<![a-z])(name|surname|firstname|lastname|forename|nachname|vorname|nom|prenom)",
        _NO_FORM,
    ),
    (
        "Places smaller than a state",
        r"zip|post(al|code|leitzahl)|plz|stree?t|stra(ss|ß)e|addres|adres|city|town|village|county|district"
        r"|municip|parish|(wohn|geburts|(?<![a-z]))ort(?![a-z])|stadt|gemeinde|kreis|ville|commune"
        r"|ciudad|comune|cidade|plaats",
        _NO_FORM,
    ),
    (
        "Days of dates, ages above 89",
        r"dat(e|um)|day|birth|geburt|admi|discharge|death|(?<![a-z])(dob|age|alter)(?![a-z])|_at$",
        ("dates",),
    ),
    ("Telephone numbers", r"phone|mobile|telefon", ("phone numbers",)),
    ("Fax numbers", r"(?<![a-z])fax", _NO_FORM),
    ("E-mail addresses", r"e?_?mail", ("e-mail addresses",)),
    ("Social security numbers", r"ssn|social.?sec", ("social security numbers",)),
    (
        "Medical record numbers",
        r"mrn|(?<![a-z])pat(?![a-z])|pat_?(nr|id)|patient|case|record|(?<![a-z])fall|akte|dossier",
        _NO_FORM,
    ),
    (
        "Health plan numbers",
        r"insur|policy|plan.?(id|no|num)|beneficiary|member",
        ("insurance numbers",),
    ),
    ("Account numbers", r"account|iban|card", ("bank accounts (IBAN)", "credit cards")),
    ("Certificates and licences", r"licen[cs]e|certificate", ("identity cards",)),
    ("Vehicles", r"vehicle|plate|(?<![a-z])vin(?![a-z])", _NO_FORM),
    ("Devices", r"device|serial|imei|(?<![a-z])mac(?![a-z])", ("universal identifiers",)),
    ("Web addresses", r"(?<![a-z])(url|web|site)(?![a-z])", ("web addresses",)),
    ("IP addresses", r"(?<![a-z])ip(?![a-z])|ip.?addr", ("IP addresses",)),
    (
        "Fingerprints, voices and other biometrics",
        r"biometr|finger|voice|retina|iris|face|gene|dna",
        _NO_FORM,
    ),
    ("Photographs", r"photo|image|picture", _NO_FORM),
    (
        "Any other unique number or code",
        r"(?<![a-z])(id|uuid|key|code|number|no|nr)(?![a-z])",
        ("universal identifiers",),
    ),
)
_AS_IT_IS = "published as it is"
_LOOKED_AT = 2_000  # different values


def evidence(
    subject: Subject, verdict: Verdict, attacks: Attacks | None, digest: str = ""
) -> dict[str, Any]:
    """Return what the section for the decision shows; ``digest``: of the input."""
    plan = subject.opened.plan
    _, after = Plots(subject).risks()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "fields": [(title, getattr(plan.evidence, key) or "") for key, title in FIELDS.items()],
        "digest": digest,
        "digests": DIGESTS,
        "people": _people(subject, verdict),
        "residual": _residual(after.prosecutor_highest, verdict),
        "left_out": [
            (column.name, role_words(column.role))
            for column in subject.opened.columns
            if not column.role.published
        ],
        "questions": _questions(subject, verdict, attacks, after.prosecutor_highest),
        "hipaa": _hipaa(subject, plan),
    }


def fill_digests(page: str, files: Mapping[str, Any]) -> str:
    """Put the digests of the files of a release into its report."""
    told = "<br>".join(f"{escape(name)}: {escape(one['sha256'])}" for name, one in files.items())
    return page.replace(DIGESTS, told) if told else page


def _people(subject: Subject, verdict: Verdict) -> str:
    if verdict.people is not None:
        return (
            f"{verdict.rows:,} rows of {verdict.people:,} different people; classes are counted "
            "in people."
        )
    return (
        f"{verdict.rows:,} rows. No column says whose row is whose: if a person can have several, "
        "classes hold fewer people than rows."
    )


def _residual(highest: float, verdict: Verdict) -> str:
    kept = "The promise holds." if verdict.holds else verdict.headline
    return (
        f"{kept} Somebody who knows every quasi-identifier of a person, and that the person is in "
        "the table, picks the right row with a probability of at most "
        f"{format_number(highest, 'share')}. "
        "Not covered: somebody who knows more than these columns, other releases of the same "
        "people, and what all members of a class have in common."
    )


def _questions(
    subject: Subject, verdict: Verdict, attacks: Attacks | None, highest: float
) -> list[dict[str, str]]:
    """Answer the three questions of opinion 05/2014 by what measures each."""
    certain = read_off(subject.opened)
    whose = "row" if verdict.people is None else "person"
    singled = f"Highest risk of a {whose}: {format_number(highest, 'share')}. "
    singled += certain.describe() if certain is not None else "No cell is generalized."
    answers: dict[str, list[str]] = {}
    for one in attacks.results if attacks is not None else ():
        column = f" ({one.column})" if one.column else ""
        answers.setdefault(one.name, []).append(
            f"{one.name}{column}: {format_number(one.success, 'share')} of {one.attempts:,} "
            "tried, a guess "
            f"{format_number(one.baseline, 'share')}, the control "
            f"{format_number(one.control, 'share')}"
        )
    untried = "Not measured: the attack needs the original (--original, or a report of the run)."
    learnt = [text for name, texts in answers.items() if name != "linkage" for text in texts]
    if not subject.opened.sensitive:
        learnt = ["Not measured: no column is declared sensitive."]
    return [
        {
            "name": "Singling out",
            "asks": "Can the record of a person be isolated?",
            "by": "sizes of classes, and what can be deduced",
            "found": singled,
        },
        {
            "name": "Linkability",
            "asks": "Can records of one person be joined, here or with another table?",
            "by": "the attack linkage",
            "found": "; ".join(answers.get("linkage", [])) or untried,
        },
        {
            "name": "Inference",
            "asks": "Can something be concluded about a person?",
            "by": "the attacks inference, homogeneity and background",
            "found": "; ".join(learnt) or untried,
        },
    ]


def _hipaa(subject: Subject, plan: Plan) -> list[dict[str, Any]]:
    """Say of HIPAA's 18 identifiers which columns look like one, and what became of them."""
    columns = {column.name: column.role for column in subject.opened.columns}
    columns |= {name: part.role for name, part in plan.columns.items()}
    looks = {name: _forms(subject.source, name) for name in columns}
    fates = {name: _fate(role, exact=subject.exact) for name, role in columns.items()}
    rows: list[dict[str, Any]] = []
    for title, names, forms in HIPAA:
        like = [
            (name, fate, fate == _AS_IT_IS)
            for name, fate in fates.items()
            if re.search(names, name.lower()) or set(forms) & looks[name]
        ]
        rows.append({"name": title, "columns": like})
    named = {one[0] for row in rows for one in row["columns"]}
    numbers = [n for n, role in columns.items() if role in (Role.IDENTIFIER, Role.PERSON)]
    rows[-1]["columns"] += [(n, fates[n], False) for n in numbers if n not in named]
    return rows


def _fate(role: Role, *, exact: bool) -> str:
    """Say what became of a column; some shapes of release leave quasi-identifiers as they are."""
    if role is Role.QUASI and not exact:
        return "generalized; see 'Column by column'"
    return _AS_IT_IS if role.published else "not published"


def _forms(source: pl.DataFrame | None, name: str) -> set[str]:
    """Return what the values of a column of the original look like."""
    if source is None or name not in source.columns:
        return set()
    cells = source[name]
    if cells.dtype.is_temporal():
        return {"dates"}
    if cells.dtype.is_nested() or cells.dtype.is_numeric():
        return set()
    texts = as_text(cells).drop_nulls().unique().head(_LOOKED_AT)
    return {form.name for form in (*IDENTIFYING, *DATES) if len(texts) and form.fits(texts)}
