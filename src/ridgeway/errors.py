"""Every error that Ridgeway raises, and the one warning that it gives.

::

    RidgewayError
    ├── InferenceError (ValueError)           a question that the rows seen so far cannot answer
    ├── InvalidDataError (ValueError)         rows, targets or weights that cannot be learned from
    │   └── FeatureMismatchError              columns that are not the model's columns
    ├── InvalidDataTypeError (TypeError)      text, dates, masked or otherwise non-numeric data
    ├── InvalidParameterError (ValueError)    a penalty, prior, decay, weight matrix or step size out of range
    ├── InvalidStateError (ValueError)        stored arrays that do not make up a state
    ├── MergeError (ValueError)               two models that are not about the same thing
    ├── MissingPackageError (ImportError)     an optional package that is not installed
    ├── RemovalError (ValueError)             a task that cannot be taken out again without harm
    ├── RunFolderError (ValueError)           a folder that a simulation cannot be written to
    └── StoreError (ValueError)               a state file that cannot be used as asked
        ├── DamagedStoreError                 a state file that is not what was committed
        ├── DuplicateTaskError                a task that would be counted twice, or an id used twice
        ├── StoreBusyError                    a state file that others held for too long
        ├── StoreVersionError                 a state file of a format that this version does not know
        └── UncertainStoreError               a disk that failed for good as a change was made: done or not
    PrecisionWarning (UserWarning)            an answer with few correct digits left

Each message says what is wrong, what was got, and the remedy. The model that raised is left as it was.
"""

__all__ = [
    "DamagedStoreError",
    "DuplicateTaskError",
    "FeatureMismatchError",
    "InferenceError",
    "InvalidDataError",
    "InvalidDataTypeError",
    "InvalidParameterError",
    "InvalidStateError",
    "MergeError",
    "MissingPackageError",
    "PrecisionWarning",
    "RemovalError",
    "RidgewayError",
    "RunFolderError",
    "StoreBusyError",
    "StoreError",
    "StoreVersionError",
    "UncertainStoreError",
]


class RidgewayError(Exception):
    """The root of every error that Ridgeway raises on purpose."""


class InferenceError(RidgewayError, ValueError):
    """A question that the rows seen so far cannot answer, with what is missing."""


class InvalidDataError(RidgewayError, ValueError):
    """Rows, targets or sample weights that cannot be learned from."""


class FeatureMismatchError(InvalidDataError):
    """Columns that are not the columns that the model has learned."""


class InvalidDataTypeError(RidgewayError, TypeError):
    """Data that are not real numbers: text, dates, masked arrays, objects."""


class InvalidParameterError(RidgewayError, ValueError):
    """A parameter outside of its range: penalty, prior, decay, weight matrix, step size."""


class InvalidStateError(RidgewayError, ValueError):
    """Stored arrays that do not make up the state of a model."""


class MergeError(RidgewayError, ValueError):
    """Two models that cannot be merged, with what differs."""


class MissingPackageError(RidgewayError, ImportError):
    """An optional package that is not installed, with the extra that brings it."""


class RemovalError(RidgewayError, ValueError):
    """A task that cannot be taken out again without harm to what remains."""


class RunFolderError(RidgewayError, ValueError):
    """A folder that a simulation cannot be written to: unwritable, full, or holding something else."""


class StoreError(RidgewayError, ValueError):
    """A state file that cannot be used as asked, and is left as it was."""


class DamagedStoreError(StoreError):
    """A state file whose content is not what was committed."""


class DuplicateTaskError(StoreError):
    """A task that would be counted twice, or other content under an id that is taken."""


class StoreBusyError(StoreError):
    """A state file that other processes held for longer than the call was to wait."""


class StoreVersionError(StoreError):
    """A state file of a format that this version of Ridgeway does not know."""


class UncertainStoreError(StoreError):
    """A change of which it is not known whether the state file took it: the disk failed at the very end."""


class PrecisionWarning(UserWarning):
    """An answer of which few digits are correct, with the way to get more."""
