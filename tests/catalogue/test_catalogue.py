"""One catalogue of methods: names, families, objects, and what is refused."""

import numpy as np
import pytest
from report.tables import shifted
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

from ridgeway import (
    ContinualRidge,
    EarlyStopping,
    GeneralizedRidge,
    GeneralizedRidgeClassifier,
    MinimumNorm,
    catalogue,
    report,
    weights,
)
from ridgeway.catalogue import _registry
from ridgeway.catalogue._learners import LEARNERS
from ridgeway.errors import InvalidDataError, InvalidParameterError

SITES = {"target": "y", "task_column": "site"}


@pytest.fixture(autouse=True)
def _own_entries(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(_registry, "ENTRIES", dict(_registry.ENTRIES))


class LastTask(BaseEstimator):
    """Least squares on the last task alone."""

    def partial_fit(self, X, y):
        self.model_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_every_name_has_a_line_and_a_method():
    for family, compared in catalogue.COMPARED.items():
        for name, about in catalogue.known(family).items():
            assert about
            assert catalogue.find(name, family).key == name
        assert set(compared) <= set(catalogue.known(family))


def test_arguments():
    assert catalogue.find("crr").make().weights.penalty == 1.0
    assert catalogue.find("crr:1/2/3").make().weights.penalty == (1.0, 2.0, 3.0)
    assert catalogue.find("es").make().weights.n_steps == 100
    assert catalogue.find("gr:2").make().weights.prior == 2.0
    assert catalogue.find("gr:evidence").make().weights.prior == "evidence"


@pytest.mark.parametrize(
    ("key", "policy"),
    [
        ("mn", weights.Zero()),
        ("crr:1/2/3", weights.Isotropic((1.0, 2.0, 3.0))),
        ("es:20", weights.GradientSteps(n_steps=20)),
        ("gr:2", weights.Accumulated(prior=2.0)),
    ],
)
@pytest.mark.parametrize("family", ["gaussian", "multiclass"])
def test_a_method_is_a_policy_and_the_family_chooses_the_estimator(key, policy, family):
    estimator = GeneralizedRidge if family == "gaussian" else GeneralizedRidgeClassifier
    assert repr(catalogue.find(key, family).make()) == repr(estimator(policy))


@pytest.mark.parametrize(
    ("key", "estimator"),
    [
        ("mn", MinimumNorm()),
        ("crr:1/2/3", ContinualRidge((1.0, 2.0, 3.0))),
        ("es:20", EarlyStopping(n_steps=20)),
        ("gr", GeneralizedRidge()),
    ],
)
def test_methods_for_numbers_are_the_estimators_of_the_paper(rng, key, estimator):
    """Bit for bit."""
    method = catalogue.find(key)
    made = method.make()
    assert method.name == type(estimator).__name__
    for _ in range(3):
        X, y = rng.normal(size=(9, 4)), rng.normal(size=9)
        np.testing.assert_array_equal(made.partial_fit(X, y).coef_, estimator.partial_fit(X, y).coef_)
        assert made.intercept_ == estimator.intercept_


def test_the_oracle_of_classes_is_least_squares_on_all_rows(rng):
    """On one column per class that has come so far, by NumPy; a class may come in a later task."""
    y = np.repeat([3.0, 0.0, 7.0], 20)
    X = rng.normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], 20, axis=0)
    oracle = catalogue.find("oracle", "multiclass").make()
    for seen in (20, 40, 60):
        oracle.partial_fit(X[seen - 20 : seen], y[seen - 20 : seen])
        classes = np.unique(y[:seen])
        rows = np.column_stack([np.ones(60), X])
        coef = np.linalg.lstsq(rows[:seen], (y[:seen, None] == classes).astype(float))[0]
        np.testing.assert_array_equal(oracle.predict(X), classes[(rows @ coef).argmax(axis=1)])


def test_slugs_are_safe_in_file_names():
    assert catalogue.find("crr:1/2/3").slug == "crr-1-2-3"
    assert catalogue.resolve([ContinualRidge(0.5)])[0].slug == "ContinualRidge-penalty-0.5"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("grr", r"unknown method 'grr'\. Did you mean gr\? Known methods: mn, es, crr"),
        ("mn:1", "unknown method 'mn:1'"),
        ("crr:", "unknown method 'crr:'"),
        ("crr:-1", "needs numbers ≥ 0 after the colon: crr:0.1, or crr:1/2/3"),
        ("crr:1//2", "needs numbers"),
        ("es:0", "needs a number of steps ≥ 1"),
        ("es:²", "needs a number of steps"),
        ("gr:1/2", "needs numbers ≥ 0 after the colon: gr:1"),
        ("gr:nan", "needs numbers"),
    ],
)
def test_names_that_do_not_exist(key, message):
    with pytest.raises(InvalidParameterError, match=message):
        catalogue.find(key)


@pytest.mark.parametrize("thing", [3.0, None, object(), MinimumNorm, LinearRegression()])
def test_what_cannot_be_a_method_is_named_and_so_is_what_can(thing):
    for use in (lambda: catalogue.resolve([thing]), lambda: catalogue.register("mine", thing)):
        with pytest.raises(InvalidParameterError, match=r"cannot use .* as a method.* Accepted: a name, an estimator"):
            use()
    assert "mine" not in catalogue.known()


def test_a_single_object_and_repeated_methods():
    assert catalogue.resolve(MinimumNorm())[0].key == "MinimumNorm()"
    assert [method.key for method in catalogue.resolve("mn, gr")] == ["mn", "gr"]
    for methods in ([], ["gr", "gr"], [MinimumNorm(), MinimumNorm()]):
        with pytest.raises(InvalidParameterError, match="at least one method, and each one once"):
            catalogue.resolve(methods)


def test_names_that_cannot_be_registered():
    for name in ("", " mine", "a,b"):
        with pytest.raises(InvalidParameterError, match="without commas"):
            catalogue.register(name, MinimumNorm())
    for name in ("mn", "crr", "gr:evidence", "cubic"):
        with pytest.raises(InvalidParameterError, match="Ridgeway's own"):
            catalogue.register(name, MinimumNorm())


def test_registered_methods_are_compared(rng):
    frame = shifted(rng)
    catalogue.register("newest", LastTask(), label="last task", about="nothing")
    catalogue.register("ridge", lambda text: ContinualRidge(float(text or 3)), about="ridge; ridge:λ")
    found = report.compare(frame, **SITES, methods=["mn", "newest", "ridge:0.5", ContinualRidge(0.5), "crr:0.5"])
    assert found["newest"].method.name == "last task"
    # With more rows than features the minimum norm estimator is least squares on the last task.
    np.testing.assert_allclose(found["newest"].losses, found["mn"].losses, rtol=1e-9)
    for key in ("ridge:0.5", "ContinualRidge(penalty=0.5)"):
        np.testing.assert_array_equal(found[key].losses, found["crr:0.5"].losses)
    assert not np.allclose(found["ridge:0.5"].losses, found["mn"].losses)
    assert catalogue.known()["ridge"] == "ridge; ridge:λ"


@pytest.mark.parametrize(("family", "estimator"), LEARNERS.items())
def test_a_registered_policy_gets_the_estimator_of_the_family(family, estimator):
    catalogue.register("mine", weights.Isotropic(2.0), label="my ridge", about="ŵ")
    catalogue.register("ridge", lambda text: weights.Isotropic(float(text)))
    catalogue.register("fixed", ContinualRidge(2.0))
    catalogue.register("any", lambda text: ContinualRidge(float(text)))
    for key in ("mine", "ridge:2"):
        made = catalogue.find(key, family).make()
        assert (type(made).__name__, made.weights.penalty) == (estimator, 2.0)
    for key in ("fixed", "any:2"):  # estimators stay what they are
        assert type(catalogue.find(key, family).make()) is ContinualRidge
    found = catalogue.find("mine", family)
    assert (found.key, found.name, found.about, catalogue.known(family)["mine"]) == ("mine", "my ridge", "ŵ", "ŵ")


def test_a_registered_policy_is_compared_as_the_policy_itself(rng, monkeypatch):
    """In worker processes too, which do not know the name."""
    monkeypatch.setattr("ridgeway.report._method_runs.N_CONTROLS", 2)  # they say nothing about losses
    frame = shifted(rng, n_tasks=3)
    counts = frame.assign(y=rng.poisson(np.exp(0.2 * frame["x2"].clip(-3.0, 3.0))))
    policy = weights.Isotropic(1.0)
    catalogue.register("mine", policy)
    catalogue.register("ridge", lambda text: weights.Isotropic(float(text)))
    methods = ["mine", "ridge:1", policy, "crr"]
    for workers in (1, 2):
        found = report.compare(counts, **SITES, family="poisson", methods=methods, workers=workers)
        for result in found.results[:3]:
            assert type(result.method.make()).__name__ == "GeneralizedPoisson"
            np.testing.assert_array_equal(result.losses, found["crr"].losses)


def test_registering_again_replaces():
    catalogue.register("mine", MinimumNorm())
    catalogue.register("mine", ContinualRidge(2.0))
    assert catalogue.find("mine").make().penalty == 2.0


def test_each_run_starts_with_an_unfitted_copy(rng):
    model = GeneralizedRidge().fit(rng.normal(size=(50, 3)), rng.normal(size=50))
    (method,) = catalogue.resolve([model])
    assert not hasattr(method.make(), "n_features_in_")
    assert model.n_tasks_ == 1
    one, two = method.make(), method.make()
    one.partial_fit([[1.0]], [1.0])
    assert not hasattr(two, "n_features_in_")


def test_predictions_of_a_wrong_shape_are_explained(rng):
    class Column(LastTask):
        def predict(self, X):
            return super().predict(X)[:, np.newaxis]

    with pytest.raises(InvalidDataError, match="one finite number per row"):
        report.compare(shifted(rng, n_tasks=2), **SITES, methods=[Column()])


def test_methods_without_an_estimator_are_refused_before_anything_is_learned(rng):
    from ridgeway.research import simulation

    assert simulation.Setting().n_tasks == 20  # the import registers its methods
    steps = []
    with pytest.raises(InvalidParameterError, match="'crr:best' has no estimator; it is for simulations only"):
        report.compare(shifted(rng), **SITES, methods=["mn", "crr:best"], progress=lambda *step: steps.append(step))
    assert not steps
