"""One module of parameter checks: each accepts what it says and raises a typed error for everything else."""

import numpy as np
import pytest

from ridgeway import _checks as checks
from ridgeway.errors import InvalidDataTypeError, InvalidParameterError
from ridgeway.linalg import checked_definite, checked_semidefinite

NOT_NUMBERS = (None, "1", b"1", True, [1.0, 2.0], object(), 1j)

ACCEPTED = [
    (checks.nonnegative, 0, 0.0),
    (checks.nonnegative, np.float32(2), 2.0),
    (checks.positive, 1e-150, 1e-150),
    (checks.fraction, 0.5, 0.5),
    (checks.whole, np.int64(3), 3),
    (checks.flag, np.True_, True),
]
REFUSED = [
    *((check, value) for check in (checks.nonnegative, checks.positive, checks.fraction) for value in NOT_NUMBERS),
    *((checks.nonnegative, value) for value in (-1e-300, np.nan, np.inf, 1e151)),
    *((checks.positive, value) for value in (0.0, -1.0, np.nan, np.inf)),
    *((checks.fraction, value) for value in (0.0, 1.0, np.nan)),
    *((checks.whole, value) for value in (0, 1.0, "1", True, None)),
    *((checks.flag, value) for value in (1, None, "yes")),
]


@pytest.mark.parametrize(("check", "value", "expected"), ACCEPTED)
def test_accepted(check, value, expected):
    found = check(value, "it")
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("check", "value"), REFUSED)
def test_refused(check, value):
    with pytest.raises(InvalidParameterError, match=r"^it must .*; got "):
        check(value, "it")


def test_ranges_and_words():
    assert checks.whole(0, "it", least=0) == 0
    with pytest.raises(InvalidParameterError, match="an integer from 1 to 3; got 4"):
        checks.whole(4, "it", most=3)
    assert checks.one_of("a", ("a", "b"), "it") == "a"
    for value in ("c", None, ["a"]):
        with pytest.raises(InvalidParameterError, match="it must be one of a, b; got"):
            checks.one_of(value, ("a", "b"), "it")
    with pytest.raises(InvalidParameterError, match=r"got 2\. Pass 0\.95\."):
        checks.fraction(2, "it", "Pass 0.95.")


def test_schedules():
    assert checks.scheduled(3.0, 7, "it") == 3.0
    assert checks.scheduled(np.array(3.0), 7, "it") == 3.0
    assert checks.scheduled([1, 2], 2, "it") == 2
    assert checks.scheduled(lambda t: 10 * t, 2, "it") == 20
    assert checks.scheduled("text", 2, "it") == "text"
    with pytest.raises(InvalidParameterError, match="it has 2 entries, too few for task 3"):
        checks.scheduled((1, 2), 3, "it")


def test_arrays():
    given = np.ones(2)
    found = checks.real_array(given, "it")
    given[:] = 7.0
    assert found.max() == 1.0
    assert not found.flags.writeable
    for value, words in (([[1.0], [1.0, 2.0]], "ragged"), (["a"], "real numbers"), (np.ma.array([1.0]), "masked")):
        with pytest.raises(InvalidDataTypeError, match=words):
            checks.real_array(value, "it")
    with pytest.raises(InvalidParameterError, match="the limit is"):
        checks.real_array([1e200], "it")
    assert checks.real_array([1e200], "it", largest=np.inf)[0] == 1e200
    assert np.isinf(checks.nonnegative_array([np.inf], "it")[0])
    for value, words in (([np.nan], "NaN"), ([-1.0], "≥ 0; got -1")):
        with pytest.raises(InvalidParameterError, match=words):
            checks.nonnegative_array(value, "it")
    with pytest.raises(InvalidParameterError, match="finite"):
        checks.finite(np.array([np.inf]), "it")
    with pytest.raises(InvalidParameterError, match=r"shape \(2,\); it must be \(3,\), one per task"):
        checks.shaped(np.ones(2), (3,), "it", "one per task")


MATRICES = {
    r"shape \(2, 2\); it must be \(3, 3\)": (np.eye(2), 3),
    "not symmetric": ([[1.0, 0.5], [0.0, 1.0]], 2),
    "negative eigenvalue": ([[0.0, 1.0], [1.0, 0.0]], 2),
    "NaN": ([[np.nan, 0.0], [0.0, 1.0]], 2),
    "not a matrix": ("H", 2),
    "not a matrix of real": ([[1j]], 1),
}


@pytest.mark.parametrize("message", MATRICES)
def test_matrices(message):
    with pytest.raises(InvalidParameterError, match=message):
        checked_semidefinite(*MATRICES[message], "it")


def test_semidefinite_matrices_are_symmetric_copies():
    rough = np.array([[1.0, 1.0], [1.0 + 1e-16, 1.0]])
    found = checked_semidefinite(rough, 2, "it")
    assert (found == found.T).all()
    with pytest.raises(InvalidParameterError, match="singular; it must be positive definite"):
        checked_definite(rough, 2, "it")
    np.testing.assert_array_equal(checked_definite(2 * np.eye(2), 2, "it"), 2 * np.eye(2))
