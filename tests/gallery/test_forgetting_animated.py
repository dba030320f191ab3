"""The film: one line is that of the newest group alone, the other that of all birds so far."""

import numpy as np
import pandas as pd
import pytest
from gallery_page import page_of


@pytest.fixture(scope="module")
def film():
    return page_of("forgetting_animated")


def line_of(birds, ends):
    return np.polyval(np.polyfit(birds["flipper_length_mm"], birds["body_mass_g"], 1), ends)


def test_both_lines_after_every_group(film):
    groups, ends = [group for _, group in film["groups"]], film["ends"][:, 0]
    assert len(groups) == 9
    assert film.says("all {} birds ends", sum(map(len, groups)))
    for step, (forgets, keeps) in enumerate(film["lines"]):
        np.testing.assert_allclose(forgets, line_of(groups[step], ends), rtol=1e-8)
        np.testing.assert_allclose(keeps, line_of(pd.concat(groups[: step + 1]), ends), rtol=1e-8)
    jumps = np.abs(np.diff(np.array(film["lines"]), axis=0)).max(axis=2)
    assert jumps[3:, 1].max() < 150.0 < 400.0 < jumps[2:, 0].min()  # "moves little after the first groups"


def test_a_picture_shows_what_it_says(film):
    film["show"](5)
    (island, year), group = film["groups"][5]
    assert film["said"].get_text() == f"6 of 9: {island} {year}"
    np.testing.assert_array_equal(film["new"].get_xdata(), group["flipper_length_mm"])
    np.testing.assert_allclose(film["wild"].get_ydata(), film["lines"][5][0])
    np.testing.assert_allclose(film["calm"].get_ydata(), film["lines"][5][1])
    for step in range(9):
        film["show"](step)
        assert abs(film["wild_name"].get_position()[1] - film["calm_name"].get_position()[1]) >= 450.0
