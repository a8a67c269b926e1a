"""What would fill the memory is refused: by its size, or while it is unpacked."""

import gzip
import subprocess
import sys

import polars as pl
import pytest

from shoal.api.opening import read_table
from shoal.base.errors import InputError, ParameterError
from shoal.base.memory import DEFAULT, format_bytes, most_unpacked, size
from shoal.tables.arrow_size import unpacked

WORDS = ("--quasi", "a", "--k", "4", "-o", "out.csv")
PIECE = 1 << 20


def bomb(path, pieces=200):
    """Write a small file that unpacks to so many MiB of one cell."""
    with gzip.open(path, "wb", compresslevel=9) as packed:
        packed.write(b"a\n")
        for _ in range(pieces):
            packed.write(b"1" * PIECE)


def test_a_bomb_is_refused_while_it_is_unpacked(shoal, folder):
    bomb(folder / "in.csv.gz")
    assert (folder / "in.csv.gz").stat().st_size < PIECE
    before = sorted(folder.iterdir())
    refused = shoal("anonymize", "in.csv.gz", *WORDS, "--max-unpacked", "20MB")
    assert refused.returncode == 2
    assert "unpacks to more than 20.0 MB, the most that is allowed (--max-unpacked" in flat(refused)
    assert sorted(folder.iterdir()) == before


def test_a_bomb_takes_little_memory(tmp_path):
    pytest.importorskip("resource")
    bomb(tmp_path / "in.csv.gz")
    code = """
import resource, sys
from pathlib import Path
from shoal.base.errors import InputError
from shoal.tables.csvfile import unpack
raw = Path(sys.argv[1]).read_bytes()
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    unpack(raw, Path("in.csv.gz"))
except InputError:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) >> 10)
"""
    words = [sys.executable, "-c", code, str(tmp_path / "in.csv.gz")]
    done = subprocess.run(
        words, env={"SHOAL_MAX_UNPACKED": "20MB"}, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 80  # MiB; all of it would be 200


def test_a_gzip_file_within_the_limit_is_read(shoal, folder):
    rows = "".join(f"{i % 4}\n" for i in range(40))
    (folder / "in.csv.gz").write_bytes(gzip.compress(f"a\n{rows}".encode()))
    assert shoal("anonymize", "in.csv.gz", *WORDS, "--max-unpacked", "1kB").returncode == 0


def test_a_size_that_is_none(shoal):
    refused = shoal("anonymize", "people.csv", *WORDS, "--max-unpacked", "much")
    assert refused.returncode == 2
    assert "must be a size such as 500MB or 16GB. Got 'much' instead." in flat(refused)


def test_free_memory_bounds_what_is_unpacked(monkeypatch):
    monkeypatch.delenv("SHOAL_MAX_UNPACKED", raising=False)
    monkeypatch.setattr("shoal.base.memory.free_memory", lambda: 10**9)
    assert most_unpacked() == 5 * 10**8
    monkeypatch.setattr("shoal.base.memory.free_memory", lambda: None)
    assert most_unpacked() == DEFAULT


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_a_table_too_large_for_memory_is_refused_by_its_size(name, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_bytes(b"PAR1" if name.endswith("parquet") else b"a\n")
    with path.open("r+b") as stream:
        stream.truncate(3 * 10**9)  # a hole: nothing of it lies on the disk
    monkeypatch.setattr("shoal.base.memory.free_memory", lambda: 2 * 10**9)
    with pytest.raises(InputError, match=r"has 3.0 GB, and .*2.0 GB are free.*--engine spark"):
        read_table(path)


def test_a_small_parquet_file_of_many_rows_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "in.parquet"
    pl.DataFrame({"a": ["the same"] * 100_000}).write_parquet(path)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("shoal.base.memory.free_memory", lambda: 500_000)
    with pytest.raises(InputError, match=r"has 100,000 rows, and reading it takes 800.0 kB"):
        read_table(path)
    monkeypatch.setattr("shoal.base.memory.free_memory", lambda: 800_000)
    assert read_table(path).height == 100_000


@pytest.mark.parametrize("packing", ["lz4", "zstd", "uncompressed"])
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_an_arrow_file_is_refused_by_what_it_unpacks_to(packing, dtype, tmp_path, monkeypatch):
    path = tmp_path / "in.feather"
    frame = pl.DataFrame({"a": ["the same, and long"] * 100_000}, schema={"a": dtype})
    frame.write_ipc(path, compression=packing, compat_level=pl.CompatLevel.oldest())
    needed = 400_000 if dtype == pl.Categorical else 100_000 * (18 + 8)
    assert unpacked(path.read_bytes()) == pytest.approx(needed, rel=1e-2)
    if packing != "uncompressed":
        assert path.stat().st_size < needed / 5
        monkeypatch.setattr("shoal.base.memory.free_memory", lambda: needed // 2)
        with pytest.raises(InputError, match=r"unpacked, and .* are free.*--engine spark"):
            read_table(path)
    monkeypatch.setattr("shoal.base.memory.free_memory", lambda: 2 * needed)
    assert read_table(path).height == 100_000


@pytest.mark.parametrize("inside", [b"", b"\xff" * 60, b"\0" * 60, bytes(range(90))])
def test_a_damaged_arrow_file_is_a_message(inside, tmp_path):
    path = tmp_path / "in.arrow"
    path.write_bytes(b"ARROW1\0\0" + inside + b"ARROW1")
    with pytest.raises(InputError, match="is a damaged Arrow file"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "number"),
    [("16GB", 16 * 10**9), ("1.5 gib", 3 << 29), ("20mb", 2 * 10**7), ("512", 512)],
)
def test_sizes(text, number):
    assert size(text) == number


@pytest.mark.parametrize("text", ["", "0", "-1GB", "GB", "1XB", "1IB"])
def test_what_is_no_size(text):
    with pytest.raises(ParameterError, match="must be a size"):
        size(text)


def test_sizes_are_told_in_their_unit():
    assert [format_bytes(n) for n in (12, 2500, 3 * 10**9)] == ["12 bytes", "2.5 kB", "3.0 GB"]


def flat(result):
    return " ".join(result.stderr.split())
