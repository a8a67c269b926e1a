"""Synthetic patients and their hierarchies, made by ``tools/make_demo_data.py``."""

from pathlib import Path

TABLE = Path(__file__).parent / "patients.csv.gz"
HIERARCHIES = Path(__file__).parent / "hierarchies"

IDENTIFIER = ("patient",)
QUASI = ("age", "sex", "zip", "marital", "occupation", "admitted")
SENSITIVE = ("diagnosis",)
