"""Parameters of policies: scikit-learn clones, sets and shows them as it does those of its own objects."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

from ridgeway import GeneralizedRidge, weights
from ridgeway.errors import InvalidParameterError


class Peer(BaseEstimator):
    """The same parameters as `Accumulated`, in scikit-learn's own class."""

    def __init__(self, prior=0.0, decay=1.0):
        self.prior = prior
        self.decay = decay


@pytest.mark.parametrize("given", [{}, {"prior": 2.0}, {"prior": np.ones(3), "decay": 0.5}])
def test_they_are_those_of_scikit_learn(given):
    ours, peer = weights.Accumulated(**given), Peer(**given)
    assert ours.get_params(deep=False) == peer.get_params(deep=False)
    assert repr(ours).removeprefix("Accumulated") == repr(peer).removeprefix("Peer").replace("\n     ", "")
    copy = clone(ours)
    assert copy is not ours
    assert repr(copy) == repr(ours)


def test_a_parameter_without_a_default_is_shown():
    assert repr(weights.Explicit(None)) == "Explicit(matrices=None)"
    assert repr(weights.Zero()) == "Zero()"


def test_an_unknown_name_changes_nothing():
    policy = weights.Accumulated()
    with pytest.raises(InvalidParameterError, match="Invalid parameter 'penalty' for estimator Accumulated"):
        policy.set_params(prior=1.0, penalty=2.0)
    assert policy.prior == 0.0
    assert policy.set_params(prior=1.0) is policy
    assert policy.prior == 1.0


def test_grid_search_tunes_them(rng):
    X = rng.normal(size=(40, 3))
    search = GridSearchCV(GeneralizedRidge(weights.Accumulated()), {"weights__prior": [0.0, 1e6]}, cv=3)
    found = search.fit(X, X @ [1.0, 2.0, 3.0])
    assert found.best_params_ == {"weights__prior": 0.0}
    assert "Accumulated" in found.best_estimator_._repr_html_()
