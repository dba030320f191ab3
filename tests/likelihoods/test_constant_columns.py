"""A column that is constant in the first tasks says nothing there, whatever its value: as if the value were 0."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, store, weights
from ridgeway.errors import SeparationError

MEMORIES = ["quadratic", "cubic"]
FAMILIES = ["binomial", "poisson", "three classes"]


def new_model(family, memory):
    estimator = GeneralizedPoisson if family == "poisson" else GeneralizedLogistic
    return estimator(memory=memory)


def draw_targets(rng, family, predictor):
    if family == "poisson":
        return rng.poisson(np.exp(predictor)).astype(float)
    if family == "binomial":
        return (rng.random(len(predictor)) < 1.0 / (1.0 + np.exp(-predictor))).astype(int)
    scores = np.column_stack([np.zeros(len(predictor)), predictor, -predictor])
    return (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def learn(model, family, X, y, weight, bounds):
    classes = {} if family == "poisson" else {"classes": np.unique(y)}
    for start, stop in pairwise(bounds):
        rows = slice(start, stop)
        model.partial_fit(X[rows], y[rows], sample_weight=None if weight is None else weight[rows], **classes)
    return model


def assert_same_fit(model, other):
    """Assert that coefficients agree to 1e-6 of a standard error, and the errors to six digits."""
    errors = np.asarray(other.standard_errors_)
    is_finite = np.isfinite(errors)
    np.testing.assert_array_equal(np.isfinite(model.standard_errors_), is_finite)
    np.testing.assert_allclose(model.standard_errors_[is_finite], errors[is_finite], rtol=1e-6)
    distance = np.abs(model.coef_ - other.coef_) / np.where(is_finite, errors, 1.0)
    assert distance.max() <= 1e-6


@st.composite
def streams(draw):
    """Draw rows with a column that is 0 in the first task or tasks, the value that it really has, weights and cuts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    family = draw(st.sampled_from(FAMILIES))
    lengths = draw(st.lists(st.integers(40, 90), min_size=2, max_size=4))
    bounds = np.append(0, np.cumsum(lengths))
    n_constant = bounds[draw(st.integers(1, len(lengths)))]
    n = bounds[-1]
    dose = np.where(np.arange(n) < n_constant, 0.0, rng.integers(0, 3, n).astype(float))
    X = np.column_stack([rng.normal(size=(n, 2)), dose])
    y = draw_targets(rng, family, X @ [0.4, -0.3, 0.2])
    value = draw(st.decimals(-1000, 1000, places=draw(st.integers(1, 4))).map(float))
    weight = draw(st.sampled_from([None, rng.integers(1, 5, n).astype(float), rng.uniform(0.1, 3.0, n)]))
    return family, X, value, y, weight, bounds


@settings(max_examples=40, deadline=None)
@given(stream=streams(), memory=st.sampled_from(MEMORIES), is_sparse=st.booleans())
def test_a_constant_counts_as_zero(stream, memory, is_sparse):
    family, X, value, y, weight, bounds = stream
    shifted = X + np.array([0.0, 0.0, value])
    X = shifted - np.array([0.0, 0.0, value])  # with the rounding that the sum has
    try:
        expected = learn(new_model(family, memory), family, X, y, weight, bounds)
    except SeparationError:
        assume(False)
    rows = sparse.csr_array(shifted) if is_sparse else shifted
    assert_same_fit(learn(new_model(family, memory), family, rows, y, weight, bounds), expected)


@settings(max_examples=15, deadline=None)
@given(stream=streams(), memory=st.sampled_from(MEMORIES))
def test_one_task_is_the_pooled_fit(stream, memory):
    """Of all rows, too, the fit does not depend on where the column is 0."""
    family, X, value, y, weight, bounds = stream
    one_task = bounds[[0, -1]]
    shifted = X + np.array([0.0, 0.0, value])
    try:
        expected = learn(new_model(family, memory), family, X, y, weight, one_task)
    except SeparationError:
        assume(False)
    assert_same_fit(learn(new_model(family, memory), family, shifted, y, weight, one_task), expected)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("constant", [0.1, 12.3, -1e6, 3.3e-7])
def test_rounding_of_a_constant_is_no_information(constant, memory):
    """A constant that was computed differs by its last bits from row to row."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    dose = constant * np.repeat([1.0, 2.0], 200)
    counts = rng.poisson(np.exp(0.3 * x + 0.5 * dose / constant)).astype(float)
    rounded = dose.copy()
    rounded[:200] = np.nextafter(dose[:200], rng.choice([-np.inf, np.inf], 200))
    models = []
    for column in (dose, rounded):
        X = np.column_stack([x, column])
        models.append(GeneralizedPoisson(memory=memory).partial_fit(X[:200], counts[:200]))
        assert np.isinf(models[-1].standard_errors_[1])
        assert models[-1].coef_[1] == 0.0
        models[-1].partial_fit(X[200:], counts[200:])
    assert_same_fit(models[1], models[0])


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_prior_holds_the_coefficient_of_a_constant(memory):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=100), np.full(100, 0.1)])
    counts = rng.poisson(2.0, 100).astype(float)
    model = GeneralizedPoisson(weights.Accumulated(prior=1e-3), memory=memory).fit(X, counts)
    without = GeneralizedPoisson(weights.Accumulated(prior=1e-3), memory=memory).fit(X[:, :1], counts)
    np.testing.assert_allclose(model.coef_, [without.coef_[0], 0.0], atol=1e-12)
    np.testing.assert_allclose(model.standard_errors_[1], 1e-3**-0.5, rtol=1e-6)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("merged", [False, True])
def test_pasts_in_which_a_column_was_constant_are_merged(memory, merged):
    rng = np.random.default_rng(5)
    x = rng.normal(size=600)
    dose = np.repeat([0.1, 0.3, 0.2], 200)
    counts = rng.poisson(np.exp(0.3 * x + 2.0 * dose)).astype(float)
    X = np.column_stack([x, dose])
    pasts = [GeneralizedPoisson(memory=memory).fit(X[rows], counts[rows]) for rows in np.split(np.arange(600), 3)]
    both = pasts[0].merge(pasts[1]).merge(pasts[2]) if merged else pasts[0].merge(pasts[1].merge(pasts[2]))
    pooled = GeneralizedPoisson(memory=memory).fit(X, counts)
    distance = np.abs(both.coef_ - pooled.coef_) / pooled.standard_errors_
    assert distance.max() < 0.1


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")  # fewer cells than coefficients are
@pytest.mark.parametrize("memory", MEMORIES)
def test_a_first_task_of_one_cell(memory):
    """A cell is two weighted rows, which share all features. Nothing but the intercept is determined."""
    cells = np.array([[1.3, 4.7], [0.2, 2.2], [0.5, 0.1], [2.3, 1.1], [0.9, 1.9], [1.1, 0.3]])
    successes = np.array([41.0, 35.0, 42.0, 44.0, 51.0, 50.0])
    failures = np.array([53.0, 60.0, 51.0, 43.0, 34.0, 28.0])
    model = GeneralizedLogistic(memory=memory)
    for cell, weight in zip(cells, np.column_stack([successes, failures]), strict=True):
        model.partial_fit([cell, cell], [1, 0], sample_weight=weight)
        assert np.abs(model.coef_).max() < 5.0
    counts = np.column_stack([successes, failures]).ravel()
    pooled = GeneralizedLogistic().fit(np.repeat(cells, 2, axis=0), np.tile([1, 0], 6), sample_weight=counts)
    distance = np.abs(model.coef_ - pooled.coef_) / pooled.standard_errors_
    assert distance.max() < {"quadratic": 3.0, "cubic": 0.5}[memory]


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_state_file_keeps_finite_numbers(memory, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=400), "dose": np.repeat([0.1, 0.2], 200)})
    table["count"] = rng.poisson(np.exp(0.3 * table.x + 2.0 * table.dose))
    paths = [tmp_path / "first.csv", tmp_path / "second.csv"]
    table[:200].to_csv(paths[0], index=False)
    table[200:].to_csv(paths[1], index=False)
    settings = {"target": "count", "features": ["x", "dose"], "family": "poisson", "memory": memory}
    file = store.create(tmp_path / "counts.rw", **settings)
    for path in paths:
        file.absorb_table(path, task_id=path.stem)
    pooled = GeneralizedPoisson().fit(table[["x", "dose"]].to_numpy(), table["count"])
    distance = np.abs(file.model().coef_ - pooled.coef_) / pooled.standard_errors_
    assert distance.max() < 0.1
