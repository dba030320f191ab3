"""The ledger: one record per task that the state holds, and one for each that was taken out again."""

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ridgeway.errors import DamagedStoreError, InvalidParameterError
from ridgeway.store._notes import RESTORE, canonical, parsed

LONGEST_ID = 200
LONGEST_REASON = 1000


@dataclass(frozen=True)
class Record:
    """One task of the ledger.

    Attributes
    ----------
    sequence : int
        The order in which things happened; later is larger. The clock plays no part.
    task_id : str
    digest : str
        Of the canonical values: float64, columns in the schema's order, rows in theirs. Empty once removed.
    n_samples : int
        Rows, those of weight zero aside.
    total_weight : float
    absorbed_at : str
        What the clock said, for people to read.
    reason : str or None
        Why the task was forced in beside one of the same id or content.
    removed : int or None
        The sequence number of the removal, if the task was taken out again.
    digits_lost : float or None
        Decimal digits that the removal may have cost.
    """

    sequence: int
    task_id: str
    digest: str
    n_samples: int
    total_weight: float
    absorbed_at: str
    reason: str | None = None
    removed: int | None = None
    digits_lost: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)

    def to_bytes(self) -> bytes:
        """Return the one way to write this record."""
        return canonical(asdict(self))

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Record":
        """Return the record that `to_bytes` wrote, or raise `DamagedStoreError`."""
        fields = parsed(stored)
        kinds = {name: kind for name, kind in _KINDS.items() if isinstance(fields.get(name), kind)}
        if kinds.keys() != fields.keys() or fields.keys() != _KINDS.keys():
            raise DamagedStoreError(f"a record of the ledger makes no sense. {RESTORE}")
        return cls(**fields)


_KINDS: dict[str, type | tuple[type, ...]] = {
    "sequence": int,
    "task_id": str,
    "digest": str,
    "n_samples": int,
    "total_weight": float,
    "absorbed_at": str,
    "reason": (str, type(None)),
    "removed": (int, type(None)),
    "digits_lost": (float, type(None)),
}


def next_sequence(ledger: Sequence[Record]) -> int:
    """Return the sequence number of what happens next."""
    return 1 + max((max(record.sequence, record.removed or 0) for record in ledger), default=0)


def live(ledger: Sequence[Record]) -> tuple[Record, ...]:
    """Return the records of the tasks that the state holds."""
    return tuple(record for record in ledger if record.removed is None)


def totals(tasks: Sequence[Record]) -> tuple[int, int]:
    """Return the number of tasks and of rows."""
    return len(tasks), sum(record.n_samples for record in tasks)


def checked_id(task_id: Any) -> str:
    """Return a task id that is safe to print, to name a file after and to type again, or raise."""
    if not isinstance(task_id, str) or not task_id or task_id != task_id.strip():
        raise InvalidParameterError(
            f"a task id must be a text that does not begin or end with a space; got {task_id!r}. Pass one like '2019'."
        )
    if len(task_id) > LONGEST_ID:
        raise InvalidParameterError(
            f"the task id {task_id[:20]!r}… has {len(task_id)} letters; the most is {LONGEST_ID}. Shorten it."
        )
    odd = [letter for letter in task_id if letter in "/\\" or unicodedata.category(letter)[0] == "C"]
    if odd or task_id in (".", ".."):
        raise InvalidParameterError(
            f"the task id {task_id!a} holds path or control characters. Use letters, digits, '-', '_' and the like."
        )
    if not unicodedata.is_normalized("NFC", task_id):
        raise InvalidParameterError(
            f"the task id {task_id!a} has letters in an unusual spelling. "
            f"Pass {unicodedata.normalize('NFC', task_id)!a}, which looks the same."
        )
    return task_id


def checked_reason(reason: Any) -> str | None:
    """Return why a task is forced in, or None where it is not."""
    if reason is None:
        return None
    if not isinstance(reason, str) or not reason.strip() or len(reason) > LONGEST_REASON:
        raise InvalidParameterError(
            f"force needs a reason of 1 to {LONGEST_REASON} letters, which the ledger keeps; got {reason!r}. Say why."
        )
    if any(unicodedata.category(letter)[0] == "C" for letter in reason):
        raise InvalidParameterError("the reason holds control characters. Write it in one line.")
    return reason
