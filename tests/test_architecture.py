"""The rules of the design, checked on the source."""

import ast
import doctest
import inspect
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

import ridgeway
from ridgeway import errors

ROOT = Path(ridgeway.__file__).parent
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
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


@dataclass(frozen=True)
class Module:
    """A file of the package as a syntax tree; `path` is below the package."""

    path: Path
    text: str

    @property
    def name(self):
        """The dotted name without `ridgeway.`."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def package(self):
        """The layer that the module is in."""
        return self.name.partition(".")[0]

    def imports(self):
        """Yield the dotted name of everything that is imported, and of `np.linalg` and the like, wherever it stands."""
        for node in ast.walk(ast.parse(self.text)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name} has a relative import"
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "np":
                yield f"numpy.{node.attr}"


def modules():
    """Return all modules of the package."""
    paths = sorted(ROOT.rglob("*.py"))
    return [Module(path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in paths]


def libraries_away_from_home(source):
    for module in source:
        names = [f"{name}." for name in module.imports()]
        for library, homes in HOMES.items():
            if module.package not in homes and any(name.startswith(f"{library}.") for name in names):
                yield f"{module.name}: {library}"


def test_libraries_stay_in_their_packages():
    assert sorted(libraries_away_from_home(modules())) == []


AWAY = ["import ctypes", "from scipy import linalg", "norm = np.linalg.norm", "import click"]


@pytest.mark.parametrize("text", AWAY)
def test_a_library_away_from_home_is_found(text):
    allowed = "from ridgeway.data import Task\nfrom scipy import optimize\nroot = np.sqrt"
    assert list(libraries_away_from_home([Module(Path("report/_page.py"), allowed)])) == []
    assert len(list(libraries_away_from_home([Module(Path("report/_page.py"), text)]))) == 1


def test_layers_are_exhaustive_and_nothing_is_ignored():
    contracts = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    assert all(contract["exhaustive"] for contract in contracts if contract["type"] == "layers")
    assert not any("ignore" in key for contract in contracts for key in contract)


def test_theory_does_not_know_the_estimators():
    theory = [module for module in modules() if module.name.startswith("research.theory")]
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
        ridgeway.EarlyStopping,
        ridgeway.GeneralizedLogistic,
        ridgeway.GeneralizedPoisson,
        ridgeway.GeneralizedRidge,
        ridgeway.GeneralizedRidgeClassifier,
        ridgeway.MinimumNorm,
        ridgeway.Oracle,
    ):
        assert doctest.DocTestFinder(recurse=False).find(estimator)[0].examples
