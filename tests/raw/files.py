"""Raw files of six kinds as people send them, small and seeded: ``python -m tests.raw.files DIR``.

Each says what of it may never be published, so that a test can judge a release without Shoal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROWS = 480


@dataclass(frozen=True, eq=False)
class Raw:
    """A raw file.

    ``sheet``: the part of a workbook that is the table. ``identifying``: columns that name a person
    or a case. ``harmful``: columns of which a steward would publish the values, hidden in classes.
    ``never``: texts that stand in the file and may stand nowhere in what is sent.
    """

    path: Path
    frame: pl.DataFrame
    identifying: tuple[str, ...]
    harmful: tuple[str, ...]
    never: tuple[str, ...]
    sheet: str | None = None


def hospital(folder: Path) -> Raw:
    """Write a German hospital's export: semicolons, Latin-1, dates with times, decimal commas."""
    rng = np.random.default_rng(36)
    n = ROWS
    people = np.sort(rng.integers(0, n * 3 // 4, n))
    towns = np.array(["Köln", "Düren", "Bonn", "Jülich", "Brühl"])[people % 5]
    towns[people == people[7]] = "Husum"  # one person from far away
    begin = datetime(2023, 1, 1)
    came = [begin + timedelta(minutes=int(m)) for m in rng.integers(0, 525_600, n)]
    left = [
        c + timedelta(hours=int(h)) for c, h in zip(came, rng.integers(20, 300, n), strict=True)
    ]
    ills = ["I10 Bluthochdruck", "E11 Diabetes", "J45 Asthma", "F32 Depression", "M54 Rücken"]
    frame = pl.DataFrame(
        {
            "Fallnummer": [f"F{700_000 + 7 * i}" for i in range(n)],
            "PatNr": [f"{40_000 + 13 * p}" for p in people],
            "Nachname": [f"Müßig{p}" for p in people],
            "Geburtsdatum": [f"{1 + p % 28:02d}.{1 + p % 12:02d}.{1935 + p % 70}" for p in people],
            "Geschlecht": np.array(["männlich", "weiblich"])[people % 2],
            "PLZ": [str(50_667 + 11 * (p % 9)) for p in people],
            "Ort": towns,
            "Aufnahmezeitpunkt": [c.strftime("%d.%m.%Y %H:%M") for c in came],
            "Entlassungszeitpunkt": [c.strftime("%d.%m.%Y %H:%M") for c in left],
            "Aufnahmeart": rng.choice(["Notfall", "Einweisung", "Verlegung"], n),
            "Fachabteilung": rng.choice(["Innere", "Chirurgie", "Neurologie", "Geriatrie"], n),
            "Kreatinin": [f"{x:.2f}".replace(".", ",") for x in rng.uniform(0.5, 1.4, n).round(1)],
            "Gewicht": [f"{x:.1f}".replace(".", ",") for x in rng.normal(78, 14, n)],
            "Hauptdiagnose": rng.choice(ills, n),
            "Verweildauer": rng.integers(1, 13, n),
        }
    ).cast(pl.String)
    path = folder / "klinik_export.csv"
    lines = [";".join(frame.columns), *(";".join(row) for row in frame.iter_rows())]
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return Raw(
        path,
        frame,
        ("Fallnummer", "PatNr", "Nachname"),
        ("Hauptdiagnose",),
        ("Husum", "Müßig", *(c.strftime("%d.%m.%Y %H:%M") for c in came[:40])),
    )


def workbook(folder: Path) -> Raw:
    """Write a workbook: the codebook first, then the data."""
    import xlsxwriter

    rng = np.random.default_rng(37)
    n = ROWS
    pay = (rng.lognormal(7.9, 0.35, n) / 50).round().astype(int) * 50
    born = rng.integers(0, 15_000, n).tolist()
    jobs = rng.choice(["Nurse", "Clerk", "Cook", "Driver", "Engineer"], n)
    jobs[11] = "Chairman"
    frame = pl.DataFrame(
        {
            "EmployeeID": np.arange(1, n + 1) * 17 + 100_000,
            "Full name": [f"Ann Onym{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(n)],
            "E-mail": [f"a{i}@example.org" for i in range(n)],
            "Birth date": [datetime(1960, 1, 1) + timedelta(d) for d in born],
            "Gender": rng.choice(["f", "m"], n),
            "Department": rng.choice(["Sales", "Care", "Kitchen", "IT"], n),
            "Job": jobs,
            "Hired": rng.integers(1990, 2024, n),
            "Weekly hours": rng.choice([20, 30, 38, 40], n),
            "Children": rng.integers(0, 4, n),
            "Salary": pay,
            "Sick days": rng.poisson(6, n),
        }
    )
    path = folder / "staff.xlsx"
    with xlsxwriter.Workbook(path) as book:
        codes, data = book.add_worksheet("Codebook"), book.add_worksheet("Data 2023")
        codes.write_column(0, 0, ["Variable", *frame.columns])
        codes.write_column(0, 1, ["Meaning", *(f"{name} of the person" for name in frame.columns)])
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        data.write_row(0, 0, frame.columns)
        for place, column in enumerate(frame):
            form = day if column.dtype.is_temporal() else None
            data.write_column(1, place, column.to_list(), form)
    return Raw(
        path,
        frame,
        ("EmployeeID", "Full name", "E-mail"),
        ("Salary",),
        ("Chairman", "Onym", "@example.org"),
        "Data 2023",
    )


def stata(folder: Path) -> Raw:
    """Write a Stata file of a survey: codes with labels, and a code for no answer."""
    import pandas as pd
    import pyreadstat

    rng = np.random.default_rng(38)
    n = ROWS
    religions = {1: "catholic", 2: "protestant", 3: "none", 4: "muslim", 5: "jain"}
    religion = rng.choice([1, 2, 3, 4], n, p=[0.3, 0.3, 0.3, 0.1])
    religion[5] = 5
    labels: dict[str, dict[Any, str]] = {
        "sex": {1: "male", 2: "female"},
        "marstat": {1: "married", 2: "single", 3: "divorced", 4: "widowed"},
        "educ": {1: "primary", 2: "secondary", 3: "tertiary"},
        "region": {1: "north", 2: "south", 3: "east", 4: "west"},
        "religion": religions,
        "health": {1: "good", 2: "fair", 3: "poor"},
        "empstat": {1: "employed", 2: "unemployed", 3: "retired"},
    }
    codes = {
        "pid": np.arange(n) + 90_001,
        "hhid": np.arange(n) // 2 + 5_001,
        "sex": rng.integers(1, 3, n),
        "byear": rng.integers(1930, 2004, n),
        "marstat": rng.integers(1, 5, n),
        "educ": rng.integers(1, 4, n),
        "region": rng.integers(1, 5, n),
        "religion": religion,
        "hhsize": rng.integers(1, 7, n),
        "empstat": rng.integers(1, 4, n),
        "hhincome": (rng.lognormal(7.5, 0.5, n) / 100).round() * 100,
        "health": rng.choice([1, 2, 3], n, p=[0.6, 0.3, 0.1]),
    }
    path = folder / "survey.dta"
    pyreadstat.write_dta(pd.DataFrame(codes), path, variable_value_labels=labels)
    said = {
        name: [labels[name][int(v)] for v in own] if name in labels else own
        for name, own in codes.items()
    }
    # Of a household the number alone says who lives together.
    return Raw(path, pl.DataFrame(said), ("pid", "hhid"), ("hhincome", "health"), ("jain",))


def covid(folder: Path) -> Raw:
    """Write a table of the shape of R's ``covid_testing``: most results are negative."""
    rng = np.random.default_rng(39)
    n = 2 * ROWS
    people = np.sort(rng.integers(0, n * 4 // 5, n))
    clinics = np.array(["clinical lab", "emergency dept", "nicu", "picu", "oncology day hosp"])
    clinic = rng.choice(clinics, n, p=[0.5, 0.3, 0.08, 0.07, 0.05])
    clinic[3] = "apheresis"
    result = rng.choice(["negative", "positive", "invalid"], n, p=[0.93, 0.05, 0.02])
    insured = rng.choice(["commercial", "government", "self pay", ""], n, p=[0.3, 0.2, 0.05, 0.45])
    first = ["jhezane", "penny", "grunt", "melisandre", "rolley", "megga", "kyra", "gorm"]
    last = ["westerling", "targaryen", "rivers", "swyft", "tarly", "stark", "tully", "frey"]
    frame = pl.DataFrame(
        {
            "rownames": np.arange(1, n + 1),
            "subject_id": people * 3 + 100,
            "fake_first_name": [first[p % 8] for p in people],
            "fake_last_name": [last[p // 8 % 8] for p in people],
            "gender": np.array(["female", "male"])[people % 2],
            "pan_day": rng.integers(4, 108, n),
            "test_id": ["xcvd1" if i == 9 else "covid" for i in range(n)],
            "clinic_name": clinic,
            "result": result,
            "demo_group": rng.choice(["patient", "misc adult", "client"], n, p=[0.8, 0.15, 0.05]),
            "age": (people * 7 % 220) / 10,
            "drive_thru_ind": rng.integers(0, 2, n),
            "ct_result": np.where(result == "positive", rng.uniform(14, 44, n).round(1), 45.0),
            "orderset": rng.integers(0, 2, n),
            "payor_group": insured,
            "patient_class": rng.choice(["inpatient", "emergency", "outpatient", ""], n),
            "col_rec_tat": rng.exponential(3, n).round(1),
            "rec_ver_tat": rng.exponential(5, n).round(1),
        }
    )
    path = folder / "covid_testing.csv"
    frame.write_csv(path)
    identifying = ("rownames", "subject_id", "fake_first_name", "fake_last_name")
    return Raw(path, frame, identifying, ("result",), ("apheresis", "targaryen", "jhezane"))


def nafld(folder: Path) -> Raw:
    """Write a table of the shape of R's ``nafld1``: measures with gaps, matched cases."""
    rng = np.random.default_rng(40)
    n = ROWS
    weight, height = rng.normal(86, 20, n).round(1), rng.normal(169, 10, n).round()
    bmi = (weight / (height / 100) ** 2).round(6)
    gaps = rng.random((3, n)) < 0.27
    frame = pl.DataFrame(
        {
            "rownames": rng.permutation(n) + 1,
            "id": np.arange(1, n + 1),
            "age": rng.integers(18, 98, n),
            "male": rng.integers(0, 2, n),
            "weight": [None if g else w for g, w in zip(gaps[0], weight, strict=True)],
            "height": [None if g else h for g, h in zip(gaps[1], height, strict=True)],
            "bmi": [None if g else b for g, b in zip(gaps[2], bmi, strict=True)],
            "case.id": [None if i % 90 == 1 else float(i // 4 * 37 + 3) for i in range(n)],
            "futime": rng.integers(7, 7_200, n),
            "status": rng.choice([0, 1], n, p=[0.92, 0.08]),
        }
    )
    path = folder / "nafld1.csv"
    frame.write_csv(path)
    return Raw(path, frame, ("rownames", "id", "case.id"), ("status",), ())


def gss(folder: Path) -> Raw:
    """Write a table of the shape of R's ``gss_wages``: a survey over years, in words."""
    rng = np.random.default_rng(41)
    n = ROWS
    work = ["Full-Time", "Housekeeper", "Retired", "Part-Time", "School"]
    groups = ["Professional", "Service", "Sales", "Production", "Transportation"]
    group = rng.integers(0, 5, n)
    income = (rng.lognormal(9.8, 0.7, n) / 250).round() * 250
    frame = pl.DataFrame(
        {
            "rownames": np.arange(1, n + 1),
            "year": rng.choice(np.arange(1974, 2019, 4), n),
            "realrinc": [None if i % 3 == 0 else x for i, x in enumerate(income)],
            "age": rng.integers(18, 90, n).astype(float),
            "occ10": (group * 2_000 + rng.integers(0, 12, n) * 100 + 20).astype(float),
            "occrecode": [groups[g] for g in group],
            "prestg10": rng.integers(16, 81, n).astype(float),
            "childs": rng.integers(0, 9, n).astype(float),
            "wrkstat": ["Miner" if i == 4 else w for i, w in enumerate(rng.choice(work, n))],
            "gender": rng.choice(["Female", "Male"], n),
            "educcat": rng.choice(["High School", "Bachelor", "Graduate"], n),
            "maritalcat": rng.choice(["Married", "Never Married", "Divorced", "Widowed"], n),
        }
    )
    path = folder / "gss_wages.csv"
    frame.write_csv(path)
    return Raw(path, frame, ("rownames",), ("realrinc",), ("Miner",))


KINDS: dict[str, Callable[[Path], Raw]] = {
    "hospital": hospital,
    "workbook": workbook,
    "stata": stata,
    "covid": covid,
    "nafld": nafld,
    "gss": gss,
}


def judge(raw: Raw, release: pl.DataFrame, sensitive: Sequence[str], k: int = 10) -> list[str]:
    """Say what is wrong with a release, its cells read as texts; asks nothing of Shoal."""
    faults = []
    if 3 * release.width < 2 * raw.frame.width:
        lost = [name for name in raw.frame.columns if name not in release.columns]
        faults.append(f"{release.width} of {raw.frame.width} columns; lost: {lost}")
    if named := set(raw.identifying) & set(release.columns):
        faults.append(f"identifying columns: {named}")
    if lost := set(raw.harmful) - set(release.columns):
        faults.append(f"a release without {lost} answers no question")
    known = [name for name in release.columns if name not in sensitive]
    sizes = release.group_by(known).len()["len"]
    if int(sizes.min() or 0) < k:  # type: ignore[call-overload]
        faults.append(f"a class of {sizes.min()}")
    for name in known:
        cells = set(release[name].drop_nulls())
        counted = raw.frame[name].drop_nulls().cast(pl.String).value_counts(name="rows")
        rare = set(counted.filter(pl.col("rows") < k)[name])
        for cell in cells:
            words = {cell, *cell.strip("{}[]()").replace(" and ", ", ").split(", ")}
            if (seen := words & rare) and not cell.startswith("["):
                faults.append(f"{name}: {cell!r} names {seen}")
    return faults


def main() -> None:
    """Write the files into a folder."""
    folder = Path(sys.argv[1])
    for make in KINDS.values():
        sys.stdout.write(f"{make(folder).path}\n")


if __name__ == "__main__":
    main()
