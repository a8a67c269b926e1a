"""One job of one peer, run by the peers' own Python: files in, a file out; nothing of ours."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pandas as pd


def hierarchies(folder: str, quasi: list[str]) -> dict[str, dict[int, object]]:
    """Read ARX hierarchies the way anjana's own examples do."""
    return {name: dict(pd.read_csv(f"{folder}/{name}.csv", sep=";", header=None)) for name in quasi}


def anjana_k(frame: pd.DataFrame, task: dict) -> pd.DataFrame:
    from anjana.anonymity import k_anonymity

    trees = hierarchies(task["hierarchies"], task["quasi"])
    return k_anonymity(frame, [], task["quasi"], task["k"], task["suppression"], trees)


def anjana_alpha_k(frame: pd.DataFrame, task: dict) -> pd.DataFrame:
    from anjana.anonymity import alpha_k_anonymity

    trees = hierarchies(task["hierarchies"], task["quasi"])
    return alpha_k_anonymity(
        frame,
        [],
        task["quasi"],
        task["sensitive"],
        task["k"],
        task["alpha"],
        task["suppression"],
        trees,
    )


def anonypy_mondrian(frame: pd.DataFrame, task: dict) -> pd.DataFrame:
    from anonypy import Preserver

    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    rows = Preserver(frame, task["quasi"], task["sensitive"]).anonymize_k_anonymity(k=task["k"])
    # Each cell comes as a list of one text.
    return pd.DataFrame(
        [{name: v[0] if isinstance(v, list) else v for name, v in row.items()} for row in rows]
    )


def pycanon_report(frame: pd.DataFrame, task: dict) -> pd.DataFrame:
    from pycanon import report

    figures = report.get_report_values(frame, task["quasi"], [task["sensitive"]])
    return pd.DataFrame({"figures": [str(figures)]})


JOBS = {
    "anjana k-anonymity": anjana_k,
    "anjana (alpha, k)": anjana_alpha_k,
    "anonypy Mondrian": anonypy_mondrian,
    "pycanon report": pycanon_report,
}


def main() -> None:
    """Run the job named first on the files named in the second argument, a JSON text."""
    task = json.loads(sys.argv[2])
    begun = time.perf_counter()
    released = JOBS[sys.argv[1]](pd.read_csv(task["data"]), task)
    if released is None or not len(released):
        sys.exit("it returned no table")
    pd.DataFrame(released).to_csv(task["out"], index=False)
    seconds = {"seconds": {"total": time.perf_counter() - begun}}
    Path(task["out"]).with_suffix(".json").write_text(json.dumps(seconds))


if __name__ == "__main__":
    main()
