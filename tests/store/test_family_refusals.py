"""Bad classes and counts in a state file: a typed error that says what to do, and not a byte changed."""

import numpy as np
import pandas as pd
import pytest
from store.families import FEATURES, KINDS, PRIOR, answers, classes, classifier, counts, logistic, poisson, same_bits
from store.tables import written

from ridgeway import store
from ridgeway.errors import (
    InferenceError,
    InvalidDataError,
    InvalidDataTypeError,
    InvalidParameterError,
    MergeError,
    RemovalError,
    SeparationError,
    StoreError,
)
from ridgeway.store import _generations

NAMES = {"features": FEATURES, "target": "kind"}


@pytest.fixture
def made(tmp_path):
    """Return a function that makes a file of a family with one task."""

    def make(kind, **settings):
        rows, _, chosen = KINDS[kind]
        file = store.create(tmp_path / f"{kind}.rw", **NAMES, **{"prior": PRIOR} | chosen | settings)
        file.absorb("0", *rows(0))
        return file

    return make


def refused(file, error, match, call):
    before = file.path.read_bytes()
    with pytest.raises(error, match=match):
        call()
    assert file.path.read_bytes() == before
    file.check()


OTHER_LABELS = {
    "numbers": (lambda y: np.arange(len(y)) % 2, "labels that are whole numbers.*the classes so far are text"),
    "bools": (lambda y: y == y[0], "labels that are bools.*the classes so far are text"),
    "probabilities": (
        lambda y: np.linspace(0.0, 1.0, len(y)),
        "labels that are whole numbers|not the label of a class",
    ),
    "dates": (lambda y: pd.date_range("2020-01-01", periods=len(y)), "text, whole numbers or bools"),
}


@pytest.mark.parametrize("kind", ["binomial", "multiclass"])
@pytest.mark.parametrize("what", OTHER_LABELS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", None])
def test_labels_of_another_type_in_a_later_task(made, tmp_path, kind, what, suffix):
    X, y = KINDS[kind][0](1)
    change, match = OTHER_LABELS[what]
    file, labels = made(kind), change(y)
    errors = (InvalidDataError, InvalidDataTypeError)
    if suffix is None:
        match = "Unknown label type|labels that are|not the label"
        refused(file, errors, match, lambda: file.absorb("1", X, labels))
        return
    path = written(pd.DataFrame(X, columns=FEATURES).assign(kind=labels), tmp_path / f"1{suffix}")
    refused(file, errors, match, lambda: file.absorb_table(path, task_id="1"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_text_where_classes_are_numbers(tmp_path, suffix):
    file = store.create(tmp_path / "a.rw", **NAMES, family="multiclass")
    X, y = answers(0)
    file.absorb("0", X, (y == "yes").astype(int))
    path = written(pd.DataFrame(X, columns=FEATURES).assign(kind=y), tmp_path / f"1{suffix}")
    refused(file, InvalidDataError, "labels that are text", lambda: file.absorb_table(path, task_id="1"))


def test_numerals_are_text_if_the_classes_are(tmp_path):
    """A CSV file does not say whether 7 is text: it is, if the classes so far are text and some are numbers."""
    file = store.create(tmp_path / "a.rw", **NAMES, family="multiclass")
    X, _ = answers(0)
    file.absorb("0", X, np.array(["7", "7a"])[np.arange(len(X)) % 2])
    path = written(pd.DataFrame(X + 1.0, columns=FEATURES).assign(kind=7), tmp_path / "1.csv")
    file.absorb_table(path, task_id="1")
    assert file.schema.family.classes == ("7", "7a")


@pytest.mark.parametrize("kind", ["binomial", "multiclass"])
def test_probabilities_as_the_first_labels(tmp_path, kind):
    X, y = answers(0)
    frame = pd.DataFrame(X, columns=FEATURES).assign(kind=np.linspace(0.0, 1.0, len(X)))
    file = store.create(tmp_path / "a.rw", **NAMES, family=kind)
    for table in (frame, written(frame, tmp_path / "a.csv"), written(frame, tmp_path / "a.parquet")):
        refused(
            file,
            InvalidDataError,
            "not the label of a class",
            lambda table=table: file.absorb_table(table, task_id="0"),
        )
    refused(file, InvalidDataError, "not the label of a class", lambda: file.absorb("0", X, frame["kind"]))
    assert file.schema.family.classes == ()
    file.absorb("0", X, y)


@pytest.mark.parametrize("kind", ["binomial", "multiclass"])
def test_missing_labels(made, tmp_path, kind):
    X, y = KINDS[kind][0](1)
    gaps = pd.Series(y, dtype=object).where(np.arange(len(y)) != 3)
    file = made(kind)
    refused(file, InvalidDataError, "missing label", lambda: file.absorb("1", X, gaps))
    frame = pd.DataFrame(X, columns=FEATURES).assign(kind=gaps)
    refused(
        file, InvalidDataError, "'kind' has at least 1 missing value", lambda: file.absorb_table(frame, task_id="1")
    )


def test_a_third_class(made):
    file = made("binomial")
    X, y = answers(1)
    match = "third class: 'maybe', 'no', 'yes'.*family multiclass"
    refused(file, InvalidDataError, match, lambda: file.absorb("1", X, np.where(y == "no", "maybe", y)))


def test_a_first_task_of_one_class(tmp_path):
    X, _ = answers(0)
    y = np.full(len(X), "no")
    file = store.create(tmp_path / "a.rw", **NAMES, family="binomial", prior=PRIOR)
    refused(file, InvalidDataError, "only one class so far, 'no'.*the other class", lambda: file.absorb("0", X, y))
    several = store.create(tmp_path / "b.rw", **NAMES, family="multiclass", prior=PRIOR)
    several.absorb("0", X, y)
    assert same_bits(several.model(), classifier("square_root").partial_fit(X, y))
    assert several.predict(pd.DataFrame(X, columns=FEATURES)).to_pydict() == {"predicted_kind": ["no"] * len(X)}


def test_a_later_task_of_one_class_and_a_class_of_one_row(made):
    file, model = made("binomial"), logistic("quadratic").partial_fit(*answers(0))
    X, y = answers(1)
    y = np.full(len(X), "no", dtype=object)
    file.absorb("1", X, y)
    y[0] = "yes"
    file.absorb("2", X, y)
    model.partial_fit(X, np.full(len(X), "no")).partial_fit(X, y)
    assert same_bits(file.model(), model)
    several, other = made("multiclass"), classifier("square_root").partial_fit(*classes(0))
    y[0] = "gnu"
    several.absorb("1", X, y)
    assert same_bits(several.model(), other.partial_fit(X, y))


def test_separated_classes_need_a_prior(tmp_path):
    X, _ = answers(0)
    y = np.where(X[:, 0] > 0.0, "yes", "no")
    file = store.create(tmp_path / "a.rw", **NAMES, family="binomial")
    refused(
        file, SeparationError, "task '0': .*has no maximum.*Give a prior.*--prior 1", lambda: file.absorb("0", X, y)
    )
    frame = pd.DataFrame(X, columns=FEATURES).assign(kind=y)
    refused(file, SeparationError, "Give a prior", lambda: file.absorb_table(frame, task_id="0"))
    held = store.create(tmp_path / "b.rw", **NAMES, family="binomial", prior=PRIOR)
    held.absorb("0", X, y)
    assert same_bits(held.model(), logistic("quadratic").partial_fit(X, y))


def test_negative_and_fractional_counts(made):
    file = made("poisson")
    X, y = counts(1)
    refused(file, InvalidDataError, "counts ≥ 0; got -1", lambda: file.absorb("1", X, y - 1.0))
    frame = pd.DataFrame(X, columns=FEATURES)
    refused(file, InvalidDataError, "≥ 0", lambda: file.absorb_table(frame.assign(kind=y - 1.0), task_id="1"))
    text = frame.assign(kind="many")
    refused(file, InvalidDataTypeError, "'kind' has type large_string", lambda: file.absorb_table(text, task_id="1"))
    file.absorb("1", X, y / 2.0)  # rates
    assert same_bits(file.model(), poisson("quadratic").partial_fit(*counts(0)).partial_fit(X, y / 2.0))


def test_too_many_classes(made):
    file = made("multiclass")
    X = np.ones((1001, 3))
    refused(
        file,
        InvalidDataError,
        "1003 classes; the limit is 1000",
        lambda: file.absorb("1", X, [f"{i}" for i in range(1001)]),
    )


@pytest.mark.parametrize("label", ["a\nb", "x" * 201, "d\u043eg"], ids=["control", "long", "look-alike"])
def test_labels_that_nobody_could_read(made, label):
    file = made("multiclass")
    X, y = classes(1)
    refused(
        file,
        InvalidParameterError,
        "control characters|characters long|look alike",
        lambda: file.absorb("1", X, [label] * len(y)),
    )


@pytest.mark.parametrize("kind", ["binomial", "poisson, cubic"])
def test_tasks_of_a_likelihood_cannot_be_removed(made, kind):
    file = made(kind)
    rows = KINDS[kind][0](0)
    refused(file, RemovalError, "an expansion about an estimate that is gone", lambda: file.remove("0", *rows))
    refused(file, RemovalError, "an expansion", lambda: file.remove("0"))


def test_rows_that_were_not_learned_are_not_removed(made):
    file = made("multiclass")
    X, y = classes(0)
    other = np.where(y == "dog", "yak", y)
    refused(file, RemovalError, "not the rows", lambda: file.remove("0", X, other))
    refused(file, RemovalError, "does not keep its tasks. Pass the rows", lambda: file.remove("0"))


@pytest.mark.parametrize("kind", KINDS)
def test_questions_that_a_family_does_not_answer(made, kind):
    file = made(kind)
    X, y = KINDS[kind][0](1)
    frame = pd.DataFrame(X, columns=FEATURES).assign(kind=y)
    refused(file, InferenceError, "family gaussian", lambda: file.compare_task(frame))
    refused(file, StoreError, "keeps the total alone", file.model_by_task)
    refused(file, InvalidParameterError, "not learned in parts", lambda: store.check_partial(file.schema))
    refused(file, InvalidParameterError, "intervals are for family gaussian", lambda: file.predict(frame, interval=0.9))
    refused(file, InvalidParameterError, "one target", lambda: file.widen(targets={"other": 0.0}))
    match = "no standard errors" if file.schema.family.name == "multiclass" else "Leave out features"
    refused(file, InferenceError, match, lambda: file.summary(features=["a"]))


def test_files_that_cannot_be_merged(made, tmp_path):
    files = [made(kind) for kind in ("binomial", "binomial, cubic", "poisson", "multiclass")]
    plain = store.create(tmp_path / "plain.rw", **NAMES, prior=PRIOR)
    for one in files:
        for two in [*files, plain]:
            if one is not two:
                match = "the family differs|the memory differs"
                refused(one, MergeError, match, lambda one=one, two=two: one.merge(two, tmp_path / "out.rw"))
    other = store.create(tmp_path / "other.rw", **NAMES, family="binomial", prior=PRIOR)
    X, y = answers(3)
    other.absorb("3", X, np.where(y == "no", "never", y))
    refused(files[0], MergeError, "third class", lambda: files[0].merge(other, tmp_path / "out.rw"))
    assert not (tmp_path / "out.rw").exists()


def test_reference_levels_of_a_likelihood_cannot_be_changed(tmp_path):
    X, y = answers(0)
    cities = [np.array(pair)[np.arange(len(X)) % 2] for pair in (["oslo", "rome"], ["bern", "rome"])]
    frames = [pd.DataFrame({"a": X[:, number], "city": city, "kind": y}) for number, city in enumerate(cities)]
    files = []
    for number, frame in enumerate(frames):
        encoding = store.encoding_of(frame, leave_out=["kind"])
        files.append(
            store.create(tmp_path / f"{number}.rw", features=encoding, target="kind", family="binomial", prior=PRIOR)
        )
        files[-1].absorb_table(frame, task_id=f"{number}")
    refused(files[0], MergeError, "different reference levels", lambda: files[0].merge(files[1], tmp_path / "out.rw"))


def test_a_category_that_may_have_been_learned_as_other(tmp_path):
    X, y = answers(0)
    frame = pd.DataFrame({"a": X[:, 0], "city": np.array(["oslo", "rome"])[np.arange(len(X)) % 2], "kind": y})
    encoding = store.encoding_of(frame, leave_out=["kind"], unknown="other")
    file = store.create(tmp_path / "a.rw", features=encoding, target="kind", family="binomial", prior=PRIOR)
    file.absorb_table(frame, task_id="0")
    file.widen(categories={"city": ["york"]})
    file.absorb_table(frame.assign(city="bern", a=X[:, 1]), task_id="1")
    refused(file, InvalidParameterError, "were pooled", lambda: file.widen(categories={"city": ["ulm"]}))


def test_a_task_beyond_the_budget(made, monkeypatch):
    file = made("binomial")
    monkeypatch.setattr(_generations, "MEMORY_BUDGET", 2000)
    with pytest.raises(StoreError, match=r"next task .* beyond the budget of 2000\. Absorb fewer rows"):
        file.absorb("1", *answers(1))


BAD_SETTINGS = [
    ({"family": "gamma"}, "family must be one of"),
    ({"family": "multiclass", "memory": "cubic"}, "memory='cubic' is for the families binomial and poisson"),
    ({"family": "binomial", "memory": "quartic"}, "memory must be"),
    ({"memory": "cubic"}, "memory='cubic' is for"),
    ({"classes": ["a", "b"]}, "classes are for"),
    ({"family": "binomial", "classes": ["a", "b", "c"]}, "two for family binomial"),
    ({"family": "multiclass", "classes": ["a", 1]}, "labels of one type"),
    ({"family": "multiclass", "classes": [2**53]}, "below 2⁵³"),
    ({"family": "multiclass", "target": ["y", "z"]}, "has one target"),
    ({"family": "multiclass", "keep": "tasks"}, "keeps the total alone"),
    ({"family": "binomial", "information": "moments"}, "information is for least squares"),
    ({"family": "binomial", "prior": "evidence"}, "prior"),
    ({"family": "binomial", "memory": "cubic", "features": [f"x{i}" for i in range(300)]}, "the limit is 300"),
]


@pytest.mark.parametrize(("settings", "match"), BAD_SETTINGS)
def test_settings_that_do_not_fit(tmp_path, settings, match):
    with pytest.raises(InvalidParameterError, match=match):
        store.create(tmp_path / "a.rw", **NAMES | settings)
    assert not (tmp_path / "a.rw").exists()


def test_a_cubic_does_not_grow_beyond_its_limit(tmp_path):
    names = [f"x{i}" for i in range(299)]
    file = store.create(tmp_path / "a.rw", features=names, target="kind", family="binomial", memory="cubic")
    refused(file, InvalidParameterError, "the limit is 300", lambda: file.widen(features={"more": 0.0}))
