"""decay="adaptive": the odds against brute force, what is set aside and comes back, and short simulations."""

import copy
import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from states import without_rows

from benchmarks.adaptive import CALM, SETTINGS, N, simulate
from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InvalidDataError, InvalidStateError
from ridgeway.information import _change, change_odds
from ridgeway.weights import Accumulated

ADAPTIVE = Accumulated(decay="adaptive")


def information(X, y, weight=None, **settings):
    return GeneralizedRidge(**settings).fit(X, y, weight).information_


def restricted(ratio, change, past, task):
    """Return the log restricted likelihood of all rows, where the task's parameter is that of the past plus δ."""
    (X, y), (A, b) = past, task
    Z, v = np.vstack([X, A]), np.r_[y, b]
    V = np.diag(np.r_[np.full(len(X), ratio), np.ones(len(A))])
    V[len(X) :, len(X) :] += change * A @ np.linalg.inv(X.T @ X) @ A.T
    inverse = np.linalg.inv(V)
    known = Z.T @ inverse @ Z
    errors = v - Z @ np.linalg.solve(known, Z.T @ inverse @ v)
    spread = np.linalg.slogdet(V)[1] + np.linalg.slogdet(known)[1]
    return -0.5 * (spread + (len(v) - Z.shape[1]) * np.log(errors @ inverse @ errors))


@pytest.mark.parametrize("rows", [3, 12])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("noise", "task_noise"), [(1.0, 2.0), (1e-3, 10.0), (10.0, 1e-3)])
def test_the_odds_are_those_of_the_restricted_likelihood(rng, rows, fit_intercept, noise, task_noise):
    X, A = rng.normal(size=(25, 4)) + 1.0, rng.normal(size=(rows, 4)) + 2.0
    y = X @ [1.0, 2.0, 3.0, 4.0] + noise * rng.normal(size=25)
    b = A @ [1.5, 2.0, 2.0, 4.0] + task_noise * rng.normal(size=rows)
    found = change_odds(*(information(*of, fit_intercept=fit_intercept) for of in ((X, y), (A, b))))
    ones = [np.ones((n, int(fit_intercept))) for n in (25, rows)]
    past, task = ((np.hstack([ones[0], X]), y), (np.hstack([ones[1], A]), b))
    strengths = np.linalg.eigvalsh(task[0] @ np.linalg.inv(past[0].T @ past[0]) @ task[0].T)
    typical = strengths[-min(rows, past[0].shape[1]) :].mean()

    def best(change):
        logs = np.linspace(-20.0, 20.0, 401)
        start = logs[np.argmax([restricted(np.exp(log), change, past, task) for log in logs])]
        return -minimize_scalar(
            lambda log: -restricted(np.exp(log), change, past, task),
            bounds=(start - 0.1, start + 0.1),
            method="bounded",
        ).fun

    expected = np.logaddexp.reduce([best(size / typical) for size in _change.SIZES]) - np.log(3.0) - best(0.0)
    assert found == pytest.approx(expected, abs=1e-4)


def calm_odds(rng, n_past, rows, scale):
    for _ in range(100):
        X, A = rng.normal(size=(n_past, 4)), rng.normal(size=(rows, 4))
        past, task = information(X, rng.normal(size=n_past)), information(A, scale * rng.normal(size=rows))
        yield change_odds(past, task)


@pytest.mark.parametrize("scale", [0.3, 3.0])
@pytest.mark.parametrize(("n_past", "rows"), [(40, 10), (400, 10), (40, 3)])
def test_the_odds_seldom_exceed_twenty(rng, n_past, rows, scale):
    """At most one time in twenty if nothing has changed, whatever the noise of the task; in fact far less often."""
    assert np.mean(np.array([*calm_odds(rng, n_past, rows, scale)]) > np.log(20.0)) <= 0.03


def equal_noise(monkeypatch):
    """Let the rule look for no ratio of the variances but 1."""
    monkeypatch.setattr(_change, "RATIOS", np.ones(1))
    monkeypatch.setattr(_change, "WIDTHS", ())


def test_with_equal_noise_assumed_they_would(rng, monkeypatch):
    equal_noise(monkeypatch)
    assert np.mean(np.array([*calm_odds(rng, 40, 10, 3.0)]) > np.log(20.0)) > 0.1


def test_targets_that_repeat_each_other_prove_nothing_more(rng):
    X, A = rng.normal(size=(40, 3)), rng.normal(size=(20, 3))
    y, b = X[:, 0] + rng.normal(size=40), A[:, 1] + rng.normal(size=20)
    one = change_odds(information(X, y), information(A, b))
    two = change_odds(*(information(X, np.c_[v, v]) for X, v in ((X, y), (A, b))))
    assert two == pytest.approx(one)


def test_what_the_past_does_not_know_cannot_contradict_it(rng):
    X, A = rng.normal(size=(40, 3)), rng.normal(size=(20, 3))
    X[:, 2] = 0.0
    y, b = X[:, 0] + 0.1 * rng.normal(size=40), A[:, 0] + 50.0 * A[:, 2] + 0.1 * rng.normal(size=20)
    assert change_odds(information(X, y), information(A, b)) < 0.0
    assert change_odds(information(X, y), information(A, b + A[:, 1])) > 5.0


def learned_by_the_library(setting, sequences, seed):
    """Return what `simulate` finds, from models of the library."""
    found = {"adaptive": [], "out": [], "covered": []}
    models = [GeneralizedRidge(ADAPTIVE) for _ in range(sequences)]
    for t, (X, y, coefs) in enumerate(setting.tasks(sequences, seed), 1):
        for values in found.values():
            values.append([])
        for model, rows, targets, coef in zip(models, X, y, coefs, strict=True):
            lower, upper = retrospect.summary(model.partial_fit(rows, targets)).intervals[1:].T
            found["adaptive"][-1].append(np.square(model.coef_ - coef).sum())
            found["out"][-1].append(model.state_.tasks_in_force < t)
            found["covered"][-1].append(((lower <= coef) & (coef <= upper)).mean())
            assert model.n_samples_seen_ == t * N
    return found


@pytest.mark.parametrize("name", ["t₃ noise, 40 tasks", "jump, ‖δ‖² = 2", "drift, ‖δ‖² = 1 per task"])
def test_the_library_does_what_the_simulation_does(name):
    """Which writes the rule a second time, from moments."""
    ours, theirs = (run(SETTINGS[name], 4, seed=3) for run in (learned_by_the_library, simulate))
    for found in ours:
        np.testing.assert_allclose(ours[found], theirs[found], rtol=2e-3)
    assert "t₃" in name or np.any(ours["out"])


@pytest.mark.parametrize("name", CALM)
def test_calm_sequences_cost_nothing(name):
    found = simulate(SETTINGS[name], 60, seed=7)
    assert found["adaptive"][-1].mean() <= 1.1 * found["plain"][-1].mean()
    assert found["out"].max(axis=0).mean() <= 0.05


def test_with_equal_noise_assumed_a_noisy_task_costs_the_past(monkeypatch):
    """The negative control: the bar is broken as it was."""
    equal_noise(monkeypatch)
    found = learned_by_the_library(SETTINGS["the last task three times as noisy"], 6, seed=7)
    plain = simulate(SETTINGS["the last task three times as noisy"], 6, seed=7)["plain"]
    assert np.mean(found["adaptive"][-1]) > 5.0 * plain[-1].mean()
    assert np.mean(found["out"][-1]) > 0.05


def test_jumps_and_drift_are_followed():
    jump, drift = (simulate(SETTINGS[name], 60, seed=7) for name in ("jump, ‖δ‖² = 8", "drift, ‖δ‖² = 1 per task"))
    assert jump["plain"][14].mean() > 100.0 * jump["adaptive"][14].mean()
    assert drift["plain"][-1].mean() > 2.0 * drift["adaptive"][-1].mean()


def tasks(rng, *sets, n=25):
    """Yield a task for each given parameter, with weights."""
    for coef in sets:
        X = rng.normal(size=(n, 3)) + 2.0
        yield X, X @ coef + 1.0 + 0.1 * rng.normal(size=(n, coef.shape[1])), rng.uniform(0.5, 2.0, size=n)


@pytest.fixture
def two(rng):
    """Two parameters, far from each other."""
    coef = rng.normal(size=(3, 2))
    return coef, coef + 5.0


def taught(given, **settings):
    model = GeneralizedRidge(**settings)
    for X, y, weight in given:
        model = without_rows(model.partial_fit(X, y, weight))
    return model


@pytest.mark.parametrize("information", ["square_root", "moments"])
@pytest.mark.parametrize("prior", [0.0, 2.0, "evidence"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_task_that_stands_alone_costs_nothing_for_good(rng, two, information, prior, fit_intercept):
    one, other = two
    given = list(tasks(rng, one, one, one, other, one))
    settings = {"information": information, "fit_intercept": fit_intercept}
    pooled, adaptive = Accumulated(prior), Accumulated(prior, "adaptive")
    calm, plain = (taught(given[:3], weights=policy, **settings) for policy in (adaptive, pooled))
    np.testing.assert_array_equal(calm.coef_, plain.coef_)
    doubting = without_rows(calm.partial_fit(*given[3]))
    alone = taught(given[3:4], weights=pooled, **settings)
    np.testing.assert_allclose(doubting.coef_, alone.coef_, rtol=0.02)
    assert (doubting.n_samples_seen_, doubting.state_.tasks_in_force) == (100, 1)
    doubting.partial_fit(*given[4])
    plain.partial_fit(*given[3]).partial_fit(*given[4])
    np.testing.assert_allclose(doubting.coef_, plain.coef_, rtol=1e-10 if information == "square_root" else 1e-6)
    assert (doubting.n_samples_seen_, doubting.state_.aside, doubting.state_.tasks_in_force) == (125, None, 5)


def test_a_change_that_is_confirmed_lets_the_past_go(rng, two):
    one, other = two
    given = list(tasks(rng, one, one, one, other, other, other))
    model = taught(given, weights=ADAPTIVE)
    np.testing.assert_allclose(model.coef_, taught(given[3:]).coef_, rtol=1e-12)
    assert (model.n_samples_seen_, model.n_tasks_, model.state_.tasks_in_force) == (150, 6, 3)
    assert model.state_.aside is None


def test_inference_says_that_the_rows_were_chosen(rng, two):
    one, other = two
    given = [(X, y[:, 0], weight) for X, y, weight in tasks(rng, one, one, other, other)]
    calm, jumped = (taught(of, weights=ADAPTIVE) for of in (given[:2], given))
    found = retrospect.summary(jumped)
    assert (found.n_samples, found.n_tasks, found.n_samples_seen, found.post_selection) == (50, 2, 100, True)
    assert str(found).startswith("Least squares: 50 rows of 2 tasks")
    assert "decay='adaptive' chose these rows from the 100 learned." in str(found)
    assert retrospect.intervals(jumped, given[0][0]).post_selection
    calm_found = retrospect.summary(calm)
    assert (calm_found.n_samples_seen, calm_found.post_selection) == (50, False)
    assert "chose" not in str(calm_found)
    assert not retrospect.intervals(calm, given[0][0]).post_selection


@pytest.fixture
def doubting(rng, two):
    one, other = two
    return taught(tasks(rng, one, one, one, other), weights=ADAPTIVE)


def test_a_past_that_is_set_aside_is_carried_bit_for_bit(doubting):
    arrays = doubting.to_arrays()
    for other in (without_rows(doubting), copy.deepcopy(doubting)):
        again = other.to_arrays()
        assert set(arrays) == set(again) > {"aside.matrix", "recent.mean"}
        for name in arrays:
            np.testing.assert_array_equal(again[name], arrays[name])


def test_a_submodel_carries_it_too(rng, two, doubting):
    smaller = retrospect.submodel(doubting, [0, 2])
    assert smaller.n_samples_seen_ == 100
    ((X, y, weight),) = tasks(rng, two[1])
    assert without_rows(smaller).partial_fit(X[:, [0, 2]], y, weight).n_samples_seen_ == 125


def test_states_written_without_it_open(doubting):
    arrays = doubting.to_arrays()
    fields = json.loads(arrays["header"].tobytes())
    for name in ("aside", "recent", "tasks_recent", "doubted", "tasks_let_go", "rows_let_go"):
        del fields[name]
    old = {name: array for name, array in arrays.items() if "." not in name}
    old["header"] = np.frombuffer(json.dumps(fields).encode(), dtype=np.uint8)
    model = GeneralizedRidge.from_arrays(old)
    np.testing.assert_array_equal(model.coef_, doubting.coef_)
    assert model.state_.aside is None


@pytest.mark.parametrize(
    "change",
    [
        {"aside": None},
        {"recent": 3},
        {"aside": None, "recent": None},
        {"tasks_recent": -1},
        {"doubted": 1},
        {"rows_let_go": 1.5},
        {"tasks_let_go": 4},
        {"aside": {"n_features": 2}},
        {"recent": {"centered": False}},
    ],
)
def test_damage_is_refused(doubting, change):
    arrays = doubting.to_arrays()
    fields = json.loads(arrays["header"].tobytes())
    for name, value in change.items():
        fields[name] = {**fields[name], **value} if isinstance(value, dict) else value
    arrays["header"] = np.frombuffer(json.dumps(fields).encode(), dtype=np.uint8)
    with pytest.raises(InvalidStateError):
        GeneralizedRidge.from_arrays(arrays)


def test_arrays_that_are_missing_are_named(doubting):
    arrays = doubting.to_arrays()
    del arrays["aside.peak"]
    with pytest.raises(InvalidStateError, match="peak"):
        GeneralizedRidge.from_arrays(arrays)


def test_a_task_that_fails_changes_nothing(doubting):
    before = doubting.to_arrays()
    with pytest.raises(InvalidDataError):
        doubting.partial_fit(np.full((5, 3), np.inf), np.ones((5, 2)))
    for name, array in doubting.to_arrays().items():
        np.testing.assert_array_equal(array, before[name])


def test_tasks_of_one_row_never_contradict_the_past(rng, two):
    one, other = two
    given = [*tasks(rng, one, one), *tasks(rng, *[other] * 5, n=1)]
    model = taught(given, weights=ADAPTIVE)
    np.testing.assert_array_equal(model.coef_, taught(given).coef_)


def test_small_tasks_are_collected_until_they_do_without_the_past(rng):
    """18 rows of 20 features: the past is set aside at once, and let go when the rows since determine everything."""
    first, second = rng.normal(size=(2, 20))
    model, aside = GeneralizedRidge(ADAPTIVE, fit_intercept=False), []
    for coef, n in ((first, 200), (100.0 * second, 18), (100.0 * second, 18)):
        X = rng.normal(size=(n, 20)) * np.geomspace(1.0, 30.0, 20)
        model.partial_fit(X, X @ coef + 0.1 * rng.normal(size=n))
        aside.append(model.state_.aside is not None)
    assert aside == [False, True, False]
    assert (model.n_samples_seen_, model.state_.rows_let_go) == (236, 200)


@pytest.mark.parametrize("information", ["square_root", "moments"])
def test_small_tasks_are_compared_together(rng, information):
    """25 rows of 30 features cannot tell a change from noise, but three such tasks can. Until then nothing is lost."""
    settings = {"information": information, "fit_intercept": False}
    model, plain = GeneralizedRidge(ADAPTIVE, **settings), GeneralizedRidge(**settings)
    coef, force = rng.normal(size=30), []
    for t in range(14):
        if t == 7:
            np.testing.assert_array_equal(model.coef_, plain.coef_)
            coef = 10.0 * rng.normal(size=30)
        X = rng.normal(size=(25, 30))
        y = X @ coef + rng.normal(size=25)
        model, plain = without_rows(model.partial_fit(X, y)), plain.partial_fit(X, y)
        force.append(model.state_.tasks_in_force)
        assert model.n_samples_seen_ == 25 * (t + 1)
    assert force[:7] == [1, 2, 3, 4, 5, 6, 7]
    assert force[-1] <= 7
    assert np.square(plain.coef_ - coef).sum() > 100.0 * np.square(model.coef_ - coef).sum()


def test_without_noise_rounding_is_not_a_change(rng):
    """Targets without noise, and means a million times as large as what varies."""
    model = GeneralizedRidge(ADAPTIVE)
    for _ in range(6):
        X = rng.normal(size=(20, 3)) + 1e6
        model.partial_fit(X, (X - 1e6) @ [1.0, 2.0, 3.0] + 1e6)
    assert model.state_.tasks_in_force == 6


def test_compare_says_what_would_stay_in_force(rng, two):
    one, other = two
    given = list(tasks(rng, one, one, one, other))
    model = taught(given[:2], weights=ADAPTIVE)
    assert retrospect.compare(model, *given[2]).share == 1.0
    share = retrospect.compare(model, *given[3]).share
    assert 0.0 <= share < 0.1
    rows = model.partial_fit(*given[3]).information_.n_samples
    assert rows == 25 + (max(round(share * 50), 1) if share else 0)
