"""What the pages say is so: snippets run, commands run, links lead somewhere, the API page is complete."""

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from runner import CliRunner

from ridgeway import retrospect
from ridgeway.catalogue import _registry
from ridgeway.cli._commands import commands
from ridgeway.research import simulation

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MADE = ("generated", "auto_examples")
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name not in MADE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def fenced(path):
    """Yield the language and the text of each fenced block."""
    yield from re.findall(r"^```([^\n]*)\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def command_lines(path):
    """Return the lines of the blocks of commands, comments aside."""
    texts = [text.replace("\\\n", " ") for language, text in fenced(path) if language in ("", "bash")]
    lines = [line.partition("  #")[0].strip() for text in texts for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if ">>>" in page.read_text(encoding="utf-8") and page.name != "monthly.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_snippets_run(page, monkeypatch):
    """Those of monthly.md run with its commands, in test_monthly.py. What they register is gone afterwards."""
    assert simulation.Setting().n_tasks == 20  # the import that registers its methods
    monkeypatch.setattr(_registry, "ENTRIES", dict(_registry.ENTRIES))
    found = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize(
    "page",
    [README, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    examples = (ROOT / "examples").glob("plot_*.py")
    made = {
        "api.rst",
        "reference/commands.rst",
        *(f"auto_examples/{name}.rst" for name in ("index", *(each.stem for each in examples))),
    }
    files = {to: (page.parent / to.partition("#")[0]).resolve() for to in targets if not to.startswith(("http", "#"))}
    made_files = {ROOT / "docs" / name for name in made}  # by the build
    assert [to for to, file in files.items() if file not in made_files and not file.exists()] == []


def test_every_question_is_in_the_table():
    """The tables of retrospect.md name each function once."""
    text = (ROOT / "docs" / "retrospect.md").read_text(encoding="utf-8")
    section = text.partition("## Which question, which function")[2].partition("\n## ")[0]
    cells = [line.split("|")[2] for line in section.splitlines() if line.startswith("|")]
    functions = [name for name in retrospect.__all__ if name.islower()]
    assert sorted(re.findall(r"`(\w+)`", " ".join(cells))) == sorted(functions)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the files that the README's commands name."""
    rng = np.random.default_rng(5)
    monkeypatch.chdir(tmp_path)
    for name, year in (("survey-2019.parquet", 2019), ("survey-2020.parquet", 2020), ("my.parquet", 0), ("new.csv", 1)):
        frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=["age", "education", "tenure"])
        frame["log_wage"] = frame.sum(axis=1) + rng.normal(size=90)
        if name == "my.parquet":
            frame = frame.rename(columns={"log_wage": "y"}).assign(site=np.repeat(["a", "b", "c"], 30))
        frame = frame.drop(columns="log_wage") if name == "new.csv" else frame
        frame.to_parquet(name) if name.endswith("parquet") else frame.to_csv(name, index=False)
        assert year >= 0
    for name in ("flights-2013-01.parquet", "flights-2013-02.parquet", "flights-2014-01.parquet", "tomorrow.csv"):
        frame = pd.DataFrame({"flight": np.arange(90), "carrier": rng.choice(["AA", "UA"], 90), "tailnum": "N1"})
        frame["distance"] = rng.integers(100, 2500, 90)
        frame["arr_delay"] = np.log(frame["distance"]) + 3.0 * (frame["carrier"] == "UA") + rng.normal(size=90)
        frame.to_csv(name, index=False) if name.endswith("csv") else frame.to_parquet(name, index=False)
    return tmp_path


def test_every_command_of_the_readme_runs(workplace):
    """In the order in which they stand. `reproduce` and `verify` have tests of their own, and take their time."""
    lines = command_lines(README)
    ours = [shlex.split(line)[1:] for line in lines if line.startswith("ridgeway ")]
    others = [line for line in lines if not line.startswith("ridgeway ")]
    assert len(ours) >= 3
    for arguments in ours:
        assert arguments[0] in commands.commands, arguments
        slow = arguments[0] in ("reproduce", "verify")
        result = CliRunner().invoke(commands, [*arguments, "--help"] if slow else arguments)
        assert result.exit_code == 0, (arguments, result.output)
    makefile = (ROOT / "Makefile").read_text()
    for line in others:
        assert line.startswith(("make ", "pip install ")), line
        if line.startswith("make "):
            assert re.search(rf"^{line.split()[1]}:", makefile, flags=re.M), line


def rows_described(text):
    """Run the snippets of a page, and return how many rows its models have learned."""
    test = doctest.DocTestParser().get_doctest(text, {}, "README", None, 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False).failed == 0
    return {name: test.globs[name].n_samples_seen_ for name in ("north", "south", "both", "rest")}


def test_the_readme_asks_about_the_rows_of_both():
    """`merge` and `remove` return new models, so that what follows describes all 90 rows."""
    text = README.read_text(encoding="utf-8")
    assert rows_described(text) == {"north": 40, "south": 50, "both": 90, "rest": 50}
    assert rows_described(text.replace("rest = both.remove", "rest = both = both.remove"))["both"] == 50  # the control


def test_make_demo_is_the_command_of_the_readme():
    (recipe,) = re.findall(r"^demo:.*\n\t\$\(BIN\)/(.*) --out \S+$", (ROOT / "Makefile").read_text(), flags=re.M)
    assert any(line.startswith(recipe) for line in command_lines(README))
