"""The rules of the design, checked on the source."""

import ast
import doctest
import inspect
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from source import Module, compared_classes, function_length, modules, private_owner

import ridgeway
from ridgeway import errors

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
MODULES = modules()
PUBLIC = [ridgeway, errors]
PUBLIC += [getattr(ridgeway, name) for name in ("data", "datasets", "features", "information", "likelihoods")]
PUBLIC += [getattr(ridgeway, name) for name in ("distributed", "metrics", "retrospect", "store", "weights")]
PUBLIC += [ridgeway.research.theory]

HOMES = {
    "ctypes": {"kernels"},
    "threadpoolctl": {"kernels"},
    "numpy.linalg": {"kernels"},
    "scipy.linalg": {"kernels"},
    "scipy.sparse.linalg": {"linalg"},
    "concurrent.futures": {"data", "distributed", "store"},
    "multiprocessing": set(),
    "joblib": {"distributed"},
    "dask": {"distributed"},
    "distributed": {"distributed"},
    "click": {"cli"},
}
"""The packages that may import a library; all others may not."""

CLOSED = {"weights", "information", "estimators"}
"""Packages whose classes nobody else tells apart: behaviour varies by the objects that are passed."""

MOST_LINES, USUAL_LINES, MOST_FUNCTION_LINES = 400, 280, 50
MOST_ABSTRACT_METHODS, MOST_SHELL_LINES = 8, 80


def imports_of_private_modules(source):
    for module in source:
        for name in set(module.imports()):
            owner = private_owner(name)
            if owner and not f"{module.name}.".startswith(f"{owner}."):
                yield f"{module.name}: {name}"


def libraries_away_from_home(source):
    for module in source:
        names = [f"{name}." for name in (*module.imports(), *numpy_names(module))]
        for library, homes in HOMES.items():
            if module.package not in homes and any(name.startswith(f"{library}.") for name in names):
                yield f"{module.name}: {library}"


def numpy_names(module):
    """Yield `numpy.linalg` and the like for what is used as an attribute."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "np":
            yield f"numpy.{node.attr}"


def classes_told_apart(source):
    owners = {
        node.name: module.package
        for module in source
        if module.package in CLOSED
        for node in module.classes()
        if not any("Protocol" in ast.unparse(base) for base in node.bases)
    }
    for module in source:
        for name in set(compared_classes(module.tree)):
            if owners.get(name, module.package) != module.package:
                yield f"{module.name}: {name}"


def long_files(source):
    lengths = {module.name: len(module.text.splitlines()) for module in source}
    yield from (name for name, length in lengths.items() if length > MOST_LINES)
    if np.quantile(list(lengths.values()), 0.9) > USUAL_LINES:
        yield "the 90th percentile"


def long_functions(source):
    for module in source:
        for node in module.functions():
            if function_length(node) > MOST_FUNCTION_LINES:
                yield f"{module.name}: {node.name}"


def large_classes(source):
    """`Information` by its abstract methods, the shell `GeneralizedRidge` by its lines of code."""
    for module in source:
        for node in module.classes():
            abstract = ast.unparse(node).count("@abstractmethod")
            shell = Module(module.path, ast.get_source_segment(module.text, node))
            if node.name == "Information" and abstract > MOST_ABSTRACT_METHODS:
                yield node.name
            if node.name == "GeneralizedRidge" and shell.lines_of_code() > MOST_SHELL_LINES:
                yield node.name


def shared_class_names(source):
    yield from shared((node.name, module.name) for module in source for node in module.classes())


def shared_module_names(source):
    plain = [module for module in source if module.path.name != "__init__.py"]
    yield from shared((module.path.stem, module.name) for module in plain)


def shared(pairs):
    places = defaultdict(list)
    for name, place in pairs:
        places[name].append(place)
    yield from (f"{name}: {', '.join(found)}" for name, found in places.items() if len(found) > 1)


RULES = [
    imports_of_private_modules,
    libraries_away_from_home,
    classes_told_apart,
    long_files,
    long_functions,
    large_classes,
    shared_class_names,
    shared_module_names,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_source_keeps_the_rule(rule):
    assert sorted(rule(MODULES)) == []


LONG = "def f():\n" + "    f()\n" * 50
BROKEN = {
    imports_of_private_modules: ["from ridgeway.store._state import read", "from ridgeway.data import _rows"],
    libraries_away_from_home: ["import ctypes", "from scipy import linalg", "norm = np.linalg.norm", "import click"],
    classes_told_apart: [
        "isinstance(x, weights.Zero)",
        "isinstance(x, int | Zero)",
        "issubclass(kind, (int, Zero))",
        "same = type(x) is Zero",
        "match x:\n    case Zero():\n        pass",
    ],
    long_files: ["x = 1\n" * 401, "x = 1\n" * 390],
    long_functions: [LONG, "class A:\n    " + LONG.replace("\n", "\n    ")],
    large_classes: [
        "class GeneralizedRidge:\n" + "    x = 1\n" * 80,
        "class Information:\n" + "    @abstractmethod\n    def f(self): ...\n" * 9,
    ],
    shared_class_names: ["class A: ...\nclass A: ..."],
}
KEPT = """
from ridgeway.report._other import name
from ridgeway.data import Task
from scipy import optimize
isinstance(x, int)
isinstance(x, Mergeable)
def f():
    '''A docstring.

    It does not count.
    '''
    return (
        1
    )
"""


@pytest.mark.parametrize("rule", BROKEN, ids=lambda rule: rule.__name__)
def test_a_broken_rule_is_found(rule):
    weights = Module(Path("weights/_zero.py"), "class Zero: ...\nclass Mergeable(Protocol): ...")
    assert list(rule([weights, Module(Path("report/_page.py"), KEPT)])) == []
    for text in BROKEN[rule]:
        assert list(rule([weights, Module(Path("report/_page.py"), text)])), text


def test_a_shared_module_name_is_found():
    one, two, package = (Module(Path(path), "") for path in ("data/_a.py", "store/_a.py", "store/__init__.py"))
    assert list(shared_module_names([one, package])) == []
    assert list(shared_module_names([one, two, package])) == ["_a: data._a, store._a"]


def test_only_code_counts():
    assert Module(Path("a.py"), KEPT).lines_of_code() == 8


def test_layers_are_exhaustive_and_nothing_is_ignored():
    contracts = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    assert all(contract["exhaustive"] for contract in contracts if contract["type"] == "layers")
    assert not any("ignore" in key for contract in contracts for key in contract)


def test_theory_does_not_know_the_estimators():
    theory = [module for module in MODULES if module.name.startswith("research.theory")]
    assert theory
    assert not [name for module in theory for name in module.imports() if "estimators" in name]


def test_importing_ridgeway_imports_the_core_dependencies_alone():
    """What scikit-learn finds installed and imports itself is not ours."""
    code = (
        "import sys, scipy.linalg, scipy.sparse.linalg, sklearn.base, sklearn.utils.validation;"
        "before = {name.split('.')[0] for name in sys.modules};"
        "import ridgeway;"
        "[getattr(ridgeway, name) for name in ridgeway.__all__];"
        "print(sorted({name.split('.')[0] for name in sys.modules} - before - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['ridgeway']"


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_what_is_public_exists_and_is_documented(module):
    assert list(module.__all__) == sorted(
        module.__all__, key=lambda name: (name[0].islower(), not name.isupper(), name)
    )
    for name in module.__all__:
        thing = getattr(module, name)
        assert thing.__doc__ or not (inspect.isroutine(thing) or inspect.isclass(thing) or inspect.ismodule(thing))


def test_the_error_tree_is_the_one_in_its_docstring():
    for name in errors.__all__:
        assert name in errors.__doc__
        error = getattr(errors, name)
        assert issubclass(error, UserWarning if name.endswith("Warning") else errors.RidgewayError)
        kinds = ValueError | TypeError | ImportError | RuntimeError | UserWarning
        assert name == "RidgewayError" or issubclass(error, kinds)


def test_every_estimator_has_an_executed_example():
    for estimator in (
        ridgeway.ContinualPipeline,
        ridgeway.ContinualRidge,
        ridgeway.ContinualRidgeClassifier,
        ridgeway.EarlyStopping,
        ridgeway.EarlyStoppingClassifier,
        ridgeway.GeneralizedLogistic,
        ridgeway.GeneralizedPoisson,
        ridgeway.GeneralizedRidge,
        ridgeway.GeneralizedRidgeClassifier,
        ridgeway.MinimumNorm,
        ridgeway.MinimumNormClassifier,
        ridgeway.Oracle,
        ridgeway.OracleClassifier,
    ):
        assert doctest.DocTestFinder(recurse=False).find(estimator)[0].examples
