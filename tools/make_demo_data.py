"""Make the synthetic patients that `shoal demo` anonymizes, and their hierarchies.

Run `python tools/make_demo_data.py` after a change here; the files it writes are committed and
shipped in the package. Nobody in them exists: every cell is drawn from the tables below.
"""

from __future__ import annotations

import csv
import gzip
import io
from datetime import date, timedelta
from pathlib import Path

import numpy as np

ROWS = 5000
MISSING = 0.10
SEED = 20130501
FOLDER = Path(__file__).parent.parent / "src" / "shoal" / "demo"

JOBS = {
    "Care": ("Nurse", "Paramedic", "Physician", "Midwife"),
    "Education": ("Teacher", "Lecturer", "Kindergarten teacher"),
    "Crafts": ("Carpenter", "Electrician", "Plumber", "Mason"),
    "Transport": ("Bus driver", "Train driver", "Courier"),
    "Office": ("Clerk", "Accountant", "Programmer", "Lawyer"),
    "Not employed": ("Pupil or student", "Retired", "Looking for work"),
}
SECTORS = {
    "Care": "Public services",
    "Education": "Public services",
    "Crafts": "Trades",
    "Transport": "Trades",
    "Office": "Desk work",
    "Not employed": "No occupation",
}
MARITAL = {
    "Single": "Alone",
    "Divorced": "Alone",
    "Widowed": "Alone",
    "Married": "Couple",
    "Registered partners": "Couple",
}
# Towns as zip-code stems with their share of the patients.
TOWNS = {"120": 0.30, "121": 0.22, "124": 0.16, "143": 0.14, "147": 0.10, "151": 0.08}
# Diagnosis: weight, mean age, spread.
DIAGNOSES = {
    "Flu": (20, 35, 22),
    "Bronchitis": (14, 42, 22),
    "Pneumonia": (10, 60, 20),
    "Gastritis": (12, 44, 16),
    "Gastric ulcer": (7, 55, 14),
    "Migraine": (9, 36, 13),
    "Hypertension": (13, 62, 12),
    "Diabetes": (9, 58, 14),
    "Depression": (8, 40, 15),
    "Hepatitis": (3, 45, 14),
}


def draw(rng: np.random.Generator) -> dict[str, list[str]]:
    """Draw complete patients, column by column."""
    weights = np.array([weight for weight, _, _ in DIAGNOSES.values()], float)
    illness = rng.choice(len(DIAGNOSES), ROWS, p=weights / weights.sum())
    means = np.array([mean for _, mean, _ in DIAGNOSES.values()])[illness]
    spreads = np.array([spread for _, _, spread in DIAGNOSES.values()])[illness]
    age = np.clip(np.round(rng.normal(means, spreads)), 0, 99).astype(int)
    stems = rng.choice(list(TOWNS), ROWS, p=list(TOWNS.values()))
    numbers = rng.integers(0, 8, ROWS)
    zips = [f"{stem}{number:02d}" for stem, number in zip(stems, numbers, strict=True)]
    jobs = [_job(int(years), rng) for years in age]
    days = rng.integers(0, 365, ROWS)
    return {
        "patient": [f"P{number:05d}" for number in rng.permutation(90_000)[:ROWS] + 10_000],
        "age": [str(years) for years in age],
        "sex": rng.choice(["female", "male"], ROWS, p=[0.53, 0.47]).tolist(),
        "zip": zips,
        "marital": [_marital(int(years), rng) for years in age],
        "occupation": jobs,
        "admitted": [(date(2024, 1, 1) + timedelta(int(day))).isoformat() for day in days],
        "diagnosis": [list(DIAGNOSES)[i] for i in illness],
    }


def _job(age: int, rng: np.random.Generator) -> str:
    if age < 18:
        return "Pupil or student"
    if age > 66:
        return "Retired"
    at_work = [job for group, jobs in JOBS.items() if group != "Not employed" for job in jobs]
    if age < 26 and rng.random() < 0.4:
        return "Pupil or student"
    return "Looking for work" if rng.random() < 0.07 else str(rng.choice(at_work))


def _marital(age: int, rng: np.random.Generator) -> str:
    if age < 18:
        return "Single"
    single = max(0.15, 1.1 - age / 40)
    widowed = max(0.0, (age - 55) / 90)
    rest = max(0.0, 1 - single - widowed)
    shares = np.array([single, 0.2 * rest, widowed, 0.7 * rest, 0.1 * rest])
    return str(rng.choice(list(MARITAL), p=shares / shares.sum()))


def forget(columns: dict[str, list[str]], rng: np.random.Generator) -> None:
    """Leave about a tenth of the cells empty, as hospital records do; never the identifier."""
    for name, cells in columns.items():
        if name == "patient":
            continue
        for row in np.flatnonzero(rng.random(ROWS) < MISSING):
            cells[row] = ""


def hierarchies(columns: dict[str, list[str]]) -> dict[str, list[list[str]]]:
    """Return one path per value, the value first and the top last."""
    ages = []
    for years in range(100):
        bands = [f"{years // w * w}-{years // w * w + w - 1}" for w in (5, 10, 20)]
        ages.append([str(years), *bands, "*"])
    zips = sorted({code for code in columns["zip"] if code})
    return {
        "age": ages,
        "sex": [["female", "*"], ["male", "*"]],
        "zip": [[code, code[:4] + "*", code[:3] + "**", code[:2] + "***", "*"] for code in zips],
        "marital": [[status, group, "*"] for status, group in MARITAL.items()],
        "occupation": [
            [job, group, SECTORS[group], "*"] for group, jobs in JOBS.items() for job in jobs
        ],
    }


def main() -> None:
    """Write the table and its hierarchies into the package."""
    rng = np.random.default_rng(SEED)
    columns = draw(rng)
    forget(columns, rng)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    (FOLDER / "hierarchies").mkdir(parents=True, exist_ok=True)
    # No time stamp, so that the same table is the same file.
    packed = gzip.compress(text.getvalue().encode(), mtime=0)
    (FOLDER / "patients.csv.gz").write_bytes(packed)
    for name, rows in hierarchies(columns).items():
        with (FOLDER / "hierarchies" / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
