"""A diagonal prior may be stacked on a copy of the factor, or be a small correction of the answer without it.

A prior given as a full matrix is always added when solving: the peer that everything here is compared with.
"""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ridgeway import GeneralizedRidge
from ridgeway.information import _square_root
from ridgeway.weights import Accumulated

RNG = np.random.default_rng(5)
P = 6
PRIOR = RNG.uniform(0.5, 2.0, P)
START = RNG.normal(size=P)


def rows(n, scale=1.0, offset=3.0):
    return scale * (RNG.normal(size=(n, P)) + offset), RNG.normal(size=n)


def pair(prior=PRIOR, **settings):
    """Return two models that must agree: the prior stacked on a factor, and added when solving."""
    decay = settings.pop("decay", 1.0)
    return tuple(
        GeneralizedRidge(Accumulated(prior=given, decay=decay), **settings) for given in (prior, np.diag(prior))
    )


def stacked(model):
    return model.state_.with_prior is not None


def is_factor(model):
    """Return whether the prior is in a factor of its own, rather than a correction."""
    return hasattr(model.state_.with_prior, "held")


def assert_agree(one, two, rtol=1e-10):
    assert_allclose(one.coef_, two.coef_, rtol=rtol, atol=rtol * np.abs(two.coef_).max())
    assert_allclose(one.intercept_, two.intercept_, rtol=rtol)
    assert one.rank_ == two.rank_
    mine, theirs = one.information_.moments(), two.information_.moments()
    assert_allclose(mine, theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"initial_coef": START}, {"decay": 0.5}], ids=str)
@pytest.mark.parametrize("sizes", [(2, 1, 2), (40, 1, 3000)], ids=str)
def test_stacked_is_as_good_as_apart(settings, sizes):
    one, two = pair(**settings)
    for n in sizes:
        X, y = rows(n)
        assert_agree(one.partial_fit(X, y), two.partial_fit(X, y))
        assert stacked(one)
        assert not stacked(two)
    stack = one.state_.with_prior.held
    assert not np.allclose(stack.moments(), one.information_.moments(), rtol=1e-6)  # the prior is in the copy alone


@pytest.fixture
def corrected(monkeypatch):
    """Let answers be corrected whatever the number of features."""
    monkeypatch.setattr(_square_root, "CORRECTED", 1)


@pytest.mark.usefixtures("corrected")
@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"initial_coef": START}, {"decay": 0.5}], ids=str)
def test_a_correction_is_as_good_as_a_factor(settings):
    one, two = pair(**settings)
    for n in (40, 1, 3000):
        X, y = rows(n)
        assert_agree(one.partial_fit(X, y), two.partial_fit(X, y))
    assert not is_factor(one)


@pytest.mark.parametrize(("n_targets", "n", "by_factor"), [(1, 2000, False), (2, 2000, True), (1, 131, True)])
def test_many_features_that_the_rows_outweigh_are_corrected(n_targets, n, by_factor):
    p = _square_root.CORRECTED
    X, Y = RNG.normal(size=(n, p)), RNG.normal(size=(n, n_targets))
    one, two = (model.fit(X, Y) for model in pair(prior=RNG.uniform(0.5, 2.0, p)))
    assert_agree(one, two)
    assert is_factor(one) is by_factor


def test_the_rows_alone_have_the_rank_of_the_rows():
    X, y = rows(4)
    alone = pair()[0].fit(X, y).information_
    plain = GeneralizedRidge().fit(X, y).information_
    assert np.linalg.matrix_rank(alone.factor()[:P, :P], tol=1e-10) == 3  # four rows about their mean
    assert_allclose(alone.moments(), plain.moments(), atol=1e-12 * np.abs(plain.moments()).max())
    assert (alone.n_samples, alone.total_weight) == (4, 4.0)


@pytest.mark.parametrize(("factor", "is_stacked"), [(1e-12, False), (1e-6, True), (1e3, True), (1e8, False)])
def test_a_weak_or_overwhelming_prior_is_added_when_solving(factor, is_stacked):
    X, y = rows(50)
    one, two = pair(prior=factor * PRIOR * 50)
    assert stacked(one.fit(X, y)) is is_stacked
    assert_agree(one, two.fit(X, y))


@pytest.mark.filterwarnings("ignore:the columns learned are collinear")
def test_a_prior_that_becomes_weak_is_added_when_solving():
    """Collinear columns, so that the prior still decides something."""
    one, two = pair()
    for scale in (1.0, 1e6):
        X, y = rows(30, scale)
        X[:, 0] = X[:, 1]
        one.partial_fit(X, y)
        two.partial_fit(X, y)
        assert stacked(one) is (scale == 1.0)
    assert_agree(one, two, rtol=1e-8)


def test_a_prior_that_changes_is_counted_once():
    X, y = rows(30)
    model = pair()[0].fit(X, y)
    model.set_params(weights=Accumulated(prior=7.0)).partial_fit(X, y)
    fresh = GeneralizedRidge(Accumulated(prior=7.0 * np.eye(P))).fit(X, y).partial_fit(X, y)
    assert_agree(model, fresh)


def test_merge_and_remove_count_the_prior_once():
    parts = [rows(n) for n in (20, 30, 9)]
    one, two = (m.fit(*parts[0]).merge(m_.fit(*parts[1])) for m, m_ in zip(pair(), pair(), strict=True))
    assert stacked(one)
    assert_agree(one, two)
    assert_agree(one.partial_fit(*parts[2]), two.partial_fit(*parts[2]))
    assert_agree(one.remove(*parts[0]), two.remove(*parts[0]), rtol=1e-9)
    assert stacked(one)


def test_several_targets_and_a_perfect_fit():
    X = rows(40)[0]
    Y = X @ RNG.normal(size=(P, 2)) + 1.0
    one, two = (model.fit(X, Y) for model in pair(prior=np.full(P, 1e-3)))
    assert stacked(one)
    assert_agree(one, two)
    assert_allclose(one.information_.factor()[P:, P:], 0.0, atol=1e-6 * np.abs(Y).max())


@pytest.mark.parametrize("condition", [1e2, 1e7, 1e9])
def test_a_prior_hides_no_digit_of_the_rows(condition):
    U, _, V = np.linalg.svd(RNG.normal(size=(60, P)), full_matrices=False)
    A = (U * np.geomspace(1.0, 1.0 / condition, P)) @ V * 60**0.5
    b = A @ np.ones(P)
    model = GeneralizedRidge(Accumulated(prior=1.0), fit_intercept=False).fit(A, b)
    assert_allclose(model.coef_, np.linalg.solve(A.T @ A + np.eye(P), A.T @ b), rtol=1e-9)
    model.set_params(weights=Accumulated(prior=0.0)).partial_fit(A, b)
    assert_allclose(model.coef_, 1.0, rtol=1e-15 * condition * 1e3)


def test_what_is_stored_does_not_depend_on_who_asked():
    asked, silent = pair()[0], pair()[0]
    for n in (20, 30, 2, 5):
        X, y = rows(n)
        _ = asked.partial_fit(X, y).coef_
        silent.partial_fit(X, y)
    assert pickle.dumps(asked.state_) == pickle.dumps(silent.state_)
    assert_allclose(asked.coef_, silent.coef_, rtol=1e-12)


def test_the_stacked_factor_is_carried_while_somebody_asks():
    model = pair(prior=100.0 * PRIOR)[0].fit(*rows(20))
    assert "with_prior" not in vars(model.state_)
    _ = model.coef_
    assert "with_prior" in vars(model.partial_fit(*rows(2)).state_)  # asked after the last task
    assert "with_prior" not in vars(model.partial_fit(*rows(2)).state_)  # and not any more
    _ = model.coef_
    assert "with_prior" not in vars(model.partial_fit(*rows(5)).state_)  # with many rows it is cheaper to stack again


@pytest.mark.parametrize(("scale", "carried"), [(1.0, True), (1e3, True), (1e6, False)])
def test_the_stacked_factor_is_carried_until_the_prior_is_weak(scale, carried):
    model = pair(prior=100.0 * PRIOR)[0].fit(*rows(20))
    _ = model.coef_
    assert ("with_prior" in vars(model.partial_fit(*rows(2, scale)).state_)) is carried


@pytest.mark.usefixtures("corrected")
def test_nothing_is_carried_if_the_information_outweighs_the_prior():
    model = pair()[0].fit(*rows(200))
    _ = model.coef_
    assert not is_factor(model)
    assert "with_prior" not in vars(model.partial_fit(*rows(1)).state_)


@pytest.mark.usefixtures("corrected")
@pytest.mark.parametrize("spread", [1.0, 1e-2])
def test_the_prior_is_a_correction_only_if_it_is_weak_in_every_direction(spread):
    """Two nearly equal columns: what tells them apart is weak, and the prior decides it unless it is weaker still."""
    X, y = rows(600)
    X[:, 1] = X[:, 0] + spread * RNG.normal(size=600)
    one, two = pair()
    assert_agree(one.fit(X, y), two.fit(X, y))
    assert is_factor(one) is (spread < 1.0)


def test_a_prior_that_fades_before_the_first_row_is_let_go(capfd):
    X, y = rows(30)
    one, two = pair(decay=1e-9)
    assert_agree(one.fit(X, y), two.fit(X, y))
    assert not capfd.readouterr().err
