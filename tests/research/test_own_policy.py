"""A user's own policy, in an estimator, in the theory, in a simulation and in a comparison: one class for all."""

import numpy as np
import pytest
from report.tables import shifted

from ridgeway import GeneralizedRidge, catalogue, report, weights
from ridgeway.catalogue import _registry
from ridgeway.errors import InvalidParameterError
from ridgeway.research import simulation, theory
from ridgeway.research.simulation import Setting


def own_policy():
    """Return a class as a user writes it in a notebook: no worker process can import it by name."""

    class DiagonalEwc(weights.PenaltyPolicy):
        """Elastic weight consolidation: H_t is the diagonal of the information of past rows."""

        def remember(self, memory, rows):
            squares = np.square(rows.X).sum(axis=0)
            return squares if memory is None else memory + squares

        def weight(self, memory, rows):
            return 0.0 if memory is None else memory / rows.total_weight

    return DiagonalEwc()


def designs_of(rng, sizes=(9, 4, 12, 7), p=5):
    return [rng.normal(size=(n, p)) * rng.uniform(0.3, 2.0, p) for n in sizes]


def diagonals(designs):
    """H_t of each task, from its definition."""
    past = [sum((np.diag(X.T @ X) for X in designs[:t]), np.zeros(designs[0].shape[1])) for t in range(len(designs))]
    return [diagonal / len(X) for diagonal, X in zip(past, designs, strict=True)]


def test_the_estimator_solves_the_objective_with_that_matrix(rng):
    designs, coef = designs_of(rng), np.zeros(5)
    model = GeneralizedRidge(own_policy(), fit_intercept=False)
    for X, diagonal in zip(designs, diagonals(designs), strict=True):
        y = rng.normal(size=len(X))
        model.partial_fit(X, y)
        coef = coef + np.linalg.pinv(X.T @ X + len(X) * np.diag(diagonal)) @ (X.T @ (y - X @ coef))
        np.testing.assert_allclose(model.coef_, coef, rtol=1e-9)


def test_theory_has_its_exact_risk(rng):
    designs, w = designs_of(rng), rng.normal(size=5)
    problem = theory.FixedDesignProblem(designs, noise_variance=0.7, signal=w)
    found, expected = problem.expected_error(own_policy()), problem.expected_error(diagonals(designs))
    np.testing.assert_allclose(found.total, expected.total, rtol=1e-10)
    np.testing.assert_allclose(
        problem.expected_forgetting(own_policy()), problem.expected_forgetting(diagonals(designs)), rtol=1e-9
    )


@pytest.mark.parametrize("policy", [own_policy(), weights.GradientSteps(n_steps=7), weights.Accumulated(prior=0.5)])
def test_simulated_risk_is_the_exact_one(rng, policy):
    """The estimator on drawn targets against the theory, which never calls it: within 4 standard errors."""
    designs, w, repetitions = designs_of(rng), rng.normal(size=5), 2000
    draws = np.empty((repetitions, len(designs)))
    model = GeneralizedRidge(policy, fit_intercept=False)
    for t, X in enumerate(designs):  # every repetition is one target
        model.partial_fit(X, (X @ w)[:, None] + rng.normal(size=(len(X), repetitions)))
        draws[:, t] = np.square(model.coef_ - w).sum(axis=1)
    mean, error = draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(repetitions)

    def distance(noise_variance):
        exact = theory.FixedDesignProblem(designs, noise_variance=noise_variance, signal=w).expected_error(policy)
        return np.abs(mean - exact.total) / error

    assert distance(1.0).max() < 4.0
    assert distance(1.3).max() > 6.0  # the check sees 30 % more noise


SETTINGS = {
    "few rows": Setting(4, 6, 10, (0.5, 2.0)),
    "many rows": Setting(4, 25, 10, (0.5, 2.0), shift="paper"),
    "statistics": Setting(4, 25, 10, 1.0, statistics=True),
    "drifting": Setting(4, [3, 20, 6, 15], 10, 1.0, distance=0.7),
    "heteroscedastic": Setting(4, [3, 20, 6, 15], 10, 1.0, noise="heteroscedastic"),
}


@pytest.mark.parametrize("averaging", ["exact", "drawn"])
@pytest.mark.parametrize("words", SETTINGS)
def test_simulations_agree_with_the_forms_on_shared_factors(words, averaging):
    """A policy's gain is one derivation of a method, its form for simulations another."""
    pairs = {
        "gr:diagonal": own_policy(),
        "mn": weights.Zero(),
        "crr:0.5": weights.Isotropic(0.5),
        "gr:2": weights.FullInformation(2.0),
        "gr": weights.Accumulated(),
        "es:7": weights.GradientSteps(n_steps=7),
    }
    found = simulation.run(SETTINGS[words], [*pairs, *pairs.values()], 3, averaging=averaging)
    names = found.description.methods
    for form, policy in zip(names[: len(pairs)], names[len(pairs) :], strict=True):
        for level in SETTINGS[words].noise_variance:
            np.testing.assert_allclose(found.of(policy, level), found.of(form, level), rtol=1e-8, err_msg=policy)
        order = [names.index(name) for name in (form, policy)]
        seen = found.direction_errors[:, :, order]
        np.testing.assert_allclose(seen[:, :, 0], seen[:, :, 1], rtol=1e-6, atol=1e-12)
    assert not np.allclose(found.of("gr:diagonal"), found.of("gr"))


def test_policies_go_to_worker_processes(monkeypatch):
    monkeypatch.setattr(_registry, "ENTRIES", dict(_registry.ENTRIES))
    catalogue.register("ewc", own_policy(), about="ŵ and the diagonal of the information")
    catalogue.register("ridge", lambda text: weights.Isotropic(float(text)), about="ridge:λ")
    setting, methods = Setting(3, 5, 8, 1.0), ["ewc", "ridge:0.5", own_policy(), "gr:diagonal", "crr:0.5"]
    one, two = (simulation.run(setting, methods, 5, workers=count, averaging="drawn") for count in (1, 2))
    np.testing.assert_array_equal(one.errors, two.errors)
    np.testing.assert_allclose(one.of("ewc"), one.of("gr:diagonal"), rtol=1e-9)
    np.testing.assert_allclose(one.of("ridge:0.5"), one.of("crr:0.5"), rtol=1e-9)
    assert one.description.methods[2] == "DiagonalEwc()"


def test_a_comparison_takes_policies(rng, monkeypatch):
    monkeypatch.setattr("ridgeway.report._method_runs.N_CONTROLS", 2)  # they say nothing about losses
    found = report.compare(
        shifted(rng),
        target="y",
        task_column="site",
        methods=["mn", weights.Zero(), own_policy(), weights.Accumulated("evidence")],
    )
    np.testing.assert_allclose(found["Zero()"].losses, found["mn"].losses, rtol=1e-9)
    assert not np.allclose(found["DiagonalEwc()"].losses, found["mn"].losses)


def test_a_policy_without_a_gain_is_refused_by_name():
    problem = theory.FixedDesignProblem([np.eye(2)], signal=1.0)
    policy = weights.Accumulated("evidence")
    with pytest.raises(InvalidParameterError, match="learned from rows"):
        problem.expected_error(policy)
    with pytest.raises(InvalidParameterError, match="learned from rows"):
        simulation.run(Setting(2, 3, 2), [policy], 2)
