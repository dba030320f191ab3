"""The two figures of the paper: closed formulas for the first, a simulation in plain NumPy for the second."""

import numpy as np
import pytest
from gallery_page import page_of

N, P, TASKS = 150, 200, 20


@pytest.fixture(scope="module")
def noise():
    return page_of("paper_noise")


@pytest.fixture(scope="module")
def shift():
    return page_of("paper_shift")


@pytest.mark.parametrize("level", [1, 5])
def test_the_oracle_has_the_error_of_an_inverse_wishart(noise, level):
    """E tr (XᵀX)⁻¹ = p/(n·t − p − 1) for standard normal rows."""
    t = np.arange(2, TASKS + 1)
    expected = level * P / (N * t - P - 1)
    for method in ("gr", "oracle"):
        np.testing.assert_allclose(noise["mean"][method, level][1:], expected, rtol=0.1)
    np.testing.assert_allclose(noise["mean"]["gr", level], noise["mean"]["oracle", level], rtol=1e-9)


@pytest.mark.parametrize("level", [1, 5])
def test_minimum_norm_forgets_as_much_as_it_learns(noise, level):
    """A step keeps the share 1 − n/p of the error and adds σ²·E tr (XXᵀ)⁻¹ = σ²·n/(p − n − 1)."""
    error, expected = float(P), []
    for _ in range(TASKS):
        error = (1 - N / P) * error + level * N / (P - N - 1)
        expected.append(error)
    np.testing.assert_allclose(noise["mean"]["mn", level], expected, rtol=0.15)
    assert 1 - N / P == 0.25  # "keeps a quarter"
    assert noise.says("adds {}/{} times the noise variance", N, P - N - 1)
    assert noise.says("it ends at {:.1f} times the noise", N / (P - N - 1) / (N / P))
    assert noise.says("200/(150·t − {})", P + 1)


def simulated(rng, shifted):
    """Return the last errors of the three methods, by their definitions."""
    true = rng.normal(size=P)
    weight, moment = np.zeros((P, P)), np.zeros(P)
    estimates = {"crr:1": np.zeros(P), "crr:max": np.zeros(P)}
    for _ in range(TASKS):
        scale = np.where(shifted & (rng.random(P) < 0.01), 10.0, 1.0)
        X = rng.normal(size=(N, P)) * scale
        y = X @ true + rng.normal(size=N)
        penalties = {"crr:1": 1.0, "crr:max": np.linalg.eigvalsh(weight / N)[-1]}
        for name, penalty in penalties.items():
            left = y - X @ estimates[name]
            if penalty > 0.0:
                estimates[name] = estimates[name] + np.linalg.solve(X.T @ X / N + penalty * np.eye(P), X.T @ left / N)
            else:
                estimates[name] = np.linalg.lstsq(X, y, rcond=None)[0]
        weight, moment = weight + X.T @ X, moment + X.T @ y
    estimates["gr"] = np.linalg.solve(weight, moment)
    return {name: float(np.square(each - true).sum()) for name, each in estimates.items()}


def test_the_shift_matters_for_one_penalty_only(shift):
    for name, shifted in (("none", False), ("paper", True)):
        drawn = [simulated(np.random.default_rng(seed), shifted) for seed in range(3)]
        for method, errors in shift["mean"][name].items():
            assert errors[-1] == pytest.approx(np.mean([each[method] for each in drawn]), rel=0.25)
    ratio = {method: shift["mean"]["paper"][method][-1] / shift["mean"]["none"][method][-1] for method in drawn[0]}
    assert shift.says("the error at the end {:.0f} times as large", ratio["crr:max"])
    assert ratio["crr:1"] == pytest.approx(1.0, abs=0.05)  # "hardly anything"
    assert 0.7 < ratio["gr"] < 0.95  # "even falls a little"
