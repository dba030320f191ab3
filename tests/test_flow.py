"""A reader who follows a task opens few files and never climbs: the bars are in benchmarks/flow.py."""

import sys
from abc import ABC, abstractmethod
from typing import Protocol

import pytest

import ridgeway.data
from benchmarks import flow


@pytest.fixture(scope="module")
def walks():
    return flow.walks(flow.layer_order())


@pytest.mark.parametrize("name", flow.BARS)
def test_the_walk_stays_below_its_bar(walks, name):
    walk, bar = walks[name], flow.BARS[name]
    assert len(walk.functions) <= bar.functions
    assert len(walk.files) <= bar.files
    assert len(walk.steps_up) <= bar.steps_up, list(walk.steps_up)


def test_every_walk_is_recorded(walks):
    """From the public method down to the lowest layer, threads included."""
    names = {name: {function for _, function in walk.functions} for name, walk in walks.items()}
    assert any(function.endswith(".partial_fit") for function in names["partial_fit"])
    assert any(function.endswith(".coef_") for function in names["coef_"])
    assert {"open", "Store.absorb_table"} <= names["store"]
    assert not any("<" in function.replace("<locals>", "") for found in names.values() for function in found)


def test_steps_up_are_seen():
    """With the layers upside down every call to another layer is a step up."""
    upside_down = {name: -row for name, row in flow.layer_order().items()}
    assert all(walk.steps_up for walk in flow.walks(upside_down).values())


class Declared(ABC):
    @abstractmethod
    def frame(self): ...


class Shaped(Protocol):
    def shape(self): ...


class Child(Declared):
    def frame(self):
        return sys._getframe()

    def shape(self):
        return sys._getframe()

    def other(self):
        return sys._getframe()


def test_methods_of_protocols_and_abstract_classes_are_known(monkeypatch):
    monkeypatch.setattr(Declared, "__module__", "ridgeway.data._somewhere")
    monkeypatch.setattr(Shaped, "__module__", "ridgeway.weights._somewhere")
    monkeypatch.setattr(ridgeway.data, "Shaped", Shaped, raising=False)
    child = Child()
    assert list(flow._declaring_layers(child.frame())) == ["data"]
    assert list(flow._declaring_layers(child.shape())) == ["weights"]
    assert list(flow._declaring_layers(child.other())) == []
