"""Intercepts and slopes of each task's own: the same as dummies and interactions on the rows."""

import numpy as np
import pytest
import statsmodels.api as sm
from grouped import drawn, learned_by_task
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeway import retrospect
from ridgeway.errors import InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Moments


def with_dummies(X, y, labels, weight, names, slopes):
    """Return the fit on rows, and the positions of common coefficients, intercepts and slopes."""
    groups = (labels[:, None] == np.array([int(name) for name in names])).astype(float)
    common = [j for j in range(X.shape[1]) if j not in slopes]
    design = np.column_stack([X[:, common], groups, *(groups * X[:, [j]] for j in slopes)])
    return sm.WLS(y, design, weights=weight).fit(), len(common)


@pytest.mark.parametrize(
    ("information", "digits"), [("by_task", 1e-9), (ByTask(Moments), 1e-6)], ids=["root", "moments"]
)
@pytest.mark.parametrize("slopes", [[], [1], [2, 0]])
def test_dummies(rng, slopes, information, digits):
    X, Y, labels, weight = drawn(rng, p=4, targets=2, least=5)
    model = learned_by_task(X, Y, labels, weight, information=information)
    ours = retrospect.fixed_effects(model, slopes, level=0.9)
    for k in range(2):
        theirs, q = with_dummies(X, Y[:, k], labels, weight, ours.tasks, slopes)
        np.testing.assert_allclose(ours.coef[k], theirs.params[:q], rtol=digits)
        np.testing.assert_allclose(ours.standard_errors[k], theirs.bse[:q], rtol=digits)
        np.testing.assert_allclose(ours.t[k], theirs.tvalues[:q], rtol=digits)
        np.testing.assert_allclose(ours.p_values[k], theirs.pvalues[:q], rtol=100 * digits, atol=1e-12)
        np.testing.assert_allclose(ours.intervals[k], theirs.conf_int(0.1)[:q], rtol=digits)
        np.testing.assert_allclose(ours.noise_variance[k], theirs.scale, rtol=digits)
        np.testing.assert_allclose(ours.effects[k].T.ravel(), theirs.params[q:], rtol=10 * digits)
        np.testing.assert_allclose(ours.effect_errors[k].T.ravel(), theirs.bse[q:], rtol=10 * digits)
    assert ours.degrees_of_freedom == theirs.df_resid
    assert ours.effect_terms == ("intercept", *(f"x{j}" for j in slopes))
    # the control: without their own slopes, the numbers are others
    if slopes:
        other = retrospect.fixed_effects(model, []).coef[:, [j for j in range(4) if j not in slopes]]
        assert not np.allclose(other, ours.coef, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient")
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 5), st.booleans())
def test_any_shape(seed, n_tasks, most, constant):
    """Tasks with fewer rows than effects, columns constant within tasks: what statsmodels' pseudo-inverse fits."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, size=n_tasks)
    sizes[0] += 12
    labels = np.repeat(np.arange(n_tasks), sizes)
    X = rng.normal(size=(len(labels), 4)) + 2.0
    if constant:
        X[:, 2] = 3.0 * labels + 1.0
    y = rng.normal(size=len(labels))
    ours = retrospect.fixed_effects(learned_by_task(X, y, labels), [1])
    theirs, _ = with_dummies(X, y, labels, np.ones(len(y)), ours.tasks, [1])
    assert ours.degrees_of_freedom == theirs.df_resid
    np.testing.assert_allclose(ours.noise_variance, theirs.scale, rtol=1e-8)
    sure = [0, 2] if constant else [0, 1, 2]
    np.testing.assert_allclose(ours.coef[sure], theirs.params[sure], atol=1e-8)
    np.testing.assert_allclose(ours.standard_errors[sure], theirs.bse[sure], rtol=1e-6)
    assert ours.not_estimable == (("x2",) if constant else ())
    # a task whose x1 does not vary, such as one with a single row, has no slope of its own
    varies = np.array([len(set(X[labels == int(task), 1])) > 1 for task in ours.tasks])
    np.testing.assert_array_equal(np.isfinite(ours.effect_errors), np.column_stack([varies, varies]))
    np.testing.assert_array_equal(np.isnan(ours.effects), ~np.isfinite(ours.effect_errors))


def test_a_constant_feature_without_an_offset(rng):
    X, y, labels = rng.normal(size=(40, 2)), rng.normal(size=40), np.repeat(np.arange(4), 10)
    X[:, 1] = np.array([-3e5, -1e5, 1e5, 3e5])[labels] / 7.0
    assert retrospect.fixed_effects(learned_by_task(X, y, labels)).not_estimable == ("x1",)


def test_constant_features_are_part_of_the_intercepts(rng):
    X, y, labels, weight = drawn(rng, p=2)
    wide = np.column_stack([X, labels % 3 * 1.0])
    with_it = retrospect.fixed_effects(learned_by_task(wide, y, labels, weight))
    without = retrospect.fixed_effects(learned_by_task(X, y, labels, weight))
    assert with_it.not_estimable == ("x2",)
    assert np.isinf(with_it.standard_errors[2])
    assert np.isinf(with_it.intervals[2]).all()
    np.testing.assert_allclose(with_it.coef[:2], without.coef, rtol=1e-9)
    np.testing.assert_allclose(with_it.effects, without.effects, rtol=1e-9)
    np.testing.assert_allclose(with_it.effect_errors, without.effect_errors, rtol=1e-9)
    assert "x2" in str(with_it)
    assert "constant or collinear within the tasks" in str(with_it)


def test_an_offset_costs_no_digits(rng):
    X, y, labels, weight = drawn(rng)
    near, far = (retrospect.fixed_effects(learned_by_task(X + move, y, labels, weight), [0]) for move in (0.0, 2.0**20))
    np.testing.assert_allclose(far.coef, near.coef, rtol=1e-8)
    np.testing.assert_allclose(far.standard_errors, near.standard_errors, rtol=1e-8)


def test_one_degree_of_freedom_is_enough(rng):
    X, y, labels = rng.normal(size=(5, 1)), rng.normal(size=5), [0, 0, 0, 1, 2]
    ours = retrospect.fixed_effects(learned_by_task(X, y, labels))
    assert ours.degrees_of_freedom == 1
    assert np.isfinite(ours.standard_errors).all()


def test_whole_numbers_far_from_0_vary(rng):
    """Their columns are small beside the offset, but larger than its rounding."""
    X, y = rng.integers(-3, 4, size=(400, 2)) * 1.0, rng.normal(size=400)
    near, far = (learned_by_task(X + move, y, np.arange(400) % 4) for move in (0.0, 2.0**44))
    for ask in (retrospect.fixed_effects, retrospect.random_effects):
        assert ask(far).not_estimable == ()
        np.testing.assert_allclose(ask(far).coef[-2:], ask(near).coef[-2:], atol=0.01)


def test_refused(rng):
    X, y, labels, _ = drawn(rng, p=2)
    with pytest.raises(InferenceError, match="fit_intercept=True"):
        retrospect.fixed_effects(learned_by_task(X, y, labels, fit_intercept=False))
    with pytest.raises(InvalidParameterError, match="no coefficient is common"):
        retrospect.fixed_effects(learned_by_task(X, y, labels), [0, 1])
    with pytest.raises(InferenceError, match="no degrees of freedom"):
        retrospect.fixed_effects(learned_by_task(X[:6], y[:6], np.arange(6) // 2), [0])
