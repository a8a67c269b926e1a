"""Byte by byte: a release holds what is published, and nothing else of the table it came from."""

import gzip
import io
import pickle
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import shoal
from shoal.catalog import METHODS
from shoal.privacy import AlphaK, FrequencyLDiversity, KAnonymity, LDiversity
from shoal.releases.copy_cells import copy_cells
from shoal.tables.files import FORMATS
from shoal.tables.write_files import output_places, write_release, write_table

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")

RULES = (KAnonymity(4), LDiversity(2, "ill"), FrequencyLDiversity(2, "ill"), AlphaK(0.6, 3, "ill"))
FULL_DOMAIN = ("incognito", "l-incognito", "simanony")
OPTIONS = {"k-member": {"missing": "drop"}} | {m: {"suppression": 0.3} for m in FULL_DOMAIN}
ROWS = 61
REGIONS = [f"region-{letter}-of-a-long-name" for letter in "abcdef"]
TREES = {
    "age": shoal.Taxonomy.from_rows(
        [(str(age), f"{age // 10 * 10}s", "*") for age in range(20, 60)], "age"
    ),
    "region": shoal.Taxonomy.from_rows(
        [(name, "far" if i < 3 else "near", "*") for i, name in enumerate(REGIONS)], "region"
    ),
    "job": shoal.Taxonomy.from_rows([(f"job#{i}", "*") for i in range(4)], "job"),
}


def people():
    """Return a table whose texts, long ones and short ones, all can be told from each other."""
    rng = np.random.default_rng(8)
    places = rng.choice([*REGIONS, None], ROWS, p=[0.3, 0.2, 0.2, 0.1, 0.08, 0.02, 0.1])
    return pl.DataFrame(
        {
            "person": [f"identifier-of-a-person-{i:03d}" for i in range(ROWS)],
            "age": rng.integers(20, 60, ROWS),
            "region": places.tolist(),
            "job": [f"job#{i}" for i in rng.integers(0, 4, ROWS)],
            "ill": rng.choice(["influenza-of-all-kinds", "gout#", "ulcer#", "cold#"], ROWS),
            "note": [f"a-remark-about-somebody-{i:03d}" for i in range(ROWS)],
            "memo": [f"memo#{i:03d}" for i in range(ROWS)],
            "secret": [f"never-declared-by-anybody-{i:03d}" for i in range(ROWS)],
        }
    )


def under_nulls(table):
    """Return the table with bytes under its nulls: the text of a neighbouring row."""
    columns = []
    for column in table.to_arrow(compat_level=pl.CompatLevel.oldest()):
        (array,) = column.chunks
        if array.null_count:
            full = pa.array([text or "hidden-under-a-null" for text in array.to_pylist()])
            full = full.cast(pa.large_string())
            known = np.packbits(array.is_valid().to_numpy(False), bitorder="little")
            array = pa.Array.from_buffers(
                full.type, len(full), [pa.py_buffer(known), *full.buffers()[1:]]
            )
        columns.append(array)
    return pa.table(columns, names=table.columns)


def texts(table, dtype):
    """Return the table with its texts in another type."""
    return table.with_columns(pl.col(pl.String).cast(dtype))


def enums(table):
    return table.with_columns(
        column.cast(pl.Enum(sorted(column.drop_nulls().unique(), reverse=True)))
        for column in table
        if column.dtype == pl.String
    )


def arrow(table, dtype):
    plain = under_nulls(table)
    fields = [dtype if f.type == pa.large_string() else f.type for f in plain.schema]
    return pa.table(
        [column.cast(kind) for column, kind in zip(plain, fields, strict=True)], plain.column_names
    )


def file(table, path, write):
    write(table, path)
    return path


KINDS = {
    "csv": lambda t, p: file(t, p / "in.csv", pl.DataFrame.write_csv),
    "parquet": lambda t, p: file(enums(t), p / "in.parquet", pl.DataFrame.write_parquet),
    "arrow": lambda t, p: file(t, p / "in.arrow", pl.DataFrame.write_ipc),
    "polars": lambda t, p: pl.from_arrow(under_nulls(t)),
    "lazy": lambda t, p: t.lazy(),
    "categorical": lambda t, p: texts(t, pl.Categorical),
    "enum": lambda t, p: enums(t),
    "pandas": lambda t, p: t.to_pandas(),
    "pandas-category": lambda t, p: texts(t, pl.Categorical).to_pandas(),
    "pyarrow-string": lambda t, p: arrow(t, pa.string()),
    "pyarrow-view": lambda t, p: arrow(t, pa.string_view()),
    "pyarrow-dictionary": lambda t, p: arrow(t, pa.dictionary(pa.int32(), pa.string())),
}


def anonymize(method, data, *, typed=False, **more):
    entry = METHODS[method]
    rule = next(
        rule
        for rule in RULES
        if (entry.rules is None or rule.name in entry.rules)
        and (not entry.needs or rule.name in entry.needs)
    )
    return shoal.anonymize(
        data,
        quasi=["age", "region", "job"],
        sensitive="ill",
        identifier="person",
        keep=["note", "memo"],
        rules=[rule],
        method=method,
        options=OPTIONS.get(method, {}),
        hierarchies=TREES if method in FULL_DOMAIN else None,
        typed=typed,
        **more,
    )


def frame(native):
    """Return any released table as a polars frame."""
    if isinstance(native, pl.LazyFrame):
        return native.collect()
    return native if isinstance(native, pl.DataFrame) else pl.DataFrame(native)


def unpublished(table, tables):
    """Return every text of the table that no published cell says."""
    said = "\n".join(
        str(cell) for native in tables.values() for row in frame(native).rows() for cell in row
    )
    known = {text for column in table if column.dtype == pl.String for text in column.drop_nulls()}
    return sorted({*(text for text in known if text not in said), "hidden-under-a-null"})


def arrow_bytes(table):
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def serialized(native):
    """Return the bytes that a caller can make of a released table, nothing packed."""
    made = {"pickle": pickle.dumps(native)}
    if isinstance(native, pd.DataFrame):
        native = pa.Table.from_pandas(native)
    if isinstance(native, pa.Table):
        sink = pa.BufferOutputStream()
        pq.write_table(native, sink, compression="none")
        return made | {"ipc": arrow_bytes(native), "parquet": sink.getvalue().to_pybytes()}
    native = frame(native)
    for name, write in (("ipc", native.write_ipc), ("parquet", native.write_parquet)):
        stream = io.BytesIO()
        write(stream, compression="uncompressed")
        made[name] = stream.getvalue()
    return made


def unpacked(path):
    """Return all bytes of a file, those of its packed parts too."""
    raw = path.read_bytes()
    if path.suffix == ".gz":
        return raw + gzip.decompress(raw)
    if path.suffix in (".arrow", ".feather"):
        return raw + arrow_bytes(ipc.open_file(raw).read_all())
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as box:
            return raw + b"".join(box.read(part) for part in box.namelist())
    if path.suffix == ".parquet":
        whole = pq.ParquetFile(path)
        words = f"{whole.metadata.metadata} {whole.schema_arrow} {whole.metadata.to_dict()}"
        return raw + words.encode() + arrow_bytes(whole.read())
    return raw


# Every method with the two kinds that carry most, and every kind with a method of every shape.
CASES = [
    (method, kind)
    for method in METHODS
    for kind in KINDS
    if kind in ("polars", "enum") or method in ("k-member", "dummies", "anatomy")
]


@cache
def released(method, kind):
    """Return a release of a table that came in so: what two tests look at."""
    typed = METHODS[method].release == "generalized" and len(kind) % 2 == 0
    with tempfile.TemporaryDirectory() as folder:
        return anonymize(method, KINDS[kind](people(), Path(folder)), typed=typed)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "kind"), CASES)
def test_no_byte_of_what_is_not_published(method, kind, tmp_path):
    table, outcome = people(), released(method, kind)
    gone = unpublished(table, outcome.tables)
    assert {"identifier-of-a-person-007", "never-declared-by-anybody-007"} <= set(gone)
    held = {
        f"{name} {way}": sorted(text for text in gone if text.encode() in raw)
        for name, native in outcome.tables.items()
        for way, raw in serialized(native).items()
    }
    # Half of the formats: the other kinds of the method have the rest.
    for ending in list(FORMATS)[([*METHODS].index(method) + [*KINDS].index(kind)) % 2 :: 2]:
        tables, place = outcome.local_tables.tables, tmp_path / f"written{ending}"
        write_release(tables, place)
        for path in output_places(place, tables).values():
            raw = unpacked(path)
            held[path.name] = sorted(text for text in gone if text.encode() in raw)
    assert {way: texts for way, texts in held.items() if texts} == {}


@pytest.mark.slow
@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
@pytest.mark.parametrize("method", ["k-member", "dummies", "anatomy"])
def test_no_byte_of_what_is_not_published_in_a_database(method, system, tmp_path):
    outcome = anonymize(method, enums(people()))
    path = tmp_path / "release.db"
    for name, table in outcome.local_tables.tables.items():
        write_table(table, f"{system}:{path}#{name}")
    raw = path.read_bytes()
    gone = unpublished(people(), outcome.tables)
    assert [text for text in gone if text.encode() in raw] == []


def test_a_table_replaced_in_sqlite_leaves_no_page_behind(tmp_path):
    place = f"sqlite:{tmp_path / 'release.db'}#release"
    write_table(people().select("secret"), place)
    assert b"never-declared" in (tmp_path / "release.db").read_bytes()
    write_table(people().select("job"), place, force=True)
    assert b"never-declared" not in (tmp_path / "release.db").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "kind"), CASES)
def test_bytes_depend_on_cells_alone(method, kind):
    """No order, no buffer and no category outlives the table: the same cells, the same bytes."""
    outcome = released(method, kind)
    for name, table in outcome.local_tables.tables.items():
        cells = {
            column.name: pl.Series(column.cast(_plain(column.dtype)).to_list()).cast(column.dtype)
            for column in table
        }
        again = copy_cells(pl.DataFrame(cells))
        assert again.equals(table), name
        for way in ("ipc", "parquet"):  # a pickle also has marks of what was asked of a column
            assert serialized(again)[way] == serialized(table)[way], name


def _plain(dtype):
    return pl.String if isinstance(dtype, pl.Enum | pl.Categorical) else dtype


@pytest.mark.slow
def test_no_seed_leaves_with_a_release():
    seed = 0xC0FFEE_1234_5678_9ABC_DEF0
    release = shoal.anonymize(people(), quasi=["age"], sensitive="ill", k=4, seed=seed)
    packed = pickle.dumps(release)
    assert not [form for form in written_forms(seed) if form in packed]
    again = pickle.loads(packed)
    assert release.plan.seed is again.plan.seed is None
    assert again.to_dict()["seeded"]
    assert "A seed was used" in again.page(attacks=False)


def written_forms(number):
    size = (number.bit_length() + 7) // 8
    return [str(number).encode(), *(number.to_bytes(size, end) for end in ("big", "little"))]


@pytest.mark.parametrize("suffix", [".arrow", ".feather"])
def test_sets_are_read_by_others(tmp_path, suffix):
    asked = {"quasi": ["age"], "sensitive": "ill", "l": 2, "method": "dummies"}
    release = shoal.anonymize(people(), **asked)
    release.write(tmp_path / f"out{suffix}")
    frame = pd.read_feather(tmp_path / f"out{suffix}")
    assert list(map(list, frame["ill"])) == release.frame["ill"].to_list()


@pytest.mark.slow
def test_categories_leave_in_the_order_of_the_release():
    seen = people().with_columns(pl.col("job").cast(pl.Categorical))
    frame = shoal.anonymize(seen, quasi=["age"], sensitive="ill", keep="job", k=4).frame
    order = frame["job"].cast(pl.String).unique(maintain_order=True).to_list()
    packed = pickle.dumps(frame)
    assert sorted(order, key=lambda text: packed.index(text.encode())) == order
    stream = io.BytesIO()
    frame.write_parquet(stream)
    for table in (frame.to_arrow(), pq.read_table(stream)):
        assert table["job"].combine_chunks().dictionary.to_pylist() == order
