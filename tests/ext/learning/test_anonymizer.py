"""The transformer for scikit-learn: its contract, its order of rows, and what it refuses."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from shoal.base.errors import InputError, ParameterError
from shoal.sklearn import Anonymizer

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
SEED = 2**70 + 1
OTHER_ROWS = {
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
}
REFUSED = OTHER_ROWS | {"check_estimators_pickle", "check_fit2d_1sample"}
TEXTS = {
    "check_pipeline_consistency",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
}


def people(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "name": [f"SECRET{i}" for i in range(rows)],
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "cold"], rows),
        },
        index=np.arange(rows)[::-1] + 1000,
    )


def anonymizer(**given: Any) -> Anonymizer:
    settings = {"sensitive": "ill", "identifier": "name", "seed": SEED, **given.pop("settings", {})}
    return Anonymizer(["age", "sex"], k=4, settings=settings, **given)


@pytest.mark.slow
@pytest.mark.parametrize(("numeric", "failing"), [(True, REFUSED), (False, REFUSED | TEXTS)])
def test_the_contract_of_scikit_learn(numeric: bool, failing: set[str]) -> None:
    tried = Anonymizer(k=2, numeric=numeric, settings={"seed": SEED})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(tried, on_fail=None, on_skip=None)
    failed = {each["check_name"] for each in results if each["status"] == "failed"}
    assert failed == failing
    assert sum(each["status"] == "passed" for each in results) > 30
    for each in results:
        if each["check_name"] in OTHER_ROWS:
            assert "only the table that it was fitted on" in str(each["exception"])


def test_rows_stand_in_their_order_and_every_middle_lies_near_its_value() -> None:
    frame = people()
    made = anonymizer(numeric=True)
    out = made.fit_transform(frame)
    assert list(out.columns) == ["age", "sex", "ill"] == list(made.get_feature_names_out())
    assert list(out["ill"]) == list(frame["ill"])
    exact = out["sex"] != "*"
    sexes = out["sex"][exact]
    assert all(s in cell for s, cell in zip(frame["sex"].to_numpy()[exact], sexes, strict=True))
    assert np.abs(out["age"].to_numpy() - frame["age"].to_numpy()).max() < 20
    assert out.groupby(["age", "sex"], dropna=False).size().min() >= 4
    assert list(out.index) == list(range(len(frame))), "an index is not handed on"


def test_the_release_beside_it_is_shuffled_and_may_be_published() -> None:
    made = anonymizer()
    out = made.fit_transform(people())
    released = made.release_.frame
    assert made.release_.achieved["k"] >= 4
    assert released.rows() != list(out.itertuples(index=False, name=None))
    assert sorted(released.rows()) == sorted(out.itertuples(index=False, name=None))
    assert not hasattr(made, "write")


def test_other_rows_are_refused() -> None:
    frame = people()
    made = anonymizer().fit(frame)
    made.transform(frame.copy())
    changed = frame.copy()
    changed.iloc[3, 1] += 1
    for other in (frame.iloc[::-1], frame.iloc[:-1], changed):
        with pytest.raises(InputError, match="only the table that it was fitted on"):
            made.transform(other)


def test_a_pipeline_is_trained_and_does_not_predict_other_rows() -> None:
    frame, ill = people()[["age"]], people()["ill"]
    model = make_pipeline(Anonymizer(k=4, numeric=True), HistGradientBoostingClassifier())
    assert set(model.fit(frame, ill).predict(frame)) <= {"flu", "cold"}
    with pytest.raises(InputError, match="fitted on"):
        model.predict(frame + 1)


def test_a_fitted_one_is_not_stored() -> None:
    made = anonymizer()
    assert pickle.loads(pickle.dumps(made)).k == 4
    made.fit(people())
    for store in (pickle.dumps, copy.deepcopy):
        with pytest.raises(InputError, match="order of the original"):
            store(made)
    assert not hasattr(clone(made), "release_")


def test_no_cell_that_is_not_released_stays_in_it() -> None:
    made = anonymizer().fit(people())
    held = [made._published, *made.release_.tables.values()]
    assert all(isinstance(frame, pl.DataFrame) for frame in held)
    assert not any("SECRET" in str(frame.rows()) for frame in held)
    assert made.release_.original is None
    assert "SECRET" not in repr({k: v for k, v in vars(made).items() if k != "settings"})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "dummies", "l": 2}, "returns generalized rows, and 'dummies'"),
        ({"method": "incognito", "options": {"suppression": 0.4}}, "rows were removed"),
    ],
)
def test_what_does_not_give_one_row_for_each_is_refused(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        anonymizer(settings=settings).fit(people(13))
