"""The fast core and the real estimators, on the same draws: the same estimates to 1e-9."""

import numpy as np
import pytest
from populations import population_penalties

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle, catalogue, weights
from ridgeway.research.simulation import Setting, _rules
from ridgeway.research.simulation._core import drawn_repetition
from ridgeway.research.simulation._draws import Draws
from ridgeway.research.simulation._rules import forms_of

PENALTIES = [0.3, 0.1, 2.0, 0.7, 1.1]
SETTINGS = {
    "few rows": Setting(5, 12, 20, (0.5, 2.0)),
    "many rows": Setting(5, 45, 20, (0.5, 2.0)),
    "both": Setting(5, [3, 40, 8, 25, 60], 20, (0.5, 2.0), shift="paper"),
    "never enough": Setting(5, 3, 20, 1.0),
    "rotated": Setting(5, 12, 20, 1.0, covariance=np.linspace(0.2, 3.0, 20), rotate=True),
    "one row": Setting(5, 1, 4, 1.0),
    "one feature": Setting(5, 3, 1, 1.0),
    "singular": Setting(5, 12, 20, 1.0, covariance=np.repeat([1.0, 0.0], [8, 12])),
    "drifting": Setting(5, 12, 20, 1.0, distance=0.7, noise="laplace", signal="sparse:3"),
    "heteroscedastic": Setting(5, 12, 20, 1.0, noise="heteroscedastic", order="repeated:2"),
}


def tasks_of(setting, seed, noise_variance):
    """The rows and targets of repetition 3, and its true parameter."""
    draws = Draws(setting, seed, 3)
    tasks = []
    for design in draws.designs():
        signal, noise = draws.targets(design).T
        tasks.append((design.rows, signal + np.sqrt(noise_variance) * noise))
    return tasks, draws.true_coef


def informations(tasks):
    """The sum of XᵀX before each task."""
    total = np.zeros((tasks[0][0].shape[1],) * 2)
    for X, _ in tasks:
        yield total
        total = total + X.T @ X


def estimator(name, tasks, noise_variance):
    """The real estimator that a method's name stands for."""
    past = list(informations(tasks))
    sizes = [len(X) for X, _ in tasks]
    match name:
        case "mn":
            return MinimumNorm(fit_intercept=False)
        case "gr":
            return GeneralizedRidge(fit_intercept=False)
        case "gr:0.7":
            return GeneralizedRidge(weights.Accumulated(prior=0.7), fit_intercept=False)
        case "gr:optimal":
            return GeneralizedRidge(weights.Accumulated(prior=noise_variance), fit_intercept=False)
        case "gr:evidence":
            return GeneralizedRidge(weights.Accumulated(prior="evidence"), fit_intercept=False)
        case "gr:diagonal":
            matrices = [np.diag(np.diag(J)) / n for J, n in zip(past, sizes, strict=True)]
            return GeneralizedRidge(weights.Explicit(matrices), fit_intercept=False)
        case "es":
            return EarlyStopping(fit_intercept=False)
        case "es:7":
            return EarlyStopping(n_steps=7, fit_intercept=False)
        case "es:gr":
            return GeneralizedRidge(fit_intercept=False)  # Thm (early stopping)
        case "oracle":
            return Oracle(fit_intercept=False)
    return ContinualRidge(penalty=penalties_of(name, tasks), fit_intercept=False)


def penalties_of(name, tasks):
    """The penalties of a continual ridge method, one per task."""
    past = list(informations(tasks))
    sizes = [len(X) for X, _ in tasks]
    p = len(past[0])
    match name.removeprefix("crr:"):
        case "best":
            penalties = PENALTIES
        case "trace":
            penalties = [np.trace(J) / p / n for J, n in zip(past, sizes, strict=True)]
        case "max":
            penalties = [np.linalg.eigvalsh(J)[-1] / n for J, n in zip(past, sizes, strict=True)]
        case "task-max":
            penalties = [np.linalg.norm(X, 2) ** 2 / n for (X, _), n in zip(tasks, sizes, strict=True)]
        case "t-1":
            penalties = list(range(len(tasks)))
        case "crr":
            penalties = [1.0] * len(tasks)
        case text:
            penalties = [float(part) for part in text.split("/")] * (1 if "/" in text else len(tasks))
    return np.maximum(penalties, 0.0)


NAMES = [name for name in catalogue.known() if name not in ("sgd", "river")]
NAMES += ["crr:0.5", "crr:1/2/3/4/5", "es:7", "gr:0.7"]


def gaps(setting, names, *, mutate=lambda tasks: tasks):
    """The largest relative difference of errors over noise levels and tasks, for each method."""
    best = dict.fromkeys(setting.noise_variance, PENALTIES)
    found = drawn_repetition(setting, forms_of(names, setting), 5, 3, best)
    for i, name in enumerate(names):
        worst = 0.0
        for k, level in enumerate(setting.noise_variance):
            tasks, true_coef = tasks_of(setting, 5, level)
            if name == "crr:lambda-max":
                model = ContinualRidge(penalty=population_penalties(setting, 5, level), fit_intercept=False)
            else:
                model = estimator(name, tasks, level)
            for t, (X, y) in enumerate(mutate(tasks)):
                model.partial_fit(X, y)
                error = np.square(model.coef_ - true_coef).sum()
                worst = max(worst, abs(found.errors[k, i, t] / error - 1.0))
        seen = found.direction_errors[:, i].sum(axis=-1)
        np.testing.assert_allclose(seen, found.errors[:, i, -1], rtol=1e-12)
        yield name, worst


@pytest.mark.parametrize("words", SETTINGS)
def test_every_method_is_its_estimator(words):
    # One row holds no evidence about the noise.
    names = [name for name in NAMES if words != "one row" or name != "gr:evidence"]
    for name, gap in gaps(SETTINGS[words], names):
        assert gap < (1e-6 if name == "gr:evidence" else 1e-9), (name, gap)  # a root found in squares


def test_the_comparison_can_fail():
    def permuted(tasks):
        return [tasks[0], tasks[2], tasks[1], *tasks[3:]]

    found = dict(gaps(SETTINGS["few rows"], ["mn", "crr:0.5", "gr"], mutate=permuted))
    assert min(found.values()) > 1e-3


def test_matched_early_stopping_takes_steps(monkeypatch):
    """With rates for ten steps but nine taken it is no longer generalized ridge."""
    ((_, gap),) = gaps(SETTINGS["few rows"], ["es:gr"])
    assert gap < 1e-9
    original = np.expm1
    monkeypatch.setattr(_rules.np, "expm1", lambda x: original(0.9 * x))
    ((_, gap),) = gaps(SETTINGS["few rows"], ["es:gr"])
    assert gap > 1e-3
