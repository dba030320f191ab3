"""Mixed models from what is kept of each task: against dense matrices on rows, statsmodels, and closed forms."""

import warnings
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
import statsmodels.api as sm
from grouped import drawn, learned_by_task, restricted_likelihood
from scipy import optimize, stats

from ridgeway import GeneralizedRidge, datasets, retrospect, weights
from ridgeway.errors import FeatureMismatchError, InferenceError, InvalidParameterError
from ridgeway.information import ByTask, Moments
from ridgeway.retrospect._compressed import compressed
from ridgeway.retrospect._mixed import MixedModel

EFFECTS = [("intercept",), ("intercept", 0), ("intercept", 2, 0), (0,), (1, 0)]


def columns(X, effects):
    design = np.column_stack([np.ones(len(X)), X])
    return design, design[:, [0 if each == "intercept" else each + 1 for each in effects]]


@pytest.mark.parametrize("information", ["by_task", ByTask(Moments)], ids=str)
@pytest.mark.parametrize("effects", EFFECTS, ids=str)
def test_dense_matrices_on_rows(rng, effects, information):
    """Likelihood, coefficients, errors and effects are those of the covariance matrix of all rows."""
    X, Y, labels, weight = drawn(rng, n_tasks=9, targets=2)
    ours = retrospect.random_effects(learned_by_task(X, Y, labels, weight, information=information), effects)
    design, Z = columns(X, effects)
    for k in range(2):
        D, noise, y = ours.covariance[k], ours.noise_variance[k], Y[:, k]
        likelihood, coef, covariance = restricted_likelihood(design, y, Z, labels, weight, D, noise)
        np.testing.assert_allclose(ours.log_likelihood[k], likelihood, rtol=1e-7)
        np.testing.assert_allclose(ours.coef[k], coef, rtol=1e-5)
        np.testing.assert_allclose(ours.standard_errors[k], np.sqrt(np.diag(covariance)), rtol=1e-5)
        for task, effect, error in zip(ours.tasks, ours.effects[k], ours.effect_errors[k], strict=True):
            rows = labels == int(task)
            V = Z[rows] @ D @ Z[rows].T + np.diag(noise / weight[rows])
            gain = D @ Z[rows].T @ np.linalg.inv(V)
            np.testing.assert_allclose(effect, gain @ (y[rows] - design[rows] @ coef), atol=1e-5)
            np.testing.assert_allclose(error, np.sqrt(np.diag(D - gain @ Z[rows] @ D)), atol=1e-5)
    assert ours.is_converged.all()
    freedom = len(ours.tasks) - 1
    np.testing.assert_allclose(ours.p_values, 2.0 * stats.t.sf(np.abs(ours.t), freedom), rtol=1e-9)
    assert str(freedom) in ours.assumption


@pytest.mark.parametrize("effects", EFFECTS, ids=str)
def test_nothing_nearby_is_likelier(rng, effects):
    X, y, labels, weight = drawn(rng, n_tasks=10)
    ours = retrospect.random_effects(learned_by_task(X, y, labels, weight), effects)
    design, Z = columns(X, effects)
    root = np.linalg.cholesky(ours.covariance + 1e-12 * np.diag(np.diag(ours.covariance)))

    def likelihood(change, noise_change):
        L = root @ (np.eye(len(root)) + change)
        return restricted_likelihood(design, y, Z, labels, weight, L @ L.T, ours.noise_variance * noise_change)[0]

    best = likelihood(np.zeros_like(root), 1.0)
    for _ in range(30):
        change, noise_change = 0.02 * rng.normal(size=root.shape), np.exp(0.02 * rng.normal())
        assert likelihood(change, noise_change) <= best + 1e-9
    assert likelihood(0.3 * np.eye(len(root)), 1.3) < best - 1e-3  # the control: the test can see a difference


def test_the_gradient_is_that_of_differences(rng):
    X, y, labels, weight = drawn(rng)
    tasks = compressed(learned_by_task(X, y, labels, weight))
    rows = MixedModel.of(tasks, np.array([0, 1, 3])).fits[0].data
    products = np.einsum("gij,gik->jk", rows.Z, rows.Z) / len(tasks.names)  # the scale of the search
    np.testing.assert_allclose(products, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(np.einsum("gij,gik->jk", rows.X, rows.X), np.eye(4), atol=1e-9)
    theta = rng.normal(size=len(rows.entries[0]))
    fit = rows.at(theta)
    slopes = 2.0 * (fit.slope @ fit.factor)[rows.entries]
    numeric = optimize.approx_fprime(theta, lambda at: rows.at(at).deviance, 1e-6)
    np.testing.assert_allclose(slopes, numeric, rtol=1e-4, atol=1e-4)


def statsmodels_fit(X, y, labels, slopes):
    design = sm.add_constant(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about variances near 0
        return sm.MixedLM(y, design, labels, exog_re=design[:, [0, *(j + 1 for j in slopes)]]).fit(reml=True, gtol=1e-8)


def penguins():
    table = datasets.load_penguins().columns
    names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    rows = np.column_stack([table[name] for name in names])
    labels = np.array([f"{island} {year}" for island, year in zip(table["island"], table["year"], strict=True)])
    known = np.isfinite(rows).all(axis=1)
    return rows[known, 2:3] / 10.0, rows[known, 3] / 1000.0, labels[known]


def growth():
    """The investments of 11 firms over 20 years (Grunfeld), which come with statsmodels."""
    frame = sm.datasets.grunfeld.load_pandas().data
    return frame[["value", "capital"]].to_numpy() / 1000.0, frame["invest"].to_numpy() / 100.0, frame["firm"].to_numpy()


def simulated():
    rng = np.random.default_rng(3)
    X, y, labels, _ = drawn(rng, n_tasks=25, most=20)
    return X, y, labels


@pytest.mark.parametrize("load", [penguins, growth, simulated])
@pytest.mark.parametrize("slopes", [(), (0,)])
def test_statsmodels(load, slopes):
    X, y, labels = load()
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # its search stops early otherwise
    theirs = statsmodels_fit(X, y, labels, slopes)
    ours = retrospect.random_effects(learned_by_task(X, y, labels), ("intercept", *slopes))
    assert ours.is_converged
    assert ours.log_likelihood >= theirs.llf - 1e-6
    assert ours.log_likelihood <= theirs.llf + 1e-6
    np.testing.assert_allclose(ours.coef, theirs.fe_params, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.noise_variance, theirs.scale, rtol=1e-6)
    np.testing.assert_allclose(ours.covariance, theirs.cov_re, rtol=1e-5)
    effects = np.array([theirs.random_effects[label] for label in np.unique(labels)])
    mine = [ours.effects[ours.tasks.index(str(label))] for label in np.unique(labels)]
    np.testing.assert_allclose(mine, effects, atol=1e-5 * np.abs(effects).max())


def test_where_statsmodels_stops_early():
    """In the units of the data, far from 0, ours is the better maximum."""
    X, y, labels = penguins()
    ours = retrospect.random_effects(learned_by_task(X, y, labels), ("intercept", 0))
    theirs = statsmodels_fit(X, y, labels, (0,))
    assert ours.log_likelihood > theirs.llf + 1.0
    design, Z = columns(X, ("intercept", 0))
    dense = restricted_likelihood(design, y, Z, labels, np.ones(len(y)), ours.covariance, ours.noise_variance)
    np.testing.assert_allclose(ours.log_likelihood, dense[0], rtol=1e-9)


@pytest.mark.parametrize("between", [3.0, 0.0])
def test_balanced_one_way_layout(rng, between):
    """The closed form: mean squares within and between; at the boundary, the variance of all rows."""
    for _ in range(5):
        k, n = 7, 6
        labels = np.repeat(np.arange(k), n)
        y = 5.0 + between * rng.normal(size=k)[labels] + rng.normal(size=k * n)
        x = np.tile(np.arange(n) - (n - 1) / 2.0, k)  # orthogonal to the tasks
        ours = retrospect.random_effects(learned_by_task(x[:, None], y, labels))
        means = y.reshape(k, n).mean(axis=1)
        slope = x @ y / (x @ x)
        within = np.sum((y - means[labels] - slope * x) ** 2)
        apart = n * np.sum((means - means.mean()) ** 2)
        noise = within / (k * n - k - 1)
        expected = (apart / (k - 1) - noise) / n
        if expected <= 0.0:
            noise, expected = (within + apart) / (k * n - 2), 0.0
        np.testing.assert_allclose(ours.noise_variance, noise, rtol=1e-7)
        np.testing.assert_allclose(ours.covariance, [[expected]], rtol=1e-6, atol=1e-9)
        assert ours.is_singular == (expected == 0.0)
        assert ("estimated to be 0" in str(ours)) == ours.is_singular
        error = np.sqrt((noise + n * expected) / (k * n))
        np.testing.assert_allclose(ours.standard_errors[0], error, rtol=1e-6)


def exact_deviance(ratio, tasks, terms):
    """Return −2 log likelihood of y = b0 (+ b1·x) with random intercepts, of profiled σ², in the current precision."""
    n = sum(len(y) for _, y in tasks)
    sums = [[Decimal(0)] * (terms + 1) for _ in range(terms + 1)]
    logs = Decimal(0)
    for x, y in tasks:
        rows = [[Decimal(1), a, b] if terms == 2 else [Decimal(1), b] for a, b in zip(x, y, strict=True)]
        shrink = ratio / (1 + len(y) * ratio)
        totals = [sum(column) for column in zip(*rows, strict=True)]
        logs += (1 + len(y) * ratio).ln()
        for i in range(terms + 1):
            for j in range(terms + 1):
                sums[i][j] += sum(row[i] * row[j] for row in rows) - shrink * totals[i] * totals[j]
    for pivot in range(terms):  # Gaussian elimination leaves the residual squares in the last corner
        logs += sums[pivot][pivot].ln()
        for i in range(pivot + 1, terms + 1):
            factor = sums[i][pivot] / sums[pivot][pivot]
            for j in range(pivot, terms + 1):
                sums[i][j] -= factor * sums[pivot][j]
    noise = sums[terms][terms] / (n - terms)
    return logs + (n - terms) * (1 + (2 * Decimal(np.pi) * noise).ln()), noise


def test_a_tiny_case_in_fifty_digits():
    x = [[1, 2, 4], [0, 1], [3, 5, 6, 7]]
    y = [[3, 4, 9], [7, 8], [1, 2, 5, 4]]
    with localcontext() as context:
        context.prec = 50
        tasks = [(list(map(Decimal, a)), list(map(Decimal, b))) for a, b in zip(x, y, strict=True)]
        low, high = Decimal("0.01"), Decimal(1000)
        for _ in range(400):  # golden section
            third = (high - low) * Decimal("0.381966011250105")
            left, right = low + third, high - third
            if exact_deviance(left, tasks, 2)[0] < exact_deviance(right, tasks, 2)[0]:
                high = right
            else:
                low = left
        deviance, noise = exact_deviance((low + high) / 2, tasks, 2)
        expected = float(noise * (low + high) / 2)
    labels = np.repeat([0, 1, 2], [3, 2, 4])
    ours = retrospect.random_effects(learned_by_task(np.concatenate(x)[:, None], np.concatenate(y), labels))
    np.testing.assert_allclose(ours.log_likelihood, -0.5 * float(deviance), rtol=1e-12)
    np.testing.assert_allclose(ours.noise_variance, float(noise), rtol=1e-6)
    np.testing.assert_allclose(ours.covariance, [[expected]], rtol=1e-6)


def test_units_and_origins_do_not_matter(rng):
    X, y, labels, weight = drawn(rng, n_tasks=12)
    scale, move = np.array([1e-3, 1e4, 1.0]), np.array([2.0**12, 0.0, -7.0])
    one = retrospect.random_effects(learned_by_task(X, y, labels, weight), ("intercept", 0))
    two = retrospect.random_effects(learned_by_task(X * scale + move, y, labels, weight), ("intercept", 0))
    np.testing.assert_allclose(two.coef[1:] * scale, one.coef[1:], rtol=1e-5)
    np.testing.assert_allclose(two.noise_variance, one.noise_variance, rtol=1e-6)
    np.testing.assert_allclose(two.covariance[1, 1] * scale[0] ** 2, one.covariance[1, 1], rtol=1e-5)
    np.testing.assert_allclose(two.log_likelihood + np.log(scale).sum(), one.log_likelihood, rtol=1e-9)


def test_repeated_rows_are_frequencies(rng):
    X, y, labels, _ = drawn(rng)
    times = rng.integers(1, 4, size=len(y))
    counted = learned_by_task(X, y, labels, times, weight_kind="frequency")
    repeated = learned_by_task(np.repeat(X, times, axis=0), np.repeat(y, times), np.repeat(labels, times))
    one, two = (retrospect.random_effects(model) for model in (counted, repeated))
    np.testing.assert_allclose(one.standard_errors, two.standard_errors, rtol=1e-6)
    np.testing.assert_allclose(one.log_likelihood, two.log_likelihood, rtol=1e-9)


def test_a_variance_that_hides_behind_a_saddle(rng, monkeypatch):
    """Where Λ = 0 every slope is 0; the search must leave it if the variance is not 0."""
    X, y, labels, weight = drawn(rng, deviations=(1.0, 0.0))
    tasks = compressed(learned_by_task(X, y, labels, weight))
    rows = MixedModel.of(tasks, np.array([0, 1])).fits[0].data
    stuck = rows.at(np.zeros(len(rows.entries[0])))
    np.testing.assert_array_equal(stuck.slope @ stuck.factor, 0.0)
    assert not stuck.is_converged
    assert all(rows.at(out[rows.entries]).deviance < stuck.deviance for out in stuck.ways_out()[1:])
    best = rows.fitted()
    assert best.is_converged
    monkeypatch.setattr("ridgeway.retrospect._reml.STARTS", (0.0,))
    np.testing.assert_allclose(rows.fitted().deviance, best.deviance, rtol=1e-9)


def test_a_gradient_of_either_sign_is_not_convergence(rng):
    X, y, labels, weight = drawn(rng)
    best = MixedModel.of(compressed(learned_by_task(X, y, labels, weight)), np.array([0, 1])).fits[0]
    assert best.is_converged
    away = replace(best, factor=np.array([[1.0, 0.0], [-2.0, 0.0]]))
    for sign in (1.0, -1.0):
        vars(away)["slope"] = np.array([[1.0, sign], [sign, 1.0]])  # semidefinite: no direction leads down
        assert away.ways_out() == []
        assert not away.is_converged


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_collinear_columns(rng):
    X, y, labels, weight = drawn(rng, p=2)
    wide = np.column_stack([X, X[:, 0] + X[:, 1]])
    ours = retrospect.random_effects(learned_by_task(wide, y, labels, weight))
    plain = retrospect.random_effects(learned_by_task(X, y, labels, weight))
    assert ours.not_estimable == ("x0", "x1", "x2")
    np.testing.assert_allclose(ours.noise_variance, plain.noise_variance, rtol=1e-6)
    np.testing.assert_allclose(ours.covariance, plain.covariance, rtol=1e-6)
    np.testing.assert_allclose(ours.coef[0], plain.coef[0], rtol=1e-6)
    with pytest.raises(InferenceError, match="the effects x0, x1, x2 are collinear over all rows"):
        retrospect.random_effects(learned_by_task(wide, y, labels, weight), (0, 1, 2))


def test_features_of_tasks_cost_degrees_of_freedom(rng):
    X, y, labels, _ = drawn(rng, n_tasks=9, p=2)
    wide = np.column_stack([X, labels % 2 * 1.0, labels**2 * 1.0])
    assert retrospect.random_effects(learned_by_task(wide, y, labels)).degrees_of_freedom == 9 - 3
    assert retrospect.random_effects(learned_by_task(X, y, labels)).degrees_of_freedom == 9 - 1
    few = np.column_stack([X, labels % 4 == 0, labels % 4 == 1]) * 1.0
    assert retrospect.random_effects(learned_by_task(few, y, labels % 4)).degrees_of_freedom == 4 - 3
    kept = labels % 4 < 3
    three = learned_by_task(few[kept], y[kept], labels[kept] % 4)
    with pytest.raises(InferenceError, match="explain all differences between the tasks"):
        retrospect.random_effects(three)
    assert retrospect.random_effects(three, [0]).degrees_of_freedom == 1


def test_one_degree_of_freedom_is_enough(rng):
    ours = retrospect.random_effects(learned_by_task(rng.normal(size=(5, 1)), rng.normal(size=5), [0, 0, 0, 1, 2]))
    assert ours.is_converged
    assert np.isfinite(ours.standard_errors).all()


def test_refused(rng):
    X, y, labels, _ = drawn(rng)
    model = learned_by_task(X, y, labels)
    with pytest.raises(InferenceError, match="from 2 tasks"):
        retrospect.random_effects(learned_by_task(X, y, labels % 2))
    with pytest.raises(FeatureMismatchError, match="effects that this model has not learned: 'hour'"):
        retrospect.random_effects(model, ("intercept", "hour"))
    for crossed in ({"school": "intercept"}, [("intercept", "school")], 3):
        with pytest.raises(InvalidParameterError, match="crossed effects cannot be computed"):
            retrospect.random_effects(model, crossed)
    with pytest.raises(InvalidParameterError, match="more than once"):
        retrospect.random_effects(model, ("intercept", "intercept"))
    with pytest.raises(InferenceError, match="no intercept"):
        retrospect.random_effects(learned_by_task(X, y, labels, fit_intercept=False))
    with pytest.raises(InferenceError, match="too few to tell the noise"):
        retrospect.random_effects(learned_by_task(X[:8], y[:8], np.arange(8)))
    with pytest.raises(InferenceError, match="fitted exactly"):
        retrospect.random_effects(learned_by_task(X, X @ np.ones(3) + labels, labels))
    prior = GeneralizedRidge(weights.Accumulated(prior=1.0), information="by_task").fit(X, y, tasks=labels)
    with pytest.raises(InferenceError, match="about least squares"):
        retrospect.random_effects(prior)


def test_slopes_without_an_intercept(rng):
    X, y, labels, weight = drawn(rng)
    ours = retrospect.random_effects(learned_by_task(X, y, labels, weight, fit_intercept=False), [0])
    likelihood, coef, _ = restricted_likelihood(X, y, X[:, [0]], labels, weight, ours.covariance, ours.noise_variance)
    np.testing.assert_allclose(ours.log_likelihood, likelihood, rtol=1e-9)
    np.testing.assert_allclose(ours.coef, coef, rtol=1e-6)
    assert ours.terms == ("x0", "x1", "x2")
