"""The figures of tasks hold whatever the names and numbers are, and their files are whole."""

from dataclasses import replace

import numpy as np
import pytest
from figures import PALE, drawn, learned, lines, named, texts
from matplotlib import rc_context
from matplotlib.figure import Figure
from report.tables import NASTY

from ridgeway import retrospect
from ridgeway.cli._task_figures import plot_path, plot_segments, write_figure
from ridgeway.errors import InvalidParameterError, MissingPackageError


@pytest.mark.parametrize(
    "name", ["cost in $, of $x^2$ {}", "a_b^c{}", "\x1b[31m\n{}", "\\frac{{{}", "long " * 60 + "{}"]
)
def test_any_name_is_shown_as_text(rng, tmp_path, name):
    columns = [name.format(j) for j in range(3)]
    for figure in drawn(learned(rng, n_tasks=4, columns=columns, name=name)):
        assert not any(
            text.get_parse_math() or text.get_usetex() for text in labels_of(figure) if "$" in text.get_text()
        )
        everything = "".join(texts(figure))
        assert "\x1b" not in everything
        if len(name) < 40:
            assert name.format(0).replace("\x1b", "\\x1b").replace("\n", "\\n") in everything
        write_figure(figure, str(tmp_path / "figure.svg"))
        width = figure.get_size_inches()[0] * figure.dpi
        for text in labels_of(figure):
            box = text.get_window_extent()
            assert box.x0 >= -2.0
            assert box.x1 <= width + 2.0


def labels_of(figure):
    """Return the texts with something in them; ticks that are switched off do not count."""
    found = figure.findobj(lambda each: hasattr(each, "get_parse_math") and each.get_text())
    return [each for each in found if each.get_visible()]


def test_characters_that_the_font_does_not_have_are_warned_of(rng, tmp_path):
    with pytest.warns(UserWarning, match="missing from"):
        figure = plot_path(retrospect.coefficient_path(learned(rng, n_tasks=2, name=NASTY.replace("{0}", "{}"))))
    with pytest.warns(UserWarning, match="missing from"):
        write_figure(figure, str(tmp_path / "path.png"))
    assert (tmp_path / "path.png").stat().st_size > 1000


def test_a_single_task(rng):
    model = learned(rng, n_tasks=1)
    found = retrospect.coefficient_path(model)
    figure = plot_path(found)
    (segment,) = named(figure, "price").collections[1].get_segments()
    np.testing.assert_array_equal(segment, np.column_stack([[0, 0], found.intervals[0, 1]]))
    assert figure.get_suptitle().startswith("price is ")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, 0.0])
def test_numbers_that_are_not_usual(rng, tmp_path, value):
    model = learned(rng, n_tasks=5)
    alone, changes = retrospect.coefficient_path(model, window=1), retrospect.segments(model)

    def spoiled(answer, *names):
        arrays = {name: getattr(answer, name).copy() for name in names}
        for array in arrays.values():
            array[0] = value
        return replace(answer, **arrays)

    for figure in (
        plot_path(spoiled(alone, "coef", "intervals", "standard_errors")),
        plot_segments(spoiled(changes, "coef", "standard_errors"), spoiled(alone, "coef")),
    ):
        assert np.isfinite([axes.get_ylim() for axes in figure.axes]).all()
        write_figure(figure, str(tmp_path / "figure.png"))


def test_coefficients_that_nothing_determines(rng):
    """Three tasks of two rows for six terms: no interval is finite, and early estimates are missing."""
    found = retrospect.coefficient_path(learned(rng, n_tasks=3, n=2, columns=list("abcde")))
    assert np.isnan(found.coef[:2]).all()
    figure = plot_path(found)
    assert "[−∞, ∞]" in figure.get_suptitle()


def test_one_wild_task_does_not_set_the_axis(rng):
    model = learned(rng, n_tasks=20)
    found = retrospect.coefficient_path(model, window=1)
    wild = found.coef.copy()
    wild[3] = [1e6, 1e6, -1e6]
    axes = named(plot_segments(retrospect.segments(model), replace(found, coef=wild)), "price")
    assert axes.get_ylim()[1] < 20.0
    (dots, outside) = lines(axes, PALE)
    assert len(dots) == 20
    np.testing.assert_array_equal(outside, [[3, axes.get_ylim()[1]]])


def written(figure, path):
    """Write a figure, and return the bytes of the file."""
    assert write_figure(figure, str(path)) == f"{path}: written"
    return path.read_bytes()


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_answer_gives_the_same_bytes(tmp_path, suffix):
    path = tmp_path / f"figure.{suffix}"
    first, second = (list(drawn(learned(np.random.default_rng(0), n_tasks=4))) for _ in range(2))
    for figure, again in zip(first, second, strict=True):
        before = written(figure, path)
        assert before.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])
        assert written(again, path) == before
    assert written(again, path.with_suffix(path.suffix.upper())) == before
    *_, other = drawn(learned(np.random.default_rng(1), n_tasks=4))
    assert written(other, path) != before  # the control
    assert written(figure, path) == before  # saved once more
    assert {each.name for each in tmp_path.iterdir()} == {path.name, f"figure.{suffix.upper()}"}


def test_the_settings_of_matplotlib_stay_and_do_not_break_a_figure(rng, tmp_path):
    with rc_context({"text.usetex": True, "svg.hashsalt": "other", "axes.titlesize": 30}):
        figure = plot_path(retrospect.coefficient_path(learned(rng, name="a_{}")))
        write_figure(figure, str(tmp_path / "a.svg"))
        assert Figure().text(0, 0, "x").get_usetex()


def test_what_cannot_be_written_is_refused_and_nothing_is_left(rng, tmp_path):
    figure = plot_path(retrospect.coefficient_path(learned(rng, n_tasks=2)))
    for name in ("figure.jpeg", "figure", "svg", "figure.svg.gz"):
        with pytest.raises(InvalidParameterError, match=r"must end in \.svg, \.pdf or \.png; got "):
            write_figure(figure, str(tmp_path / name))
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(InvalidParameterError, match="is a folder"):
        write_figure(figure, str(tmp_path / "folder.svg"))
    with pytest.raises(InvalidParameterError, match="does not exist"):
        write_figure(figure, str(tmp_path / "nowhere" / "figure.svg"))
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.svg"]


def test_a_failure_leaves_the_older_file(rng, tmp_path, monkeypatch):
    path = tmp_path / "figure.svg"
    path.write_text("older")
    figure = plot_path(retrospect.coefficient_path(learned(rng, n_tasks=2)))

    def broken(file, **options):
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(figure, "savefig", broken)
    with pytest.raises(OSError, match="disk is full"):
        write_figure(figure, str(path))
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_without_matplotlib_the_extra_is_named(rng, monkeypatch):
    model = learned(rng, n_tasks=2)
    monkeypatch.setattr("ridgeway._optional.find_spec", lambda package: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'ridgeway\[plot\]'"):
        plot_path(retrospect.coefficient_path(model))
