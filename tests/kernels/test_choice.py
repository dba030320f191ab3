"""Which kernels are used: chosen once, by the environment or because SciPy's addresses are not to be had."""

import os
import subprocess
import sys

import pytest

from ridgeway import kernels
from ridgeway.kernels import _lapack, _reference, _tridiagonal

PRINT = "from ridgeway import kernels as k; print(k.NAME, k.qr_update.__module__, k.reduce_symmetric.__module__)"
BLIND = "import scipy.linalg.cython_lapack as c; del c.__pyx_capi__['dtpqrt']; "
MISSING = "import scipy.linalg as s, sys; del s.cython_blas; sys.modules['scipy.linalg.cython_blas'] = None; "
PLAIN = "reference ridgeway.kernels._reference ridgeway.kernels._reference"
FAST = "lapack ridgeway.kernels._lapack ridgeway.kernels._tridiagonal"


def run(code, chosen=None):
    environment = {name: value for name, value in os.environ.items() if name != "RIDGEWAY_KERNELS"}
    if chosen is not None:
        environment["RIDGEWAY_KERNELS"] = chosen
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("before", "chosen", "expected"),
    [("", None, FAST), ("", "lapack", FAST), ("", "reference", PLAIN), (BLIND, None, PLAIN), (MISSING, None, PLAIN)],
)
def test_the_kernels_that_are_used(before, chosen, expected):
    found = run(before + PRINT, chosen)
    assert found.stdout.splitlines() == [expected], found.stderr


def test_an_unknown_name_is_an_error():
    found = run(PRINT, "quick")
    assert found.returncode != 0
    assert "RIDGEWAY_KERNELS is 'quick'" in found.stderr


@pytest.mark.parametrize("name", [name for name in kernels.__all__ if name[0].islower()])
def test_every_kernel_has_a_plain_twin(name):
    if name not in ("single_threaded", "two_sum"):
        assert callable(getattr(_reference, name))
        assert callable(getattr(_tridiagonal if name == "reduce_symmetric" else _lapack, name))
