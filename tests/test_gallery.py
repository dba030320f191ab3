"""The pages of the gallery run without a warning, every figure has a title, and sentences are short."""

import re
import runpy
from pathlib import Path

import pytest
from matplotlib import pyplot as plt
from matplotlib.animation import Animation

FOLDER = Path(__file__).parents[1] / "examples"
PAGES = [pytest.param(path, id=path.stem.removeprefix("plot_")) for path in sorted(FOLDER.glob("plot_*.py"))]


def titles_of(path, folder, monkeypatch):
    """Run a page, draw its films, and return the titles of its figures."""
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.switch_backend("Agg")
    plt.close("all")
    films = [value for value in runpy.run_path(str(path)).values() if isinstance(value, Animation)]
    for film in films:
        film.save(folder / "film.gif", dpi=30)
    titles = [plt.figure(number).get_suptitle() for number in plt.get_fignums()]
    plt.close("all")
    return titles


def prose_of(text):
    """Return the docstring of a page and its comments as one line."""
    lines = [*text.split('"""')[1].splitlines(), *re.findall(r"^# ?(.*)", text, flags=re.M)]
    return " ".join(" ".join(lines).replace("*", "").replace("`", "").split())


def long_sentences(prose):
    sentences = re.split(r"(?<=[.?!:])\s|\s- |[-=%]{2,}", prose)
    return [sentence for sentence in sentences if len(sentence.split()) > 30]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_and_describes_its_figures(path, tmp_path, monkeypatch):
    """The gallery takes the title of a figure as its alternative text, for those who do not see it."""
    titles = titles_of(path, tmp_path, monkeypatch)
    assert len(titles) == path.read_text(encoding="utf-8").count("plt.show()") >= 1
    assert [title for title in titles if len(title.split()) < 4] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_easy_to_read(path):
    assert long_sentences(prose_of(path.read_text(encoding="utf-8"))) == []


def test_a_long_sentence_is_noticed():
    words = "\n# ".join(["word"] * 30)
    assert long_sentences(prose_of(f'"""A title."""\n# {words}.\n# Another.')) == []
    assert len(long_sentences(prose_of(f'"""A title."""\n# {words}\n# more.\n# Another.'))) == 1
