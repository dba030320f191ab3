"""Each public class and function has an example, which the doctests run; each other public name is on its page."""

import doctest
import inspect
from importlib import import_module
from types import SimpleNamespace

import pytest

from docs._ext.written_pages import PACKAGES, described_value, page_of_package, values_of

SHOWN = {module for modules in PACKAGES.values() for module in modules} | {"ridgeway.estimators"}


def without_example(package):
    """Return the classes and functions of a package whose own docstrings have no example."""
    things = {name: getattr(package, name) for name in package.__all__}
    parser = doctest.DocTestParser()
    return [
        name
        for name, thing in things.items()
        if (inspect.isclass(thing) or inspect.isroutine(thing)) and not parser.get_examples(thing.__doc__ or "")
    ]


def not_described(module):
    """Return the other names of a package that its page does not show, with a sentence about each."""
    page = "\n".join(page_of_package(module))
    found = {name: described_value(module, name) for name in values_of(module)}
    return [name for name, (value, text) in found.items() if not text or f":: {name}\n   :value: {value}\n" not in page]


@pytest.mark.parametrize("module", sorted(SHOWN))
def test_each_public_name_has_an_example(module):
    assert without_example(import_module(module)) == []
    assert not_described(module) == []


def test_a_name_without_an_example_is_found():
    def plain():
        """Return nothing."""

    def shown():
        """Return nothing.

        >>> shown()
        """

    class Inherited(doctest.DocTest):
        pass

    package = SimpleNamespace(plain=plain, shown=shown, Inherited=Inherited, VALUE=1)
    package.__all__ = ["VALUE", "Inherited", "plain", "shown"]
    assert without_example(package) == ["Inherited", "plain"]


def test_a_value_without_a_sentence_is_found(tmp_path, monkeypatch):
    (tmp_path / "valued.py").write_text(
        '"""Values."""\n\nA, B = 1, 2\n"""Two numbers."""\nC = {"x": 3}\nD: str = "d"\n'
    )
    (tmp_path / "passed_on.py").write_text('"""The same."""\n\nfrom valued import A, C\n\n__all__ = ["A", "C"]\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert described_value("valued", "B") == ("2", "Two numbers.")
    assert described_value("passed_on", "C") == ("{'x': …}", "")
    assert described_value("valued", "D") == ("'d'", "")
    assert described_value("valued", "E") == ("", "")
    assert not_described("passed_on") == ["C"]
