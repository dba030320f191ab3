"""What the pages say is so: snippets run, commands run, links lead somewhere, the API page is complete."""

import doctest
import re
from itertools import dropwhile, takewhile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from snippets import PageRun, blocks, commands_of, is_shell

from ridgeway import datasets, report, retrospect, store
from ridgeway.catalogue import _registry
from ridgeway.research import simulation

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MADE = ("generated", "auto_examples")
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name not in MADE)
SMALL = {"compare": ["--methods", "gr"], "simulate": ["--repetitions", "2", "--n-tasks", "3", "--n-features", "8"]}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(5)
    for name in ("survey-2019.parquet", "survey-2020.parquet", "survey-2021.csv", "all.parquet", "new.csv"):
        frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=["age", "education", "tenure"])
        frame["log_wage"] = frame.sum(axis=1) + rng.normal(size=90)
        frame = frame.assign(year=np.repeat([2017, 2018], 45)) if name == "all.parquet" else frame
        write(frame.drop(columns="log_wage") if name == "new.csv" else frame, name)
    for name in ("my.parquet", "next.parquet"):
        frame = pd.DataFrame({"site": np.repeat(["a", "b", "c"], 30), "x": rng.normal(size=90)})
        write(frame.assign(y=frame["x"] + rng.normal(size=90)), name)
    for name in ("jan.parquet", "feb.parquet"):
        frame = pd.DataFrame({"carrier": rng.choice(["AA", "UA"], 90), "distance": rng.integers(100, 2500, 90)})
        frame = frame.assign(arr_delay=rng.normal(size=90), passengers=rng.poisson(99, 90))
        write(frame.assign(late=rng.choice(["no", "yes"], 90), species=rng.choice(["a", "b", "c"], 90)), name)
    return tmp_path


def write(frame, name):
    frame.to_parquet(name, index=False) if name.endswith("parquet") else frame.to_csv(name, index=False)


def prepare_states():
    """Make the state files of store.md, whose commands are a list to choose from: each runs on its own."""
    wages = store.create("wages.rw", features=["age", "education", "tenure"], target="log_wage", keep="tasks")
    wages.absorb_table("survey-2019.parquet", task_id="2019")
    wages.export("model.safetensors")
    for name, table in (("north.rw", "survey-2019.parquet"), ("south.rw", "survey-2020.parquet")):
        site = store.create(name, features=["age", "education", "tenure"], target="log_wage")
        site.absorb_table(table, task_id=table)
    flights = store.create("flights.rw", features=["distance"], target="arr_delay", keep="tasks")
    for month in ("2013-03", "2013-04"):
        flights.absorb(month, [[float(row)] for row in range(20)], [float(row % int(month[-1])) for row in range(20)])


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent == ROOT / "docs"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_snippets_and_commands_run(page, workplace, monkeypatch):
    """Those of the guide have tests of their own. What is registered is gone afterwards."""
    assert simulation.Setting().n_tasks == 20  # the import that registers its methods
    monkeypatch.setattr(_registry, "ENTRIES", dict(_registry.ENTRIES))
    run, text = PageRun(page.name, monkeypatch.setenv, SMALL), page.read_text("utf-8")
    if page.name != "store.md":
        run.run(text)
        return
    prepare_states()
    files = {path.name: path.read_bytes() for path in workplace.iterdir()}
    for language, body in blocks(text):
        if ">>>" in body:
            run.python(body)
        for command in commands_of(language, body) if is_shell(language, body) else ():
            words = command[0].split()
            made = words[{"init": 2, "export": 3}[words[1]]] if words[1] in ("init", "export") else None
            for name, content in files.items():
                (workplace / name).unlink(missing_ok=True)
                if name != made:
                    (workplace / name).write_bytes(content)
            run.shell([command])
            assert run.code == 0, (command, run.said)


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


def rows_described(text):
    """Run the snippets of a page, and return how many rows its models have learned."""
    test = doctest.DocTestParser().get_doctest(text, {}, "README", None, 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False).failed == 0
    return {name: test.globs[name].n_samples_seen_ for name in ("north", "south", "both", "rest")}


def test_the_readme_asks_about_the_rows_of_both():
    """`merge` and `remove` return new models, so that what follows describes all 442 rows."""
    text = README.read_text(encoding="utf-8")
    assert rows_described(text) == {"north": 200, "south": 242, "both": 442, "rest": 342}
    text = text.replace("rest = both.remove", "rest = both = both.remove")  # the control
    assert rows_described(text)["both"] == 342


def test_make_demo_is_the_command_of_the_readme():
    (recipe,) = re.findall(r"^demo:.*\n\t\$\(BIN\)/(.*) --out \S+$", (ROOT / "Makefile").read_text(), flags=re.M)
    lines = [command for block in blocks(README.read_text("utf-8")) for command, _ in commands_of(*block)]
    assert any(line.startswith(recipe) for line in lines)


def table(text, start):
    """Return the rows of the first table after a line that begins with `start`, as dicts by the cells of its head."""
    lines = f"\n{text}".partition(f"\n{start}")[2].splitlines()
    found = list(takewhile(lambda line: line.startswith("|"), dropwhile(lambda line: not line.startswith("|"), lines)))
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found]
    return [dict(zip(head, row, strict=True)) for row in rows]


def spans(rows, column):
    """Return the least and the largest number of a column, rounded as in the README."""
    found = [float(row[column]) for row in rows if row[column] != "–"]
    return [f"{number:.1g}" if number < 1 else f"{number:.2g}" for number in (min(found), max(found))]


def test_the_cells_of_the_comparison_are_those_of_the_measurements():
    ours = {re.sub(r"\[|\]\(.*\)", "", row[""]): row for row in table(README.read_text("utf-8"), "## How it compares")}
    digits = table((ROOT / "docs" / "accuracy.md").read_text("utf-8"), "<!-- table -->")
    for name in ("Longley", "Filip"):
        (measured,) = (row for row in digits if row["set"] == name)
        cells = ours[f"correct digits, {name}"]
        assert (cells["Ridgeway"], cells["scikit-learn-intelex"]) == (
            measured["`square_root`"],
            measured["scikit-learn-intelex"],
        )
    times = table((ROOT / "docs" / "benchmarks.md").read_text("utf-8"), "### Time relative to scikit-learn-intelex, 2")
    cells = ours["time per task, relative"]
    for name, column in (("Ridgeway", "square_root"), ("river", "river"), ("scikit-learn", "SGDRegressor")):
        assert cells[name] == " to ".join(spans(times, column))


def test_the_peers_forget_as_the_comparison_says():
    """Of the peers, only scikit-learn is installed with the tests."""
    page = table((ROOT / "docs" / "guide" / "peers.md").read_text("utf-8"), "# Ridgeway and its peers")
    found = report.compare(datasets.load_penguins(), methods=["gr", "sgd"])
    for column, name in (("`GeneralizedRidge`", "gr"), ("`SGDRegressor` (scikit-learn)", "sgd")):
        result = found[name]
        assert page[0][column] == f"{result.learned_loss:.1f} → {result.kept_loss:.1f}"
        assert float(page[1][column]) == round(result.distance, 2)
    assert f"rises by {100 * found['sgd'].rise:.0f} %" in README.read_text("utf-8")


def test_the_readme_is_short():
    assert len(README.read_text("utf-8").splitlines()) <= 150


def long_lines(text):
    """Return the lines of code that a page would cut off or wrap; what commands print is not code."""
    lines = [line.strip() for line in re.findall(r"^\s*(?:>>>|\.\.\.|\$) .*", text, flags=re.M)]
    lines += [
        line
        for language, block in re.findall(r"^```(python|bash)\n(.*?)^```", text, flags=re.M | re.S)
        for line in block.splitlines()
        if language == "bash" or ">>>" not in block
    ]
    return [line for line in lines if len(line) > 88]


@pytest.mark.parametrize("line", [">>> model", "```bash\nridgeway\n```", "    $ ridgeway", "```python\nmodel\n```"])
def test_long_lines_are_noticed(line):
    word = re.search(r"model|ridgeway", line)[0]
    assert long_lines(line) == []
    assert len(long_lines(line.replace(word, word + 90 * "x"))) == 1


def test_code_fits_the_pages():
    """In the pages, in the README, and in the docstrings, of which the API is made."""
    files = [README, *PAGES, *sorted((ROOT / "src").rglob("*.py"))]
    found = {str(file.relative_to(ROOT)): long_lines(file.read_text(encoding="utf-8")) for file in files}
    found |= {
        str(file.relative_to(ROOT)): [line for line in file.read_text("utf-8").splitlines() if len(line) > 88]
        for file in (ROOT / "examples").glob("*.py")
    }
    code = {name: [line for line in lines if not line.startswith("#")] for name, lines in found.items()}
    assert {name: lines for name, lines in code.items() if lines} == {}
