"""The state file: nothing lost, nothing counted twice.

One SQLite file holds the state of a `GeneralizedRidge` that accumulates, or of a model of classes or counts, and a
ledger of the tasks that it has learned. Both change in one transaction, or not at all.

Examples
--------
>>> import tempfile, numpy as np
>>> from ridgeway import store
>>> folder = tempfile.TemporaryDirectory()
>>> wages = store.create(
...     f"{folder.name}/wages.rw", features=["age", "tenure"], target="log_wage"
... )
>>> X, y = (
...     np.array([[30.0, 2.0], [41.0, 7.0], [55.0, 1.0], [28.0, 3.0]]),
...     np.array([2.6, 3.1, 3.0, 2.6]),
... )
>>> wages.absorb("2019", X, y).already
False
>>> wages.absorb("2019", X, y).already  # safe to repeat: it counts once
True
>>> [(record.task_id, record.n_samples) for record in store.open(wages.path).history()]
[('2019', 4)]
>>> wages.model().coef_.round(2)
array([0.02, 0.06])
>>> folder.cleanup()
"""

from ridgeway.data import Encoding, Schema
from ridgeway.store._absorb import Absorbed, Removed, checked_id
from ridgeway.store._connection import file_id
from ridgeway.store._digests import CHUNK_ROWS
from ridgeway.store._exchange import PredictedRows
from ridgeway.store._first_table import encoding_of
from ridgeway.store._ledger import Record
from ridgeway.store._partial_task import PartialTask, PartLearner, check_partial
from ridgeway.store._recovery import Health
from ridgeway.store._remade import import_arrays, restore_previous
from ridgeway.store._store import Store, create, open

__all__ = [
    "CHUNK_ROWS",
    "Absorbed",
    "Encoding",
    "Health",
    "PartLearner",
    "PartialTask",
    "PredictedRows",
    "Record",
    "Removed",
    "Schema",
    "Store",
    "check_partial",
    "checked_id",
    "create",
    "encoding_of",
    "file_id",
    "import_arrays",
    "open",
    "restore_previous",
]
