"""Exact averaging against `theory`, which knows nothing of it, and against drawn noise."""

import numpy as np
import pytest
from populations import population_penalties

from ridgeway import catalogue, metrics
from ridgeway.research import simulation, theory
from ridgeway.research.simulation import Setting, _rehearsal
from ridgeway.research.simulation._core import exact_repetition
from ridgeway.research.simulation._draws import REHEARSAL, REPETITION, Draws
from ridgeway.research.simulation._rules import forms_of
from ridgeway.research.theory import FixedDesignProblem, weight_matrix_from_early_stopping
from ridgeway.weights import Accumulated, Isotropic, Zero

PENALTIES = [0.3, 0.1, 2.0, 0.7]
NAMES = [name for name in catalogue.known() if name not in ("sgd", "river", "gr:evidence")]  # the last is not linear
NAMES += ["crr:0.5", "es:5", "gr:0.7"]
SETTINGS = {
    "few rows": Setting(4, 6, 10, (0.5, 2.0)),
    "many rows": Setting(4, 25, 10, (0.5, 2.0), shift="paper"),
    "both": Setting(4, [3, 20, 6, 15], 10, 1.0, covariance=np.linspace(0.2, 3.0, 10), rotate=True),
}


def designs_of(setting, seed=5, repetition=3, purpose=REPETITION):
    return [design.rows for design in Draws(setting, seed, repetition, purpose).designs()]


def weights_of(name, designs, level):
    """What theory calls the method."""
    past, total = [], np.zeros((designs[0].shape[1],) * 2)
    for X in designs:
        past.append(total)
        total = total + X.T @ X
    kind, _, rule = name.partition(":")
    if kind == "crr":
        return Isotropic(penalties_of(rule, past, designs))
    if rule == "diagonal":
        return [np.diag(J) / len(X) for J, X in zip(past, designs, strict=True)]
    if kind == "es" and rule != "gr":
        rates = [len(X) / np.linalg.norm(X, 2) ** 2 * (1.0 - 1e-13) for X in designs]
        return [
            weight_matrix_from_early_stopping(X.T @ X / len(X), rate * np.eye(len(total)), int(rule or 100))
            for X, rate in zip(designs, rates, strict=True)
        ]
    priors = {"mn": None, "gr": 0.0, "es:gr": 0.0, "oracle": 0.0, "gr:0.7": 0.7, "gr:optimal": level}
    return Zero() if priors[name] is None else Accumulated(prior=priors[name])


def penalties_of(rule, past, designs):
    match rule:
        case "best":
            return PENALTIES
        case "trace":
            return [np.trace(J) / len(J) / len(X) for J, X in zip(past, designs, strict=True)]
        case "max":
            return [max(np.linalg.eigvalsh(J)[-1], 0) / len(X) for J, X in zip(past, designs, strict=True)]
        case "task-max":
            return [np.linalg.norm(X, 2) ** 2 / len(X) for X in designs]
        case "t-1":
            return np.arange(len(designs))
    return float(rule or 1)


@pytest.mark.parametrize("words", SETTINGS)
def test_every_method_has_its_exact_risk(words):
    setting = SETTINGS[words]
    best = dict.fromkeys(setting.noise_variance, PENALTIES)
    found = exact_repetition(setting, forms_of(NAMES, setting), 5, 3, best)
    designs = designs_of(setting)
    for k, level in enumerate(setting.noise_variance):
        problem = FixedDesignProblem(designs, noise_variance=level, signal=1.0)
        for i, name in enumerate(NAMES):
            if name == "crr:lambda-max":
                policy = Isotropic(population_penalties(setting, 5, level))
            else:
                policy = weights_of(name, designs, level)
            expected = problem.expected_error(policy)
            np.testing.assert_allclose(found.errors[k, i], expected.total, rtol=1e-8, err_msg=name)
            if not setting.rotate:
                seen = np.diagonal(expected.second_moment[-1])
                np.testing.assert_allclose(found.direction_errors[k, i], seen, rtol=1e-7, err_msg=name)


def test_the_comparison_can_fail():
    setting = SETTINGS["few rows"]
    found = exact_repetition(setting, forms_of("mn,gr", setting), 5, 3, {}).errors
    for wrong in (
        FixedDesignProblem(designs_of(setting), noise_variance=0.51, signal=1.0),
        FixedDesignProblem(designs_of(setting), noise_variance=0.5, signal=1.01),
        FixedDesignProblem(designs_of(setting, repetition=4), noise_variance=0.5, signal=1.0),
    ):
        for i, weights in enumerate((Zero(), Accumulated())):
            assert not np.allclose(found[0, i], wrong.expected_error(weights).total, rtol=1e-4)


def test_drift_and_row_variances_by_brute_force():
    """Every gain applied to each unit vector of signal, drift and noise."""
    setting = Setting(3, [4, 9, 5], 6, 0.7, distance=0.8, noise="heteroscedastic")
    methods = forms_of("mn,crr:0.5,gr,es:9,oracle", setting)
    found = exact_repetition(setting, methods, 5, 3, {}).errors[0]
    designs = list(Draws(setting, 5, 3).designs())
    for i, weights in enumerate((Zero(), Isotropic(0.5), Accumulated(), None, Accumulated())):
        if weights is None:
            rates = [len(d.rows) / np.linalg.norm(d.rows, 2) ** 2 * (1.0 - 1e-13) for d in designs]
            weights = [
                weight_matrix_from_early_stopping(d.rows.T @ d.rows / len(d.rows), rate * np.eye(6), 9)
                for d, rate in zip(designs, rates, strict=True)
            ]
        gains = theory._policy_gains.gains_from_weights(weights, [d.rows for d in designs])
        root = np.hstack([np.eye(6), np.zeros((6, 0))])
        for t, (design, gain) in enumerate(zip(designs, gains, strict=True)):
            X = design.rows
            drift = gain @ X * (0.8 / np.sqrt(6))
            noise = gain * (np.sqrt(0.7) * design.noise_scales)
            root = np.hstack([root - gain @ (X @ root), drift, noise])
            assert found[i, t] == pytest.approx(np.square(root).sum(), rel=1e-8)


@pytest.mark.parametrize("noise_variance", [0.3, 4.0])
@pytest.mark.parametrize("n_samples", [6, 25])
def test_best_penalties_are_theorys(monkeypatch, n_samples, noise_variance):
    setting = Setting(4, n_samples, 10, noise_variance, shift="paper")
    monkeypatch.setattr(_rehearsal, "N_DESIGNS", 1)
    found = _rehearsal.best_penalties(setting, 5, noise_variance)
    problem = FixedDesignProblem(
        designs_of(setting, repetition=0, purpose=REHEARSAL), noise_variance=noise_variance, signal=1.0
    )
    np.testing.assert_allclose(found, problem.optimal_isotropic_penalties(), rtol=1e-4)


def test_best_penalties_are_best_on_average():
    """Over their own designs no other schedule is better at the step that it differs in."""
    setting = Setting(3, 6, 10, 1.0)
    best = _rehearsal.best_penalties(setting, 5, 1.0)
    problems = [
        FixedDesignProblem(designs_of(setting, repetition=k, purpose=REHEARSAL), noise_variance=1.0, signal=1.0)
        for k in range(_rehearsal.N_DESIGNS)
    ]

    def error(penalties, t):
        return np.mean([problem.expected_error(Isotropic(penalties)).total[t] for problem in problems])

    for t in range(3):
        for factor in (0.9, 0.99, 1.01, 1.1):
            other = [*best]
            other[t] *= factor
            assert error(other, t) > error(best, t)


def test_no_noise_needs_no_penalty():
    setting = Setting(2, 6, 10, 0.0)
    assert _rehearsal.best_penalties(setting, 5, 0.0) == [0.0, 0.0]
    found = simulation.run(setting, "mn,crr:best,gr,gr:optimal,oracle", 2)
    np.testing.assert_allclose(found.of("crr:best"), found.of("mn"), rtol=1e-12)
    np.testing.assert_allclose(found.of("gr:optimal")[:, 0], found.of("gr")[:, 0], rtol=1e-12)
    assert (found.of("oracle")[:, 1] < 1e-9).all()


LAWS = {
    "plain": Setting(4, 8, 10, (0.5, 2.0)),
    "t": Setting(4, 8, 10, 1.0, noise="t:7", shift="paper"),
    "laplace": Setting(4, 14, 10, 1.0, noise="laplace", signal="sparse:2"),
    "heteroscedastic": Setting(4, 8, 10, 1.0, noise="heteroscedastic"),
    "drift": Setting(4, 8, 10, 0.5, distance=1.5),
    "statistics": Setting(4, 14, 10, 1.0, statistics=True),
    "rotated": Setting(4, 8, 10, 1.0, covariance=np.linspace(0.3, 2.0, 10), rotate=True, order="adversarial"),
}


def agreement(drawn, exact):
    """The largest difference of the means, in standard errors of the difference in the same repetitions."""
    gap = drawn.errors - exact.errors
    return np.abs(gap.mean(axis=0) / (gap.std(axis=0, ddof=1) / np.sqrt(len(gap)))).max()


@pytest.mark.parametrize("words", LAWS)
def test_drawn_noise_agrees_with_exact_averages(words):
    names = "mn,crr:0.5,gr,gr:optimal,gr:diagonal,es:5,oracle"
    drawn = simulation.run(LAWS[words], names, 600, averaging="drawn")
    exact = simulation.run(LAWS[words], names, 600)
    assert agreement(drawn, exact) < 4.5
    if words == "plain":  # the check sees 10 % more noise
        more = simulation.run(Setting(4, 8, 10, (0.55, 2.2)), names, 600)
        assert agreement(drawn, more) > 6.0


def test_exact_oracle_is_the_wishart_mean():
    setting = Setting(3, 20, 8, (1.0, 3.0), covariance=np.linspace(0.5, 2.0, 8))
    found = simulation.run(setting, "gr,oracle", 400)
    np.testing.assert_allclose(found.of("gr"), found.of("oracle"), rtol=1e-9)
    for level in (1.0, 3.0):
        errors = found.of("oracle", level)
        spread = errors.std(axis=0, ddof=1) / 20.0
        gap = np.abs(errors.mean(axis=0) - simulation.expected_oracle_error(setting, level))
        assert (gap < 4.5 * spread).all()


def test_expected_oracle_error_says_nothing_where_it_knows_nothing():
    say = simulation.expected_oracle_error
    for setting in (
        Setting(2, 9, 4, shift="paper"),
        Setting(2, 9, 4, noise="heteroscedastic"),
        Setting(2, 9, 4, distance=1.0),
        Setting(2, 9, 4, covariance=[1.0, 0.0, 1.0, 1.0]),
        Setting(2, 9, 4, covariance=np.ones((4, 4))),
        Setting(2, 9, 4, covariance=np.ones((2, 4))),
    ):
        assert np.isnan(say(setting, 1.0)).all()
    matrix = np.array([[2.0, 1.0], [1.0, 2.0]])
    expected = np.trace(np.linalg.inv(matrix)) / (np.array([2.0, 4.0]) - 3.0)
    found = say(Setting(2, 2, 2, covariance=matrix[np.newaxis]), 1.0)
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(expected[1])


def test_expected_errors_over_all_designs_are_those_of_many():
    """Fewer rows than features, a parameter per task, and tasks of different sizes, the largest first."""
    settings = {
        "equal": Setting(4, 5, 26, (1.0, 3.0)),
        "apart": Setting(4, 5, 26, (1.0, 3.0), distance=2.0),
        "sorted": Setting(4, [3, 5, 4, 6], 26, (1.0, 3.0), order="adversarial"),
        "rotated": Setting(4, 5, 26, (1.0, 3.0), rotate=True, noise="laplace"),
    }
    for name, setting in settings.items():
        found = simulation.run(setting, "mn,oracle", 400)
        for level in (1.0, 3.0):
            for method, formula in (
                ("mn", simulation.expected_minimum_norm_error),
                ("oracle", simulation.expected_oracle_error),
            ):
                errors, expected = found.of(method, level), formula(setting, level)
                if name == "apart" and method == "oracle":
                    assert np.isnan(expected).all()
                    continue
                spread = errors.std(axis=0, ddof=1) / 20.0
                assert (np.abs(errors.mean(axis=0) - expected) < 4.5 * spread + 1e-9).all(), (name, method)
                # Control: two more features are seen.
                other = formula(Setting(4, setting.n_samples, 28, (1.0, 3.0), order=setting.order), level)
                assert (np.abs(errors.mean(axis=0) - other) > 4.5 * spread).any()


def test_the_order_of_tasks_of_different_sizes_counts():
    """The information of the first task is that of its rows: with the largest first, of the largest."""
    setting = Setting(3, [10, 30, 20], 4, order="adversarial")
    np.testing.assert_allclose(simulation.expected_oracle_error(setting, 1.0), 4 / (np.array([30, 50, 60]) - 5))
    first = simulation.run(setting, "oracle", 300).of("oracle")[:, 0]
    assert abs(first.mean() - 4 / 25) < 4.5 * first.std(ddof=1) / np.sqrt(300)


def test_expected_minimum_norm_error_says_nothing_where_it_knows_nothing():
    for setting in (
        Setting(2, 2, 4, shift="paper"),
        Setting(2, 2, 4, noise="heteroscedastic"),
        Setting(2, 2, 4, covariance=[1.0, 2.0, 1.0, 1.0]),
    ):
        assert np.isnan(simulation.expected_minimum_norm_error(setting, 1.0)).all()


def test_forgetting_is_the_metric(rng):
    found = simulation.run(Setting(4, 5, 6, (1.0, 2.0)), "mn,gr", 2)
    forgetting = found.forgetting()
    for place in np.ndindex(found.errors.shape[:3]):
        np.testing.assert_allclose(forgetting[place], metrics.forgetting(found.errors[place]))
