"""State files of classes and counts: the state is that of the estimator, whatever way the rows come."""

import numpy as np
import pandas as pd
import pytest
from store.families import FEATURES, KINDS, PRIOR, SLOPES, answers, classes, classifier, counts, logistic, same_bits
from store.tables import written

from ridgeway import GeneralizedRidgeClassifier, store, weights
from ridgeway.data import _schema
from ridgeway.errors import DamagedStoreError
from ridgeway.store import _state


@pytest.fixture(params=KINDS)
def family(request):
    return KINDS[request.param]


@pytest.fixture
def create(tmp_path):
    def create(name="a.rw", **settings):
        return store.create(tmp_path / name, **{"features": FEATURES, "target": "kind", "prior": PRIOR} | settings)

    return create


def table(X, y):
    return pd.DataFrame(X, columns=FEATURES).assign(kind=y)


def test_the_state_is_that_of_the_estimator_after_every_task(create, family):
    rows, make, settings = family
    made, model = create(**settings), make()
    for number in range(4):
        X, y = rows(number)
        assert not made.absorb(f"{number}", X, y).already
        before = made.path.read_bytes()
        assert made.absorb(f"{number}", X, y).already
        assert made.path.read_bytes() == before
        assert same_bits(store.open(made.path).model(), model.partial_fit(X, y))
    made.check()
    assert made.schema.family.name == settings["family"]


def test_a_task_that_counts_twice_is_seen(create, family):
    """Negative control: the comparison above can fail."""
    rows, make, settings = family
    made = create(**settings)
    made.absorb("0", *rows(0))
    made.absorb("again", *rows(0), force="on purpose")
    assert not same_bits(made.model(), make().partial_fit(*rows(0)))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_every_kind_of_table_gives_the_same_bits_and_the_same_digest(create, family, tmp_path, suffix):
    rows, make, settings = family
    made, model = create(**settings), make()
    for number in range(2):
        X, y = rows(number)
        path = written(table(X, y), tmp_path / f"{number}{suffix}")
        ((record, already),) = made.absorb_table(path, task_id=f"{number}")
        assert (record.n_samples, already) == (40, False)
        model.partial_fit(X, y)
    assert same_bits(made.model(), model)
    assert made.absorb("1", *rows(1)).already


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [3, 7], [3.0, 7.0]], ids=["text", "bool", "int", "float"]
)
@pytest.mark.parametrize("name", ["binomial", "multiclass"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_labels_may_be_text_bools_or_whole_numbers(create, tmp_path, labels, name, suffix):
    X, y = answers(0)
    named = np.array(labels)[(y == "yes").astype(int)]
    made = create(family=name)
    path = written(table(X, named), tmp_path / f"0{suffix}")
    made.absorb_table(path, task_id="0")
    assert made.schema.family.classes == tuple(labels)
    assert [type(label) for label in made.schema.family.classes] == [int if labels[0] == 3.0 else type(labels[0])] * 2
    assert made.absorb("0", X, named).already
    predicted = made.predict(path).column("predicted_kind").to_pylist()
    assert predicted == list(made.model().predict(table(X, named)[FEATURES]))
    assert {type(label) for label in predicted} <= {type(label) for label in made.schema.family.classes}


def raw(rows, number):
    """Return rows with a text column, and the same rows encoded at once by plain NumPy."""
    X, y = rows(number)
    city = np.array(["oslo", "rome", "york"])[np.arange(len(X)) % 3]
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(city=city, kind=y)
    return frame, np.asfortranarray(np.column_stack([X[:, :2], city == "rome", city == "york"]).astype(float)), y


def test_raw_tables_are_learned_as_if_encoded_at_once(create, family):
    rows, make, settings = family
    encoding = store.encoding_of(raw(rows, 0)[0], leave_out=["kind"])
    made, model = create(features=encoding, **settings), make()
    for number in range(3):
        frame, X, y = raw(rows, number)
        made.absorb_table(frame, task_id=f"{number}")
        model.partial_fit(X, y)
        assert made.absorb(f"{number}", frame[["a", "b", "city"]], y).already
    assert same_bits(made.model(), model)
    frame, X, _ = raw(rows, 0)
    found, expected = made.model().predict(frame[["a", "b", "city"]]), model.predict(X)
    assert np.allclose(found, expected) if settings["family"] == "poisson" else list(found) == list(expected)


def test_a_table_of_several_tasks_is_learned_task_by_task(create, family):
    rows, make, settings = family
    made, model, frames = create(**settings), make(), []
    for number in range(3):
        X, y = rows(number)
        model.partial_fit(X, y)
        frames.append(table(X, y).assign(month=number))
    mixed = pd.concat(frames).sample(frac=1.0, random_state=0).sort_values("month", kind="stable")
    ordered = [mixed[mixed.month == number] for number in range(3)]
    made.absorb_table(mixed, task_column="month")
    assert [record.n_samples for record in made.history()] == [40] * 3
    one = make()
    for part in ordered:
        one.partial_fit(np.asfortranarray(part[FEATURES].to_numpy()), part["kind"].to_numpy())
    assert np.allclose(made.model().coef_, one.coef_, rtol=1e-9, atol=1e-12)
    assert np.allclose(one.coef_, model.coef_, rtol=1e-9, atol=1e-12)


def test_a_task_may_come_in_several_blocks(create, family, tmp_path, monkeypatch):
    """A likelihood is learned from the whole task at once; of least squares, blocks add up. A class may come late."""
    rows, make, settings = family
    monkeypatch.setattr(_schema, "FEWEST_ROWS", 16)
    monkeypatch.setattr(_schema, "BLOCK_ENTRIES", 16)
    X, y = rows(0, 100)
    order = np.argsort(y, kind="stable")
    X, y = np.asfortranarray(X[order]), y[order]
    made = create(**settings)
    made.absorb_table(written(table(X, y), tmp_path / "0.csv"), task_id="0")
    model, found = make().partial_fit(X, y), made.model()
    if settings["family"] == "multiclass":
        assert np.allclose(found.coef_, model.coef_, rtol=1e-10, atol=1e-12)
        assert list(found.classes_) == list(model.classes_)
    else:
        assert same_bits(found, model)


@pytest.mark.parametrize("weight_kind", ["precision", "frequency"])
def test_weights(create, family, weight_kind):
    rows, make, settings = family
    made = create(weight_column="w", weight_kind=weight_kind, **settings)
    X, y = rows(0)
    weight = np.arange(len(X)) % 3.0
    made.absorb("0", X, y, weight)
    made.absorb_table(table(*rows(1)).assign(w=weight), task_id="1")
    model = make().set_params(weight_kind=weight_kind).partial_fit(X, y, sample_weight=weight)
    model.partial_fit(*rows(1), sample_weight=weight)
    assert np.allclose(made.model().coef_, model.coef_, rtol=1e-12, atol=1e-14)
    assert made.model().n_samples_seen_ == model.n_samples_seen_
    made.check()


def test_no_intercept(create, family):
    rows, make, settings = family
    made = create(fit_intercept=False, **settings)
    made.absorb("0", *rows(0))
    assert same_bits(made.model(), make().set_params(fit_intercept=False).partial_fit(*rows(0)))


def test_exports_imports_and_backups_keep_every_bit(create, family, tmp_path):
    rows, _, settings = family
    made = create(**settings)
    for number in range(2):
        made.absorb(f"{number}", *rows(number))
    made.export(tmp_path / "a.safetensors")
    again = store.import_arrays(tmp_path / "a.safetensors", tmp_path / "again.rw")
    made.backup(tmp_path / "copy.rw")
    for other in (again, store.open(tmp_path / "copy.rw")):
        assert same_bits(other.model(), made.model())
        assert other.schema == made.schema
        assert other.absorb("1", *rows(1)).already
    made.export(tmp_path / "a.csv")
    exported = pd.read_csv(tmp_path / "a.csv")
    assert list(exported["target"].unique()) == (
        list(made.schema.family.classes) if settings["family"] == "multiclass" else ["kind"]
    )
    assert np.allclose(exported["coefficient"].iloc[1:4], made.model().state_.answer.coef[:, 0])


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_class_task_is_removed_as_if_it_had_never_been(create, number):
    for information in ("square_root", "moments"):
        made = create(f"{information}.rw", family="multiclass", information=information)
        for task in range(3):
            made.absorb(f"{task}", *classes(task))
        made.remove(f"{number}", *classes(number))
        made.check()
        rest = [classes(task) for task in range(3) if task != number]
        model = classifier(information)
        for X, y in rest:
            model.partial_fit(X, y, classes=["ant", "bee", "dog", "eel", "fox"])
        found = made.model()
        assert list(found.classes_) == list(model.classes_)  # a class without rows stays, and was 0 in all rows
        assert np.allclose(found.coef_, model.coef_, atol=1e-9)
        frame = pd.DataFrame(rest[0][0], columns=FEATURES)
        assert list(found.predict(frame)) == list(model.predict(rest[0][0]))
        made.absorb(f"{number}", *classes(number))
        assert made.model().n_samples_seen_ == 120


def test_the_only_class_task_is_removed(create):
    made = create(family="multiclass")
    made.absorb("0", *classes(0))
    made.remove("0", *classes(0))
    made.absorb("1", *classes(1))
    model = classifier("square_root").partial_fit(*classes(1), classes=["eel"])
    assert same_bits(made.model(), model)


def test_a_merged_file_has_the_classes_of_both(create, tmp_path):
    one, two = create("one.rw", family="multiclass"), create("two.rw", family="multiclass")
    one.absorb("0", *classes(0))
    two.absorb("2", *classes(2))
    both = one.merge(two, tmp_path / "both.rw")
    both.check()
    assert both.schema.family.classes == ("bee", "dog", "eel", "fox")
    X, y = (np.concatenate(parts) for parts in zip(classes(0), classes(2), strict=True))
    pooled = GeneralizedRidgeClassifier(weights.Accumulated(prior=PRIOR)).fit(X, y)
    assert np.allclose(both.model().coef_, pooled.coef_, atol=1e-10)
    empty = create("empty.rw", family="multiclass")
    for number, pair in enumerate([(empty, one), (one, empty)]):
        assert same_bits(pair[0].merge(pair[1], tmp_path / f"{number}.rw").model(), one.model())


@pytest.mark.parametrize("kind", ["binomial", "binomial, cubic", "poisson", "poisson, cubic"])
def test_the_polynomials_of_merged_files_add(create, tmp_path, kind):
    rows, make, settings = KINDS[kind]
    one, two = create("one.rw", **settings), create("two.rw", **settings)
    models = [make().partial_fit(*rows(number)) for number in range(2)]
    one.absorb("0", *rows(0))
    two.absorb("1", *rows(1))
    both = one.merge(two, tmp_path / "both.rw")
    both.check()
    assert same_bits(both.model(), models[0].merge(models[1]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_category_is_exact(create, kind):
    """As if the column had been there from the start, when it was 0 in every row."""
    rows, make, settings = KINDS[kind]
    first, X, y = raw(rows, 0)
    first = first.assign(city=first["city"].replace("york", "rome"))
    made = create(features=store.encoding_of(first, leave_out=["kind"], unknown="widen"), **settings)
    made.absorb_table(first, task_id="0")
    X[:, 2], X[:, 3] = X[:, 2] + X[:, 3], 0.0
    later, more, labels = raw(rows, 1)
    made.absorb_table(later, task_id="1")
    made.check()
    model = make().partial_fit(X, y).partial_fit(more, labels)
    assert np.allclose(made.model().coef_, model.coef_, rtol=1e-8, atol=1e-10)
    if settings["family"] != "multiclass":
        assert np.allclose(made.model().standard_errors_, model.standard_errors_, rtol=1e-8)
        assert np.isclose(made.model().log_likelihood_, model.log_likelihood_, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [0.0, 2.5])
def test_a_new_feature_is_exact(create, kind, value):
    rows, make, settings = KINDS[kind]
    made, (X, y) = create(features=["a", "b"], **settings), rows(0)
    made.absorb("0", X[:, :2], y)
    made.widen(features={"c": value})
    made.absorb("1", *rows(1))
    past = np.asfortranarray(np.column_stack([X[:, :2], np.full(len(X), value)]))
    model = make().partial_fit(past, y).partial_fit(*rows(1))
    assert np.allclose(made.model().coef_, model.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind][2]["family"] != "multiclass"])
@pytest.mark.parametrize("value", [0.0, 2.5])
def test_a_summary_after_widening_says_what_no_row_determines(create, kind, value):
    rows, _, settings = KINDS[kind]
    made, (X, y) = create(features=["a", "b"], prior=0.0, **settings), rows(0)
    made.absorb("0", X[:, :2], y)
    before = made.summary()
    made.widen(features={"c": value})
    found, lost = made.summary(), {"c"} if value == 0.0 else {"intercept", "c"}
    assert (before.not_estimable, {*found.not_estimable}) == ((), lost)
    for j, term in enumerate(found.terms):
        if term in lost:
            assert (found.standard_errors[j], found.t[j], found.p_values[j]) == (np.inf, 0.0, 1.0)
        else:
            known = before.terms.index(term)
            assert np.isclose(found.standard_errors[j], before.standard_errors[known], rtol=1e-12)
    assert "No row determines" in str(found)
    assert "No row determines" not in str(before)
    assert "P>|z|" in str(before)
    assert "|t|" not in str(before)
    made.absorb("1", *rows(1))
    assert made.summary().not_estimable == ()


def test_the_previous_generation_can_be_restored(create, family):
    rows, make, settings = family
    made = create(**settings)
    made.absorb("0", *rows(0))
    made.absorb("1", *rows(1))
    damaged = bytearray(made.path.read_bytes())
    block = made.model().to_arrays()["matrix" if settings["family"] == "multiclass" else "curvature"].tobytes()
    damaged[damaged.index(block)] ^= 1
    made.path.write_bytes(damaged)
    with pytest.raises(DamagedStoreError):
        store.open(made.path)
    assert same_bits(store.restore_previous(made.path).model(), make().partial_fit(*rows(0)))


def test_predictions_have_a_class_and_probabilities_or_a_count(create, family, tmp_path):
    rows, make, settings = family
    made, (X, y) = create(**settings), rows(0)
    made.absorb("0", X, y)
    model = make().partial_fit(X, y)
    frame = table(X, y).assign(id=np.arange(len(X)))
    found = made.predict(frame, ids=["id"]).to_pandas()
    assert list(found["id"]) == list(frame["id"])
    assert list(found["predicted_kind"]) == list(model.predict(X))
    named = [f"probability_{label}" for label in model.classes_] if settings["family"] == "binomial" else []
    assert list(found.columns) == ["id", "predicted_kind", *named]
    if named:
        assert np.array_equal(found[named].to_numpy(), model.predict_proba(X))
    made.predict_file(frame, tmp_path / "p.parquet", ids=["id"])
    assert pd.read_parquet(tmp_path / "p.parquet").equals(found)


def test_classes_that_a_spreadsheet_would_run_are_quoted(create, tmp_path):
    frame = pd.DataFrame({"a": [0.0, 0.1, 5.0, 5.1], "b": [0.0, 1.0, 0.5, 1.0], "kind": ["=1+1", "=1+1", "@x", "@x"]})
    frame["=id"] = ["-1", "-1.5e3", "-x", "plain"]  # numbers are no formulas
    made = create(features=["a", "b"], family="multiclass")
    made.absorb_table(frame[["a", "b", "kind"]], task_id="0")
    for ending in ("csv", "tsv", "parquet"):
        made.predict_file(frame, tmp_path / f"p.{ending}", ids=["=id"])
    for ending, mark in (("csv", ","), ("tsv", "\t")):
        found = pd.read_csv(tmp_path / f"p.{ending}", sep=mark, dtype=str)
        assert found["predicted_kind"].tolist() == ["'=1+1"] * 2 + ["'@x"] * 2
        assert found["'=id"].tolist() == ["-1", "-1.5e3", "'-x", "plain"]
    assert pd.read_parquet(tmp_path / "p.parquet")["predicted_kind"].tolist() == frame["kind"].tolist()


def test_rows_with_gaps_get_no_class(create):
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": [0.0, 1.0, 0.5, 1.0], "kind": ["x", "x", "y", "y"]})
    encoding = store.encoding_of(frame, leave_out=["kind"], missing="drop")
    made = create(features=encoding, family="multiclass")
    made.absorb_table(frame, task_id="0")
    assert made.history()[0].n_samples == 3
    found = made.predict(frame).to_pydict()
    assert [label is None for label in found["predicted_kind"]] == [False, True, False, False]
    assert made.predict(frame.iloc[1:2]).to_pydict() == {"predicted_kind": [None]}
    assert made.rows(frame)[1].tolist() == ["x", "y", "y"]


def test_probabilities_of_classes_are_those_of_discriminants(create):
    """From the state of the file, on a table of raw columns."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.5, 4.0, 4.5], "b": ["u", "v", "u", "v", "v"], "kind": list("xxyyy")})
    made = create(features=store.encoding_of(frame, leave_out=["kind"]), family="multiclass")
    made.absorb_table(frame, task_id="0")
    X = np.column_stack([frame["a"], frame["b"] == "v"]).astype(float)
    expected = GeneralizedRidgeClassifier(decision="lda").fit(X, frame["kind"]).predict_proba(X)
    found = made.model().set_params(decision="lda").predict_proba(frame.drop(columns="kind"))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["binomial", "poisson"])
def test_the_summary_is_that_of_statsmodels(create, kind):
    """One task, no prior: maximum likelihood, and errors from the same curvature."""
    sm = pytest.importorskip("statsmodels.api")
    rows = answers if kind == "binomial" else counts
    made, (X, y) = create(family=kind, prior=0.0), rows(0, 300)
    made.absorb("0", X, y)
    target = (y == "yes").astype(float) if kind == "binomial" else y
    law = sm.families.Binomial() if kind == "binomial" else sm.families.Poisson()
    peer = sm.GLM(target, sm.add_constant(X), family=law).fit(tol=1e-14, maxiter=100)
    found = made.summary(level=0.9)
    assert found.terms == ("intercept", *FEATURES)
    for mine, theirs in (
        (found.coef, peer.params),
        (found.standard_errors, peer.bse),
        (found.p_values, peer.pvalues),
        (found.intervals, peer.conf_int(0.1)),
        (found.log_likelihood, peer.llf),
    ):
        assert np.allclose(mine, theirs, rtol=1e-6, atol=1e-9)
    assert "Maximum likelihood: 300 rows of 1 task" in str(found)


def test_later_estimates_stay_near_those_of_all_rows(create):
    """The cubic memory is closer to the pooled estimate than the quadratic one, which is near it too."""
    pooled = [np.concatenate(parts) for parts in zip(*(answers(number, 200) for number in range(6)), strict=True)]
    exact = logistic("quadratic").fit(*pooled)
    far = {}
    for memory in ("quadratic", "cubic"):
        made = create(f"{memory}.rw", family="binomial", memory=memory)
        for number in range(6):
            made.absorb(f"{number}", *answers(number, 200))
        far[memory] = np.abs((made.model().coef_ - exact.coef_) / exact.standard_errors_).max()
    assert far["cubic"] < far["quadratic"] < 0.5
    assert far["cubic"] < 0.05


def test_a_state_of_another_family_is_damage(create):
    """Negative control of what is checked when a file is opened."""
    arrays = {}
    for name, rows in (("binomial", answers), ("poisson", counts), ("multiclass", classes)):
        made = create(f"{name}.rw", family=name)
        made.absorb("0", *rows(0))
        arrays[name] = (made.schema, made.snapshot().arrays)
        _state.read_state(*arrays[name])
    for one in arrays:
        for two in arrays:
            if one != two:
                with pytest.raises(DamagedStoreError):
                    _state.read_state(arrays[one][0], arrays[two][1])


def test_declared_classes_let_a_file_begin_with_one(create):
    X, y = answers(0)
    made = create(family="binomial", classes=["no", "yes"])
    rest = y == "no"
    with_both = logistic("quadratic")
    made.absorb("both", X, y)
    made.absorb("one class", np.asfortranarray(X[rest]), y[rest])
    with_both.partial_fit(X, y).partial_fit(np.asfortranarray(X[rest]), y[rest])
    assert same_bits(made.model(), with_both)
    assert np.abs(made.model().coef_ - SLOPES).max() < 2.0
