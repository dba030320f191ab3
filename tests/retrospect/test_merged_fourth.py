"""Parts that are merged with their fourth moments: each keeps its centre, and none is lost."""

from dataclasses import replace

import numpy as np
import pytest
from retrospect.test_heteroscedastic import KINDS, data, learned, pooled

from ridgeway import GeneralizedRidge, retrospect
from ridgeway.errors import InvalidStateError
from ridgeway.information import FourthMoments, Leaf, PartName


@pytest.fixture
def rows(rng):
    X, y, weight, _ = data(rng)
    return X, y, weight


@pytest.fixture(params=KINDS, ids=str)
def model(rows, request):
    """Return a model of one task, whose part is the merge of two that lie apart."""
    one, two = (learned(*(part[half] for part in rows), kind=request.param) for half in (slice(60), slice(60, None)))
    both = one.information_.tree.information.merge(two.information_.tree.information)
    held = replace(one.information_, tree=Leaf.of(PartName("1"), both))
    return GeneralizedRidge.from_state(one.state_.with_tasks(held))


def same(model, *expected):
    found = retrospect.heteroscedastic(model)
    np.testing.assert_allclose(found.covariance, pooled(*expected).cov_params(), rtol=1e-8, atol=1e-12)


def test_errors_are_those_of_all_rows(model, rows):
    assert len(model.information_.fourth()) == 2
    same(model, *rows)
    X, y, weight = rows
    same(retrospect.submodel(model, [2, 0]), X[:, [2, 0]], y, weight)
    same(retrospect.reweighted(model, {"1": 3.0}), X, y, 3.0 * weight)
    again = GeneralizedRidge.from_arrays(model.to_arrays())
    same(again, *rows)
    again.partial_fit(X, -y, weight, task="1")
    assert len(again.information_.fourth()) == 2
    same(again, np.vstack([X, X]), np.append(y, -y), np.append(weight, weight))


def test_sums_that_do_not_fit_are_refused(model):
    arrays = model.to_arrays()
    size = FourthMoments.count(3, 1, centered=True)
    assert len(arrays["part0.fourth"]) == 2 * size
    for wrong in (arrays["part0.fourth"][:-1], arrays["part0.fourth"].reshape(2, size), np.float64(1.0)):
        with pytest.raises(InvalidStateError, match="fourth moments of a state do not fit its columns"):
            GeneralizedRidge.from_arrays(arrays | {"part0.fourth": np.asarray(wrong)})


@pytest.mark.parametrize("shape", [(1, 1, True), (3, 2, True), (3, 1, False)])
def test_the_count_is_that_of_the_array(shape):
    p, k, centered = shape
    empty = FourthMoments.empty(p, k, centered=centered)
    assert FourthMoments.count(p, k, centered=centered) == len(empty.to_array())
