"""What the design says of the whole, held to."""

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import ridgeway
from ridgeway import errors

ROOT = Path(ridgeway.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
PUBLIC = [ridgeway, errors]
PUBLIC += [getattr(ridgeway, name) for name in ("data", "information", "metrics", "retrospect", "store", "weights")]
PUBLIC += [ridgeway.research.theory]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_linalg_calls_lapack():
    callers = {
        path.relative_to(ROOT).parts[0]
        for path in MODULES
        for name in imported(path)
        if "linalg" in name.split(".") and not name.startswith("ridgeway")
    }
    assert callers == {"linalg"}


def test_theory_does_not_know_the_estimators():
    assert not [
        path for path in (ROOT / "research" / "theory").glob("*.py") for name in imported(path) if "estimators" in name
    ]


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
        assert name == "PrecisionWarning" or issubclass(error, errors.RidgewayError)
        assert name in ("RidgewayError", "PrecisionWarning") or issubclass(error, ValueError | TypeError | ImportError)


def test_every_estimator_has_an_executed_example():
    for estimator in (
        ridgeway.ContinualRidge,
        ridgeway.EarlyStopping,
        ridgeway.GeneralizedRidge,
        ridgeway.MinimumNorm,
        ridgeway.Oracle,
    ):
        assert doctest.DocTestFinder(recurse=False).find(estimator)[0].examples
