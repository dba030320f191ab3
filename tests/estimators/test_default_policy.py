"""`GeneralizedRidge()` has the parameters of the policy that it uses, and shares them with no other model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from ridgeway import GeneralizedRidge, weights


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.normal(size=40)


def test_a_parameter_of_the_default_policy_can_be_set(rows):
    model = GeneralizedRidge().set_params(weights__prior=2.0, fit_intercept=True).fit(*rows)
    assert repr(model) == "GeneralizedRidge(weights=Accumulated(prior=2.0))"
    np.testing.assert_allclose(model.coef_, Ridge(alpha=2.0).fit(*rows).coef_, rtol=1e-10)


def test_the_default_policy_shows_its_parameters():
    model = GeneralizedRidge()
    assert model.get_params().items() >= {"weights": None, "weights__prior": 0.0, "weights__decay": 1.0}.items()
    assert not any("__" in name for name in model.get_params(deep=False))
    assert "weights__penalty" in GeneralizedRidge(weights.Isotropic(0.1)).get_params()
    assert "weights__prior" not in GeneralizedRidge(weights.Isotropic(0.1)).get_params()
    assert repr(model) == repr(clone(model)) == "GeneralizedRidge()"


def test_grid_search_over_the_default_policy(rows):
    search = GridSearchCV(GeneralizedRidge(), {"weights__prior": [0.0, 1.0, 1e6]}, cv=3).fit(*rows)
    peer = GridSearchCV(Ridge(), {"alpha": [1e-12, 1.0, 1e6]}, cv=3).fit(*rows)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], rtol=1e-8)


def leaks(make):
    """Say whether a parameter that is set on one model shows in another, or in a model made later."""
    one, other = make(), make()
    copy = clone(one)
    one.set_params(weights__prior=5.0)
    return any(model.get_params()["weights__prior"] != 0.0 for model in (other, copy, make()))


SHARED = weights.Accumulated()


class SharedDefault(GeneralizedRidge):
    """What must not be: one policy for all models, which `set_params` changes."""

    def __init__(self, weights=SHARED):
        super().__init__(weights)


def test_default_models_share_no_policy():
    assert leaks(SharedDefault)
    assert not leaks(GeneralizedRidge)


def test_the_policy_may_be_named_in_the_same_call():
    model = GeneralizedRidge().set_params(weights=weights.Isotropic(1.0), weights__penalty=3.0)
    assert model.weights.penalty == 3.0
    model.set_params(weights=None, weights__decay=0.5)
    assert (model.weights.decay, model.weights.prior) == (0.5, 0.0)


def test_a_wrong_name_changes_nothing():
    model = GeneralizedRidge()
    with pytest.raises(ValueError, match="Invalid parameter 'penalty' for estimator Accumulated"):
        model.set_params(weights__penalty=1.0)
    assert repr(model) == "GeneralizedRidge()"
