"""State files that keep their tasks, and what the tests read of them."""

import sqlite3
from contextlib import closing

import numpy as np

from ridgeway import store

FEATURES = ["a", "b", "c"]


def rows_of(number, n=20, p=3):
    rng = np.random.default_rng([19, number])
    X = np.asfortranarray(rng.normal(size=(n, p)) + number % 3)
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


def made_of(path, numbers, **settings):
    settings = {"features": FEATURES, "target": "y", "keep": "tasks"} | settings
    made = store.create(path, **settings)
    for number in numbers:
        made.absorb(f"t{number}", *rows_of(number))
    return made


def content(made):
    """Return the bytes of the total, and the digest of the tree, which does not depend on where its nodes are."""
    found = made.snapshot()
    root = found.generation.parts.root
    return {name: array.tobytes() for name, array in found.arrays.items()}, root and root.digest


def sql(made, *statements):
    with closing(sqlite3.connect(made.path, isolation_level=None)) as connection:
        return [connection.execute(*statement).fetchall() for statement in statements]


def n_nodes(made):
    return sql(made, ("SELECT count(*) FROM parts",))[0][0][0]
