"""Each page for users runs from its first line to its last, and its sentences say what the commands print."""

import pytest
from prose import habits, is_backed, numbers, sentences, too_long
from snippets import DOCS, ROOT, PageRun, blocks

FOLDERS = ("getting-started", "guide", "how-to")
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md")))]
ALL = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUN = [page for page in PAGES if page.name != "index.md"]

WEIGHTS = "docs/guide/weights-and-priors.md"

# Numbers that no command on the page prints, with the file that has them.
ELSEWHERE = {
    "README.md": {"3.11": "pyproject.toml", "2024": "CITATION.cff", "0.8": WEIGHTS, "10,000": WEIGHTS},
    "install.md": {"3.11": "pyproject.toml"},
    "forgetting.md": {"5": "docs/compare.md"},
    "inference.md": dict.fromkeys(("93", "97", "38"), "docs/robust-errors.md"),
    "many-machines.md": {
        "60": "src/ridgeway/cli/_cmd_absorb.py",
        "8,192": "src/ridgeway/store/_digests.py",
        "32": "docs/reference/file-format.md",
    },
    "reading-a-report.md": {"5": "docs/compare.md"},
    "classes-and-counts.md": dict.fromkeys(("1989", "205"), "examples/tables/SOURCES.md"),
}


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder beside the tables of the checkout, and a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_the_page_runs_and_its_numbers_are_printed(page, folder, monkeypatch):
    text = page.read_text("utf-8")
    run = PageRun(page.name, monkeypatch.setenv).run(text)
    printed = "\n".join([*run.printed, *(body for _, body in blocks(text))])
    found = set(numbers(text))
    for number, path in ELSEWHERE.get(page.name, {}).items():
        assert is_backed(number, (ROOT / path).read_text("utf-8")), (number, path)
        found.remove(number)
    assert [each for each in found if not is_backed(each, printed)] == []


def test_the_tables_of_the_examples_are_the_bundled_penguins():
    bundled = (ROOT / "src/ridgeway/datasets/data/penguins.csv").read_text("utf-8").splitlines()
    years = {year: (ROOT / f"examples/tables/penguins-{year}.csv").read_text("utf-8") for year in (2007, 2008, 2009)}
    head = bundled[0].removesuffix(",year")
    assert all(text.splitlines()[0] == head for text in years.values())
    rows = [f"{line},{year}" for year, text in years.items() for line in text.splitlines()[1:]]
    assert sorted(rows) == sorted(bundled[1:])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_sentence_is_too_long(page):
    assert too_long(page.read_text("utf-8")) == []


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_the_english_is_plain(page):
    assert habits(page.read_text("utf-8")) == []


def unfit(text):
    """Return the lines of code that are too wide, and the blocks of Python that no test runs."""
    found = [(language, body) for language, body in blocks(text) if not language.startswith("{")]
    wide = [line for _, body in found for line in body.splitlines() if len(line) > 88]
    return wide + [body for language, body in found if language == "python" and ">>>" not in body]


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_code_fits_the_page_and_runs(page):
    assert unfit(page.read_text("utf-8")) == []


def test_unfit_code_is_noticed():
    assert unfit("```python\n>>> 1\n1\n\n```\n") == []
    assert unfit("```python\nprint(1)\n```\n") == ["print(1)\n"]
    assert unfit(f"```\n{'x' * 89}\n```\n") == ["x" * 89]


def test_a_long_sentence_is_noticed():
    words = " ".join(["word"] * 28)
    assert too_long(f"It is {words}.") == []
    assert too_long(f"It is {words} long.") == [f"It is {words} long."]
    assert len(sentences("One. Two: three; four.\n\n- Five\n- Six")) == 4
    hidden = f"```\n{words} {words}\n```\n\n| {words} {words} |\n\n`{words} {words}` [see](https://a.b/{'/c' * 40})"
    assert too_long(hidden) == []


@pytest.mark.parametrize(
    "text",
    [
        "Write it anew.",
        "The limit is no file.",
        "It has so many\nrows.",
        "Where it is none, stop.",
        "From May on, wait.",
    ],
)
def test_a_habit_is_noticed(text):
    assert len(habits(text)) == 1
    assert habits("There is no file. It is no longer here, and is no larger than `anew`.") == []


def test_a_wrong_number_is_noticed():
    printed = "333 rows, 27.56 g, rose by 0.734, 291140"
    text = "With 333 rows and 28 g it rose by 73 %: 291,140, of three."
    assert [each for each in numbers(text) if not is_backed(each, printed)] == []
    assert numbers("the `99` of [88](77.md), H2 and v1.2.3") == ["88"]
    for wrong in ("334", "29", "74", "291,141", "nine"):
        assert not is_backed(wrong, printed)


def test_a_wrong_output_is_noticed(folder, monkeypatch):
    def run(text):
        return PageRun("page", monkeypatch.setenv).run(text)

    page = (
        "```console\n$ ridgeway check none.rw\nridgeway check: ...\n$ echo $?\n2\n```\n```python\n>>> 1 + 1\n2\n\n```\n"
    )
    assert run(page).printed[-1] == "2\n"
    for right, wrong in (
        ("check: ...", "check: fine"),
        ("$ echo $?\n2\n", ""),
        ("?\n2\n", "?\n0\n"),
        (">>> 1", ">>> 2"),
    ):
        assert right in page
        with pytest.raises(AssertionError):
            run(page.replace(right, wrong))
    with pytest.raises(AssertionError):
        run("```console\n$ make nothing-like-this\n```\n")
