"""Tables made from the labelled list of columns: values as such columns hold them."""

from __future__ import annotations

import datetime as dt
import tomllib
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from shoal.api.opening import read_table
from shoal.tables.cells import infer_type

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared" / "data"
ROWS = 400

FIRST = {
    "de": "Anna Jürgen Sabine Uwe Heike Lena Paul Karl Ute Max Jonas Mia Emma Ben Felix Grete",
    "fr": "Marie Jean Luc Chloé Léa Hugo Louis Inès Anne Paul Zoé Jules Alice Rémi Claire Yves",
    "es": "María José Lucía Pablo Carmen Juan Ana Luis Marta Hugo Sara Jorge Elena Iván Rosa Raúl",
    "it": "Maria Luca Giulia Marco Anna Paolo Sara Andrea Elena Matteo Rosa Carlo Chiara Ugo Ada",
    "pt": "Maria João Ana Pedro Inês Rui Sofia Tiago Marta Nuno Clara Vasco Joana Luís Rita Hugo",
    "nl": "Jan Anna Piet Els Kees Sanne Bram Lotte Daan Eva Sem Fleur Joost Noor Ruben Iris",
    "en": "Mary John Susan James Linda Robert Emma Oliver Grace Henry Ella Jack Ruby Owen Ivy Max",
}
STEMS = {
    "de": "Meier Schmidt Fischer Weber Wagner Becker Hoff Schulz Koch Richter Wolf Braun",
    "fr": "Martin Bernard Dubois Moreau Laurent Simon Michel Garnier Faure Blanc Roux Petit",
    "es": "García López Martínez Sánchez Pérez Gómez Ruiz Díaz Moreno Álvarez Romero Navarro",
    "it": "Rossi Russo Ferrari Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti",
    "pt": "Silva Santos Ferreira Pereira Oliveira Costa Rodrigues Martins Sousa Lopes Alves Pinto",
    "nl": "Jansen Bakker Visser Smit Meijer Mulder Bos Vos Peters Hendriks Dekker Kok",
    "en": "Smith Jones Taylor Brown Wilson Evans Thomas Roberts Walker Wright Green Hall",
}
CITIES = {
    "de": "Hamburg Celle Ulm Bremen Kassel Jena Lübeck Trier Gera Fulda",
    "fr": "Lyon Nantes Lille Brest Metz Pau Nîmes Dijon Tours Albi",
    "es": "Toledo León Jaén Cádiz Lugo Soria Huelva Ávila Vigo Gijón",
    "it": "Milano Bari Pisa Como Siena Parma Lecce Udine Trento Rieti",
    "pt": "Braga Porto Évora Faro Viseu Beja Aveiro Coimbra Leiria Guarda",
    "nl": "Utrecht Breda Zwolle Delft Gouda Venlo Almere Tilburg Emmen Hoorn",
}
STREETS = {
    "de": "{}straße {}", "fr": "{1} rue {0}", "es": "Calle {} {}", "it": "Via {} {}",
    "pt": "Rua {} {}", "nl": "{}straat {}", "en": "{1} {0} Road",
}  # fmt: skip
PHONES = {
    "de": "0{}/{}", "fr": "0{} {}", "es": "+34 6{}{}", "it": "+39 3{} {}",
    "pt": "+351 9{}{}", "nl": "06-{}{}", "en": "(020) {} {}",
}  # fmt: skip
NOTES = {
    "de": "Patient klagt über Schmerzen seit {}, Vorstellung bei Dr. {} am {}. Wiedervorlage.",
    "fr": "Le patient se plaint de douleurs depuis {}, vu par le Dr {} le {}. À revoir.",
    "es": "El paciente refiere dolor desde {}, visto por el Dr. {} el {}. Revisión pendiente.",
    "it": "Il paziente riferisce dolore da {}, visto dal dott. {} il {}. Da rivedere presto.",
    "pt": "O doente refere dores desde {}, observado pelo Dr. {} em {}. Marcar consulta.",
    "nl": "Patiënt klaagt over pijn sinds {}, gezien door dr. {} op {}. Controle afspreken.",
    "en": "Patient reports pain since {}, seen by Dr {} on {}. Review again in some weeks.",
}


@dataclass(frozen=True)
class Labelled:
    """One column of the list: where it stands, its name and its role."""

    table: str
    language: str
    name: str
    role: str

    @property
    def held_out(self) -> bool:
        """A third of the names, which nothing was tuned on."""
        return zlib.crc32(self.name.casefold().encode()) % 3 == 0

    @property
    def identifies(self) -> bool:
        return self.role in ("identifier", "quasi")


def tables() -> list[tuple[list[Labelled], pl.DataFrame]]:
    """Return the labelled columns of every table beside the table; shared ones if they are here."""
    made = []
    for entry in tomllib.loads((HERE / "columns.toml").read_text())["tables"]:
        labels = [
            Labelled(entry["name"], entry.get("language", "shared"), name, role)
            for name, role, *_ in entry["columns"]
        ]
        if "data" not in entry:
            made.append((labels, invented(entry["name"], entry["columns"])))
        elif (SHARED / entry["data"]).exists():
            frame = read_table(SHARED / entry["data"])
            made.append((labels, frame))
    return made


def invented(table: str, columns: list[tuple[str, str, str]]) -> pl.DataFrame:
    """Make a table as it would be read from a CSV file."""
    frame = pl.DataFrame({"row": range(ROWS)})
    for name, _, values in columns:
        rng = np.random.default_rng(zlib.crc32(f"{table}.{name}".encode()))
        if values.startswith("="):
            made = frame.select(pl.sql_expr(values[1:]).round(2).alias(name)).to_series()
        else:
            made = infer_type(pl.Series(name, draw(values, rng), dtype=pl.String))
        frame = frame.with_columns(made.alias(name))
    return frame.drop("row")


def draw(values: str, rng: np.random.Generator) -> list[str | None]:
    """Return a value for every row."""
    kind, *words = values.split(" ")
    if "|" in values or kind not in GENERATORS:
        choices = values.split("|")
        weights = 1 / np.arange(1, len(choices) + 1)
        return [str(c) for c in rng.choice(choices, ROWS, p=weights / weights.sum())]
    return GENERATORS[kind](rng, *words)


def _int(rng: np.random.Generator, low: str, high: str) -> list[str | None]:
    return [str(n) for n in rng.integers(int(low), int(high) + 1, ROWS)]


def _norm(rng: np.random.Generator, mean: str, spread: str, digits: str) -> list[str | None]:
    return [f"{n:.{digits}f}" for n in rng.normal(float(mean), float(spread), ROWS)]


def _dates(
    rng: np.random.Generator, low: str, high: str, form: str, missing: str = "0"
) -> list[str | None]:
    first, last = dt.date.fromisoformat(low), dt.date.fromisoformat(high)
    days = rng.integers(0, (last - first).days + 1, ROWS)
    gone = rng.random(ROWS) < float(missing)
    return [
        None if no else f"{first + dt.timedelta(int(day)):{form}}"
        for day, no in zip(days, gone, strict=True)
    ]


def _datetimes(rng: np.random.Generator, low: str, high: str) -> list[str | None]:
    days = _dates(rng, low, high, "%Y-%m-%d")
    return [f"{day} {clock}:00" for day, clock in zip(days, _times(rng), strict=True)]


def _times(rng: np.random.Generator) -> list[str | None]:
    minutes = rng.integers(0, 96, ROWS) * 15
    return [f"{m // 60:02d}:{m % 60:02d}" for m in minutes]


def _ids(rng: np.random.Generator, prefix: str, digits: str, how: str = "") -> list[str | None]:
    many = {"": ROWS, "repeat": 150, "few": 12}[how]
    numbers = rng.choice(10 ** int(digits), min(many, 10 ** int(digits)), replace=False)
    return [f"{prefix}{n:0{digits}d}" for n in rng.choice(numbers, ROWS, replace=bool(how))]


def _digits(rng: np.random.Generator, many: str) -> list[str | None]:
    low = 10 ** (int(many) - 1)
    return [str(n) for n in rng.integers(low, 10 * low, ROWS)]


def _first(rng: np.random.Generator, language: str) -> list[str | None]:
    return [str(n) for n in rng.choice(FIRST[language].split(), ROWS)]


def _last(rng: np.random.Generator, language: str) -> list[str | None]:
    stems = STEMS[language].split()
    pairs = rng.integers(0, len(stems), (ROWS, 2))
    return [stems[a] if a % 2 else f"{stems[a]}-{stems[b]}" for a, b in pairs]


def _full(rng: np.random.Generator, language: str, how: str = "") -> list[str | None]:
    names = [f"{a} {b}" for a, b in zip(_first(rng, language), _last(rng, language), strict=True)]
    return [str(n) for n in rng.choice(names[:40] if how else names, ROWS, replace=bool(how))]


def _city(rng: np.random.Generator, language: str) -> list[str | None]:
    return [str(n) for n in rng.choice(CITIES[language].split(), ROWS)]


def _street(rng: np.random.Generator, language: str) -> list[str | None]:
    houses = rng.integers(1, 120, ROWS)
    return [
        STREETS[language].format(a, n) for a, n in zip(_last(rng, language), houses, strict=True)
    ]


def _phone(rng: np.random.Generator, language: str) -> list[str | None]:
    pairs = zip(rng.integers(100, 999, ROWS), rng.integers(100000, 999999, ROWS), strict=True)
    return [PHONES[language].format(a, b) for a, b in pairs]


def _plz(rng: np.random.Generator, country: str) -> list[str | None]:
    areas = rng.integers(1, 99, 60)
    numbers = areas[rng.integers(0, 60, ROWS)]
    ends = rng.integers(0, 9, ROWS)
    form = {
        "de": "{0:02d}10{1}", "fr": "{0:02d}00{1}", "es": "{0:02d}20{1}", "it": "{0:02d}12{1}",
        "pt": "{0:02d}00-10{1}", "nl": "{0:02d}11 AB", "en": "LS{0} {1}AB", "us": "{0:02d}90{1}",
    }[country]  # fmt: skip
    return [form.format(a, b) for a, b in zip(numbers, ends, strict=True)]


def _iban(rng: np.random.Generator, country: str) -> list[str | None]:
    return [f"{country}{98 - int(n) % 97:02d}{int(n):018d}" for n in rng.integers(1, 9**17, ROWS)]


def _card(rng: np.random.Generator) -> list[str | None]:
    made = []
    for number in rng.integers(10**13, 10**14, ROWS):
        body = [int(d) for d in f"4{number}"]
        doubled = [d if i % 2 else d * 2 - 9 * (d > 4) for i, d in enumerate(body)]
        made.append("".join(map(str, body)) + str(-sum(doubled) % 10))
    return [*made]


def _note(rng: np.random.Generator, language: str) -> list[str | None]:
    parts = zip(
        _times(rng), _last(rng, language), _dates(rng, "2022-01-01", "2023-12-31", "%d.%m."),
        strict=True,
    )  # fmt: skip
    return [NOTES[language].format(*three) for three in parts]


def _coded(form: str) -> Callable[[np.random.Generator], list[str | None]]:
    """Return a generator of codes: 9 stands for a digit, ? and x for a letter."""

    def codes(rng: np.random.Generator) -> list[str | None]:
        draws = {"9": "0123456789", "?": "ABCDEFGHJKLMNPRSTUVWXYZ", "x": "abcdefghijklmnoprstuvwz"}
        return [
            "".join(draws[c][rng.integers(len(draws[c]))] if c in draws else c for c in form)
            for _ in range(ROWS)
        ]

    return codes


GENERATORS: dict[str, Callable[..., list[str | None]]] = {
    "int": _int,
    "norm": _norm,
    "dates": _dates,
    "datetimes": _datetimes,
    "times": _times,
    "ids": _ids,
    "digits": _digits,
    "serial": lambda rng: [str(i + 1) for i in range(ROWS)],
    "first": _first,
    "last": _last,
    "full": _full,
    "city": _city,
    "street": _street,
    "phone": _phone,
    "plz": _plz,
    "iban": _iban,
    "card": _card,
    "note": _note,
    "icd": lambda rng: [
        f"{c}{n}" for c, n in zip(_icd(rng), rng.integers(0, 9, ROWS), strict=True)
    ],
    "email": _coded("xxxx.xxxxx@xxxx.example"),
    "plate": _coded("??-?? 9999"),
    "ssn": _coded("999-99-9999"),
    "nir": _coded("199129999999999"),
    "dni": _coded("99999999?"),
    "cpf": _coded("999.999.999-99"),
    "nino": _coded("Q?999999?"),
    "fiscale": _coded("??????99?99?999?"),
    "ip": lambda rng: [".".join(map(str, four)) for four in rng.integers(1, 250, (ROWS, 4))],
    "uuid": lambda rng: [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(ROWS)],
    "url": _coded("https://cdn.example/p/xxxx9999.jpg"),
    "handle": _coded("@xxxxxx99"),
}


def _icd(rng: np.random.Generator) -> list[str]:
    codes = [f"{letter}{n:02d}." for letter in "ACEFIJKM" for n in (10, 20, 34, 45)]
    return [str(c) for c in rng.choice(codes, ROWS)]
