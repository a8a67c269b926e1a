"""Seeds are stretched, warned about when short, read from private files, and never shown."""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import ParameterError, PlanError, ShoalWarning
from shoal.base.seeds import LONG, read_seed, read_seed_file, stretch_seed
from shoal.catalog import METHODS
from shoal.ext.web.drafts import command
from shoal.report.release_report import Provenance
from shoal.tables.domain import flat
from tests import inprocess

SEED = 314159265358979323846264338327950288
PEOPLE = pl.DataFrame(
    {
        "age": [20 + i * 7 % 40 for i in range(60)],
        "zip": [100 + i % 9 for i in range(60)],
        "ill": [("flu", "cold", "ache", "burn", "cut")[i % 5] for i in range(60)],
    }
)

ALPHA_K = shoal.AlphaK(0.9, 2, column="ill")


def made(seed: int | None, method: str = "mondrian") -> shoal.Release[pl.DataFrame]:
    rules = [shoal.FrequencyLDiversity(2, column="ill")]
    return shoal.anonymize(
        PEOPLE, quasi=["age", "zip"], sensitive=["ill"], rules=rules, method=method, seed=seed
    )


@pytest.mark.slow
def test_a_seed_is_stretched_by_scrypt_with_what_is_written_down() -> None:
    key = hashlib.scrypt(
        b"31337", salt=b"shoal: the seed of a run, 1", n=32768, r=8, p=1, maxmem=1 << 26, dklen=32
    )
    assert stretch_seed(31337) == int.from_bytes(key, "big")
    assert stretch_seed(31337) != stretch_seed(31338)


@pytest.mark.slow
def test_trying_seeds_as_they_are_finds_nothing() -> None:
    release = made(31337).frame
    shuffled = [
        np.random.default_rng(np.random.SeedSequence(31337).spawn(2)[1]).permutation(60).tolist(),
        np.random.default_rng(31337).permutation(60).tolist(),
    ]
    ill = PEOPLE["ill"].to_list()
    for order in shuffled:
        assert [ill[i] for i in order] != release["ill"].to_list()
    assert release.equals(made(31337).frame)
    assert not release.equals(made(31338).frame)


@pytest.mark.slow
@pytest.mark.filterwarnings("always::shoal.ShoalWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_short_seed_is_warned_about_for_every_method(method: str) -> None:
    frame = PEOPLE.with_columns(pl.col("age").cast(pl.String), pl.col("zip").cast(pl.String))
    trees = {name: flat(sorted(set(frame[name])), name) for name in ("age", "zip")}
    special = dict.fromkeys(("simanony", "singanony", "multianony"), ALPHA_K)
    special["dummies"] = shoal.LDiversity(2, column="ill")
    rule = special.get(method, shoal.FrequencyLDiversity(2, column="ill"))
    for seed, said in ((LONG - 1, True), (LONG, False), (None, False)):
        with warnings.catch_warnings(record=True):
            outcome = shoal.anonymize(
                frame,
                quasi=["age", "zip"],
                sensitive=["ill"],
                hierarchies=trees,
                rules=[rule],
                method=method,
                seed=seed,
            )
        assert any("The seed of this run is short" in text for text in outcome.warnings) == said


@pytest.mark.slow
def test_no_seed_shows() -> None:
    outcome = made(SEED)
    plan = outcome.made.plan
    profile = {"columns": []}
    texts = [
        repr(outcome),
        str(outcome),
        repr(outcome.made),
        repr(plan),
        str(plan),
        outcome.to_json(),
        outcome._repr_html_(),
        command(plan, profile, "people.csv"),
        outcome.page(origin=Provenance(command(plan, profile, "p.csv"), "p", "")),
    ]
    for text in texts:
        assert str(SEED) not in text
    assert plan.seed is None
    assert plan.seeded
    assert "--seed-file seed.txt" in texts[7]


def test_an_error_about_a_seed_does_not_repeat_it() -> None:
    for text in ("seed = -31337", "seed = '31337x'", "seed = 31337.5"):
        with pytest.raises(PlanError, match="'seed' must be a whole number") as caught:
            shoal.Plan.from_toml(text)
        assert "31337" not in str(caught.value)
    for text in ("31337x", "-31337", "9" * 5000, "٣١٣٣٧"):
        with pytest.raises(ParameterError, match="A seed is a whole number") as wrong:
            read_seed(text)
        assert text not in str(wrong.value)


def private(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_seed_file_holds_a_number_or_any_text(tmp_path: Path) -> None:
    assert read_seed_file(private(tmp_path / "a", f" {SEED}\n")) == SEED
    other = read_seed_file(private(tmp_path / "b", "c0ffee" * 10 + "\n"))
    assert other == int.from_bytes(b"c0ffee" * 10, "big")
    assert other > LONG


def test_a_seed_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = private(tmp_path / "seed", "31337")
    for mode in (0o640, 0o604, 0o644):
        path.chmod(mode)
        with pytest.raises(ParameterError, match=r"others may open it.*chmod 600"):
            read_seed_file(path)
    path.chmod(0o600)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(ParameterError, match=r"cannot be read.*no link"):
        read_seed_file(tmp_path / "link")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_seed_file(tmp_path / "none")
    with pytest.raises(ParameterError, match=r"is not a file|cannot be read"):
        read_seed_file(tmp_path)
    for text in ("", " \n", "x" * 5000):
        with pytest.raises(ParameterError, match=r"and a seed has 1 to 4,096"):
            read_seed_file(private(path, text))
    if os.getuid() == 0:
        private(path, "31337")
        os.chown(path, 65534, 65534)
        with pytest.raises(ParameterError, match="belongs to another user"):
            read_seed_file(path)


@pytest.mark.slow
def test_a_seed_file_does_what_the_flag_does(tmp_path: Path) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    private(tmp_path / "seed.txt", f"{SEED}\n")
    words = ("anonymize", "people.csv", "--quasi", "age,zip", "--k", "3", "--method", "mondrian")
    assert inprocess.shoal(tmp_path, *words, "--seed", str(SEED), "-o", "a.csv").returncode == 0
    done = inprocess.shoal(tmp_path, *words, "--seed-file", "seed.txt", "-o", "b.csv")
    assert done.returncode == 0, done.stderr
    assert "The seed of this run is short" not in done.stderr
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    twice = ("--seed", "1", "--seed-file", "seed.txt")
    both = inprocess.shoal(tmp_path, *words, *twice, "-o", "c.csv")
    assert both.returncode == 2
    assert "Both --seed and --seed-file were given" in both.stderr
    wrong = inprocess.shoal(tmp_path, *words, "--seed", "31337x", "-o", "c.csv")
    assert wrong.returncode == 2
    assert "31337" not in wrong.stderr
    short = inprocess.shoal(tmp_path, *words, "--seed", "31337", "-o", "d.csv")
    assert short.returncode == 0
    assert "The seed of this run is short" in " ".join(short.stderr.split())
    assert "31337" not in short.stderr


def test_the_warning_is_one_of_ours() -> None:
    with pytest.warns(ShoalWarning, match="less than 64 bits"):
        made(1)
