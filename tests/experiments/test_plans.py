"""Plans, sources, the store, and a whole study on a made-up table."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from experiments import PAPERS, caching, fetching
from experiments.caching import Store, code_digest, key_of
from experiments.measuring import emptied, frame_of
from experiments.pages import check_folder
from experiments.plans import NAMES, check_papers, figures_called, read_study
from experiments.sources import COLUMNS, Sources, builtin, find_sources, shared_folder
from shoal.base.errors import InputError, OutputError, ParameterError, PlanError, SchemaError

SHARED = shared_folder()


def people(rows=300, seed=0):
    """A table with the columns of Adult and values of the built-in hierarchies."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name in COLUMNS:
        tree = builtin().get(name)
        if tree is None or name in ("age", "hours-per-week"):
            low, high = {"age": (17, 60), "hours-per-week": (10, 60)}.get(name, (0, 12))
            columns[name] = rng.integers(low, high, rows)
        else:
            columns[name] = rng.choice(tree.values, rows)
    frame = pl.DataFrame(columns)
    return emptied(frame, ["workclass", "occupation", "native-country"], 0.02, rng)


def test_the_papers_of_a_word():
    assert check_papers("all") == PAPERS
    assert check_papers("kaim") == ("kaim",)
    with pytest.raises(ParameterError, match=r"no paper 'kiam'.*mean 'kaim'.*alpha_k, dummies, or"):
        check_papers("kiam")


def test_points_are_spelled_out():
    study = read_study("kaim")
    spots = [spot for spot in study.spots() if spot.figure == "loss-by-k"]
    assert len(spots) == 9 * 3 * 4
    point = next(s.point for s in spots if (s.panel, s.x, s.series) == (5, 10, "kaim-unit"))
    assert point["quasi"] == ["age", "workclass", "education", "marital-status", "occupation"]
    assert (point["k"], point["repeats"], point["options"]) == (10, 20, {"weights": "unit"})
    quick = next(read_study("kaim", quick=True).spots()).point
    assert (quick["at_most"], quick["repeats"]) == (5000, 2)


def test_a_query_has_no_more_columns_than_there_are():
    for spot in read_study("dummies").spots():
        assert spot.point["g"] < len(spot.point["quasi"]) == spot.point["columns"]
        assert spot.point["sensitive"] not in spot.point["quasi"]


def test_a_plan_with_faults_is_refused(tmp_path: Path):
    text = (Path(fetching.__file__).parent / "kaim" / "plan.toml").read_text()
    text = text.replace('x = "vmr"', 'x = "vrm"', 1).replace(
        'series = ["k-member"]', 'series = ["kiam"]'
    )
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(PlanError) as caught:
        read_study("kaim", folder=tmp_path)
    assert "has an axis 'vrm'. Did you mean 'vmr'?" in str(caught.value)
    assert "draws the series 'kiam', which the plan does not declare" in str(caught.value)


def test_every_axis_has_a_name():
    for paper in PAPERS:
        for figure in read_study(paper).figures:
            assert {figure.x, figure.y} <= set(NAMES)


def test_the_built_in_hierarchies_cover_adult():
    names = set(builtin())
    for paper in PAPERS[:3]:
        for spot in read_study(paper).spots():
            if spot.point["hierarchies"] == "all":
                assert set(spot.point["quasi"]) <= names
    assert builtin()["age"].labels[builtin()["age"].root] == "*"


@pytest.mark.shared_data
@pytest.mark.skipif(SHARED is None, reason="the shared data are not here")
def test_the_built_in_hierarchies_fit_the_real_table():
    frame = find_sources(shared=SHARED).frame("adult")
    assert frame.height == 48842
    for name, tree in builtin().items():
        values = frame[name].drop_nulls().cast(pl.String).unique().to_list()
        assert set(values) <= set(tree.values), name


def test_sources_say_what_to_do(tmp_path: Path):
    with pytest.raises(InputError, match=r"no folder \.\./shared/data.*--data adult\.csv.*--fetch"):
        find_sources()
    with pytest.raises(InputError, match="There is no file or folder"):
        find_sources(tmp_path / "no.csv")
    with pytest.raises(InputError, match=r"holds no adult\.csv\.gz, adult\.csv or adult\.parquet"):
        find_sources(tmp_path)
    (tmp_path / "adult.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"There is no folder .*trees of hierarchies"):
        find_sources(tmp_path, tmp_path / "trees")
    found = find_sources(tmp_path)
    assert (found.adult, found.census, found.hierarchies) == (str(tmp_path / "adult.csv"), "", "")
    with pytest.raises(SchemaError, match="not the Adult table: it has no column 'age', 'workclas"):
        found.frame("adult")


def test_question_marks_are_missing(tmp_path: Path):
    frame = people(20).with_columns(pl.lit("?").alias("workclass"))
    frame.write_csv(tmp_path / "adult.csv")
    sources = find_sources(tmp_path / "adult.csv")
    assert sources.frame("adult")["workclass"].null_count() == 20
    assert sources.frame("adult-complete").height == 0


def test_twenty_seeds_are_behind_every_random_figure_of_the_papers():
    for paper in PAPERS:
        study = read_study(paper)
        for spot in study.spots():
            ours = spot.figure.startswith("ours") or spot.series.startswith("shoal")
            if not ours and study.random(spot.series):
                assert spot.point["repeats"] >= 20, (paper, spot.figure, spot.series)


def test_rows_with_a_gap_anywhere_in_the_file():
    frame = people(200)
    point = {"quasi": ["age", "sex"], "incomplete": "file"}
    found = frame_of(point, frame, 0)
    assert found["age"].is_null().sum() == 200 - frame.drop_nulls().height > 0
    assert found.drop("age").equals(frame.drop("age"))


def test_figures_are_found_by_their_number_in_the_paper():
    study = read_study("kaim")
    assert figures_called(study, ["7b"]) == ("loss-by-missing",)
    assert figures_called(study, ["4", "loss-by-k"]) == ("loss-by-k", "loss-by-k-text")
    with pytest.raises(ParameterError, match=r"no figure '9' in 'kaim'\. Figures are loss-by-k"):
        figures_called(study, ["9"])


def test_the_digest_of_a_point_is_that_of_its_code(monkeypatch):
    kaim = code_digest({"method": "kaim"})
    assert kaim != code_digest({"method": "k-member"})
    reached = caching._reached(caching._starts({"method": "kaim"}))
    assert {"shoal.groupers.kaim", "shoal.kernels.space.grow", "experiments.measuring"} <= reached
    assert not {name for name in reached if name.split(".")[1] in ("cli", "plan", "web", "report")}
    assert "shoal.groupers.shoal" not in reached


def test_comments_and_docstrings_are_no_code(monkeypatch):
    texts = ['"""One."""\nx = 1\n', '"""Two."""\n# Why.\nx = 1\n', '"""One."""\nx = 2\n']
    codes = []
    for text in texts:
        monkeypatch.setattr(caching, "_tree", lambda name, text=text: ast.parse(text))
        codes.append(caching._code.__wrapped__("any"))
    assert codes[0] == codes[1] != codes[2]


def test_cells_are_emptied_up_to_a_share():
    frame = people(500)
    quasi = ["age", "workclass", "sex"]
    for seed in (0, 1):
        found = emptied(frame, quasi, 0.2, np.random.default_rng(seed))
        gaps = sum(found[name].null_count() for name in quasi)
        assert gaps == round(0.2 * 1500)
        # Nothing else changes, and nothing comes back.
        assert found.drop(quasi).equals(frame.drop(quasi))
        assert (found["workclass"].is_null() | ~frame["workclass"].is_null()).all()
    assert emptied(frame, quasi, 0.0, np.random.default_rng(0)).equals(frame)


def test_rare_values_are_emptied_more_readily():
    frame = pl.DataFrame({"a": ["rare"] * 50 + ["common"] * 950})
    found = emptied(frame, ["a"], 0.3, np.random.default_rng(0), skewed=True)
    gaps = found["a"].is_null()
    assert gaps.sum() == 300
    assert gaps.head(50).mean() > 2 * gaps.tail(950).mean()


@pytest.mark.shared_data
@pytest.mark.skipif(SHARED is None, reason="the shared data are not here")
def test_the_census_in_the_papers_classes():
    sources = find_sources(shared=SHARED)
    assert sources.frame("census")["occupation"].n_unique() == 529
    for data in ("census-codes", "census-rows"):
        occupation = sources.frame(data)["occupation"]
        assert occupation.n_unique() == 50
        # The paper draws all methods at l = 15.
        assert occupation.value_counts()["count"].max() < len(occupation) / 15
    assert sources.frame("census-million").height == 1_000_000


def test_samples_differ_by_repeat_and_repeat_by_seed():
    frame, point = people(100), {"n": 30, "quasi": ["age"]}
    assert frame_of(point, frame, 1).equals(frame_of(point, frame, 1))
    assert not frame_of(point, frame, 1).equals(frame_of(point, frame, 2))
    assert frame_of({"at_most": 1000, "quasi": ["age"]}, frame, 1).equals(frame)


def test_the_store(tmp_path: Path):
    store, point = Store(tmp_path / "deep" / "er"), {"method": "kaim", "k": 5}
    key = key_of(point, "data")
    assert store.get(key, 10) is None
    store.put(key, point, {"repeats": [{"loss": 0.5}]})
    assert store.get(key, 10)["repeats"] == [{"loss": 0.5}]
    assert key_of({**point, "limit": 7}, "data") == key
    assert key_of({**point, "k": 6}, "data") != key != key_of(point, "other data")
    # Given up after 10 seconds: worth another try only with more time.
    store.put(key, point, {"gave_up": 10.0})
    assert store.get(key, 10) is not None
    assert store.get(key, 11) is None
    file = next(tmp_path.rglob("*.json"))
    file.write_text("{ half a fi")
    assert store.get(key, 10) is None
    (tmp_path / "plain").write_text("")
    with pytest.raises(OutputError, match=r"cannot be kept in .*plain.*--cache"):
        Store(tmp_path / "plain").put(key, point, {})


def test_changed_data_are_other_data(tmp_path: Path):
    for name, seed in (("a.csv", 0), ("b.csv", 1)):
        people(30, seed).write_csv(tmp_path / name)
    a, b = (Sources(str(tmp_path / name)) for name in ("a.csv", "b.csv"))
    assert a.digest("adult") != b.digest("adult")
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("Male;*\nFemale;*\n")
    assert Sources(a.adult, hierarchies=str(tmp_path / "trees")).digest("adult") != a.digest(
        "adult"
    )


def test_folders_that_are_not_ours_are_left_alone(tmp_path: Path):
    check_folder(tmp_path / "new", PAPERS)
    (tmp_path / "kaim").mkdir()
    check_folder(tmp_path, PAPERS)
    (tmp_path / "kaim" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"kaim exists and holds something that is not ours"):
        check_folder(tmp_path, PAPERS)
    with pytest.raises(OutputError, match=r"it is a file\. Give a folder with --out"):
        check_folder(tmp_path / "kaim" / "thesis.tex", PAPERS)


def archive(**parts: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name.replace("_", "."), text)
    return held.getvalue()


ROW = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, "


def test_the_archive_becomes_one_table(monkeypatch, tmp_path: Path):
    data, test = ROW + "40, ?, <=50K\n\n", "|1x3 Cross validator\n" + ROW + "9, Cuba, >50K.\n"
    digests = {"adult.data": data, "adult.test": test}
    monkeypatch.setattr(
        fetching,
        "MEMBERS",
        {name: hashlib.sha256(text.encode()).hexdigest() for name, text in digests.items()},
    )
    packed = archive(adult_data=data, adult_test=test)
    lines = fetching.table(packed).decode().splitlines()
    assert lines[0].split(",") == list(COLUMNS)
    assert lines[1].endswith(",Never-married,,Not-in-family,White,Male,2174,0,40,,<=50K")
    assert lines[2].endswith(",9,Cuba,>50K")
    (tmp_path / "adult.zip").write_bytes(packed)
    told = []
    where = fetching.fetch_adult(tmp_path / "kept", told.append, (tmp_path / "adult.zip").as_uri())
    assert where.read_text().splitlines() == lines
    assert told == [f"Fetching Adult from {(tmp_path / 'adult.zip').as_uri()}"]


def test_another_file_is_not_used(tmp_path: Path):
    with pytest.raises(
        InputError, match=r"adult\.data of the UCI archive has the SHA-256 .* expec"
    ):
        fetching.table(archive(adult_data=ROW, adult_test=ROW))
    with pytest.raises(InputError, match=r"does not hold adult\.data and adult\.test"):
        fetching.table(archive(adult_data=ROW))
    with pytest.raises(InputError, match=r"does not hold adult\.data and adult\.test"):
        fetching.table(b"<html>moved</html>")
    with pytest.raises(InputError, match=r"cannot be fetched from .*--data adult\.csv"):
        fetching.fetch_adult(tmp_path, print, (tmp_path / "none.zip").as_uri())


@pytest.mark.shared_data
@pytest.mark.skipif(SHARED is None, reason="the shared data are not here")
def test_the_digests_are_those_of_the_official_files(monkeypatch, tmp_path: Path):
    """Write our copy of Adult the way the archive does: both digests must come out."""
    frame = find_sources(shared=SHARED).frame("adult").fill_null("?")
    rows = [", ".join(map(str, row)) for row in frame.rows()]
    data = "\n".join(rows[:32561]) + "\n\n"
    test = "|1x3 Cross validator\n" + "".join(row + ".\n" for row in rows[32561:]) + "\n"
    made = fetching.table(archive(adult_data=data, adult_test=test))
    assert hashlib.sha256(made).hexdigest() == fetching.TABLE
    # Once it is there, nothing is fetched.
    (tmp_path / "adult.csv").write_bytes(made)
    assert fetching.fetch_adult(tmp_path, print, "file:///nowhere") == tmp_path / "adult.csv"


def test_records_are_plain_data():
    for paper in PAPERS:
        for spot in read_study(paper).spots():
            assert json.loads(json.dumps(spot.point)) == spot.point
