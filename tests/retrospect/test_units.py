"""Other units, by powers of two: all answers are the same numbers in these units, also in extreme ones."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import FewClustersWarning, InferenceError

N_TASKS, N_ROWS = 12, 8
LABELS = np.repeat(np.arange(N_TASKS), N_ROWS)

TESTED = {"t": "", "p_values": "", "degrees_of_freedom": ""}
ESTIMATED = {"coef": "terms", "standard_errors": "terms", "intervals": "terms, ends"}
PER_TASK = {"coef": "terms", "standard_errors": "terms", "intervals": "terms, ends"}
QUESTIONS = {
    "tasks": (retrospect.tasks, PER_TASK | {"noise_variance": "y²", "f": "", "p_values": ""}),
    "random_effects": (
        lambda model: retrospect.random_effects(model, ["intercept", 0, 1]),
        ESTIMATED
        | TESTED
        | {"noise_variance": "y²", "covariance": "terms²", "effects": "terms", "effect_errors": "terms"}
        | {"task_coef": "terms", "task_errors": "terms", "task_intervals": "terms, ends"},
    ),
    "fixed_effects": (
        lambda model: retrospect.fixed_effects(model, [1]),
        {"coef": "x0", "standard_errors": "x0", "intervals": "x0", "noise_variance": "y²"} | TESTED,
    ),
    "segments": (
        retrospect.segments,
        {"coef": "terms", "standard_errors": "terms", "noise_variances": ""}
        | {"penalty": "", "gains": "", "p_value": ""},
    ),
    "cusum": (retrospect.cusum, {"path": "", "p_value": ""}),
    "influence": (
        retrospect.influence,
        {"coef_without": "terms", "standard_errors_without": "terms", "change": "terms"}
        | {"standardized_change": "", "distance": ""},
    ),
    "clustered": (retrospect.clustered, ESTIMATED | TESTED | {"covariance": "terms²"}),
    "coefficient_path": (retrospect.coefficient_path, PER_TASK),
}


def answered(name, exponents):
    """Return the answer for rows in other units, with every warning but that of few clusters an error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(len(LABELS), 2)) + 1.0
    own = rng.normal(size=(N_TASKS, 3))[LABELS]
    y = X @ [1.0, 0.3] + own[:, 0] + 0.6 * own[:, 1] * X[:, 0] + 0.4 * own[:, 2] * X[:, 1] + rng.normal(size=len(X))
    units = 2.0 ** np.array(exponents, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FewClustersWarning)
        model = GeneralizedRidge(information="by_task").fit(X * units[1:], y * units[0], tasks=LABELS)
        return QUESTIONS[name][0](model)


def factor(kind, exponents):
    """Return by what a result of this kind is multiplied."""
    y, *features = exponents
    logs = y - np.array([0.0, *features])
    pairs = {"x0²": 2.0 * logs[1], "y²": 2.0 * y, "terms²": np.add.outer(logs, logs)}
    return 2.0 ** ({"": 0.0, "terms": logs, "terms, ends": logs[:, None], "x0": logs[1]} | pairs)[kind]


def assert_same(name, exponents):
    plain, found = answered(name, (0, 0, 0)), answered(name, exponents)
    for field, kind in QUESTIONS[name][1].items():
        expected = getattr(plain, field) * factor(kind, exponents)
        np.testing.assert_allclose(getattr(found, field), expected, rtol=1e-9, err_msg=f"{name}: {field}")


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize(
    "exponents", [(7, 3, -5), (300, 0, 0), (-300, 0, 0), (0, 300, -300), (300, 300, 300), (-300, -300, -300)], ids=str
)
def test_answers_do_not_depend_on_units(name, exponents):
    assert_same(name, exponents)


@pytest.mark.parametrize("name", sorted(QUESTIONS.keys() - {"segments", "cusum"}))
@settings(max_examples=8, deadline=None)
@given(
    exponents=st.tuples(*[st.integers(-300, 300)] * 3).filter(lambda e: max(abs(e[0] - e[1]), abs(e[0] - e[2])) < 480)
)
@example(exponents=(240, -200, 240))
@example(exponents=(-240, 200, 240))
def test_answers_do_not_depend_on_any_units(name, exponents):
    assert_same(name, exponents)


@pytest.mark.parametrize("exponents", [(300, -300, 0), (-300, 300, 0)], ids=str)
@pytest.mark.parametrize("name", QUESTIONS)
def test_what_cannot_be_represented_is_refused(name, exponents):
    """The squares of coefficients of 1e180 are not numbers. Answers without such squares are still the same."""
    if name in ("random_effects", "clustered", "segments"):
        with pytest.raises(InferenceError, match="out of the range of floating point numbers"):
            answered(name, exponents)
    else:
        assert_same(name, exponents)


def test_the_likelihood_is_that_of_the_density_in_these_units():
    plain, found = (answered("random_effects", exponents) for exponents in ((0, 0, 0), (-300, 40, 0)))
    logs = np.log(2.0)
    expected = plain.log_likelihood + (LABELS.size - 3) * 300 * logs - 40 * logs
    np.testing.assert_allclose(found.log_likelihood, expected, rtol=1e-12)
