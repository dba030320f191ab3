"""How predictions are judged and shown: against scikit-learn, with signs that belong to each measure."""

from typing import get_args

import numpy as np
import pytest
from sklearn.metrics import log_loss, mean_poisson_deviance

from ridgeway.data import FamilyName
from ridgeway.errors import InvalidDataError
from ridgeway.report._measures import Accuracy, MeanDeviance, RootMeanSquare, mean_log_losses, measure_of

STARTS = np.array([0, 3])


def test_losses_of_tasks(rng):
    y, predicted = rng.poisson(2.0, 7).astype(float), rng.uniform(0.5, 3.0, 7)
    parts = slice(0, 3), slice(3, 7)
    expected = [mean_poisson_deviance(y[part], predicted[part]) for part in parts]
    np.testing.assert_allclose(MeanDeviance().task_losses(y, predicted, STARTS), expected)
    expected = [np.sqrt(np.mean((y[part] - predicted[part]) ** 2)) for part in parts]
    np.testing.assert_allclose(RootMeanSquare().task_losses(y, predicted, STARTS), expected)
    other = np.where(np.arange(7) % 2, y, y + 1.0)
    np.testing.assert_allclose(Accuracy().task_losses(y, other, STARTS), [2 / 3, 1 / 2])
    with pytest.raises(InvalidDataError, match=r"a count is predicted as 0. Expected counts must be positive"):
        MeanDeviance().task_losses(y, 0.0 * predicted, STARTS)
    with pytest.raises(InvalidDataError, match="the predictions are not classes"):
        Accuracy().task_losses(y, predicted, STARTS)


def test_log_losses_are_those_of_scikit_learn(rng):
    y, shares = np.array([0.0, 2.0, 1.0, 0.0, 2.0]), rng.dirichlet(np.ones(3), 5)
    found = mean_log_losses(y, shares, np.arange(3.0), STARTS)
    np.testing.assert_allclose(found, [log_loss(y[:3], shares[:3]), log_loss(y[3:], shares[3:], labels=[0, 1, 2])])
    fewer = mean_log_losses(y, shares[:, :2], np.arange(2.0), STARTS)  # class 2 was not learned: its chance is 0
    assert fewer[1] == pytest.approx((-np.log(shares[3, 0]) - np.log(np.finfo(float).eps)) / 2.0)


def test_every_family_has_a_measure_and_no_other_is_judged():
    names = [measure_of(family).name for family in get_args(FamilyName)]
    assert names == ["error", "accuracy", "deviance", "accuracy"]
    with pytest.raises(KeyError, match="gamma"):
        measure_of("gamma")


def test_signs_and_words():
    accuracy, deviance, error = (measure_of(family) for family in ("binomial", "poisson", "gaussian"))
    assert (accuracy.shown(0.1), accuracy.shown_change(0.051)) == ("90.0 %", "5.1")
    assert (accuracy.mark(0.9, 0.0), accuracy.mark(-0.03, 0.1)) == ("−90 points", "+3 points")
    assert (error.mark(0.5, 2.0), error.mark(-0.5, 2.0), error.mark(0.5, 0.0)) == ("+25%", "−25%", "+0%")
    assert accuracy.rise(0.04, 0.0) == "a fall of 4.0 points"
    assert accuracy.close(0.02, 0.1) == "at most 5 points more than the pooled answer's 2.0"
    assert deviance.close(0.02, 0.1) == "at most 5% above the pooled answer's 20.0%"
    assert accuracy.matters(0.09, 0.03, 0.0)
    assert not accuracy.matters(0.09, 0.05, 0.0)
    assert error.matters(0.09, 0.03, 1.0)
    assert not error.matters(0.09, 0.03, 2.0)
    assert accuracy.compared(0.125, False) == "predicts 12.5 % of held-out rows otherwise than the pooled answer"
    np.testing.assert_array_equal(accuracy.value(np.array([0.25])), [0.75])
    assert accuracy.constant(np.array([1.0, 2.0, 2.0])) == 2.0
    assert deviance.constant(np.array([1.0, 2.0, 3.0])) == 2.0
