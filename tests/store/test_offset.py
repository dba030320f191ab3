"""A column of offsets or exposures in a state file: the state is that of the estimator that is told the offsets."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from store.families import FEATURES, PRIOR, SLOPES, answers, logistic, poisson, rows, same_bits
from store.tables import written

from ridgeway import GeneralizedPoisson, store, weights
from ridgeway.data import OffsetColumn
from ridgeway.errors import FeatureMismatchError, InvalidDataError, InvalidParameterError, MergeError

SHIPS = Path(__file__).parents[2] / "examples" / "tables" / "ships.csv"
COUNTS = {"features": FEATURES, "target": "n", "family": "poisson", "prior": PRIOR}


@pytest.fixture
def create(tmp_path):
    def create(name="a.rw", **settings):
        return store.create(tmp_path / name, **COUNTS | settings)

    return create


def observed(number, n_samples=40):
    """Return X, counts and exposures of very different sizes."""
    rng, X, eta = rows(number, n_samples)
    years = np.exp(rng.normal(size=n_samples) * 1.5)
    return X, rng.poisson(years * np.exp(0.5 * eta)).astype(float), years


def table(number, **columns):
    X, n, years = observed(number)
    return pd.DataFrame(X, columns=FEATURES).assign(**{"years": years, "n": n} | columns)


def ships():
    """Return the design of the ships: types, years of construction and periods, without their references."""
    frame = pd.read_csv(SHIPS).astype({"year": str, "period": str})
    X = pd.get_dummies(frame[["type", "year", "period"]], drop_first=True).astype(float)
    return X, frame["incidents"].astype(float), frame["service"].astype(float)


@pytest.mark.parametrize("memory", ["quadratic", "cubic"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_the_state_is_that_of_the_estimator_that_is_told_the_offsets(create, tmp_path, memory, suffix):
    made, model = create(memory=memory, exposure="years"), poisson(memory)
    for number in range(3):
        X, n, years = observed(number)
        made.absorb_table(written(table(number), tmp_path / f"{number}{suffix}"), task_id=f"{number}")
        model.partial_fit(X, n, offset=np.log(years))
        assert same_bits(made.model(), model)
    made.check()
    without = poisson(memory)
    for number in range(3):
        without.partial_fit(*observed(number)[:2])
    assert not np.allclose(without.coef_, model.coef_, rtol=1e-2)  # the comparison above can fail


def test_rows_in_memory_are_the_same_task_as_rows_in_a_file(create, tmp_path):
    made = create(exposure="years")
    X, n, years = observed(0)
    made.absorb_table(written(table(0), tmp_path / "0.csv"), task_id="0")
    before = made.path.read_bytes()
    named = pd.DataFrame(X, columns=FEATURES)
    for columns, passed in ((X, years), (named, pd.Series(years)), (named.assign(years=years), None)):
        assert made.absorb("0", columns, n, exposure=passed).already
    assert made.path.read_bytes() == before


def test_an_exposure_is_an_offset_of_logarithms(create):
    X, n, years = observed(0)
    one, two = create(exposure="years"), create("b.rw", offset="log_years")
    one.absorb("0", X, n, exposure=years)
    two.absorb("0", X, n, offset=np.log(years))
    assert same_bits(one.model(), two.model())


def test_one_task_is_what_statsmodels_fits(tmp_path):
    X, n, service = ships()
    made = store.create(
        tmp_path / "ships.rw", features=list(X), target="n", family="poisson", exposure="service", prior=0.0
    )
    made.absorb("all", X, n, exposure=service)
    expected = sm.GLM(n, sm.add_constant(X), family=sm.families.Poisson(), offset=np.log(service)).fit(tol=1e-14)
    found = made.summary()
    np.testing.assert_allclose(found.coef, expected.params, rtol=1e-7)
    np.testing.assert_allclose(found.standard_errors, expected.bse, rtol=1e-6)
    assert found.log_likelihood == pytest.approx(expected.llf, rel=1e-10)
    assert found.log_likelihood == pytest.approx(-68.28, abs=0.005)  # of counts; that of rates is about -2280
    assert not found.rates


def test_another_unit_of_exposure_moves_the_intercept_alone(create):
    models = []
    for name, unit in (("a.rw", 1.0), ("b.rw", 10.0)):
        made = create(name, exposure="years")
        for number in range(3):
            X, n, years = observed(number)
            made.absorb(f"{number}", X, n, exposure=unit * years)
        models.append(made.model())
    one, two = models
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-8)
    assert two.intercept_ == pytest.approx(one.intercept_ - np.log(10.0), rel=1e-9)
    assert two.log_likelihood_ == pytest.approx(one.log_likelihood_, rel=1e-9)


def test_log_odds_are_offsets_of_two_classes(create, tmp_path):
    X, kind = answers(0)
    odds = np.linspace(-2.0, 2.0, len(kind))
    frame = pd.DataFrame(X, columns=FEATURES).assign(odds=odds, n=kind)
    made = create(family="binomial", offset="odds")
    made.absorb_table(written(frame, tmp_path / "0.csv"), task_id="0")
    assert made.absorb("0", X, kind, offset=odds).already
    model = logistic("quadratic").partial_fit(X, kind, offset=odds)
    assert same_bits(made.model(), model)
    chances = made.predict(frame.drop(columns="n")).column("probability_yes").to_numpy()
    np.testing.assert_array_equal(chances, model.predict_proba(X, odds)[:, 1])
    assert np.abs(chances - model.predict_proba(X)[:, 1]).max() > 0.1


def test_a_task_with_another_offset_is_another_task(create):
    X, n, years = observed(0)
    made = create(exposure="years")
    record = made.absorb("0", X, n, exposure=years).record
    other = made.absorb("1", X, n, exposure=2.0 * years).record
    assert record.digest != other.digest
    assert record.digest != create("b.rw").absorb("0", X, n).record.digest


def test_a_schema_without_an_offset_does_not_mention_it(create):
    assert "offset" not in json.loads(create().schema.to_bytes())
    made = create("b.rw", exposure="years")
    assert json.loads(made.schema.to_bytes())["offset"] == {"column": "years", "is_exposure": True}
    assert made.schema.columns == ("a", "b", "c", "n", "years")
    assert type(made.schema).from_bytes(made.schema.to_bytes()) == made.schema


def test_predictions_need_the_exposure(create, tmp_path):
    made = create(exposure="years", memory="cubic")
    X, n, years = observed(0)
    made.absorb("0", X, n, exposure=years)
    frame = table(1).drop(columns="n")
    path = written(frame, tmp_path / "new.csv")
    model = GeneralizedPoisson(weights.Accumulated(prior=PRIOR), memory="cubic")
    expected = model.partial_fit(X, n, offset=np.log(years)).predict(frame[FEATURES].to_numpy(), np.log(frame["years"]))
    stored = made.model()
    named = frame[FEATURES]
    found = [made.predict(path).column("predicted_n").to_numpy(), stored.predict(frame)]
    found += [stored.predict(named, np.log(frame["years"])), stored.predict(frame, np.log(frame["years"]))]
    for predicted in found:
        np.testing.assert_allclose(predicted, expected, rtol=1e-12)
    doubled = made.predict(frame.assign(years=2.0 * frame["years"])).column("predicted_n").to_numpy()
    np.testing.assert_allclose(doubled, 2.0 * expected, rtol=1e-12)
    with pytest.raises(FeatureMismatchError, match="has no column 'years'"):
        made.predict(named)
    with pytest.raises(InvalidDataError, match="the model has an exposure column, 'years'"):
        stored.predict(named)
    with pytest.raises(InvalidDataError, match="at least 2 values that are not above 0, such as -1"):
        made.predict(frame.assign(years=[-1.0, 0.0, *frame["years"][2:]]))


@pytest.mark.parametrize("missing", ["refuse", "drop", "indicator"])
def test_a_missing_exposure_is_like_a_missing_target(tmp_path, missing):
    first = table(0)
    encoding = store.encoding_of(first, leave_out=["n", "years"], missing=missing)
    frame = first.assign(years=[np.nan, *first["years"][1:]])
    made = store.create(tmp_path / "a.rw", **COUNTS | {"features": encoding, "exposure": "years"})
    if missing == "refuse":
        with pytest.raises(InvalidDataError, match=r"'years' has (nulls|at least 1 missing value)"):
            made.absorb_table(written(frame, tmp_path / "0.csv"), task_id="0")
        assert not made.history()
        return
    ((record, _),) = made.absorb_table(frame, task_id="0")
    assert record.n_samples == 39
    again = store.create(tmp_path / "b.rw", **COUNTS | {"features": encoding, "exposure": "years"})
    again.absorb_table(first[1:], task_id="0")
    assert same_bits(made.model(), again.model())
    predicted = made.predict(frame).column("predicted_n")
    assert predicted.null_count == 1


def test_rows_of_weight_zero_need_no_exposure(create):
    X, n, years = observed(0)
    weight = np.linspace(0.5, 2.0, 40)
    weight[:2] = 0.0
    made, other = (create(name, exposure="years", weight_column="w") for name in ("a.rw", "b.rw"))
    made.absorb("0", X, n, weight, exposure=[0.0, -1.0, *years[2:]])
    other.absorb("0", X[2:], n[2:], weight[2:], exposure=years[2:])
    model = poisson("quadratic").partial_fit(X[2:], n[2:], weight[2:], offset=np.log(years[2:]))
    for file in (made, other):
        np.testing.assert_allclose(file.model().coef_, model.coef_, rtol=1e-10)
    with pytest.raises(InvalidDataError, match="at least 1 value that is not above 0, such as -1"):
        made.absorb("1", X, n, np.append(0.0, np.ones(39)), exposure=[0.0, -1.0, *years[2:]])


def test_what_cannot_be_an_offset_is_refused_and_nothing_changes(create):
    X, n, years = observed(0)
    made, other = create(exposure="years"), create("b.rw", offset="log_years")
    before = made.path.read_bytes()
    refused = {
        "has an exposure column, 'years'. Pass its values as exposure": lambda: made.absorb("0", X, n),
        "has an offset column, 'log_years'": lambda: other.absorb("0", X, n),
        "is an exposure. Pass its values as exposure": lambda: made.absorb("0", X, n, offset=np.log(years)),
        "is an offset. Pass its values as offset": lambda: other.absorb("0", X, n, exposure=years),
        "both were passed": lambda: made.absorb("0", X, n, exposure=years, offset=years),
        "at least 40 values that are not above 0": lambda: made.absorb("0", X, n, exposure=-years),
        "NaN or infinity": lambda: made.absorb("0", X, n, exposure=[np.inf, *years[1:]]),
        "the limit is 1e": lambda: other.absorb("0", X, n, offset=1e7 * years),
        "Pass one value per row": lambda: made.absorb("0", X, n, exposure=years[1:]),
        "Pass them once": lambda: made.absorb("0", table(0).drop(columns="n"), n, exposure=years),
        "the model has no offset column": lambda: create("c.rw").absorb("0", X, n, exposure=years),
        "X has 2 features": lambda: made.absorb("0", X[:, :2], n, exposure=years),
    }
    for words, call in refused.items():
        with pytest.raises(InvalidDataError if "features" not in words else FeatureMismatchError) as found:
            call()
        assert words in str(found.value), words
    assert made.path.read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"family": "gaussian", "offset": "o"}, "Subtract the column from the target"),
        ({"family": "multiclass", "offset": "o"}, "for family binomial and poisson; this one is multiclass"),
        ({"family": "binomial", "exposure": "o"}, "an exposure column is for family poisson"),
        ({"offset": "o", "exposure": "e"}, "Name one of them"),
        ({"exposure": "a"}, "duplicate column names: 'a'"),
        ({"exposure": "n"}, "duplicate column names: 'n'"),
        ({"exposure": ""}, "a column needs a name"),
    ],
)
def test_a_file_that_cannot_have_an_offset_is_not_made(create, tmp_path, settings, words):
    with pytest.raises(InvalidParameterError, match=words):
        create(**settings)
    assert not any(tmp_path.iterdir())


def test_files_with_different_offsets_are_not_merged(create, tmp_path):
    files = [create("a.rw", exposure="years"), create("b.rw", exposure="years"), create("c.rw")]
    files += [create("d.rw", exposure="days"), create("e.rw", offset="years")]
    for number, file in enumerate(files):
        X, n, years = observed(number)
        column = file.schema.offset
        file.absorb(f"{number}", X, n, **({} if column is None else {column.word: years}))
    for other in files[2:]:
        with pytest.raises(MergeError, match="the offset differs"):
            files[0].merge(other, tmp_path / "both.rw")
    both = files[0].merge(files[1], tmp_path / "both.rw")
    assert both.schema.offset == OffsetColumn("years", is_exposure=True)
    expected = poisson("quadratic").partial_fit(*observed(0)[:2], offset=np.log(observed(0)[2]))
    theirs = poisson("quadratic").partial_fit(*observed(1)[:2], offset=np.log(observed(1)[2]))
    np.testing.assert_allclose(both.model().coef_, expected.merge(theirs).coef_, rtol=1e-10)
    assert both.absorb("0", observed(0)[0], observed(0)[1], exposure=observed(0)[2]).already


def test_a_wider_file_keeps_its_offset_and_knows_its_tasks(create):
    made = create(exposure="years")
    X, n, years = observed(0)
    made.absorb("0", X, n, exposure=years)
    made.widen(features={"d": 0.0})
    assert made.schema.offset == OffsetColumn("years", is_exposure=True)
    assert made.absorb("0", np.column_stack([X, np.zeros(40)]), n, exposure=years).already
    with pytest.raises(InvalidParameterError, match="duplicate column names: 'years'"):
        made.widen(features={"years": 0.0})


def test_an_export_has_the_offset(create, tmp_path):
    made = create(exposure="years")
    X, n, years = observed(0)
    made.absorb("0", X, n, exposure=years)
    made.export(tmp_path / "a.safetensors")
    again = store.import_arrays(tmp_path / "a.safetensors", tmp_path / "again.rw")
    assert again.schema == made.schema
    assert again.absorb("0", X, n, exposure=years).already
    assert made.backup(tmp_path / "copy.rw")


def test_rows_come_with_their_offsets(create):
    made = create(exposure="years")
    X, n, years = observed(0)
    made.absorb("0", X, n, exposure=years)
    model = poisson("quadratic").partial_fit(*made.rows(table(0)))
    np.testing.assert_allclose(model.coef_, made.model().coef_, rtol=1e-10)
    plain = create("b.rw")
    assert len(plain.rows(table(0).drop(columns="years"))) == 3


def test_several_tasks_in_one_table(create):
    made = create(exposure="years")
    both = pd.concat([table(0).assign(site="x"), table(1).assign(site="y")]).sample(frac=1.0, random_state=0)
    made.absorb_table(both, task_column="site")
    model = GeneralizedPoisson(weights.Accumulated(prior=PRIOR))
    for site in dict.fromkeys(both["site"]):
        part = both[both["site"] == site]
        model.partial_fit(part[FEATURES].to_numpy(), part["n"], offset=np.log(part["years"]))
    np.testing.assert_allclose(made.model().coef_, model.coef_, rtol=1e-10)


def test_slopes_are_found_again(create):
    """With exposures that depend on a feature, a fit without them is far off: the column is needed."""
    rng, X, eta = rows(0, 4000)
    years = np.exp(2.0 * X[:, 0])
    n = rng.poisson(years * np.exp(eta)).astype(float)
    made, without = create(exposure="years"), create("b.rw")
    made.absorb("0", X, n, exposure=years)
    without.absorb("0", X, n)
    np.testing.assert_allclose(made.model().coef_, SLOPES, atol=0.05)
    assert abs(without.model().coef_[0] - SLOPES[0]) > 1.0
