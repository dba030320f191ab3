"""Terms: what users write is what is kept, and each function is what plain Python says it is."""

import math
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicSpline

from ridgeway.data import Encoder, checked_schema, inferred, open_table, parse_terms
from ridgeway.data._functions import FUNCTIONS, spline
from ridgeway.data._terms import Term, TermFactor, column_term
from ridgeway.errors import InvalidDataError, InvalidParameterError


def features(terms, **columns):
    """Return the features of a table by name."""
    table = open_table(pa.table({**columns, "target": np.zeros(len(next(iter(columns.values()))))}))
    encoding = inferred(table, parse_terms(terms), leave_out=["target"], missing="indicator")
    schema = checked_schema(encoding, "target", weight_column=None, fit_intercept=True, information="square_root")
    (batch,) = table.batches(schema.columns, rows=10**6)
    return dict(zip(schema.features, Encoder(schema, "").rows(batch).X.T, strict=True))


NAMES = st.text(st.characters(exclude_characters="`", exclude_categories=["C"]), min_size=1).filter(str.strip)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
KNOTS = st.lists(NUMBERS, min_size=3, max_size=6, unique=True).map(sorted)
CALLS = st.one_of(
    st.sampled_from([("log", ()), ("month", ()), ("hour", ()), ("weekday", ()), ("year", ()), ("category", ())]),
    st.integers(2, 9).map(lambda power: ("power", (str(power),))),
    st.dates(date(1, 1, 1)).map(lambda day: ("days", (day.isoformat(),))),
    KNOTS.map(lambda knots: ("spline", tuple(FUNCTIONS["spline"].check([repr(knot) for knot in knots])))),
)
FACTORS = st.builds(TermFactor, NAMES, st.lists(CALLS, max_size=3).map(tuple)).filter(
    lambda factor: not any(one[0] == two[0] == "power" for one, two in pairwise(factor.calls))
)
TERMS = st.builds(Term, st.lists(FACTORS, min_size=1, max_size=3).map(tuple))


@given(terms=st.lists(TERMS, min_size=1, max_size=4, unique=True))
def test_what_is_printed_is_read_again(terms):
    assert parse_terms([str(term) for term in terms]) == tuple(terms)
    assert parse_terms(", ".join(map(str, terms))) == tuple(terms)


@given(name=NAMES)
def test_every_column_has_a_term(name):
    assert parse_terms([str(column_term(name))]) == (column_term(name),)


@given(knots=KNOTS)
def test_knots_keep_their_value(knots):
    ((_, kept),) = parse_terms(f"spline(x, {', '.join(map(repr, knots))})")[0].factors[0].calls
    assert [float(text) for text in kept] == knots


def test_spaces_and_order_of_writing_do_not_matter():
    assert parse_terms(" log( distance ) , a:b ^ 2") == parse_terms(["log(distance)", "a:b^2"])
    assert parse_terms("x, x") == parse_terms("x")
    assert parse_terms("`a b`, a b") == parse_terms("a b")
    assert str(parse_terms("days(d, 20130101)")[0]) == "days(d, 2013-01-01)"
    assert str(parse_terms("spline(x, 1.0, 2e0, 3)")[0]) == "spline(x, 1, 2, 3)"


@pytest.mark.parametrize(
    "text",
    ["", " ", "a,", ",a", "log", "a^", "a^1", "a^-1", "a^2.5", "a^2^2^", "log(a", "log a)", "a)", "(a)", "log()", "a:",
     "log(a, 2)", "power(a, 2)", "spline(a)", "spline(a, 1, 2)", "spline(a, 1, 1, 2)", "spline(a, x, y, z)", "`a",
     "a`b", "spline(a, 1, 2, inf)", "days(a, 2013-13-01)", "days(a, 1, 2)",
     "days(a, 2013-01-01T12:00)", "a^2^2", "month(a, 2)", "``", "sin(a)", "a::b"],
)  # fmt: skip
def test_what_cannot_be_read(text):
    if text == "log":  # a column of that name
        assert parse_terms(text) == (column_term("log"),)
        return
    with pytest.raises(InvalidParameterError, match="cannot read the term"):
        parse_terms(text)


def test_numbers_of_numbers():
    x = np.array([0.5, 1.0, 3.0, 250.0])
    found = features("x, log(x), x^2, x^3, log(x)^2, x:log(x)", x=x)
    for name, function in {
        "x": lambda v: v,
        "log(x)": math.log,
        "x^2": lambda v: v * v,
        "x^3": lambda v: v * v * v,
        "log(x)^2": lambda v: math.log(v) ** 2,
        "x:log(x)": lambda v: v * math.log(v),
    }.items():
        assert_allclose(found[name], [function(value) for value in x.tolist()], rtol=1e-15, err_msg=name)


@given(moments=st.lists(st.datetimes(datetime(1600, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=20))
def test_parts_of_dates(moments):
    """Also before 1970, and at the last microsecond of a year."""
    moments += [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1900, 2, 28), datetime(2000, 2, 29, 1)]
    found = features(
        "year(t), month(t), weekday(t), hour(t), days(t, 2013-01-01)",
        t=pa.array(moments, pa.timestamp("us")),
    )
    assert_array_equal(found["year(t)"], [t.year for t in moments])
    assert_array_equal(found["month(t)"], [t.month for t in moments])
    assert_array_equal(found["weekday(t)"], [t.isoweekday() for t in moments])
    assert_array_equal(found["hour(t)"], [t.hour for t in moments])
    assert_allclose(found["days(t, 2013-01-01)"], [(t - datetime(2013, 1, 1)) / timedelta(1) for t in moments], 1e-15)


CLOCK = [datetime(2013, 3, 9, 23, 30), datetime(2013, 7, 1, 5), datetime(2013, 11, 3, 0, 15)]


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_clock_of_the_zone(zone, unit):
    """A time is read as the clock of its zone showed it, stored as a number or as text."""
    times = [t.replace(tzinfo=None if zone is None else ZoneInfo(zone)) for t in CLOCK]
    stored = pa.array(times, pa.timestamp(unit, zone))
    text = pa.array([t.isoformat(sep) for t, sep in zip(times, "T T", strict=True)])
    for column in (stored, text, text.dictionary_encode(), pa.array(text, pa.large_string())):
        found = features("hour(t), weekday(t), days(t, 2013-01-01)", t=column)
        assert_array_equal(found["hour(t)"], [t.hour for t in CLOCK])
        assert_array_equal(found["weekday(t)"], [t.isoweekday() for t in CLOCK])
    if zone == "UTC":
        zulu = pa.array([t.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for t in times])
        assert_array_equal(features("hour(t)", t=zulu)["hour(t)"], [t.hour for t in CLOCK])


def test_days_without_a_time():
    days = [date(2012, 2, 29), date(1970, 1, 1), None]
    for column in (pa.array(days), pa.array(days, pa.date64()), pa.array(["2012-02-29", "1970-01-01", None])):
        found = features("year(d), days(d, 1970-01-01), category(month(d))", d=column)
        assert_array_equal(found["year(d)"], [2012.0, 1970.0, 0.0])
        assert_array_equal(found["days(d, 1970-01-01)"], [15399.0, 0.0, 0.0])
        assert [name for name in found if "=" in name] == [
            *(f"month(d)={month}" for month in range(2, 13)), "month(d)=(missing)",
        ]  # fmt: skip
        assert_array_equal(found["month(d)=2"], [1.0, 0.0, 0.0])
        assert_array_equal(found["month(d)=(missing)"], [0.0, 0.0, 1.0])


@given(knots=st.lists(st.integers(-50, 50), min_size=3, max_size=8, unique=True).map(sorted))
def test_the_span_of_a_natural_spline(knots):
    """Every natural cubic spline with these knots, which scipy continues as a line, is in the span; nothing else is."""
    k = np.array(knots, dtype=float)
    x = np.linspace(k[0] - 10.0, k[-1] + 10.0, 200)
    basis = np.column_stack([np.ones(len(x)), spline(x, *map(str, knots))])
    assert basis.shape[1] == len(knots)
    peers = []
    for values in np.eye(len(k)):
        natural = CubicSpline(k, values, bc_type="natural")
        inside = np.clip(x, k[0], k[-1])
        peers.append(natural(inside) + natural(inside, 1) * (x - inside))
    peers = np.column_stack(peers)
    scaled = basis / np.linalg.norm(basis, axis=0)
    coef = np.linalg.lstsq(scaled, peers, rcond=None)[0]
    assert_allclose(scaled @ coef, peers, atol=1e-7 * np.abs(peers).max())
    assert np.linalg.matrix_rank(peers) == len(knots)
    cube = np.linalg.lstsq(scaled, (x / np.abs(x).max()) ** 3, rcond=None)[1]
    assert cube.size == 0 or cube[0] > 1e-6


def test_a_spline_has_the_unit_of_its_column():
    x = np.linspace(0.0, 10.0, 30)
    once, thousandfold = spline(x, "1", "4", "9"), spline(1000.0 * x, "1000", "4000", "9000")
    assert_allclose(thousandfold, 1000.0 * once, rtol=1e-12, atol=1e-9)


def test_missing_values_count_as_zero_and_are_marked():
    found = features("log(x), spline(x, 1, 2, 3), x^2, word:x", x=[None, 2.0, math.e], word=["a", None, "b"])
    assert_allclose(found["log(x)"], [0.0, math.log(2.0), 1.0])
    assert_array_equal(found["spline(x, 1, 2, 3).1"], [0.0, 2.0, math.e])
    assert_array_equal(found["x is missing"], [1.0, 0.0, 0.0])
    assert_array_equal(found["word=(missing):x"], [0.0, 2.0, 0.0])


def test_a_number_that_is_a_category_is_marked_once():
    """Its level for missing values would be the same column as an indicator."""
    found = features("category(gate), hour", gate=[1, 2, None, 3], hour=[1.0, None, 2.0, 3.0])
    assert list(found) == ["gate=2", "gate=3", "gate=(missing)", "hour", "hour is missing"]
    found = features("gate, category(gate)", gate=[1, 2, None, 3])
    assert list(found) == ["gate", "gate=2", "gate=3", "gate=(missing)"]


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e200])
def test_what_overflows_is_refused_later_and_quietly(value):
    """Sums of such rows are not finite, and that is when they are refused."""
    found = features("x^2, spline(x, 1, 2, 3)", x=[1.0, value])
    assert not np.isfinite(np.array([*found.values()])[:, 1]).all()
    with pytest.raises(InvalidDataError, match="below 2⁵³"):
        features("category(x)", x=[1.0, value])
