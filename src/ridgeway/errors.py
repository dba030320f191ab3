"""Every error that Ridgeway raises, and its warnings.

::

    RidgewayError
    ├── InferenceError (ValueError)           a question that the rows seen so far cannot answer
    ├── InvalidDataError (ValueError)         rows, targets or weights that cannot be learned from
    │   ├── CsvFormatError                    a CSV file that seems to have another format than the one it was read in
    │   ├── FeatureMismatchError              columns that are not the model's columns
    │   ├── SeparationError                   a task whose likelihood has no maximum without a prior
    │   └── UnknownCategoryError              categories that the model does not have
    ├── InvalidDataTypeError (TypeError)      text, dates, masked or otherwise non-numeric data
    ├── InvalidParameterError (ValueError)    a penalty, prior, decay, weight matrix or step size out of range
    ├── InvalidStateError (ValueError)        stored arrays that do not make up a state
    ├── MergeError (ValueError)               two models that cannot be merged
    ├── MissingPackageError (ImportError)     an optional package that is not installed
    ├── RemovalError (ValueError)             a task that cannot be removed without harm
    ├── RunFolderError (ValueError)           a folder that a simulation cannot be written to
    ├── StoreError (ValueError)               a state file that cannot be used as requested
    │   ├── DamagedStoreError                 a state file whose content was altered
    │   ├── DuplicateTaskError                a task that would be counted twice, or an id used twice
    │   ├── StoreBusyError                    a state file that others locked for too long
    │   ├── StoreVersionError                 a state file in a format that this version does not know
    │   └── UncertainStoreError               a change that may have been made: the disk failed or the file was replaced
    └── WorkError (RuntimeError)              a piece of work that failed, or a worker that ended
    FewClustersWarning (UserWarning)          errors from few clusters, or of a term that one cluster alone determines
    MaskedClassWarning (UserWarning)          a class that least squares hardly ever predicts
    PrecisionWarning (UserWarning)            an answer with few correct digits, or with a direction or column dropped
    PriorWarning (UserWarning)                a learned prior at the bound of what can be learned

Each message says what is wrong, what was received and what to do. The model that raised it is left as it was.
"""

__all__ = [
    "CsvFormatError",
    "DamagedStoreError",
    "DuplicateTaskError",
    "FeatureMismatchError",
    "FewClustersWarning",
    "InferenceError",
    "InvalidDataError",
    "InvalidDataTypeError",
    "InvalidParameterError",
    "InvalidStateError",
    "MaskedClassWarning",
    "MergeError",
    "MissingPackageError",
    "PrecisionWarning",
    "PriorWarning",
    "RemovalError",
    "RidgewayError",
    "RunFolderError",
    "SeparationError",
    "StoreBusyError",
    "StoreError",
    "StoreVersionError",
    "UncertainStoreError",
    "UnknownCategoryError",
    "WorkError",
]


class RidgewayError(Exception):
    """The root of every error that Ridgeway raises on purpose.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, errors
    >>> try:
    ...     GeneralizedRidge().fit([[0.0], [float("nan")]], [1.0, 2.0])
    ... except errors.RidgewayError as error:
    ...     print(type(error).__name__)
    InvalidDataError
    """


class InferenceError(RidgewayError, ValueError):
    """A question that the rows seen so far cannot answer; the message says what is missing.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> retrospect.summary(GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 2.0]))
    Traceback (most recent call last):
    ridgeway.errors.InferenceError: no degrees of freedom are left to estimate the noise: ...
    """


class InvalidDataError(RidgewayError, ValueError):
    """Rows, targets or sample weights that cannot be learned from.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> GeneralizedRidge().fit([[0.0], [float("nan")]], [1.0, 2.0])
    Traceback (most recent call last):
    ridgeway.errors.InvalidDataError: Input X contains NaN. ...
    """


class CsvFormatError(InvalidDataError):
    """A CSV file that seems to have another delimiter or decimal point; the message names the option to pass.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ridgeway import data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "wages.csv")
    ...     _ = path.write_text("age;wage")
    ...     data.open_table(path)
    Traceback (most recent call last):
    ridgeway.errors.CsvFormatError: ... has only one column, 'age;wage'; ...
    """


class FeatureMismatchError(InvalidDataError):
    """Columns that differ from those that the model has learned.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 2.0]).predict([[0.0, 1.0]])
    Traceback (most recent call last):
    ridgeway.errors.FeatureMismatchError: X has 2 features, but GeneralizedRidge ...
    """


class SeparationError(InvalidDataError):
    """A task whose log-likelihood has no maximum, such as classes that a line separates: a prior is needed.

    Examples
    --------
    >>> from ridgeway import GeneralizedLogistic
    >>> GeneralizedLogistic().fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    Traceback (most recent call last):
    ridgeway.errors.SeparationError: the log-likelihood of this task has no maximum: ...
    """


class UnknownCategoryError(InvalidDataError):
    """Categories that the model does not have; the message says what to do about them.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from ridgeway import store
    >>> rows = pd.DataFrame({"site": ["north", "south"], "y": [1.0, 2.0]})
    >>> encoding = store.encoding_of(rows, leave_out=["y"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=encoding, target="y")
    ...     state.absorb_table(rows.replace("south", "west"), task_id="June")
    Traceback (most recent call last):
    ridgeway.errors.UnknownCategoryError: the table: column 'site' has unknown ...
    """


class InvalidDataTypeError(RidgewayError, TypeError):
    """Data that are not real numbers: text, dates, masked arrays, objects.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> GeneralizedRidge().fit([["low"], ["high"]], [1.0, 2.0])
    Traceback (most recent call last):
    ridgeway.errors.InvalidDataTypeError: X holds text, not numbers. ...
    """


class InvalidParameterError(RidgewayError, ValueError):
    """A parameter outside its range: penalty, prior, decay, weight matrix, step size.

    Examples
    --------
    >>> from ridgeway import ContinualRidge
    >>> ContinualRidge(penalty=-1.0).fit([[0.0], [1.0]], [1.0, 2.0])
    Traceback (most recent call last):
    ridgeway.errors.InvalidParameterError: the penalty of task 1 must be a finite ...
    """


class InvalidStateError(RidgewayError, ValueError):
    """Stored arrays that do not make up the state of a model, or a state that changed in the middle of a call.

    Examples
    --------
    >>> from ridgeway import weights
    >>> weights.from_arrays({})
    Traceback (most recent call last):
    ridgeway.errors.InvalidStateError: the arrays are not those of a state. ...
    """


class MergeError(RidgewayError, ValueError):
    """Two models that cannot be merged; the message says what differs.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> north = GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 2.0])
    >>> north.merge(GeneralizedRidge(fit_intercept=False).fit([[2.0], [3.0]], [1.0, 2.0]))
    Traceback (most recent call last):
    ridgeway.errors.MergeError: cannot merge two models that differ in: intercept. ...
    """


class MissingPackageError(RidgewayError, ImportError):
    """An optional package that is not installed; the message names the extra that installs it.

    Examples
    --------
    >>> from unittest import mock
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> model = GeneralizedRidge().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> with mock.patch.dict("sys.modules", pandas=None):  # as if it were not installed
    ...     retrospect.summary(model).to_frame()
    Traceback (most recent call last):
    ridgeway.errors.MissingPackageError: this needs pandas, which is not installed. ...
    """


class RemovalError(RidgewayError, ValueError):
    """A task that cannot be removed without harm to what remains.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge
    >>> GeneralizedRidge().fit([[0.0], [1.0]], [1.0, 2.0]).remove([[50.0]], [1.0])
    Traceback (most recent call last):
    ridgeway.errors.RemovalError: the remaining rows would not clearly have full rank: ...
    """


class RunFolderError(RidgewayError, ValueError):
    """A folder that a simulation cannot be written to: unwritable, full, or holding something else.

    Examples
    --------
    >>> import os, tempfile
    >>> from ridgeway.research import simulation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkdir(f"{folder}/letters")
    ...     simulation.run(simulation.Setting(n_tasks=2), ["mn"], out=folder)
    Traceback (most recent call last):
    ridgeway.errors.RunFolderError: ... already contains letters. ...
    """


class StoreError(RidgewayError, ValueError):
    """A state file that cannot be used as requested. It is left as it was.

    Examples
    --------
    >>> from ridgeway import store
    >>> store.open("no-such-file.rw")
    Traceback (most recent call last):
    ridgeway.errors.StoreError: there is no state file no-such-file.rw. ...
    """


class DamagedStoreError(StoreError):
    """A state file whose content is not what was committed.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = store.create(f"{folder}/state.rw", features=["x"], target="y").path
    ...     _ = path.write_bytes(path.read_bytes()[:5000])  # cut off, as by a broken copy
    ...     store.open(path)
    Traceback (most recent call last):
    ridgeway.errors.DamagedStoreError: ... is damaged (database disk image is malformed). ...
    """


class DuplicateTaskError(StoreError):
    """A task that would be counted twice, or different content under an existing id.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.absorb("May", [[0.0], [1.0]], [1.0, 2.0])
    ...     state.absorb("June", [[0.0], [1.0]], [1.0, 2.0])
    Traceback (most recent call last):
    ridgeway.errors.DuplicateTaskError: the rows of task 'June' are those of task 'May' ...
    """


class StoreBusyError(StoreError):
    """A state file that other processes locked for longer than the timeout.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> from contextlib import closing
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = store.create(f"{folder}/state.rw", features=["x"], target="y").path
    ...     with closing(sqlite3.connect(path)) as other:
    ...         _ = other.execute("BEGIN EXCLUSIVE")
    ...         store.open(path, timeout=0.01)
    Traceback (most recent call last):
    ridgeway.errors.StoreBusyError: ... has been in use by other processes for 0.01 s. ...
    """


class StoreVersionError(StoreError):
    """A state file in a format that this version of Ridgeway does not know.

    Examples
    --------
    >>> import tempfile
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = store.create(f"{folder}/state.rw", features=["x"], target="y").path
    ...     _ = path.write_bytes(path.read_bytes().replace(b"format 1", b"format 9"))
    ...     store.open(path)
    Traceback (most recent call last):
    ridgeway.errors.StoreVersionError: ... has format 9; this version of Ridgeway reads ...
    """


class UncertainStoreError(StoreError):
    """A change that may or may not be in the state file: at the very end, the disk failed or the file was replaced.

    Examples
    --------
    >>> import tempfile
    >>> from unittest.mock import Mock, patch
    >>> from ridgeway import store
    >>> broken = Mock(side_effect=OSError("the disk failed"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with patch("os.fsync", broken), patch("pathlib.Path.unlink", broken):
    ...         store.create(f"{folder}/state.rw", features=["x"], target="y")
    Traceback (most recent call last):
    ridgeway.errors.UncertainStoreError: it is not known whether the change was saved to ...
    """


class WorkError(RidgewayError, RuntimeError):
    """A piece of work that failed because of an error of its own, with its name, or a worker that ended too early.

    Examples
    --------
    >>> from ridgeway.distributed import Processes
    >>> list(Processes(1).map(int, {"first": "1", "second": "one"}))
    Traceback (most recent call last):
    ridgeway.errors.WorkError: second: ValueError: invalid literal for int() ...
    """


class FewClustersWarning(UserWarning):
    """Cluster-robust errors from few clusters, or of a term that one cluster alone determines, and what that means.

    Examples
    --------
    >>> import warnings
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [1.0, 3.0, 2.0, 5.0, 4.0, 6.0]
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=[0, 0, 1, 1, 2, 2])
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     found = retrospect.clustered(model)
    >>> print(caught[0].message)
    There are 3 clusters. With fewer than 10, CR2 errors are uncertain.
    """


class MaskedClassWarning(UserWarning):
    """A class that lies between others, so that least squares hardly ever predicts it, and what to do about it.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidgeClassifier
    >>> y = np.repeat([0, 1, 2], 20)
    >>> X = np.tile(np.linspace(0.0, 1.0, 20), 3) + 2.0 * y
    >>> model = GeneralizedRidgeClassifier().fit(X[:, None], y)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     predicted = model.predict(X[:, None])
    >>> print(caught[0].message)
    least squares hides class 1 behind others: ...
    """


class PrecisionWarning(UserWarning):
    """An answer with few correct digits, or from which columns or directions were dropped, and what to do about it.

    Examples
    --------
    >>> import warnings
    >>> from ridgeway import GeneralizedRidge
    >>> model = GeneralizedRidge().fit([[0, 0], [1, 1], [2, 2]], [1, 2, 3])
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     coef = model.coef_
    >>> print(caught[0].message)
    the columns learned are collinear, exactly or to within rounding: rank 1, ...
    """


class PriorWarning(UserWarning):
    """A learned prior at the bound of what can be learned; the message says what that means for the answer.

    Examples
    --------
    >>> import warnings
    >>> from ridgeway import GeneralizedRidge, retrospect, weights
    >>> model = GeneralizedRidge(weights.Accumulated(prior="evidence"))
    >>> model = model.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])  # no noise
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     found = retrospect.summary(model)
    >>> print(caught[0].message)
    the penalty of largest evidence is at its bound: it finds no noise, ...
    """
