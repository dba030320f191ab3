"""Arrays from strangers: thousands of ways to spoil a state, each refused with `InvalidStateError` or harmless."""

import json
import warnings

import numpy as np
import pytest

from ridgeway import GeneralizedRidge
from ridgeway.errors import InvalidStateError, PrecisionWarning, RidgewayError
from ridgeway.information import _square_root
from ridgeway.weights import Accumulated

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)) + 3.0, RNG.normal(size=(30, 2))
MODELS = {
    "square_root": {},
    "moments": {"information": "moments"},
    "about the origin": {"fit_intercept": False, "weights": Accumulated(prior=[1.0, 2.0, 0.0])},
    "fading": {"weights": Accumulated(prior=np.eye(3) + 1.0, decay=0.5), "initial_coef": np.ones((2, 3))},
    "evidence": {"weights": Accumulated(prior="evidence")},
}
NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e160, -1.0, 0.0, 5e-324]
FIELDS = [None, True, False, -1, 0, 1, 2**63, 10**400, 1.5, -1.5, 1e308, np.nan, np.inf, "", "x", "given", [], [1], {}]
HEADERS = [
    b"", b"null", b"[]", b"[1]", b"7", b"{}", b'"version"', b"[" * 100_000, b"\xff\xfe", b'{"version":1}', b"{", b"NaN",
    b'{"version":1,"version":2}', b"\xef\xbb\xbf{}", "{}".encode("utf-16"),
]  # fmt: skip
SPOILED = {
    "dropped": None,
    "None": lambda a: None,
    "text": lambda a: "text",
    "ragged": lambda a: [[1.0], [1.0, 2.0]],
    "a dictionary": lambda a: {},
    "a scalar": lambda a: np.float64(1.0),
    "no axis": lambda a: np.array(1.0),
    "empty": lambda a: a[:0],
    "one axis more": lambda a: a[..., None],
    "three axes": lambda a: a.reshape(1, *a.shape, 1),
    "longer": lambda a: np.concatenate([a, a]),
    "shorter": lambda a: a[:-1],
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1],
    "masked": lambda a: np.ma.masked_array(a, np.ones(a.shape, bool)),
    "structured": lambda a: np.zeros(a.shape, [("x", "f8"), ("y", "i4")]),
    "objects": lambda a: np.full(a.shape, None, dtype=object),
    "lists as objects": lambda a: np.array([[], *[0.0] * a.size], dtype=object),
    **{
        f"as {kind}": lambda a, kind=kind: a.astype(kind)
        for kind in ("f4", "f2", ">f8", "i8", "u1", "?", "c16", "O", "U5", "S5", "M8[s]", "m8[s]", "V8")
    },
}


def learned(settings):
    return GeneralizedRidge(**settings).fit(X, Y, tasks=np.arange(30) // 10)


def spoiled(name, change):
    def damage(arrays):
        if change is None:
            del arrays[name]
        else:
            arrays[name] = change(arrays[name])

    return damage


def entry(name, place, value):
    def damage(arrays):
        arrays[name] = np.array(arrays[name])
        arrays[name].reshape(-1)[place] = value

    return damage


def said(change):
    def damage(arrays):
        header = json.loads(arrays["header"].tobytes())
        change(header)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)

    return damage


def mutations(arrays):
    """Yield a description and a function that spoils a dictionary of arrays, for every mutation."""
    for name, array in arrays.items():
        for how, change in SPOILED.items():
            yield f"{name} {how}", spoiled(name, change)
        if name != "header":
            places = {0, array.size // 2, array.size - 1}
            yield from ((f"{name} all {v}", entry(name, slice(None), v)) for v in NUMBERS)
            yield from ((f"{name}[{i}] = {v}", entry(name, i, v)) for v in NUMBERS for i in places)
    fields = json.loads(arrays["header"].tobytes())
    for field in fields:
        yield f"no {field}", said(lambda header, field=field: header.pop(field))
        for value in FIELDS:
            yield f"{field} = {value!r:.20}", said(lambda header, f=field, v=value: header.update({f: v}))
    for text in HEADERS:
        yield f"header {text[:20]!r}", lambda arrays, text=text: arrays.update(header=np.frombuffer(text, np.uint8))
    for name in ("more", "", 7):
        yield f"{name!r} added", lambda arrays, name=name: arrays.update({name: np.ones(3)})


def outcome(arrays):
    """Return "refused", or "used" if the state answers with finite numbers or typed errors only."""
    try:
        model = GeneralizedRidge.from_arrays(arrays)
    except InvalidStateError:
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # an overflow: the sums are checked once they are there
        for question in (
            lambda: [model.coef_, model.intercept_],
            lambda: [model.predict(X)],
            lambda: list(model.to_arrays().values()),
            lambda: [model.merge(model).coef_],
            lambda: [model.partial_fit(X, Y).coef_],
        ):
            try:
                assert all(np.isfinite(answer).all() for answer in question())
            except RidgewayError:
                continue
    return "used"


def fuzzed(settings):
    """Return the outcome of every mutation, and those that ended otherwise."""
    whole = learned(settings).to_arrays()
    done, failed = [], []
    for how, damage in mutations(whole):
        arrays = dict(whole)
        damage(arrays)
        try:
            done.append(outcome(arrays))
        except Exception as error:
            failed.append(f"{how}: {type(error).__name__}: {error}")
    return done, failed


@pytest.mark.parametrize("settings", MODELS.values(), ids=MODELS.keys())
def test_spoiled_arrays_are_refused_or_harmless(settings):
    done, failed = fuzzed(settings)
    assert not failed, "\n".join(failed)
    assert done.count("refused") > 300
    assert done.count("used") > 50


def test_the_search_finds_what_is_not_checked(monkeypatch):
    monkeypatch.setattr(_square_root, "TINY", np.inf)
    _, failed = fuzzed({})
    assert any(line.startswith("matrix[0] = 1e+160") for line in failed)


@pytest.mark.parametrize("not_arrays", [None, 7, "text", [], [np.ones(3)], {"header": [1.0]}])
def test_what_is_not_a_dictionary_of_arrays(not_arrays):
    with pytest.raises(InvalidStateError, match="dictionary of plain arrays"):
        GeneralizedRidge.from_arrays(not_arrays)


CONTRADICTIONS = {
    "sums of no rows": said(lambda header: header.update(n_samples=0)),
    "sums of no rows and tasks": said(lambda header: header.update(n_samples=0, n_tasks=0, total_weight=0.0)),
    "rows of no task": said(lambda header: header.update(n_tasks=0)),
    "rows of no weight": said(lambda header: header.update(total_weight=0.0)),
    "means without an intercept": said(lambda header: header.update(centered=False)),
    "a matrix beyond its peak": entry("peak", slice(None), 1e-3),
    "a mean beyond every row": entry("mean", 0, 1e151),
}


@pytest.mark.parametrize("kind", ["square_root", "moments"])
@pytest.mark.parametrize("damage", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_contradictions_are_refused(kind, damage):
    arrays = learned({"information": kind}).to_arrays()
    damage(arrays)
    with pytest.raises(InvalidStateError):
        GeneralizedRidge.from_arrays(arrays)


def test_a_mean_beyond_the_limit_for_values():
    arrays = GeneralizedRidge().fit(X, Y).to_arrays()
    with pytest.raises(InvalidStateError, match="a mean of a state exceeds"):
        GeneralizedRidge.from_arrays(arrays | {"mean": np.full(5, 1e160)})
