"""scikit-learn's own contract, for all five estimators and both kinds of information: no exception, no skip of ours."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, weights

ESTIMATORS = [
    MinimumNorm(),
    ContinualRidge(),
    GeneralizedRidge(),
    GeneralizedRidge(information="moments"),
    GeneralizedRidge(weights.Isotropic(0.1)),
    EarlyStopping(),
    Oracle(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.normal(size=60), "size": rng.normal(size=60), "kind": rng.choice(list("ab"), 60)})
    return frame, frame["age"] - frame["size"] + (frame["kind"] == "a") + 0.1 * rng.normal(size=60)


def test_grid_search_over_the_prior(table):
    frame, y = table
    search = GridSearchCV(GeneralizedRidge(weights.Accumulated()), {"weights__prior": [0.0, 1.0, 1e6]}, cv=3)
    search.fit(frame[["age", "size"]], y)
    assert search.best_params_["weights__prior"] < 1e6
    assert search.best_estimator_.weights.prior == search.best_params_["weights__prior"]


@pytest.mark.filterwarnings("ignore:the columns learned are collinear, exactly")  # one-hot columns are
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_column_transformer_pipeline_with_set_output(table, estimator):
    frame, y = table
    columns = ColumnTransformer([("numbers", StandardScaler(), ["age", "size"]), ("kind", OneHotEncoder(), ["kind"])])
    columns.sparse_threshold = 0.0
    columns.set_output(transform="pandas")
    columns.transformers[1][1].sparse_output = False
    pipeline = make_pipeline(columns, estimator).fit(frame, y)
    assert list(pipeline[-1].feature_names_in_) == [
        "numbers__age",
        "numbers__size",
        "kind__kind_a",
        "kind__kind_b",
    ]
    assert pipeline.score(frame, y) > 0.5
    assert cross_val_score(pipeline, frame, y, cv=3).min() > 0.2


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_dataframes_are_learned_by_name(container):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    frame = container({"a": X[:, 0], "b": X[:, 1]})
    model = GeneralizedRidge().partial_fit(frame, y).partial_fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_allclose(model.predict(frame), GeneralizedRidge().fit(X, y).predict(X), rtol=1e-12)
