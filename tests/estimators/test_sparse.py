"""Sparse matrices whose arrays do not fit together are refused: SciPy would read and write beyond them."""

import json
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from ridgeway import ContinualRidge, EarlyStopping, GeneralizedRidge, MinimumNorm, Oracle
from ridgeway.errors import InvalidDataError, InvalidDataTypeError

FORMATS = ("csr", "csc", "coo")
rng = np.random.default_rng(0)
TABLE = np.where(rng.random((8, 4)) < 0.6, rng.normal(size=(8, 4)), 0.0)
y = rng.normal(size=8)


def put(place, value):
    """Return a function that changes one entry of a copy."""

    def changed(array):
        array = array.copy()
        array[place] = value
        return array

    return changed


COMPRESSED = {
    "indptr beyond the entries": ("indptr", put(3, 10**6)),
    "negative indptr": ("indptr", put(3, -5)),
    "indptr that ends beyond the entries": ("indptr", put(-1, 10**8)),
    "indptr that does not begin at 0": ("indptr", put(0, 1)),
    "decreasing indptr": ("indptr", lambda array: put(1, array[-1])(array)),
    "short indptr": ("indptr", lambda array: array[:-1]),
    "long indptr": ("indptr", lambda array: np.r_[array, array[-1]]),
    "indptr of floats": ("indptr", lambda array: array + 0.5),
    "indptr of nothing": ("indptr", lambda array: None),
    "index beyond the columns": ("indices", put(2, 8)),
    "index far beyond the columns": ("indices", put(2, 2**30)),
    "negative index": ("indices", put(2, -1)),
    "indices of floats": ("indices", lambda array: array + 0.5),
    "indices as a list": ("indices", list),
    "indices of two axes": ("indices", lambda array: array[None]),
    "few entries": ("data", lambda array: array[:3]),
    "many entries": ("data", lambda array: np.concatenate([array, array])),
    "entries of one more axis": ("data", lambda array: array[None]),
    "entries as a list": ("data", list),
}
OTHERS = {
    ("coo", "row beyond the rows"): ("row", put(1, 99)),
    ("coo", "negative column"): ("col", put(1, -99)),
    ("coo", "rows of floats"): ("coords", lambda coords: (coords[0] + 0.5, coords[1])),
    ("coo", "three coordinates"): ("coords", lambda coords: (*coords, coords[1])),
    ("coo", "few entries"): ("data", lambda array: array[:1]),
}
MALFORMED = {(form, what): change for form in ("csr", "csc") for what, change in COMPRESSED.items()} | OTHERS


def malformed(form, what):
    name, change = MALFORMED[form, what]
    X = getattr(sparse, f"{form}_array")(TABLE)
    setattr(X, name, change(getattr(X, name)))
    return X


@contextmanager
def outcome(found, key):
    try:
        yield
        found[key] = "accepted"
    except InvalidDataError as error:
        found[key] = str(error)
    except Exception as error:
        found[key] = repr(error)


def all_outcomes():
    found = {}
    fitted = GeneralizedRidge().fit(TABLE, y)
    for form, what in MALFORMED:
        X = malformed(form, what)
        with outcome(found, f"fit: {form}: {what}"):
            GeneralizedRidge().fit(X, y)
        with outcome(found, f"predict: {form}: {what}"):
            fitted.predict(X)
    return found


def test_malformed_matrices_are_refused():
    """In another process, because a matrix that is not refused may end it."""
    script = "import json, test_sparse; print(json.dumps(test_sparse.all_outcomes()))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {__file__.rpartition('/')[0]!r}); {script}"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found) == 2 * len(MALFORMED)
    assert {name: said for name, said in found.items() if "malformed sparse matrix" not in said} == {}


def test_sparse_arrays_of_one_or_three_axes_are_refused():
    for X in (sparse.coo_array(TABLE[0]), sparse.csr_array(TABLE[0]), sparse.coo_array(TABLE.reshape(2, 4, 4))):
        with pytest.raises(InvalidDataError, match="X is sparse and has shape"):
            MinimumNorm().fit(X, y)


@pytest.mark.parametrize("form", ["bsr", "dia", "lil", "dok"])
def test_other_formats_are_refused_in_words(form):
    X = getattr(sparse, f"{form}_array")(TABLE)
    fitted = GeneralizedRidge().fit(TABLE, y)
    for call in (lambda: GeneralizedRidge().fit(X, y), lambda: fitted.predict(X)):
        with pytest.raises(InvalidDataTypeError, match=rf"in {form} format; .*csr, csc, coo .*Pass X\.tocsr\(\)"):
            call()
    assert_allclose(GeneralizedRidge().fit(X.tocsr(), y).coef_, fitted.coef_)


@pytest.mark.parametrize(("values", "match"), [("text", "str values"), (2**53 + 1, "beyond 2⁵³")])
@pytest.mark.parametrize("form", ["csr", "coo"])
def test_entries_that_are_not_numbers_or_would_be_rounded(form, values, match):
    X = getattr(sparse, f"{form}_array")(TABLE)
    X.data = np.full(X.data.shape, values, dtype=object)
    with pytest.raises((InvalidDataError, InvalidDataTypeError), match=f"X h.*({match}|text)"):
        MinimumNorm().fit(X, y)


def doubled(X):
    """Return a matrix in which two entries of the same row and column stand for their sum."""
    parts = np.repeat(X.data, 2) * np.tile([0.25, 0.75], len(X.data))
    return type(X)((parts, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def reversed_rows(X):
    """Return a matrix whose entries of each row are in reversed order."""
    order = np.concatenate([np.arange(stop - 1, start - 1, -1) for start, stop in pairwise(X.indptr)])
    return type(X)((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def trusted(X):
    """Return a matrix that claims to be sorted and without duplicates."""
    X.has_canonical_format = X.has_sorted_indices = True
    return X


def with_indices(kind):
    X = sparse.csr_array(TABLE)
    X.indices = X.indices.astype(kind)
    return X


CSR = sparse.csr_array(TABLE)
SPARE = sparse.csr_array(TABLE)
SPARE.indices, SPARE.data = np.r_[CSR.indices, 77], np.r_[CSR.data, 3.0]
UNUSUAL = {
    "duplicates": doubled(CSR),
    "hidden duplicates": trusted(doubled(CSR)),
    "duplicates in columns": doubled(sparse.csc_array(TABLE)),
    "unsorted": reversed_rows(CSR),
    "hidden disorder": trusted(reversed_rows(CSR)),
    "spare room": SPARE,
    **{kind: with_indices(kind) for kind in ("int64", "int16", "uint32", ">i4")},
    **{form: getattr(sparse, f"{form}_array")(TABLE) for form in FORMATS},
}
MODELS = [GeneralizedRidge(), MinimumNorm(), ContinualRidge(fit_intercept=False), EarlyStopping(), Oracle()]


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 9.0)], ids=["", "weights"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_unusual_matrices_mean_what_scipy_says(model, weight):
    dense = clone(model).fit(TABLE, y, weight)
    for name, X in UNUSUAL.items():
        learned = clone(model).fit(X, y, weight)
        assert_allclose(learned.coef_, dense.coef_, rtol=1e-9, err_msg=name)
        assert_allclose(learned.predict(X), dense.predict(TABLE), rtol=1e-9, err_msg=name)
