"""Every error that Ridgeway raises, and its warnings.

::

    RidgewayError
    ├── InferenceError (ValueError)           a question that the rows seen so far cannot answer
    ├── InvalidDataError (ValueError)         rows, targets or weights that cannot be learned from
    │   ├── CsvFormatError                    a CSV file that seems to be written in another way than it is read
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
    FewClustersWarning (UserWarning)          errors from few clusters, or a term that one cluster decides
    PrecisionWarning (UserWarning)            an answer with few correct digits, or without a direction or column
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
    """The root of every error that Ridgeway raises on purpose."""


class InferenceError(RidgewayError, ValueError):
    """A question that the rows seen so far cannot answer, with what is missing."""


class InvalidDataError(RidgewayError, ValueError):
    """Rows, targets or sample weights that cannot be learned from."""


class CsvFormatError(InvalidDataError):
    """A CSV file that seems to have another delimiter or decimal point, with the option to pass."""


class FeatureMismatchError(InvalidDataError):
    """Columns that differ from those that the model has learned."""


class SeparationError(InvalidDataError):
    """A task whose log-likelihood has no maximum, such as classes that a line separates: a prior is needed."""


class UnknownCategoryError(InvalidDataError):
    """Categories that the model does not have, with what to do about them."""


class InvalidDataTypeError(RidgewayError, TypeError):
    """Data that are not real numbers: text, dates, masked arrays, objects."""


class InvalidParameterError(RidgewayError, ValueError):
    """A parameter outside its range: penalty, prior, decay, weight matrix, step size."""


class InvalidStateError(RidgewayError, ValueError):
    """Stored arrays that do not make up the state of a model, or a state that changed in the middle of a call."""


class MergeError(RidgewayError, ValueError):
    """Two models that cannot be merged, with what differs."""


class MissingPackageError(RidgewayError, ImportError):
    """An optional package that is not installed, with the extra that installs it."""


class RemovalError(RidgewayError, ValueError):
    """A task that cannot be removed without harm to what remains."""


class RunFolderError(RidgewayError, ValueError):
    """A folder that a simulation cannot be written to: unwritable, full, or holding something else."""


class StoreError(RidgewayError, ValueError):
    """A state file that cannot be used as requested. It is left as it was."""


class DamagedStoreError(StoreError):
    """A state file whose content is not what was committed."""


class DuplicateTaskError(StoreError):
    """A task that would be counted twice, or different content under an existing id."""


class StoreBusyError(StoreError):
    """A state file that other processes locked for longer than the timeout."""


class StoreVersionError(StoreError):
    """A state file in a format that this version of Ridgeway does not know."""


class UncertainStoreError(StoreError):
    """A change that may or may not be in the state file: at the very end, the disk failed or the file was replaced."""


class WorkError(RidgewayError, RuntimeError):
    """A piece of work that failed for a reason of its own, by name, or a worker that ended before its work was done."""


class FewClustersWarning(UserWarning):
    """Cluster-robust errors from few clusters, or of a term that one cluster alone decides, and what that means."""


class PrecisionWarning(UserWarning):
    """An answer with few correct digits, or from which columns or directions were dropped, and what to do about it."""


class PriorWarning(UserWarning):
    """A learned prior at the bound of what can be learned, and what that means for the answer."""
