"""What is drawn has the law that the setting says, and streams do not disturb each other."""

import numpy as np
import pytest
from scipy import stats

from ridgeway.errors import InvalidDataTypeError, InvalidParameterError
from ridgeway.research.simulation import Setting
from ridgeway.research.simulation._draws import Draws


def drawn(setting, repetition=0, seed=1):
    draws = Draws(setting, seed, repetition)
    tasks = [(design, draws.targets(design)) for design in draws.designs()]
    return draws, tasks


def test_streams_are_apart():
    """Another noise, parameter or noise level leaves the designs as they are; another repetition or seed does not."""
    base = drawn(Setting(2, 3, 4))[1]
    for setting in (Setting(2, 3, 4, noise="laplace"), Setting(2, 3, 4, signal="sparse:1", distance=1.0)):
        for (one, _), (two, _) in zip(base, drawn(setting)[1], strict=True):
            np.testing.assert_array_equal(one.rows, two.rows)
    for other in (drawn(Setting(2, 3, 4), repetition=1), drawn(Setting(2, 3, 4), seed=2)):
        assert not np.isin(other[1][0][0].rows, base[0][0].rows).any()


def test_rows_have_their_covariance():
    matrix = np.array([[2.0, 0.8, 0.0], [0.8, 1.0, 0.3], [0.0, 0.3, 0.5]])
    diagonal = np.array([4.0, 0.0, 1.0])
    setting = Setting(2, 40_000, 3, covariance=[matrix, np.diag(diagonal)])
    _, ((one, _), (two, _)) = drawn(setting)
    np.testing.assert_allclose(one.rows.T @ one.rows / 40_000, matrix, atol=0.05)
    np.testing.assert_allclose(two.rows.T @ two.rows / 40_000, np.diag(diagonal), atol=0.1)
    assert (two.rows[:, 1] == 0.0).all()


def test_the_paper_shift_is_rare_and_large():
    draws, _ = drawn(Setting(30, 1, 2000, shift="paper"))
    variances = np.array([root**2 for root in draws._roots])
    assert set(np.unique(variances.round(9))) == {1.0, 100.0}
    assert np.mean(variances > 1.0) == pytest.approx(0.01, abs=0.002)
    np.testing.assert_allclose(draws.directions[0], variances.sum(axis=0))


def test_rotations_turn_each_task():
    spectrum = np.array([5.0, 2.0, 0.0])
    draws, _ = drawn(Setting(3, 2, 3, covariance=spectrum, rotate=True))
    covariances = [root.T @ root for root in draws._roots]
    for covariance in covariances:
        np.testing.assert_allclose(np.linalg.eigvalsh(covariance), spectrum[::-1], atol=1e-12)
    one, two, _ = covariances
    assert np.abs(one @ two - two @ one).max() > 0.1
    values, vectors = draws.directions
    np.testing.assert_allclose((vectors * values) @ vectors.T, 2 * sum(covariances), atol=1e-12)


def test_orders():
    spectra = np.array([[1.0, 1.0], [9.0, 9.0], [3.0, 3.0]])

    def first_variances(order, n_samples=4):
        draws, tasks = drawn(Setting(3, n_samples, 2, covariance=spectra, order=order))
        return [draws._roots[visit][0] ** 2 for visit in draws.visits], [design.n_samples for design, _ in tasks]

    assert first_variances("given")[0] == pytest.approx([1.0, 9.0, 3.0])
    assert first_variances("repeated:2")[0] == pytest.approx([1.0, 9.0, 1.0])
    assert first_variances((3, 3, 1))[0] == pytest.approx([3.0, 3.0, 1.0])
    assert first_variances("adversarial")[0] == pytest.approx([9.0, 3.0, 1.0])
    found, sizes = first_variances("adversarial", [100, 1, 2])
    assert found == pytest.approx([1.0, 9.0, 3.0])
    assert sizes == [100, 1, 2]
    found, sizes = first_variances("adversarial", [1, 1, 100])
    assert found == pytest.approx([3.0, 9.0, 1.0])
    assert sizes == [100, 1, 1]


@pytest.mark.parametrize("law", ["gaussian", "laplace", "t:5", "heteroscedastic"])
def test_noise_has_unit_variance_and_its_law(law):
    _, ((design, targets),) = drawn(Setting(1, 60_000, 2, noise=law))
    noise = targets[:, 1]
    assert noise.mean() == pytest.approx(0.0, abs=0.03)
    assert noise.var() == pytest.approx(1.0, rel=0.06)
    reference = {
        "gaussian": stats.norm(),
        "laplace": stats.laplace(scale=np.sqrt(0.5)),
        "t:5": stats.t(5, scale=np.sqrt(3 / 5)),
    }
    for name, distribution in reference.items():
        agrees = stats.kstest(noise, distribution.cdf).pvalue > 1e-3
        assert agrees == (name == law)
    if law == "heteroscedastic":
        large = np.abs(design.rows[:, 0]) > 1.0
        assert noise[large].var() > 4.0 * noise[~large].var()
        assert noise[large].var() == pytest.approx(np.mean(design.noise_scales[large] ** 2), rel=0.05)


def test_parameters():
    draws, tasks = drawn(Setting(3, 8, 6, distance=0.5))
    coefs = [np.linalg.lstsq(design.rows, targets[:, 0])[0] for design, targets in tasks]
    assert [np.linalg.norm(coef - draws.true_coef) for coef in coefs] == pytest.approx([0.5] * 3)
    assert np.linalg.norm(coefs[0] - coefs[1]) > 0.1
    sparse = [drawn(Setting(1, 1, 50, signal="sparse:5"), repetition=k)[0].true_coef for k in range(400)]
    assert {np.count_nonzero(coef) for coef in sparse} == {5}
    assert np.mean(np.square(sparse)) == pytest.approx(1.0, rel=0.1)
    assert (np.count_nonzero(sparse, axis=0) > 10).all()


def sums(setting, repetitions):
    """XᵀX, Xᵀε and εᵀε of one task, flattened, in many repetitions."""
    found = []
    for k in range(repetitions):
        _, ((design, targets),) = drawn(setting, repetition=k)
        X, noise = design.rows, targets[:, 1]
        found.append(
            np.concatenate(
                [(X.T @ X)[np.triu_indices(3)], X.T @ noise, [noise @ noise], [(X.T @ noise) @ (X.T @ noise)]]
            )
        )
    return np.array(found)


MATRIX = np.array([[2.0, 0.8, 0.0], [0.8, 1.0, 0.3], [0.0, 0.3, 0.5]])


def differing(one, two):
    """The smallest p-value over the coordinates, and over their pairwise products, of two samples."""

    def moments(sample):
        return np.hstack([sample] + [sample[:, [i]] * sample[:, i:] for i in range(sample.shape[1])])

    return min(stats.ks_2samp(a, b).pvalue for a, b in zip(moments(one).T, moments(two).T, strict=True))


def test_statistics_have_the_law_of_rows():
    """Entries and products of pairs of entries of XᵀX, Xᵀε and εᵀε, against rows that were drawn."""
    rows = sums(Setting(1, 7, 3, covariance=MATRIX), 3000)
    statistics = sums(Setting(1, 7, 3, covariance=MATRIX, statistics=True), 3000)
    assert differing(rows, statistics) > 1e-5
    wrong = sums(Setting(1, 8, 3, covariance=MATRIX, statistics=True), 3000)
    assert differing(rows, wrong) < 1e-8


def test_statistics_are_few_rows():
    _, tasks = drawn(Setting(3, [3, 4, 5000], 4, statistics=True))
    assert [len(design.rows) for design, _ in tasks] == [3, 4, 5]
    assert [design.n_samples for design, _ in tasks] == [3, 4, 5000]
    _, ((design, _),) = drawn(Setting(1, 9, 4, statistics=True, covariance=np.outer(np.arange(4), np.arange(4))))
    assert np.linalg.matrix_rank(design.rows) == 1
    _, ((design, _),) = drawn(Setting(1, 9, 4, covariance=np.zeros((1, 4, 4))))
    assert not design.rows.any()


BAD = {
    "n_tasks must be an integer ≥ 1": {"n_tasks": 0},
    "n_tasks must be": {"n_tasks": True},
    "n_features must be": {"n_features": 2.5},
    "each of n_samples must be": {"n_samples": [5, 0, 5]},
    "n_samples has 2 entries": {"n_samples": [5, 5]},
    "numbers in memory": {"n_samples": 10**9},
    "noise_variance must be a finite number ≥ 0; got -1": {"noise_variance": -1},
    "noise_variance must be a finite": {"noise_variance": float("nan")},
    "noise_variance must be a finite number ≥ 0; got 'loud'": {"noise_variance": "loud"},
    "noise_variance must have at least one": {"noise_variance": []},
    "each one once": {"noise_variance": [1.0, 1.0]},
    "shift must be one of none, paper": {"shift": "sideways"},
    "not both": {"shift": "paper", "covariance": np.ones(4)},
    "covariance is ragged": {"covariance": [[1.0], [1.0, 2.0]]},
    "covariance contains NaN or infinity": {"covariance": np.full(4, np.inf)},
    "covariance must hold real numbers": {"covariance": ["a"] * 4},
    "covariance has shape": {"covariance": np.ones(5)},
    "a negative variance, -1": {"covariance": [1.0, -1.0, 1.0, 1.0]},
    "not symmetric": {"covariance": np.triu(np.ones((4, 4)))},
    "not positive semidefinite": {"covariance": np.ones((4, 4)) - np.eye(4)},
    "covariance 2 is not positive": {"covariance": [np.eye(4), -np.eye(4), np.eye(4)]},
    "signal must be": {"signal": "sparse:5"},
    "signal must be dense": {"signal": 7},
    "noise must be": {"noise": "t:2"},
    "noise must be gaussian": {"noise": "t:many"},
    "distance must be": {"distance": -0.1},
    "order must be": {"order": "repeated:0"},
    "3 numbers from 1 to 3": {"order": [1, 2, 4]},
    "order must be given": {"order": 3},
    "rotate must be True or False": {"rotate": 1},
    "statistics must be True": {"statistics": "yes"},
    "requires gaussian noise": {"statistics": True, "noise": "laplace"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_settings_say_what_is_wrong(message):
    with pytest.raises((InvalidParameterError, InvalidDataTypeError), match=message):
        Setting(**{"n_tasks": 3, "n_samples": 5, "n_features": 4, **BAD[message]})


def test_a_square_covariance_with_as_many_tasks_is_ambiguous():
    with pytest.raises(InvalidParameterError, match="could be one matrix or a diagonal per task"):
        Setting(4, 5, 4, covariance=np.eye(4))
    assert Setting(4, 5, 4, covariance=np.eye(4)[np.newaxis]).covariance.shape == (1, 4, 4)


@pytest.mark.parametrize(
    "setting",
    [
        Setting(),
        Setting(
            3, [1, 2, 3], 4, [1, 0.1], rotate=True, signal="sparse:2", noise="t:3.5", distance=0.1, order=(1, 1, 2)
        ),
        Setting(3, 2, 2, covariance=[[2.0, 0.1], [0.1, 1 / 3]], order="repeated:2"),
    ],
)
def test_settings_survive_json(setting):
    import json

    again = Setting.from_dict(json.loads(json.dumps(setting.as_dict())))
    assert again == setting
    assert hash(again) == hash(setting)
    assert again != Setting(3, 2, 2)
    assert setting != "a setting"
