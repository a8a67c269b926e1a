"""Where the tables of the experiments come from: the shared folder, a path, or the UCI archive."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import polars as pl

from shoal.api.opening import read_table
from shoal.base.errors import InputError, SchemaError, format_names
from shoal.tables.domain import Taxonomy
from shoal.tables.hierarchy import read_directory

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
BUILTIN = Path(__file__).with_name("adult.toml")
CENSUS = "acs_occ_300k.parquet"


@dataclass(frozen=True)
class Sources:
    """Files to read; empty texts for what is not there.

    Parameters
    ----------
    adult, census
        The tables.
    hierarchies
        Folder with the hierarchies of Adult; without one those that come with the experiments.
    """

    adult: str = ""
    census: str = ""
    hierarchies: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the paths as plain data."""
        return asdict(self)

    def digest(self, data: str) -> str:
        """Return a digest of everything that a point about ``data`` reads."""
        if data.startswith("census"):
            return _digest((self.census,))
        folder = Path(self.hierarchies) if self.hierarchies else None
        trees = sorted(map(str, folder.glob("*.csv"))) if folder else [str(BUILTIN)]
        return _digest((self.adult, *trees))

    def frame(self, data: str) -> pl.DataFrame:
        """Return a table: ``adult``, ``census``, or one of them changed.

        ``adult-complete`` has no missing cell. ``census-codes`` and ``census-rows`` have its 529
        occupations in 50 classes of neighbouring codes, with equally many codes or rows each as
        far as whole codes allow; no class has more than a fifteenth of the rows.
        ``census-million`` is a million rows drawn from its 300,000.
        """
        return _frame(data, self.census if data.startswith("census") else self.adult)

    def taxonomies(self, names: Iterable[str]) -> dict[str, Taxonomy]:
        """Return the hierarchies of some of Adult's columns."""
        wanted = list(names)
        if self.hierarchies:
            return read_directory(self.hierarchies, wanted)
        return {name: tree for name, tree in builtin().items() if name in wanted}


def shared_folder() -> Path | None:
    """Return the folder of shared data beside the project, when there is one."""
    # The folder that the command runs in, and the checkout that this module lies in.
    for start in (Path.cwd(), Path(__file__).resolve().parents[1]):
        if (folder := start / ".." / "shared" / "data").is_dir():
            return folder.resolve()
    return None


def find_sources(
    data: Path | None = None, hierarchies: Path | None = None, shared: Path | None = None
) -> Sources:
    """Return the files to use.

    Parameters
    ----------
    data
        Adult as one CSV file with a header (or Parquet, ...), or a folder with ``adult.csv.gz``
        and ``acs_occ_300k.parquet``; by default the shared folder beside the project.
    hierarchies
        Folder of Adult's hierarchies; by default ``hierarchies/adult`` beside the table.
    shared
        The folder of shared data; None for none.
    """
    if data is None and shared is None:
        raise InputError(
            "The Adult table is not here: there is no folder ../shared/data. Give it with --data "
            "adult.csv (a header, then 15 columns; a missing cell is empty or '?'), or let "
            "--fetch get it from the UCI archive."
        )
    place = data or shared
    assert place is not None
    if not place.exists():
        raise InputError(
            f"There is no file or folder {place}. Give Adult with --data adult.csv, or let --fetch "
            "get it from the UCI archive."
        )
    folder = place if place.is_dir() else place.parent
    adult = place
    if place.is_dir():
        found = [place / name for name in ("adult.csv.gz", "adult.csv", "adult.parquet")]
        adult = next((path for path in found if path.is_file()), place)
        if adult == place:
            raise InputError(
                f"The folder {place} holds no adult.csv.gz, adult.csv or adult.parquet. Give the "
                "file itself with --data, or let --fetch get it from the UCI archive."
            )
    trees = hierarchies or folder / "hierarchies" / "adult"
    if hierarchies is not None and not hierarchies.is_dir():
        raise InputError(
            f"There is no folder {hierarchies} of hierarchies. Give one with COLUMN.csv files, or "
            "leave --hierarchies out to use those that come with the experiments."
        )
    census = folder / CENSUS
    return Sources(
        str(adult.resolve()),
        str(census.resolve()) if census.is_file() else "",
        str(trees.resolve()) if trees.is_dir() else "",
    )


@cache
def _digest(paths: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(Path(path).read_bytes() if path else b"none")
    return digest.hexdigest()


@cache
def _frame(data: str, path: str) -> pl.DataFrame:
    if data == "census":
        return read_table(Path(path))
    if data == "census-million":
        return _frame("census", path).sample(1_000_000, with_replacement=True, seed=1)
    if data in ("census-codes", "census-rows"):
        frame = _frame("census", path)
        return frame.with_columns(occupation=_classes(frame["occupation"], data))
    frame = read_table(Path(path), missing=["", "?"])
    if lacking := [name for name in COLUMNS if name not in frame.columns]:
        raise SchemaError(
            f"{path} is not the Adult table: it has no column {format_names(lacking)}. It needs "
            "a header "
            f"with {format_names(COLUMNS, len(COLUMNS))}."
        )
    frame = frame.select(COLUMNS)
    return frame.drop_nulls() if data == "adult-complete" else frame


def _classes(occupations: pl.Series, data: str) -> pl.Series:
    """Return occupations in 50 classes; their codes are ordered by kind of work."""
    codes = occupations.cast(pl.Int64)
    counts = codes.value_counts(name="rows").sort("occupation")
    size = counts["rows"] if data == "census-rows" else pl.Series([1] * counts.height)
    # The middle of a code says which of 50 equal parts it belongs to.
    part = (50 * (size.cum_sum() - size / 2) / size.sum()).cast(pl.Int64)
    return codes.replace_strict(counts["occupation"], part).cast(pl.String)


@cache
def builtin() -> Mapping[str, Taxonomy]:
    """Return the hierarchies of Adult that come with the experiments."""
    tree = tomllib.loads(BUILTIN.read_text("utf-8"))
    found = {}
    for name, part in tree.items():
        if "steps" in part:
            low, high = part["range"]
            rows = [
                (str(v), *(_step(v, step) for step in part["steps"]), "*")
                for v in range(low, high + 1)
            ]
        else:
            flat = list(part) == ["*"]
            rows = [
                (leaf, "*") if flat else (leaf, group, "*")
                for group, leaves in part.items()
                for leaf in leaves
            ]
        found[name] = Taxonomy.from_rows(rows, name)
    return found


def _step(value: int, step: int) -> str:
    low = value // step * step
    return f"[{low}, {low + step})"
