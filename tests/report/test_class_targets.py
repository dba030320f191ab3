"""Comparisons of classes and counts: against scikit-learn and by hand, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from report.tables import numbers_in, opened
from runner import CliRunner
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeClassifier
from sklearn.metrics import accuracy_score, log_loss, mean_poisson_deviance
from sklearn.naive_bayes import GaussianNB

from ridgeway import ContinualRidge, datasets, report, weights
from ridgeway.cli._commands import commands
from ridgeway.errors import InvalidDataError, InvalidParameterError
from ridgeway.report._encoded_rows import encode
from ridgeway.report._figures import draw_all
from ridgeway.report._tasks import Tasks, label_rows, running_constants

FEATURES = ["x1", "x2", "kind"]


def sites(rng, n_tasks=4, n=80):
    """Tasks whose features differ, with a class, three species and a count."""
    frames = []
    for task in range(n_tasks):
        x, kind = rng.normal(loc=task - 1.5, size=(n, 2)), rng.choice(["a", "b"], n)
        eta = x @ [1.2, -0.8] + 0.8 * (kind == "b") - 0.3
        columns = {"site": f"s{task}", "x1": x[:, 0], "x2": x[:, 1], "kind": kind}
        columns["late"] = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-eta)), "yes", "no")
        columns["species"] = np.array(["ash", "elm", "oak"])[np.digitize(eta + rng.normal(size=n), [-1.0, 1.0])]
        columns["half"] = 0.5 * rng.integers(0, 4, n)
        columns["count"] = rng.poisson(np.exp(0.4 * eta))
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(autouse=True)
def _few_controls(monkeypatch):
    """Chance is not what these tests are about, and 19 controls take their time."""
    monkeypatch.setattr("ridgeway.report._method_runs.N_CONTROLS", 3)


@pytest.fixture
def frame(rng):
    return sites(rng)


def split(data, target, task_column, features=FEATURES, family=None, seed=0):
    """Return standardised rows and targets as the comparison has them: those learned and held out, task by task."""
    found = encode(opened(data), target, [task_column], features, family=family)
    rng = np.random.default_rng(seed)
    tasks = Tasks.split(*label_rows(found.labels, found.kept, "file", rng), 0.2, rng)
    center, scale = running_constants(found.rows, tasks.train)
    flags = ["=" in name for name in found.encoding.features]  # the 0/1 columns of a category stay as they are
    X = np.where(flags, found.rows[:, :-1], (found.rows[:, :-1] - center[:-1]) / scale[:-1])
    y = found.rows[:, -1]
    return [[(X[part], y[part]) for part in parts] for parts in (tasks.train, tasks.test)]


def pooled_rows(parts):
    return (np.concatenate(part) for part in zip(*parts, strict=True))


@pytest.fixture(scope="module")
def digits():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ridgeway.report._method_runs.N_CONTROLS", 3)
        return report.compare(datasets.load_digits(), methods=["crr:100", "gr", "lda:0.01"])


def test_digits_one_after_another(digits):
    """The paper's estimators forget all classes but the last; the pooled answer is scikit-learn's to the last row."""
    assert digits.family == "multiclass"
    assert digits.classes == tuple(map(str, range(10)))
    assert [task.name for task in digits.tasks] == list(digits.classes)
    assert digits.family_sentence == (
        "The target digit has 10 classes (family multiclass), because it names the tasks."
    )
    crr, gr = digits["crr:100"], digits["gr"]
    assert crr.forgets
    assert not gr.forgets
    assert crr.forgetting > 0.9
    assert crr.accuracy == pytest.approx(0.1, abs=0.02)
    train, test = split(datasets.load_digits(), "digit", "digit", features=None)
    peer = RidgeClassifier(alpha=1e-9)
    for t in (4, 9):
        peer.fit(*pooled_rows(train[: t + 1]))
        expected = [1.0 - accuracy_score(y, peer.predict(X)) for X, y in test]
        np.testing.assert_allclose(gr.losses[t], expected, atol=1e-12)
    assert gr.accuracy == pytest.approx(1.0 - np.mean(expected))
    assert f"{gr.accuracy:.1%}".replace("%", " %") in digits.sentence
    assert f"forgot {100 * crr.forgetting:.0f} points of accuracy" in digits.sentence


def test_what_classes_show(digits, tmp_path):
    """Accuracies in every place, with the sign that belongs to them."""
    folder = report.write_report(digits, tmp_path / "r").parent
    summary = pd.read_csv(folder / "summary.csv").set_index("method")
    assert summary.loc["gr", "average_accuracy"] == digits["gr"].accuracy
    assert summary.loc["crr:100", "accuracy_when_learned"] > 0.9 > 0.2 > summary.loc["crr:100", "accuracy_at_the_end"]
    assert summary.loc["crr:100", "forgetting"] == -summary.loc["crr:100", "backward_transfer"] > 0.9
    assert np.isnan(summary.loc[["crr:100", "gr"], "log_loss"]).all()
    assert summary.loc["lda:0.01", "log_loss"] == digits["lda:0.01"].log_loss
    assert "average_loss" not in summary
    losses = numbers_in(folder / "losses.csv")
    gr = losses[losses["method"] == "gr"].pivot(index="after", columns="on", values="accuracy")
    np.testing.assert_array_equal(gr, 1.0 - digits["gr"].losses)
    orders = pd.read_csv(folder / "orders.csv")
    assert orders["average_accuracy"].between(0.0, 1.0).all()
    manifest = json.loads((folder / "comparison.json").read_text())
    assert (manifest["family"], manifest["measure"], manifest["classes"][3]) == ("multiclass", "accuracy", "3")
    page = (folder / "index.html").read_text()
    for words in (
        "The accuracy on every task after every task",
        "Dark means a low accuracy",
        "fell by at least 5 points more",
        ">log-loss</th>",
        "Classes: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9.",
        "Numeric columns are standardised",
    ):
        assert words in page
    for words in ("root mean squared", "unit of", "mean of the target"):
        assert words not in page
    svg = (folder / "figures" / "forgetting.svg").read_text(encoding="utf-8")
    assert f"−{100 * digits['crr:100'].forgetting:.0f} points" in svg


def test_two_classes_are_logistic_regression(frame):
    found = report.compare(frame, target="late", task_column="site", features=FEATURES, methods=["last", "cubic"])
    assert found.family == "binomial"
    assert found.family_sentence.endswith("2 classes (family binomial), because it is text.")
    train, test = split(frame, "late", "site")
    peer = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(*pooled_rows(train))
    expected = [accuracy_score(y, peer.predict(X)) for X, y in test]
    oracle = found["oracle"]
    np.testing.assert_allclose(1.0 - oracle.losses[-1], expected)
    scores = [log_loss(y, peer.predict_proba(X), labels=[0.0, 1.0]) for X, y in test]
    np.testing.assert_allclose(oracle.log_losses[-1], scores, rtol=1e-5)
    row = oracle.as_dict()
    assert row["log_loss"] == pytest.approx(np.mean(scores), rel=1e-5)
    assert row["deviance"] == 2.0 * row["log_loss"]
    assert row["deviance_forgetting"] == pytest.approx(
        2.0 * np.mean(oracle.log_losses[-1, :-1] - np.diag(oracle.log_losses)[:-1])
    )
    alone = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(*train[1])
    np.testing.assert_allclose(1.0 - found["last"].losses[1], [accuracy_score(y, alone.predict(X)) for X, y in test])
    assert found["cubic"].distance < 0.05 < found["last"].distance
    assert abs(found["cubic"].log_loss - oracle.log_loss) < 0.01 < found["last"].log_loss - oracle.log_loss
    most = max((0.0, 1.0), key=lambda label: sum((y == label).sum() for _, y in train))
    np.testing.assert_allclose(oracle.baseline, [np.mean(y != most) for _, y in test])


def test_counts_are_poisson_regression(frame):
    options = {"target": "count", "task_column": "site", "features": FEATURES, "family": "poisson"}
    found = report.compare(frame, **options, methods=["last", "crr:0.1", "quadratic", "cubic"])
    train, test = split(frame, "count", "site", family="poisson")
    n_rows = sum(len(y) for _, y in train)
    peer = PoissonRegressor(alpha=1.0 / n_rows, tol=1e-10, max_iter=1000).fit(*pooled_rows(train))
    expected = [mean_poisson_deviance(y, peer.predict(X)) for X, y in test]
    np.testing.assert_allclose(found["oracle"].losses[-1], expected, rtol=1e-4)
    mean = np.mean(np.concatenate([y for _, y in train]))
    nothing = [mean_poisson_deviance(y, np.full(len(y), mean)) for _, y in test]
    np.testing.assert_allclose(found["oracle"].baseline, nothing)
    assert found["cubic"].distance < found["quadratic"].distance < found["crr:0.1"].distance < found["last"].distance
    assert found.measure.name == "deviance"
    assert "with a deviance of" in found.sentence
    assert "deviance per row" in [*draw_all(found)][1][2].axes[0].get_ylabel()


def test_a_family_can_be_chosen(frame):
    options = {"task_column": "site", "features": FEATURES, "methods": ["gr"]}
    found = report.compare(frame, target="late", family="multiclass", **options)
    assert found["gr"].method.name == "GeneralizedRidgeClassifier"
    assert found["gr"].distance == 0.0
    numbers = frame.assign(late=(frame["late"] == "yes").astype(int))
    assert report.compare(numbers, target="late", **options).family == "gaussian"
    assert report.compare(numbers, target="late", family="binomial", **{**options, "methods": ["last"]}).classes == (
        *("0", "1"),
    )
    bools = frame.assign(late=frame["late"] == "yes")
    assert report.compare(bools, target="late", **{**options, "methods": ["last"]}).classes == ("false", "true")
    three = report.compare(frame, target="species", **options)
    assert (three.family, three.classes) == ("multiclass", ("ash", "elm", "oak"))


def test_two_classes_that_arrive_one_after_another(frame):
    """A likelihood cannot learn a class alone, so least squares is chosen, and the reason is said."""
    found = report.compare(frame, target="late", task_column="late", features=FEATURES, methods=["gr"])
    assert found.family == "multiclass"
    assert found.family_reason.startswith("it names the tasks, and task ")
    assert found.family_reason.endswith(" has one class only")


def test_classifiers_and_policies_of_ones_own(frame):
    options = {"target": "species", "task_column": "site", "features": FEATURES}
    found = report.compare(frame, **options, methods=[GaussianNB(), weights.Isotropic(0.5), "crr:0.5", "lda:0.1"])
    train, test = split(frame, "species", "site")
    pooled = GaussianNB()
    for X, y in train:
        pooled.partial_fit(X, y, classes=[0.0, 1.0, 2.0])
    own = found["GaussianNB()"]
    np.testing.assert_allclose(1.0 - own.losses[-1], [accuracy_score(y, pooled.predict(X)) for X, y in test])
    scores = [log_loss(y, pooled.predict_proba(X), labels=[0.0, 1.0, 2.0]) for X, y in test]
    np.testing.assert_allclose(own.log_losses[-1], scores, rtol=1e-9)
    np.testing.assert_array_equal(found["Isotropic(penalty=0.5)"].losses, found["crr:0.5"].losses)
    assert found["lda:0.1"].order_distance < 0.02
    assert not found["lda:0.1"].forgets
    with pytest.raises(InvalidDataError, match=r"ContinualRidge: the predictions are not classes. Pass classifiers"):
        report.compare(frame, **options, methods=[ContinualRidge()])


def changed(frame, column, values):
    made = frame.copy()
    made.loc[: len(values) - 1, column] = values
    return made


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda f: f, {"target": "site"}, None),
        (lambda f: f, {"target": "site", "family": "poisson"}, "cannot name the task too, unless it is a class"),
        (lambda f: f, {"target": "species", "family": "binomial"}, "has 3 classes .*'binomial' is for two. Use 'multi"),
        (lambda f: f, {"target": "half", "family": "multiclass"}, "values that are not labels of classes. Classes are"),
        (lambda f: f, {"target": "half", "family": "poisson"}, "counts are whole numbers ≥ 0. Use family 'gaussian'"),
        (lambda f: f, {"target": "late", "family": "poisson"}, "the target 'late' is text .*this family needs numbers"),
        (lambda f: changed(f, "count", [-1]), {"target": "count", "family": "poisson"}, "'count' has -1; counts are"),
        (lambda f: f.assign(late="yes"), {"target": "late"}, "'late' is 'yes' in every row: there is nothing to learn"),
        (
            lambda f: f.assign(late=range(len(f))),
            {"target": "late", "family": "multiclass"},
            "the limit is 200 classes",
        ),
        (lambda f: f.assign(late=["n/k", *range(len(f) - 1)]).astype({"late": str}), {"target": "late"}, "n/k"),
        (
            lambda f: changed(f, "late", ["no"] * 80),
            {"target": "late", "family": "binomial"},
            "'s0' has one class only",
        ),
        (
            lambda f: changed(f, "count", [0] * 80),
            {"target": "count", "family": "poisson"},
            "'s0' has no count above 0 among its rows to learn from",
        ),
        (lambda f: f, {"target": "late", "methods": ["mn"]}, "unknown method 'mn'.* for a binomial target: last, crr"),
        (lambda f: f, {"target": "species", "methods": ["lda:2"]}, "one shrinkage up to 1"),
        (lambda f: f, {"target": "species", "methods": ["quadratic:x"]}, "quadratic:0.1, one prior"),
    ],
)
def test_targets_that_are_refused(rng, change, options, message):
    chosen = {"task_column": "site", "features": FEATURES, **options}
    if "methods" not in chosen:
        chosen["methods"] = ["oracle"]
    if message is None:
        assert report.compare(change(sites(rng)), **chosen).family == "multiclass"
    else:
        with pytest.raises((InvalidDataError, InvalidParameterError, TypeError), match=message):
            report.compare(change(sites(rng)), **chosen)


def test_rare_classes_cannot_be_dealt_at_random():
    """Each task has one row of the rarer class; a random deal of 30 tasks leaves some without."""
    rng, n = np.random.default_rng(0), 30 * 20
    rows = {"site": np.repeat(np.arange(30), 20), "x": rng.normal(size=n), "y": np.arange(n) % 20 < 2}
    with pytest.raises(InvalidDataError, match=r"too few rows of the rarer class|one class only"):
        report.compare(rows, target="y", task_column="site", family="binomial", methods=["last"])


def test_wide_tables_have_no_cubic_memory_unless_it_is_named():
    from ridgeway.report._comparison import contenders_of

    assert [method.key for method in contenders_of(None, "poisson", 60)[0]][3] == "cubic"
    assert "cubic" not in [method.key for method in contenders_of(None, "poisson", 61)[0]]
    assert [method.key for method in contenders_of(["cubic"], "poisson", 61)[0]] == ["cubic", "oracle"]


def test_the_command(frame, tmp_path, blank_figures):
    path, out = tmp_path / "my.csv", tmp_path / "r"
    frame.to_csv(path, index=False)
    shared = ("compare", path, "--task-column", "site", "--features", "x1,x2,kind", "--out", out)

    def run(*options):
        return CliRunner().invoke(commands, [*map(str, (*shared, *options))])

    shown = run("--target", "species", "--methods", "mn,gr")
    assert shown.exit_code == 0, shown.output
    assert "The target species has 3 classes (family multiclass), because it is text." in shown.stdout
    assert "log-loss" in shown.stdout
    found = run("--target", "count", "--family", "poisson", "--methods", "last,cubic", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["family"] == "poisson"
    refused = run("--target", "species", "--family", "binomial")
    assert refused.exit_code == 2
    assert "Use 'multiclass'." in refused.stderr


def test_a_target_of_numbers_says_why_it_is_taken_for_numbers(frame):
    inferred = report.compare(frame, target="half", task_column="site", features=["x1"], methods="crr")
    assert inferred.family_sentence == (
        "The target half has numbers (family gaussian), because it is neither text nor boolean."
    )


def test_a_hidden_class_is_not_warned_of_after_every_task(rng):
    """Its accuracy is in the table: least squares misses the middle one of three classes, discriminants do not."""
    kinds = np.tile(np.repeat(["a", "b", "c"], 40), 4)
    frame = pd.DataFrame({"x": rng.normal(size=480) + 6.0 * (kinds == "b") + 12.0 * (kinds == "c"), "kind": kinds})
    frame["site"] = np.repeat(["n", "e", "s", "w"], 120)
    found = report.compare(frame, target="kind", task_column="site", methods=["gr", "lda"])
    assert [result.warned for result in found.results] == [()] * len(found.results)
