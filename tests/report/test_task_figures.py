"""The figures of tasks show the numbers of the answers."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from report.figures import BLUE, GREEN, PALE, RED, learned, lines, named, texts

from ridgeway import GeneralizedRidge, report, retrospect
from ridgeway.errors import InvalidParameterError


def test_a_path_has_the_numbers_and_the_terms_with_the_largest_t(rng):
    found = retrospect.coefficient_path(learned(rng, columns=[f"x{j}" for j in range(14)], n=40))
    figure = report.draw_path(found)
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


def test_chosen_terms(rng):
    model = learned(rng)
    for draw, found in (
        (report.draw_path, retrospect.coefficient_path(model)),
        (report.draw_influence, retrospect.influence(model)),
        (report.draw_segments, retrospect.segments(model)),
    ):
        figure = draw(found, terms=["adverts", "price", "adverts"])
        assert [axes.get_title(loc="left")[:5] for axes in figure.axes[-2:]] == ["adver", "price"]
        assert len(draw(found, terms="price").axes) == (2 if draw is report.draw_influence else 1)
        with pytest.raises(InvalidParameterError, match=r"unknown name 'cost'.*'intercept', 'price', 'adverts'"):
            draw(found, terms=["price", "cost"])
        with pytest.raises(InvalidParameterError, match="must have 1 to"):
            draw(found, terms=[])


def test_names_of_tasks_do_not_overlap(rng):
    """Neither flat ones nor slanted ones: their lines are further apart than a line is high."""
    for name in ("{}", "2013-{:02d} EWR", "a rather long name of a task, number {:02d}"):
        figure = report.draw_path(retrospect.coefficient_path(learned(rng, n_tasks=40, n=10, name=name)))
        for axes in figure.axes:
            ticks = [text for text in axes.get_xticklabels() if text.get_text()]
            assert len(ticks) >= 3
            boxes = [text.get_window_extent() for text in ticks]
            if ticks[0].get_rotation() == 0.0:
                assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
            else:
                rights = np.diff([box.x1 for box in boxes])
                assert (rights * np.sin(np.pi / 4.0) > 8.0 * figure.dpi / 72.0).all()


def test_influence_has_the_numbers_and_names_the_largest(rng):
    found = retrospect.influence(learned(rng, n_tasks=12))
    figure = report.draw_influence(found)
    top = np.argsort(-found.distance)[:3]
    assert figure.get_suptitle().startswith(f"{found.tasks[top[0]]} matters most: it moves ")
    panels = {"Cook's": found.distance}
    panels |= {term: found.standardized_change[:, j] for j, term in enumerate(found.terms)}
    for title, values in panels.items():
        axes = named(figure, title)
        others = np.setdiff1d(np.arange(12), top)
        np.testing.assert_array_equal(lines(axes, PALE)[0], np.column_stack([others, values[others]]))
        for place, colour in zip(top, (RED, BLUE, GREEN), strict=True):
            np.testing.assert_array_equal(lines(axes, colour)[0], [[place, values[place]]])
            assert axes.get_ylim()[0] < values[place] < axes.get_ylim()[1]
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(labels) == sorted(f"{found.tasks[j]}: {found.distance[j]:.2g}" for j in top)


def test_a_task_that_alone_determines_a_coefficient(rng):
    X = rng.normal(size=(40, 2))
    X[:30, 1] = 0.0
    tasks = np.repeat(["a", "b", "c", "d"], 10)
    model = GeneralizedRidge(information="by_task").fit(X, X.sum(axis=1) + rng.normal(size=40), tasks=tasks)
    figure = report.draw_influence(retrospect.influence(model))
    assert figure.get_suptitle() == "Without d, the other tasks do not determine all coefficients."
    assert "d: alone determines a coefficient" in texts(figure)


def test_segments_have_the_numbers(rng):
    model = learned(rng, n_tasks=10)
    found, path = retrospect.segments(model), retrospect.coefficient_path(model, window=1)
    assert found.changes == ("m05",)
    figure = report.draw_segments(found, path)
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


def test_segments_in_another_order_than_the_path(rng):
    model = learned(rng, n_tasks=6)
    found = retrospect.segments(model, order=[f"m{j:02d}" for j in (5, 4, 3, 2, 1, 0)])
    path = retrospect.coefficient_path(model, window=1)
    dots = lines(named(report.draw_segments(found, path), "price"), PALE)[0]
    np.testing.assert_array_equal(dots[:, 1], path.coef[::-1, 1])
    assert report.draw_segments(found).axes


def test_a_path_of_something_else_is_refused(rng):
    model, other = learned(rng, n_tasks=6), learned(rng, n_tasks=7)
    found = retrospect.segments(model)
    for path in (retrospect.coefficient_path(model), retrospect.coefficient_path(other, window=1)):
        with pytest.raises(InvalidParameterError, match="one step for each of the 6 tasks"):
            report.draw_segments(found, path)
    with pytest.raises(InvalidParameterError, match=r"path must be a CoefficientPath; got Segments\. Pass retrospect"):
        report.draw_segments(found, found)


def test_nothing_changes(rng):
    found = retrospect.segments(learned(rng, n_tasks=6), penalty=1e9)
    figure = report.draw_segments(found)
    assert figure.get_suptitle().startswith("No change is found in 6 tasks")
    assert not lines(figure.axes[0], RED)


@pytest.mark.parametrize("target", [0, 1])
def test_the_target_is_chosen(rng, target):
    model = learned(rng, n_targets=2)
    found = retrospect.coefficient_path(model, window=1)
    figure = report.draw_path(found, target=target)
    np.testing.assert_array_equal(lines(named(figure, "price"), BLUE)[0][:, 1], found.coef[target, :, 1])
    found = retrospect.influence(model)
    labels = [text.get_text() for text in report.draw_influence(found, target=target).axes[0].texts]
    assert f"{found.distance[target].max():.2g}" in " ".join(labels)


def test_a_target_that_is_not_there(rng):
    one, two = (retrospect.coefficient_path(learned(rng, n_targets=k)) for k in (1, 2))
    with pytest.raises(InvalidParameterError, match="target must be an integer from 0 to 1; got 2"):
        report.draw_path(two, target=2)
    with pytest.raises(InvalidParameterError, match="target must be an integer from 0 to 0; got 1"):
        report.draw_path(one, target=1)


def test_a_model_is_not_an_answer(rng):
    model = learned(rng, n_tasks=2)
    for draw in (report.draw_path, report.draw_influence, report.draw_segments):
        with pytest.raises(
            InvalidParameterError, match=r"found must be a \w+; got GeneralizedRidge\. Pass retrospect\."
        ):
            draw(model)
