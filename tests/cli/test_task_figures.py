"""The figures of tasks show the numbers of the answers."""

from itertools import pairwise

import numpy as np
from figures import BLUE, PALE, RED, learned, lines, named, texts
from matplotlib.colors import to_hex

from ridgeway import retrospect
from ridgeway.cli._task_figures import plot_path, plot_segments


def test_a_path_has_the_numbers_and_the_terms_with_the_largest_t(rng):
    found = retrospect.coefficient_path(learned(rng, columns=[f"x{j}" for j in range(14)], n=40))
    figure = plot_path(found)
    assert len(figure.axes) == 12
    t = np.abs(found.coef[-1] / found.standard_errors[-1])
    best = [found.terms[j] for j in np.argsort(-t)[:12]]
    assert [axes.get_title(loc="left").removesuffix(" (target's unit)") for axes in figure.axes] == best
    for axes, term in zip(figure.axes, np.argsort(-t), strict=False):
        (line,) = lines(axes, BLUE)
        np.testing.assert_array_equal(line, np.column_stack([np.arange(8), found.coef[:, term]]))
        band = axes.collections[0].get_paths()[0].vertices
        for step, ends in enumerate(found.intervals[:, term]):
            np.testing.assert_array_equal(np.unique(band[band[:, 0] == step, 1]), ends)
        assert axes.get_ylim()[0] <= found.intervals[-1, term, 0] <= axes.get_ylim()[1]
    assert any("12 of 15 terms" in text for text in texts(figure))
    assert any("in the unit of the target per unit of the feature" in text for text in texts(figure))


def test_names_of_tasks_do_not_overlap(rng):
    """Neither flat ones nor slanted ones: their lines are further apart than a line is high."""
    for name in ("{}", "2013-{:02d} EWR", "a rather long name of a task, number {:02d}"):
        figure = plot_path(retrospect.coefficient_path(learned(rng, n_tasks=40, n=10, name=name)))
        for axes in figure.axes:
            ticks = [text for text in axes.get_xticklabels() if text.get_text()]
            assert len(ticks) >= 3
            boxes = [text.get_window_extent() for text in ticks]
            if ticks[0].get_rotation() == 0.0:
                assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
            else:
                rights = np.diff([box.x1 for box in boxes])
                assert (rights * np.sin(np.pi / 4.0) > 8.0 * figure.dpi / 72.0).all()


def test_segments_have_the_numbers(rng):
    model = learned(rng, n_tasks=10)
    found, path = retrospect.segments(model), retrospect.coefficient_path(model, window=1)
    assert found.changes == ("m05",)
    figure = plot_segments(found, path)
    assert figure.get_suptitle().startswith("The relation changes before m05 (p = 0.0005")
    assert figure.axes[0].get_title(loc="left") == "price"  # it changes most
    for j, term in enumerate(found.terms):
        axes = named(figure, term)
        first, second = lines(axes, BLUE)
        np.testing.assert_array_equal(first, [[-0.5, found.coef[0, j]], [4.5, found.coef[0, j]]])
        np.testing.assert_array_equal(second, [[4.5, found.coef[1, j]], [9.5, found.coef[1, j]]])
        for band, value, error in zip(axes.collections, found.coef[:, j], found.standard_errors[:, j], strict=True):
            heights = band.get_paths()[0].vertices[:, 1]
            np.testing.assert_allclose([heights.min(), heights.max()], [value - 2 * error, value + 2 * error])
        np.testing.assert_array_equal(lines(axes, PALE)[0], np.column_stack([np.arange(10), path.coef[:, j]]))
        (change,) = lines(axes, RED)
        assert change[0, 0] == 4.5
        red = [text.get_text() for text in axes.get_xticklabels() if to_hex(text.get_color()) == RED]
        assert red == ["m05"]


def test_nothing_changes(rng):
    model = learned(rng, n_tasks=6)
    found = retrospect.segments(model, penalty=1e9)
    figure = plot_segments(found, retrospect.coefficient_path(model, window=1))
    assert figure.get_suptitle().startswith("No change is found in 6 tasks")
    assert not lines(figure.axes[0], RED)


def test_the_first_of_several_targets_is_drawn(rng):
    model = learned(rng, n_targets=2)
    alone = retrospect.coefficient_path(model, window=1)
    (line,) = lines(named(plot_path(alone), "price"), BLUE)
    np.testing.assert_array_equal(line[:, 1], alone.coef[0, :, 1])
