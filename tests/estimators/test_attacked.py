"""What people who tried to break it found."""

import numpy as np
import pytest

from ridgeway import GeneralizedRidge, MinimumNorm, catalogue, datasets, report, weights
from ridgeway.errors import InvalidDataError, InvalidDataTypeError, InvalidParameterError
from ridgeway.research import simulation, theory

rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 3)), rng.normal(size=40)


@pytest.mark.parametrize("table", [[[1.0, 2.0]], np.ones((5, 2)), np.zeros((5, 2))], ids=["one row", "ones", "zeros"])
@pytest.mark.parametrize("model", [GeneralizedRidge(), GeneralizedRidge(fit_intercept=False), MinimumNorm()], ids=repr)
@pytest.mark.filterwarnings("ignore::ridgeway.errors.PrecisionWarning")
def test_lapack_prints_nothing(model, table, capfd):
    assert np.isfinite(model.fit(table, np.arange(float(len(table)))).coef_).all()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("n", [1, 40, 5000])
@pytest.mark.parametrize("value", [1e151, 1e200])
def test_huge_values_are_refused_though_they_do_not_vary(kind, n, value):
    table = rng.normal(size=(n, 3))
    table[:, 1] = value
    with pytest.raises(InvalidDataError, match="squares overflow"):
        GeneralizedRidge(information=kind).partial_fit(table, np.ones(n))


GAINS = {
    "complex": lambda rows: 1j * np.linalg.pinv(rows.X),
    "one row": lambda rows: np.ones((1, len(rows.X))),
    "transposed": lambda rows: rows.X,
    "NaN": lambda rows: np.full(rows.X.shape[::-1], np.nan),
    "nothing": lambda rows: None,
    "text": lambda rows: "gain",
}


class Given(weights.DesignPolicy):
    def __init__(self, name="complex"):
        self.name = name

    def gain(self, memory, rows):
        return GAINS[self.name](rows)


@pytest.mark.parametrize("name", GAINS)
def test_a_gain_that_is_nonsense_is_refused_everywhere(name):
    policy, errors = Given(name), (InvalidParameterError, InvalidDataTypeError)
    with pytest.raises(errors, match="gain of the policy"):
        GeneralizedRidge(policy).fit(X, y)
    with pytest.raises(errors, match="gain of the policy"):
        theory.FixedDesignProblem([X], noise_variance=1.0, signal=1.0).expected_error(policy)
    setting = simulation.Setting(n_tasks=2, n_samples=9, n_features=4, noise_variance=1.0)
    with pytest.raises(errors, match="gain of the policy"):
        simulation.run(setting, [policy], 2)


@pytest.mark.parametrize("weight", [None, [[1.0], [1.0, 2.0]], "H", [1j, 1.0, 1.0], -1.0, [1.0], np.nan])
def test_a_weight_that_is_nonsense_is_refused(weight):
    class Returned(weights.PenaltyPolicy):
        def weight(self, memory, rows):
            return weight

    with pytest.raises((InvalidParameterError, InvalidDataTypeError), match="weight H_t of the policy"):
        GeneralizedRidge(Returned()).fit(X, y)


def test_a_complex_prior_is_refused():
    with pytest.raises(InvalidParameterError, match="each entry of the prior"):
        GeneralizedRidge(weights.Accumulated(prior=np.array([5j] * 3))).fit(X, y)


@pytest.mark.parametrize("name", ["gr", 3, "", " a", "a,b"])
def test_names_that_cannot_be_registered(name):
    with pytest.raises(InvalidParameterError):
        catalogue.register(name, MinimumNorm())


def test_predictions_that_are_not_finite_are_no_result():
    class Diverged(MinimumNorm):
        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(InvalidDataError, match="not finite"):
        report.compare(datasets.load_penguins(), methods=[Diverged()])
