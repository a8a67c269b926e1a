"""Whatever a file from others holds, it is read or refused in our words: never a traceback."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.api.opening import read_table
from shoal.base.errors import ShoalError
from shoal.ext.exchange.arx import read_project
from shoal.ext.exchange.import_project import from_project
from shoal.plan.parts import TABLES
from shoal.plan.plan import Plan
from shoal.releases.history.store import History
from shoal.tables.hierarchy import read_hierarchy
from shoal.tables.write_files import write_table
from shoal.verbs.manifest import check_newest, missing_keys, plan_of, read_manifest
from shoal.verbs.manifest_audit import other_versions
from tests.ext.exchange.test_arx import project

FRAME = pl.DataFrame(
    {
        "id": [f"p{i}" for i in range(24)],
        "age": [20 + i % 12 for i in range(24)],
        "town": [("Kiel", "Bonn", "Ulm")[i % 3] for i in range(24)],
        "ill": [("flu", "cold", "gout")[i % 3] for i in range(24)],
    }
)
PLAN = """seed = 7
[data]
missing = ["", "?"]
delimiter = ","
[columns.age]
role = "quasi"
kind = "ordered"
grid = "5"
coarsest = 10
[columns.town]
role = "quasi"
sets = "never"
[columns.ill]
role = "sensitive"
[method]
name = "mondrian"
[[rules]]
name = "k-anonymity"
k = 3
[release]
typed = true
suppress = 0.1
[evidence]
why = "a test"
"""
WORDS = [
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    "",
    "x",
    "²",
    "\ud800".encode("utf-8", "replace").decode(),
]
WORDS += [[], [1], {}, {"a": 1}, "9" * 400, "nan", [[]], {"": None}]


def quietly(read: Callable[[Path], object], file: Path) -> None:
    """Read a file; all that may go wrong is an error of ours, in our words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(file)
        except ShoalError as fault:
            said = str(fault)
            assert said.strip()
            assert not any(words in said for words in ("Input should", "pydantic", "Traceback"))


@cache
def samples(folder: Path) -> dict[str, bytes]:
    """Make one real file of every kind."""
    import pyreadstat

    release = folder / "r.csv"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (folder / "history").mkdir()
        roles: dict[str, Any] = {"quasi": ["age", "town"], "sensitive": "ill", "person": "id"}
        made = shoal.anonymize(FRAME, **roles, m=2, history=folder / "history", seed=3)
        made.write(release)
        made.write_dictionary(release)
    write_table(FRAME, folder / "t.xlsx")
    write_table(FRAME, folder / "t.parquet")
    write_table(FRAME, folder / "t.arrow")
    pyreadstat.write_sav(FRAME, str(folder / "t.sav"))
    return {
        "project": project(folder / "p.deid").read_bytes(),
        "manifest": (folder / "r.csv.manifest.json").read_bytes(),
        "history": (folder / "history" / "0001.history").read_bytes(),
        "plan": PLAN.encode(),
        "hierarchy": b'Kiel;north;*\nBonn;south;*\n"Ulm";south;*\n',
        "dictionary": (folder / "r.csv-metadata.json").read_bytes(),
        "release": release.read_bytes(),
        "workbook": (folder / "t.xlsx").read_bytes(),
        "table": FRAME.write_csv().encode(),
        "parquet": (folder / "t.parquet").read_bytes(),
        "arrow": (folder / "t.arrow").read_bytes(),
        "statistics": (folder / "t.sav").read_bytes(),
    }


def use_manifest(file: Path) -> None:
    """Do with a manifest what commands do: read it, take its plan, compare."""
    made = read_manifest(file)
    other_versions(made)
    missing_keys(made, Plan())
    for own in (None, Plan.from_toml(PLAN)):
        plan_of(made, own, file.parent)
    check_newest(History(file.parent, series="x"), [file.parent])


def use_history(file: Path) -> None:
    series = History.read(file.parent)
    _ = series.names
    for number in range(len(series.heads)):
        series.classes(number)


def use_project(file: Path) -> None:
    from_project(file, file.with_name("plan.toml"), force=True)


def use_dictionary(file: Path, *, release: bytes) -> None:
    (file.parent / "r.csv").write_bytes(release)
    shoal.open_release(file.parent / "r.csv").analysis_frame()


NAMES = {
    "project": "p.deid",
    "manifest": "r.csv.manifest.json",
    "history": "0001.history",
    "plan": "plan.toml",
    "hierarchy": "town.csv",
    "dictionary": "r.csv-metadata.json",
    "workbook": "t.xlsx",
    "table": "t.csv",
    "parquet": "t.parquet",
    "arrow": "t.arrow",
    "statistics": "t.sav",
}
READERS: dict[str, Callable[[Path], object]] = {
    "project": use_project,
    "manifest": use_manifest,
    "history": use_history,
    "plan": Plan.read,
    "hierarchy": partial(read_hierarchy, column="town"),
    "workbook": partial(read_table, hidden="skip"),
    "table": read_table,
    "parquet": read_table,
    "arrow": read_table,
    "statistics": read_table,
}


def mutated(draw: Callable[[Any], Any], content: bytes) -> bytes:
    """Change bytes at a few places: another byte, a cut, a piece twice, a word of ours."""
    raw = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(raw) - 1, 0)))
        to = min(len(raw), at + draw(st.sampled_from([1, 1, 2, 8, 64])))
        how = draw(st.sampled_from(["byte", "cut", "twice", "word", "end"]))
        if how == "byte" and raw:
            raw[at] = draw(st.integers(0, 255))
        elif how == "cut":
            del raw[at:to]
        elif how == "twice":
            raw[at:at] = raw[at:to]
        elif how == "end":
            del raw[at:]
        else:
            raw[at:to] = str(draw(st.sampled_from(WORDS))).encode("utf-8", "replace")
    return bytes(raw)


def changed_tree(draw: Callable[[Any], Any], tree: Any) -> Any:
    """Put a value that nobody expects somewhere into a tree, or take a key away."""
    if isinstance(tree, dict) and tree and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(sorted(tree)))
        if not draw(st.integers(0, 5)):
            return {name: own for name, own in tree.items() if name != key}
        return {**tree, key: changed_tree(draw, tree[key])}
    if isinstance(tree, list) and tree and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(tree) - 1))
        return [*tree[:at], changed_tree(draw, tree[at]), *tree[at + 1 :]]
    return draw(st.sampled_from(WORDS))


def changed_zip(draw: Callable[[Any], Any], content: bytes) -> bytes:
    """Change one member of an archive, which stays whole."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as box, zipfile.ZipFile(out, "w") as other:
        chosen = draw(st.sampled_from(box.namelist()))
        for name in box.namelist():
            raw = box.read(name)
            other.writestr(name, mutated(draw, raw) if name == chosen else raw)
    return out.getvalue()


def changed_history(draw: Callable[[Any], Any], content: bytes) -> bytes:
    """Change a history under right digests, as only somebody could who knows how it is made."""
    from shoal.releases.history import store

    magic = store._MAGIC
    _, line, rest = content[len(magic) :].split(b"\n", 2)
    head = json.loads(line)
    if draw(st.booleans()):
        head = changed_tree(draw, head)
    else:
        parts, begin = [], 0
        for part in head["parts"]:
            parts.append(rest[begin : begin + part["bytes"]])
            begin += part["bytes"]
        at = draw(st.integers(0, 1))
        parts[at] = mutated(draw, parts[at])
        head["parts"] = [{"bytes": len(one), "sha256": store._sum(one)} for one in parts]
        rest = b"".join(parts)
    line = json.dumps(head).encode()
    return magic + store._sum(line).encode() + b"\n" + line + b"\n" + rest


def worse(draw: Callable[[Any], Any], kind: str, content: bytes) -> bytes:
    """Return a damaged file of a kind."""
    if not draw(st.integers(0, 2)):
        return mutated(draw, content)
    if kind in ("manifest", "dictionary"):
        return json.dumps(changed_tree(draw, json.loads(content))).encode()
    if kind in ("project", "workbook"):
        return changed_zip(draw, content)
    if kind == "history":
        return changed_history(draw, content)
    return mutated(draw, content)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    pytest.importorskip("fastexcel")
    return samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize(
    "examples", [pytest.param(30, id="few"), pytest.param(2_000, id="many", marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("kind", NAMES)
def test_a_damaged_file_is_refused_in_our_words(files, tmp_path, kind, examples) -> None:
    file = tmp_path / NAMES[kind]
    reader = READERS.get(kind) or partial(use_dictionary, release=files["release"])

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        file.write_bytes(worse(data.draw, kind, files[kind]))
        quietly(reader, file)

    tried()


@pytest.mark.parametrize("kind", NAMES)
def test_the_samples_are_read(files, tmp_path, kind) -> None:
    file = tmp_path / NAMES[kind]
    file.write_bytes(files[kind])
    reader = READERS.get(kind) or partial(use_dictionary, release=files["release"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader(file)


@pytest.mark.parametrize("value", ["text", 3, 1.5, True, [1], ["x"], {"a": 1}, [{}], "²"])
def test_no_sentence_of_pydantic_reaches_a_reader(value) -> None:
    """Every key of a plan, with values of every type that TOML has."""
    for table, part in TABLES.items():
        for key in part.model_fields:
            tree = {table: {"x": {"role": "quasi", key: value} if key != "role" else {key: value}}}
            if table != "columns":
                tree = {table: {key: value}}
            for wrong in (tree, {table: value}, {table: [value]}, {table: {"x": value}}):
                try:
                    Plan.from_public(wrong, Path())
                except ShoalError as fault:
                    said = str(fault)
                    for words in ("Input should", "valid dictionary", "instance of", "pydantic"):
                        assert words not in said, said


def test_an_importance_that_ends_no_search_is_refused() -> None:
    tree = {"columns": {"age": {"role": "quasi", "importance": 1e308}}}
    with pytest.raises(shoal.PlanError, match=r"above 0 and at most 1,000,000. Got 1e\+308"):
        Plan.from_public(tree, Path())


def test_the_cause_of_a_refusal_is_kept(tmp_path) -> None:
    (tmp_path / "p.deid").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(shoal.InputError, match="not an ARX project, or damaged") as raised:
        read_project(tmp_path / "p.deid")
    assert isinstance(raised.value.__cause__, zipfile.BadZipFile)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<weight>1.0", "<weight>heavy", r"no number as weight of 'age': 'heavy'"),
        ("<weight>1.0", "<weight>inf", r"no number as weight of 'age': 'inf'"),
        ("0.05</relative", "all</relative", r"no number as suppression limit: 'all'"),
        ("0.5-closeness", "0.5.5-closeness", r"no number as t of a privacy model: '0.5.5'"),
    ],
)
def test_a_project_with_a_number_that_is_none_is_refused(tmp_path, old, new, said) -> None:
    file = project(tmp_path / "p.deid")
    with zipfile.ZipFile(file) as box:
        parts = {name: box.read(name).decode() for name in box.namelist()}
    parts["input/config.xml"] = parts["input/config.xml"].replace(old, new)
    with zipfile.ZipFile(file, "w") as box:
        for name, text in parts.items():
            box.writestr(name, text)
    with pytest.raises(shoal.InputError, match=said):
        read_project(file)
