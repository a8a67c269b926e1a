"""Random series of releases, attacked by code of its own, and what audits say of them."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.base.errors import ShoalError
from shoal.releases.verdict import Verdict
from tests.corpus.series import TREE, Drawn, faults, series
from tests.inprocess import shoal as command

SOME = range(1, 9)
MORE = range(100, 300)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SOME)
def test_a_series_keeps_its_promise(seed: int, tmp_path: Path) -> None:
    drawn = series(seed, tmp_path / "series")
    assert faults(drawn) == []
    assert len(drawn.turns) >= 3 or "cannot be met" in drawn.refused


@pytest.mark.deep
def test_two_hundred_series_keep_their_promise(tmp_path: Path) -> None:
    whole = 0
    for seed in MORE:
        drawn = series(seed, tmp_path / str(seed))
        assert faults(drawn) == [], f"seed {seed}"
        assert not drawn.refused or "cannot be met" in drawn.refused, f"seed {seed}"
        whole += not drawn.refused
    assert whole >= 120


# The attack itself


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """A series of which every kind of fault can be made."""
    return series(4, tmp_path_factory.mktemp("series") / "made")


def changed(drawn: Drawn, number: int, folder: Path, **cells: str) -> Drawn:
    """Return the series with other cells in the first row of a release."""
    turns = list(drawn.turns)
    rows = pl.read_csv(turns[number].path, infer_schema=False)
    first = pl.int_range(pl.len()) == 0
    rows = rows.with_columns(
        pl.when(first).then(pl.lit(cell)).otherwise(name).alias(name)
        for name, cell in cells.items()
    )
    path = folder / "changed.csv"
    rows.write_csv(path)
    beside = turns[number].path.with_suffix(".counterfeits.csv")
    if beside.exists():
        (folder / "changed.counterfeits.csv").write_bytes(beside.read_bytes())
    turns[number] = type(turns[number])(turns[number].table, path, None)
    return Drawn(drawn.m, drawn.k, drawn.options, drawn.quasi, drawn.folder, turns)


@pytest.mark.slow
def test_the_attack_sees_what_is_wrong(made: Drawn, tmp_path: Path) -> None:
    assert len(made.turns) >= 3 and faults(made) == []
    other = "flu" if pl.read_csv(made.turns[1].path)["ill"][0] != "flu" else "cold"
    found = " ".join(faults(changed(made, 1, tmp_path, ill=other)))
    assert "are not among" in found
    crowded = Drawn(made.m, 99, made.options, made.quasi, made.folder, made.turns)
    assert "people" in faults(crowded)[0]
    strict = Drawn(9, made.k, made.options, made.quasi, made.folder, made.turns)
    assert "values left" in faults(strict)[-1] and "more than 1/9" in faults(strict)[0]
    beside = [turn.path.with_suffix(".counterfeits.csv") for turn in made.turns]
    (gone,) = [path for path in beside if path.exists()][-1:]
    kept = gone.read_bytes()
    gone.unlink()
    assert "rows of" in " ".join(faults(made))
    gone.write_bytes(kept)


# Audits of series


def trees(drawn: Drawn) -> dict[str, shoal.Taxonomy] | None:
    return {"town": TREE} if "town" in drawn.quasi else None


def audited(drawn: Drawn, *, history: bool) -> Verdict:
    """Audit the newest release of a series against all others, as its plan promises."""
    last = drawn.turns[-1]
    opened = shoal.open_release(last.path, plan=last.release.plan, hierarchies=trees(drawn))
    before = [turn.path for turn in drawn.turns[:-1]]
    return opened.audit(against=before, history=drawn.history if history else None)


def alone(drawn: Drawn, folder: Path) -> tuple[list[Path], list[str]]:
    """Release the tables of a series each by itself; return the files and who is exposed.

    Exposed is a person for whom fewer than m values are common to the classes of all releases.
    """
    options = {key: value for key, value in drawn.options.items() if key != "k"}
    options["method"] = options["method"].replace("buckets", "mondrian")
    common: dict[tuple[str, str], set[str]] = {}
    paths = []
    for number, turn in enumerate(drawn.turns):
        with warnings.catch_warnings(action="ignore"):
            frame = shoal.anonymize(
                turn.table.with_columns(tag="id"),
                quasi=drawn.quasi,
                sensitive="ill",
                keep="tag",
                l=drawn.m,
                seed=2**127 + number,
                hierarchies=trees(drawn),
                **options,
            ).frame
        cells = [name for name in frame.columns if name not in ("tag", "ill")]
        held = frame.group_by(cells).agg(pl.col("ill").drop_nulls().alias("held"))
        rows = frame.join(held, on=cells, nulls_equal=True).select("tag", "ill", "held")
        for tag, ill, values in rows.iter_rows():
            common[tag, ill] = common.get((tag, ill), {*values}) & {*values}
        paths.append(folder / f"alone-{number}.csv")
        frame.drop("tag").write_csv(paths[-1])
    return paths, [tag for (tag, _), values in common.items() if len(values) < drawn.m]


def judge(seed: int, folder: Path) -> int:
    """Audit a series, and its tables released each by itself; tell whether these expose people."""
    drawn = series(seed, folder / "series")
    if len(drawn.turns) < 2:
        return 0
    ours = audited(drawn, history=False)
    assert ours.holds or ours.unknown, f"seed {seed}: {ours.faults}"
    known = audited(drawn, history=True)
    assert known.holds or (drawn.k > 1 and known.unknown), f"seed {seed}: {known.faults}"
    try:
        paths, exposed = alone(drawn, folder)
    except ShoalError:
        return 0
    opened = shoal.open_release(
        paths[-1], quasi=drawn.quasi, sensitive="ill", hierarchies=trees(drawn)
    )
    for claim in ({}, {"m": drawn.m}):  # the second is forged
        verdict = opened.audit(against=paths[:-1], l=drawn.m, **claim)
        assert not (exposed and verdict.holds), f"seed {seed}: {len(exposed)} are exposed"
    return bool(exposed)


@pytest.mark.slow
def test_audits_tell_series_from_releases_that_expose_people(tmp_path: Path) -> None:
    assert sum(judge(seed, tmp_path / str(seed)) for seed in (5, 6, 7)) >= 2


@pytest.mark.deep
def test_audits_tell_fifty_series_from_fifty_that_expose_people(tmp_path: Path) -> None:
    seeds = random.Random(8).sample(range(1000, 9999), 70)
    assert sum(judge(seed, tmp_path / str(seed)) for seed in seeds) >= 50


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two releases of one series, and the same tables each released by itself."""
    rng = random.Random(3)
    ills = {f"p{n}": rng.choice("abcdefghij") for n in range(110)}
    (tmp_path / "history").mkdir()
    for year in (1, 2):
        rows = [f"{who},{20 + int(who[1:]) * 7 % 45},{ill}" for who, ill in ills.items()]
        there = rows[:60] if year == 1 else rows[40:]
        (tmp_path / f"t{year}.csv").write_text("id,age,ill\n" + "\n".join(there) + "\n")
        asked = ("--quasi", "age", "--sensitive", "ill", "--person", "id", "--m", "3")
        words = ("anonymize", f"t{year}.csv", "--seed", str(2**127))
        asked = (*asked, "--history", "history", "--method", "mondrian", "-o", f"m{year}.csv")
        assert command(tmp_path, *words, *asked).returncode == 0
        asked = ("--quasi", "age", "--sensitive", "ill", "--identifier", "id", "--l", "3")
        assert command(tmp_path, *words, *asked, "-o", f"l{year}.csv").returncode == 0
    return tmp_path


@pytest.mark.slow
def test_the_manifest_beside_a_release_says_what_to_ask(two: Path) -> None:
    words = ("--quasi", "age", "--sensitive", "ill", "--l", "3")
    series = ("audit", "m2.csv", *words, "--against", "m1.csv")
    done = command(two, *series)
    assert done.returncode == 3, done.stdout
    assert "In an m-invariant series, which these are said to be" in done.stdout
    assert "Cannot tell whether the promise is kept." in done.stdout
    assert command(two, *series, "--history", "history").returncode == 0
    assert command(two, "audit", "l2.csv", *words, "--against", "l1.csv").returncode == 1
    # What the manifest says is not believed: of a release that exposes people it saves nothing.
    made = json.loads((two / "l2.csv.manifest.json").read_text())
    made["plan"]["rules"] = [{"name": "m-invariance", "m": 3}]
    (two / "l2.csv.manifest.json").write_text(json.dumps(made))
    assert command(two, "audit", "l2.csv", *words, "--against", "l1.csv").returncode in (1, 3)
    # Nor is one that is not of this file, or that promises less than was asked for.
    (two / "m2.csv.manifest.json").write_text((two / "m1.csv.manifest.json").read_text())
    assert command(two, *series).returncode == 1
    (two / "m2.csv.manifest.json").unlink()
    assert command(two, *series).returncode == 1
    assert command(two, *series, "--m", "2").returncode == 1
    assert command(two, *series, "--m", "3").returncode == 3
