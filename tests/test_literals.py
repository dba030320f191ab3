"""A choice between words is a `Literal` in the public API, of the words that are documented and accepted."""

import inspect
import re
import types
import typing
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest

import ridgeway
from ridgeway import (
    GeneralizedLogistic,
    GeneralizedPoisson,
    GeneralizedRidge,
    report,
    research,
    store,
    weights,
)
from ridgeway.errors import InvalidParameterError
from ridgeway.information import KINDS
from ridgeway.research import simulation
from ridgeway.research.verify import verify

PACKAGES = [ridgeway, *(getattr(ridgeway, name) for name in ridgeway.__all__ if name.islower())]
PACKAGES += [getattr(research, name) for name in research.__all__]
X, y = np.arange(12.0).reshape(6, 2) ** 2, np.arange(6.0)


def public_callables():
    """Return the public classes and functions by name."""
    found = {}
    for package in PACKAGES:
        for name in package.__all__:
            thing = getattr(package, name)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("ridgeway"):
                found[f"{thing.__module__}.{name}"] = thing
    return found


def documented(thing):
    """Yield (parameter, words) for each `name : {"a", "b"}` in a docstring."""
    for names, words in re.findall(r'^ *([\w, ]+) : \{("[^}]*")\}', thing.__doc__ or "", flags=re.M):
        yield from ((name, set(re.findall(r'"([^"]*)"', words))) for name in names.split(", "))


def words_of(annotation):
    """Return the words that an annotation lists, within unions too."""
    if get_origin(annotation) is Literal:
        return {word for word in get_args(annotation) if isinstance(word, str)}
    if get_origin(annotation) in (typing.Union, types.UnionType):
        return set().union(*map(words_of, get_args(annotation)))
    return set()


def annotated(thing, parameter):
    lazy = {"GeneralizedRidge": GeneralizedRidge}  # what modules import for type checkers alone
    hints = typing.get_type_hints(thing.__init__ if inspect.isclass(thing) else thing, localns=lazy)
    return words_of(hints.get(parameter, Any))


def mismatches(things):
    for name, thing in things.items():
        for parameter, words in documented(thing):
            if annotated(thing, parameter) != words:
                yield f"{name}({parameter})"


def test_documented_words_are_the_annotated_ones():
    assert list(mismatches(public_callables())) == []


def test_a_choice_without_its_literal_is_found():
    def forgotten(kind: str = "a") -> None:
        """Do nothing.

        kind : {"a", "b"}, default "a"
        """

    def incomplete(kind: Literal["a"] | None = "a") -> None:
        """Do nothing.

        kind : {"a", "b"}, default "a"
        """

    assert len(list(mismatches({"forgotten": forgotten, "incomplete": incomplete}))) == 2


CHOICES = {
    (GeneralizedRidge, "information"): lambda word: GeneralizedRidge(information=word).fit(X, y),
    (GeneralizedRidge, "weight_kind"): lambda word: GeneralizedRidge(weight_kind=word).fit(X, y),
    (GeneralizedLogistic, "memory"): lambda word: logistic(memory=word),
    (GeneralizedPoisson, "memory"): lambda word: GeneralizedPoisson(memory=word).fit(X, y),
    (GeneralizedPoisson, "weight_kind"): lambda word: GeneralizedPoisson(weight_kind=word).fit(X, y),
    (weights.Accumulated, "prior"): lambda word: GeneralizedRidge(weights.Accumulated(prior=word)).fit(X, y),
    (simulation.Setting, "shift"): lambda word: simulation.Setting(shift=word),
    (simulation.run, "averaging"): lambda word: simulate(averaging=word),
    (verify, "budget"): lambda word: verify(["order"], budget=word),
    (store.create, "information"): lambda word: create(information=word),
    (store.create, "weight_kind"): lambda word: create(weight_kind=word),
    (report.compare, "order"): lambda word: compare(order=word),
    (report.compare, "missing"): lambda word: compare(missing=word),
}


def logistic(**options):
    return GeneralizedLogistic(weights.Accumulated(prior=1.0), **options).fit(X, y > 2.0)


def simulate(**options):
    return simulation.run(simulation.Setting(2, 3, 2), "mn", repetitions=1, **options)


def create(**options):
    return store.create("state.rw", features=["a"], target="y", **options)


def compare(**options):
    table = {"a": X[:, 0], "y": y, "site": ["s", "s", "s", "t", "t", "t"]}
    return report.compare(table, target="y", task_column="site", methods=["mn"], **options)


@pytest.mark.parametrize(
    ("choice", "call"), CHOICES.items(), ids=[f"{thing.__name__}-{name}" for thing, name in CHOICES]
)
@pytest.mark.filterwarnings("ignore::ridgeway.errors.PriorWarning", "ignore::ridgeway.errors.PrecisionWarning")
def test_the_annotated_words_are_the_accepted_ones(choice, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = annotated(*choice)
    assert words
    for word in words:
        Path("state.rw").unlink(missing_ok=True)
        call(word)
    for word in ("another", *(word.upper() for word in words)):
        with pytest.raises(InvalidParameterError, match=choice[1]):
            call(word)


def test_the_kinds_of_information_are_those_that_exist():
    assert annotated(GeneralizedRidge, "information") == set(KINDS)
