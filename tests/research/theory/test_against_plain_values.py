"""The library returns what is computed without it, and a wrong one is noticed."""

from dataclasses import replace

import numpy as np
import pytest
from research.theory.library_check import apart
from research.theory.plain import approximation, closed_forms, commuting, designs, early_stopping, outlook

MODULES = (commuting, approximation, designs, closed_forms, early_stopping, outlook)
CHECKS = {check.name: check for module in MODULES for check in module.CHECKS}
LIMIT = 1e-7


@pytest.mark.parametrize("name", CHECKS)
def test_the_library(name):
    difference, instance = CHECKS[name].worst()
    assert difference <= LIMIT, instance


@pytest.mark.parametrize("name", CHECKS)
def test_a_wrong_library_is_noticed(name):
    right = CHECKS[name]
    wrong = replace(right, function=lambda instance: 1.001 * np.asarray(right.function(instance)))
    assert wrong.worst()[0] > LIMIT


def test_no_check_hides_another():
    assert len(CHECKS) == sum(len(module.CHECKS) for module in MODULES)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ([1.0, np.inf, np.nan], [1.0, np.inf, np.nan], 0.0),
        ([1.0, 2.0], [1.0, 1.0], 1.0),
        ([1.0, 1e-9], [1.0, 0.0], 1e-3),
        ([1.0, np.nan], [1.0, 1.0], np.inf),
        ([1.0, 1.0], [1.0, np.inf], np.inf),
        ([1.0], 1.0, np.inf),
    ],
)
def test_apart(one, two, expected):
    assert apart(one, two) == pytest.approx(expected)
