"""The style of figures: a method has its colour whatever else is drawn, text can be read, labels do not overlap."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from ridgeway import catalogue
from ridgeway._style import BLUE, COLOURS, CONTRAST, OTHERS, ink, label_ends, shade, spread
from ridgeway.catalogue import looks

METHODS = looks(dict.fromkeys(key for keys in catalogue.COMPARED.values() for key in keys))


def luminance(colour):
    """Return the relative luminance by the definition of WCAG 2, with NumPy."""
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def test_a_colour_does_not_depend_on_the_other_methods():
    together = looks(["mn", "es:100", "crr:1", "sgd", "river", "gr", "oracle"])
    without = looks(["mn", "es:100", "crr:1", "sgd", "gr", "oracle"])
    assert without.items() <= together.items()
    assert together["gr"][0] == looks(["gr"])["gr"][0] == COLOURS["GeneralizedRidge"] == BLUE
    for keys in catalogue.COMPARED.values():
        assert len({METHODS[key] for key in keys}) == len({METHODS[key][0] for key in keys}) == len(keys)
    assert len({*together.values()}) == len(together)


def test_variants_are_shades_and_others_have_their_own_colours():
    found = looks(["crr:0.1", "crr:1", "mine", "crr:10", "yours"])
    assert len({colour for colour, _ in found.values()}) == 5
    assert found["crr:0.1"] == METHODS["crr"]
    assert (found["mine"], found["yours"]) == OTHERS[:2]
    assert not {colour for colour, _ in OTHERS} & {colour for colour, _ in METHODS.values()}


def test_colours_of_estimators_are_those_of_the_catalogue():
    methods = [catalogue.find(key) for key in catalogue.COMPARED["gaussian"] if key != "river"]
    assert {method.name: METHODS[method.key][0] for method in methods} == COLOURS


@pytest.mark.parametrize("colour", [colour for colour, _ in (*METHODS.values(), *OTHERS)])
def test_text_can_be_read_on_white(colour):
    assert 1.05 / (luminance(ink(colour)) + 0.05) >= CONTRAST
    assert ink("#000000") == "#000000"
    assert luminance(shade(colour, 0.4)) > luminance(colour) > luminance(shade(colour, -0.4))


@given(st.lists(st.floats(0.0, 1.0), max_size=8).map(sorted), st.floats(0.01, 0.2))
def test_labels_are_apart_and_move_as_little_as_possible(places, pitch):
    """The sum of squared moves is the least under the constraints: SciPy's solver finds nothing better."""
    from scipy.optimize import lsq_linear

    found = spread(places, pitch)
    assert all(b - a >= pitch - 1e-9 for a, b in pairwise(found))
    if places:
        steps = np.tril(np.ones((len(places), len(places))))
        wanted = np.array(places) - pitch * np.arange(len(places))
        low = np.r_[-np.inf, np.zeros(len(places) - 1)]
        best = lsq_linear(steps, wanted, (low, np.full(len(places), np.inf)), tol=1e-12)
        np.testing.assert_allclose(found, steps @ best.x + pitch * np.arange(len(places)), atol=1e-4)


def test_labels_stand_where_lines_end():
    axes = Figure(figsize=(4, 4)).add_subplot()
    axes.set(yscale="log", ylim=(1.0, 100.0))
    label_ends(axes, [(10.0, "middle", BLUE), (1.0, "low", BLUE), (10.0, "also", BLUE)], height=3.0)
    places = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert places["low"] == pytest.approx(0.0)
    assert places["also"] + places["middle"] == pytest.approx(1.0)
    assert abs(places["also"] - places["middle"]) > 0.04


@pytest.mark.parametrize("difference", [-1e-14, 0.0, 1e-14])
def test_rounding_does_not_decide_the_order_of_labels(difference):
    axes = Figure(figsize=(4, 4)).add_subplot()
    axes.set(ylim=(0.0, 1.0))
    label_ends(axes, [(0.5 + difference, "b", BLUE), (0.5, "a", BLUE)], height=3.0)
    assert [text.get_text() for text in axes.texts] == ["a", "b"]
