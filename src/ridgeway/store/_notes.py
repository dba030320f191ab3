"""Notes in a state file: schema, ledger and manifest as JSON, always the same bytes for the same value."""

import json
from typing import Any

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, InvalidStateError

__all__ = ["RESTORE", "canonical", "parsed", "schema_from"]

RESTORE = "Restore the file from a copy, or try `ridgeway check --restore-previous`."


def canonical(value: Any) -> bytes:
    """Return JSON as bytes, always the same for the same value."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def parsed(stored: bytes) -> dict[str, Any]:
    """Return the dictionary that `canonical` wrote, or raise `DamagedStoreError`."""
    try:
        value = json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise DamagedStoreError(f"the state file has a note that cannot be read. {RESTORE}") from error
    if not isinstance(value, dict):
        raise DamagedStoreError(f"the state file has a note of the wrong kind. {RESTORE}")
    return value


def schema_from(stored: bytes) -> Schema:
    """Return the schema that `Schema.to_bytes` wrote, or raise `DamagedStoreError`."""
    try:
        return Schema.from_bytes(stored)
    except InvalidStateError as error:
        raise DamagedStoreError(f"the state file is damaged: {error} {RESTORE}") from error
