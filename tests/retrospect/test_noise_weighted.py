"""A noise variance per task: against weighted least squares on rows, in turns with the variances."""

import numpy as np
import pytest
import statsmodels.api as sm
from grouped import learned_by_task
from scipy import stats

from ridgeway import retrospect
from ridgeway.errors import InferenceError
from ridgeway.information import ByTask, Moments


def drawn(rng, sizes=(12, 20, 9, 15), p=2, targets=None):
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(labels), p)) + 3.0
    weight = rng.uniform(0.5, 2.0, size=len(labels))
    spread = (1.0 + 2.0 * labels) / np.sqrt(weight)
    noise = spread[:, None] * rng.normal(size=(len(labels), targets or 1))
    y = 1.0 + X.sum(axis=1, keepdims=True) + noise
    return X, y if targets else y[:, 0], labels, weight


def in_turns(X, y, labels, weight, groups, n_turns=2000):
    """Return the weighted fit on rows and the variances, with degrees of freedom less Σ leverages of the group."""
    design, variances = sm.add_constant(X), np.ones(len(y))
    for _ in range(n_turns):
        fit = sm.WLS(y, design, weights=weight / variances).fit()
        leverages = np.square(np.linalg.qr(design * np.sqrt(weight / variances)[:, None])[0]).sum(axis=1)
        squares = weight * (y - design @ fit.params) ** 2
        of_group = {g: squares[groups == g].sum() / (1.0 - leverages[groups == g]).sum() for g in np.unique(groups)}
        following = np.array([of_group[g] for g in groups])
        done = np.allclose(following, variances, rtol=1e-13)
        variances = following
        if done:
            break
    return sm.WLS(y, design, weights=weight / variances).fit(), of_group


def kenward_roger(X, labels, weight, variances):
    """Return the adjusted covariance of β̂ by the general formula, with dense matrices of all rows.

    Φ + 2Φ{Σ_ij W_ij(Q_ij − P_i·Φ·P_j)}Φ for V = Σ_i σ_i²·V_i, and W the covariance of the estimated σ_i².
    """
    design, groups = sm.add_constant(X), np.unique(labels)
    inverse = np.diag(weight / np.array([variances[g] for g in labels]))
    phi = np.linalg.inv(design.T @ inverse @ design)
    hat = np.sqrt(inverse) @ design @ phi @ design.T @ np.sqrt(inverse)
    parts = [np.diag((labels == g) / weight) for g in groups]
    inside = 0.0
    for g, part in zip(groups, parts, strict=True):
        freedom = np.sum(labels == g) - np.trace(hat[np.ix_(labels == g, labels == g)])
        P = -design.T @ inverse @ part @ inverse @ design
        Q = design.T @ inverse @ part @ inverse @ part @ inverse @ design
        inside += 2.0 * variances[g] ** 2 / freedom * (Q - P @ phi @ P)
    return phi + 2.0 * phi @ inside @ phi


@pytest.mark.parametrize(
    ("information", "digits"), [("by_task", 1e-8), (ByTask(Moments), 1e-6)], ids=["root", "moments"]
)
def test_in_turns_on_rows(rng, information, digits):
    X, Y, labels, weight = drawn(rng, targets=2)
    ours = retrospect.weighted_by_noise(learned_by_task(X, Y, labels, weight, information=information))
    assert ours.is_converged.all()
    assert ours.shared == ()
    for k in range(2):
        theirs, variances = in_turns(X, Y[:, k], labels, weight, labels)
        np.testing.assert_allclose(ours.noise_variance[k], [variances[int(task)] for task in ours.tasks], rtol=digits)
        np.testing.assert_allclose(ours.coef[k], theirs.params, rtol=digits)
        covariance = kenward_roger(X, labels, weight, variances)
        np.testing.assert_allclose(ours.standard_errors[k] ** 2, np.diag(covariance), rtol=digits)
        assert (ours.standard_errors[k] ** 2 > np.diag(theirs.normalized_cov_params)).all()  # if they were known
    np.testing.assert_allclose(ours.task_freedom.sum(axis=1), len(labels) - 3)
    assert not np.allclose(ours.coef[0], sm.WLS(Y[:, 0], sm.add_constant(X), weights=weight).fit().params, rtol=1e-3)


def test_degrees_of_freedom_are_satterthwaites(rng):
    """For a common mean, the variance is 1/Σ(n_g/σ_g²), to which task g contributes in proportion to n_g/σ_g²."""
    X, y, labels, _ = drawn(rng)
    ours = retrospect.weighted_by_noise(learned_by_task(X, y, labels))
    design = sm.add_constant(X)
    variances = dict(zip(map(int, ours.tasks), ours.noise_variance, strict=True))
    inverse = np.linalg.inv(sum(design[labels == g].T @ design[labels == g] / v for g, v in variances.items()))
    freedom = dict(zip(map(int, ours.tasks), ours.task_freedom, strict=True))
    for j in range(3):
        shares = {g: np.sum((design[labels == g] @ inverse[:, j]) ** 2) / variances[g] for g in variances}
        expected = sum(shares.values()) ** 2 / sum(share**2 / freedom[g] for g, share in shares.items())
        np.testing.assert_allclose(ours.degrees_of_freedom[j], expected, rtol=1e-8)
        half = stats.t.ppf(0.975, expected) * ours.standard_errors[j]
        np.testing.assert_allclose(ours.intervals[j], [ours.coef[j] - half, ours.coef[j] + half], rtol=1e-8)


def test_a_common_mean_has_meiers_variance(rng):
    """1/Σw·(1 + 4·Σ p_g(1 − p_g)/ν_g) with w_g = n_g/σ_g² and p_g = w_g/Σw; the feature is orthogonal to the mean."""
    sizes = np.array([8, 12, 6, 20])
    labels = np.repeat(np.arange(4), sizes)
    x = np.concatenate([np.tile([1.0, -1.0], size // 2) for size in sizes])
    ours = retrospect.weighted_by_noise(learned_by_task(x[:, None], rng.normal(size=46) * (1.0 + labels), labels))
    shares = sizes / ours.noise_variance
    total, shares = shares.sum(), shares / shares.sum()
    expected = (1.0 + 4.0 * np.sum(shares * (1.0 - shares) / ours.task_freedom)) / total
    np.testing.assert_allclose(ours.standard_errors**2, expected, rtol=1e-9)


def test_small_tasks_share_a_variance(rng):
    X, y, labels, weight = drawn(rng, sizes=(20, 3, 5, 1, 12, 2))
    ours = retrospect.weighted_by_noise(learned_by_task(X, y, labels, weight))
    small = np.isin(labels, [1, 2, 3, 5])
    theirs, variances = in_turns(X, y, labels, weight, np.where(small, -1, labels))
    assert set(ours.shared) == {"1", "2", "3", "5"}
    assert "share one" in str(ours)
    expected = [variances[-1 if task in ours.shared else int(task)] for task in ours.tasks]
    np.testing.assert_allclose(ours.noise_variance, expected, rtol=1e-8)
    np.testing.assert_allclose(ours.coef, theirs.params, rtol=1e-8)


def test_seven_rows_are_enough_for_a_shared_variance(rng):
    X, y, labels, _ = drawn(rng, sizes=(20, 3, 4))
    ours = retrospect.weighted_by_noise(learned_by_task(X, y, labels))
    assert set(ours.shared) == {"1", "2"}
    drop = np.flatnonzero(labels == 2)[0]
    fewer = learned_by_task(*(np.delete(each, drop, axis=0) for each in (X, y, labels)))
    with pytest.raises(InferenceError, match=r"the tasks [12], [12] have 6 rows in all"):
        retrospect.weighted_by_noise(fewer)


def test_bartlett(rng):
    """On plain groups, that of SciPy; with features, from the residuals of separate fits."""
    X, y, labels, _ = drawn(rng)
    ours = retrospect.weighted_by_noise(learned_by_task(X, y, labels))
    freedom, squares = [], []
    for g in np.unique(labels):
        fit = sm.OLS(y[labels == g], sm.add_constant(X[labels == g])).fit()
        freedom.append(fit.df_resid)
        squares.append(fit.ssr)
    # samples with the same variances and degrees of freedom
    groups = []
    for f, s in zip(freedom, squares, strict=True):
        z = rng.normal(size=int(f) + 1)
        z -= z.mean()
        groups.append(z * np.sqrt(s / (z @ z)))
    theirs = stats.bartlett(*groups)
    np.testing.assert_allclose(ours.bartlett, theirs.statistic, rtol=1e-9)
    np.testing.assert_allclose(ours.bartlett_p_value, theirs.pvalue, rtol=1e-7)
    alone = retrospect.weighted_by_noise(learned_by_task(X, y, np.where(labels == 0, 0, 0)))
    assert np.isnan(alone.bartlett)
    assert "Bartlett –" in str(alone)
    summary = retrospect.summary(learned_by_task(X, y, np.zeros(len(y), dtype=int)))
    np.testing.assert_allclose(alone.standard_errors, summary.standard_errors, rtol=1e-9)  # one task: least squares
    np.testing.assert_allclose(alone.intervals, summary.intervals, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_collinear_columns(rng):
    X, y, labels, _ = drawn(rng)
    ours = retrospect.weighted_by_noise(learned_by_task(np.column_stack([X, X[:, 0] - X[:, 1]]), y, labels))
    plain = retrospect.weighted_by_noise(learned_by_task(X, y, labels))
    assert ours.not_estimable == ("x0", "x1", "x2")
    np.testing.assert_array_equal(ours.degrees_of_freedom[1:], 1.0)
    np.testing.assert_allclose(ours.noise_variance, plain.noise_variance, rtol=1e-8)
    np.testing.assert_allclose(
        [ours.coef[0], ours.standard_errors[0], ours.degrees_of_freedom[0]],
        [plain.coef[0], plain.standard_errors[0], plain.degrees_of_freedom[0]],
        rtol=1e-8,
    )


def test_units_of_the_target_do_not_matter(rng):
    X, y, labels, weight = drawn(rng)
    one, two = (retrospect.weighted_by_noise(learned_by_task(X, scale * y, labels, weight)) for scale in (1.0, 1e-3))
    np.testing.assert_allclose(two.noise_variance, 1e-6 * one.noise_variance, rtol=1e-9)
    np.testing.assert_allclose(two.standard_errors, 1e-3 * one.standard_errors, rtol=1e-9)


def test_units_and_origins_of_the_features_do_not_matter(rng):
    X, y, labels = rng.integers(-3, 4, size=(400, 2)) * 1.0, 1e3 * rng.normal(size=400), np.arange(400) % 4
    near, far = (retrospect.weighted_by_noise(learned_by_task(X + move, y, labels)) for move in (0.0, 2.0**44))
    assert far.not_estimable == ()
    np.testing.assert_allclose(far.coef[1:], near.coef[1:], atol=10.0)
    one, two = (
        retrospect.weighted_by_noise(learned_by_task(X * unit, y, labels, fit_intercept=False)) for unit in (1.0, 1e-18)
    )
    assert two.not_estimable == ()
    np.testing.assert_allclose(1e-18 * two.standard_errors, one.standard_errors, rtol=1e-9)


def test_a_very_precise_task_outweighs_the_others(rng):
    X, y, labels, _ = drawn(rng)
    mine = labels == 2
    y[mine] = 1.0 + X[mine] @ np.ones(2) + 1e-9 * rng.normal(size=mine.sum())
    ours = retrospect.weighted_by_noise(learned_by_task(X, y, labels))
    assert 1e-19 < ours.noise_variance[ours.tasks.index("2")] < 1e-17
    np.testing.assert_allclose(ours.coef, 1.0, atol=1e-8)


def test_refused(rng):
    X, y, labels, _ = drawn(rng)
    with pytest.raises(InferenceError, match=r"the tasks 9 have 2 rows in all"):
        retrospect.weighted_by_noise(learned_by_task(X, y, np.where(np.arange(len(y)) < 2, 9, labels)))
    exact = np.where(labels == 2, X @ np.ones(2), y)
    with pytest.raises(InferenceError, match="'2' are fitted exactly"):
        retrospect.weighted_by_noise(learned_by_task(X, exact, labels))
