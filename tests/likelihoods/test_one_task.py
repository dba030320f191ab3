"""One task: the estimate is that of statsmodels, standard errors included, and of scikit-learn under a prior."""

import numpy as np
import pytest
import statsmodels.api as sm
from glm_rows import MODELS, draw, learned
from scipy import sparse
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from ridgeway import GeneralizedLogistic, GeneralizedPoisson, weights

FAMILIES = {"binomial": sm.families.Binomial(), "poisson": sm.families.Poisson()}


def peer(family, X, y, intercept=True, **options):
    design = sm.add_constant(X, has_constant="add") if intercept else X
    return sm.GLM(y, design, family=FAMILIES[family], **options).fit(tol=1e-15, maxiter=200)


def same(model, fit, intercept=True, rtol=1e-8):
    found = [model.intercept_, *model.coef_] if intercept else model.coef_
    errors = [model.intercept_error_, *model.standard_errors_] if intercept else model.standard_errors_
    scale = np.abs(fit.bse)  # digits beyond a standard error
    return np.allclose(found / scale, fit.params / scale, rtol=rtol, atol=rtol) and np.allclose(
        errors, fit.bse, rtol=rtol
    )


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("family", MODELS)
def test_one_task_is_that_of_statsmodels(family, intercept, memory):
    for seed in range(5):
        X, y = draw(np.random.default_rng(seed), family, 200, 4)
        model = MODELS[family](memory=memory, fit_intercept=intercept).fit(X, y)
        fit = peer(family, X, y, intercept)
        assert same(model, fit, intercept)
        assert model.log_likelihood_ == pytest.approx(fit.llf, rel=1e-10)


@pytest.mark.parametrize("family", MODELS)
def test_weights_and_offsets_are_those_of_statsmodels(family):
    rng = np.random.default_rng(3)
    X, y = draw(rng, family, 200, 3)
    counts, offset = rng.integers(0, 4, 200), rng.normal(size=200)
    fit = peer(family, X, y, freq_weights=counts, offset=offset)
    model = MODELS[family](weight_kind="frequency").fit(X, y, sample_weight=counts, offset=offset)
    assert same(model, fit)
    assert model.n_samples_seen_ == counts.sum()
    assert not same(MODELS[family]().fit(X, y, sample_weight=counts), fit)  # the controls
    assert not same(MODELS[family]().fit(X, y, offset=offset), fit)
    precise = MODELS[family]().fit(X, y, sample_weight=0.5 * counts, offset=offset)
    np.testing.assert_allclose(precise.coef_, model.coef_, rtol=1e-9)
    np.testing.assert_allclose(precise.standard_errors_, np.sqrt(2.0) * model.standard_errors_, rtol=1e-9)


def test_rates_are_counts_with_an_exposure():
    rng = np.random.default_rng(4)
    X, y = draw(rng, "poisson", 150, 2)
    exposure = rng.uniform(0.5, 3.0, 150)
    rates = GeneralizedPoisson().fit(X, y / exposure, sample_weight=exposure)
    counts = GeneralizedPoisson().fit(X, y, offset=np.log(exposure))
    np.testing.assert_allclose(rates.coef_, counts.coef_, rtol=1e-9)
    np.testing.assert_allclose(counts.predict(X, offset=np.log(exposure)), exposure * rates.predict(X), rtol=1e-9)
    np.testing.assert_allclose(counts.predict(X), rates.predict(X), rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_prior_is_the_penalty_of_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X @ [1.0, -1.0, 0.3] + rng.logistic(size=300), np.linspace(-2, 2, n_classes - 1))
    model = GeneralizedLogistic(weights.Accumulated(prior=2.0)).fit(X, y)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(np.atleast_2d(model.coef_), theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert (model.predict(X) == theirs.predict(X)).all()


def test_three_classes_are_those_of_statsmodels():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 2))
    y = np.digitize(X @ [1.0, -1.0] + rng.logistic(size=300), [-1.0, 1.0])
    model, fit = GeneralizedLogistic().fit(X, y), sm.MNLogit(y, sm.add_constant(X)).fit(disp=False, tol=1e-14)
    against_first = (model.coef_[1:] - model.coef_[0]).T
    np.testing.assert_allclose(against_first, fit.params[1:], rtol=1e-7)
    np.testing.assert_allclose(model.intercept_[1:] - model.intercept_[0], fit.params[0], rtol=1e-7)
    assert model.log_likelihood_ == pytest.approx(fit.llf, rel=1e-10)
    covariance = np.linalg.inv(-fit.model.hessian(fit.params.ravel(order="F")))  # class by class
    lift = np.kron(np.array([[-1.0, -1.0], [2.0, -1.0], [-1.0, 2.0]]) / 3.0, np.eye(3))  # scores that sum to 0
    errors = np.sqrt(np.diag(lift @ covariance @ lift.T)).reshape(3, 3)
    np.testing.assert_allclose(model.standard_errors_, errors[:, 1:], rtol=1e-6)
    np.testing.assert_allclose(model.intercept_error_, errors[:, 0], rtol=1e-6)


def test_a_prior_on_counts_is_the_penalty_of_scikit_learn():
    X, y = draw(np.random.default_rng(5), "poisson", 200, 3)
    model = GeneralizedPoisson(weights.Accumulated(prior=20.0)).fit(X, y)
    theirs = PoissonRegressor(alpha=0.1, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-6)


@pytest.mark.parametrize("family", MODELS)
def test_sparse_rows_and_labels_of_tasks_change_nothing(family):
    X, y = draw(np.random.default_rng(7), family, 120, 3)
    X[X < 0.0] = 0.0
    task = np.repeat(["a", "b"], 60)
    dense = MODELS[family](memory="cubic").fit(X, y, tasks=task)
    thin = MODELS[family](memory="cubic").fit(sparse.csr_array(X), y, tasks=task)
    cut = learned(MODELS[family](memory="cubic"), X, y, [60])
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-12)
    np.testing.assert_allclose(cut.coef_, dense.coef_, rtol=1e-12)
    assert cut.n_tasks_ == dense.n_tasks_ == 2


def test_a_column_far_from_zero_costs_no_digits():
    X, y = draw(np.random.default_rng(8), "binomial", 200, 2)
    near, far = (GeneralizedLogistic().fit(X + shift, y) for shift in (0.0, 2.0**40))
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-3)  # the rows themselves are rounded
    np.testing.assert_allclose(far.standard_errors_, near.standard_errors_, rtol=1e-3)
