"""Exports and imports: plain arrays and a manifest as a safetensors file; coefficients and predictions as tables."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ridgeway._files import PRIVATE, atomic_path
from ridgeway._optional import require
from ridgeway._text import quoted
from ridgeway.data import Schema, writer
from ridgeway.errors import DamagedStoreError, InvalidParameterError, StoreError
from ridgeway.store._changes import Contents
from ridgeway.store._digests import Array, canonical, digest_of, digest_of_arrays, parsed, schema_from
from ridgeway.store._exported_parts import exported_parts, imported_parts
from ridgeway.store._generations import DTYPES, check_budget, validated
from ridgeway.store._ledger import Entry, Ledger, Record
from ridgeway.store._merge import Snapshot
from ridgeway.store._new_file import FIRST
from ridgeway.store._state import check_state, described
from ridgeway.store._whole_tree import check_leaves, check_total

TOTAL_ONLY, WITH_PARTS, WITH_FOURTH = 2, 3, 4
"""The formats of exports: the total alone, with parts of tasks, and with fourth moments in the parts."""
LEDGER = "ledger"
LINE_FACTOR = 4
"""Bytes of memory for each byte of the ledger of an export."""


def export(snapshot: Snapshot, path: Path) -> None:
    """Write the arrays and the ledger (.safetensors) or the coefficients (.csv)."""
    if path.suffix.lower() == ".safetensors":
        _export_arrays(snapshot, path)
    elif path.suffix.lower() == ".csv":
        schema = snapshot.generation.schema
        _export_coefficients(described(schema, snapshot.arrays), path)
    else:
        raise InvalidParameterError(f"{path} ends with {path.suffix!r}; exports end with .safetensors or .csv.")


def _export_arrays(snapshot: Snapshot, path: Path) -> None:
    """Write a safetensors file of the arrays and the ledger, with the schemas and a digest of our own in its metadata.

    The ledger is an array of bytes, because the metadata have a limit: one line for each record, its JSON followed by a
    space and the digests of its columns.
    """
    require("safetensors", extra="store")
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    schemas = [stored.decode() for stored in snapshot.generation.schemas]
    manifest = canonical({"format": _format(snapshot.generation.schema), "schemas": schemas})
    lines = b"".join(b"%b %b\n" % (entry.record.to_bytes(), entry.columns.hex().encode()) for entry in snapshot.ledger)
    arrays = {**snapshot.arrays, LEDGER: np.frombuffer(lines, np.uint8), **exported_parts(snapshot.tree)}
    notes = {"ridgeway": manifest.decode(), "digest": _digest(manifest, arrays)}
    with written(path) as temporary:
        try:
            save_file(arrays, temporary, metadata=notes)
        except SafetensorError as error:
            raise StoreError(f"{path} cannot be written: {error}. Nothing was written.") from error


def imported(path: Path) -> Contents:
    """Return what `export` wrote, after a check of its digest, of the ledger and of the state."""
    manifest, arrays = _read_arrays(path)
    fields = parsed(manifest)
    if type(fields.get("format")) is not int or fields["format"] not in (TOTAL_ONLY, WITH_PARTS, WITH_FOURTH):
        raise StoreError(
            f"{path} is an export of format {fields.get('format')!r}; this version of Ridgeway reads formats "
            f"{TOTAL_ONLY} to {WITH_FOURTH}. Upgrade Ridgeway."
        )
    found = Ledger(None, path)
    try:
        schemas = [stored.encode() for stored in fields["schemas"]]
        versions = [schema_from(stored) for stored in schemas]
        if fields["format"] != _format(versions[-1]):
            raise DamagedStoreError(f"{path} has parts that it should not have, or lacks them. Export it again.")
        lines = arrays.pop(LEDGER)
        check_budget(path, LINE_FACTOR * lines.nbytes, "ledger")
        known = list(validated(map(_entry, BytesIO(lines.tobytes())), found, versions, path))
        tree = None if versions[-1].keep is None else imported_parts(arrays, versions[-1], path)
        if not all(array.ndim and array.size and array.dtype.str in DTYPES for array in arrays.values()):
            raise DamagedStoreError(f"{path} has arrays of the wrong type. Export it again.")
        contents = Contents(schemas, known, arrays, tree)
        check_state(contents.schema, arrays, found.n_tasks, found.n_samples)
        if contents.schema.keep is not None:
            leaves: Any = () if tree is None else tree.leaves()
            check_total(path, tree, contents.schema, arrays)
            check_leaves(path, leaves, [entry.record for entry in known])
    except StoreError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DamagedStoreError(f"{path} has an invalid manifest. Export it again.") from error
    return contents


def _format(schema: Schema) -> int:
    """Return the format of an export."""
    if schema.keep is None:
        return TOTAL_ONLY
    return WITH_FOURTH if schema.keeps_fourth_moments else WITH_PARTS


def _entry(line: bytes) -> Entry:
    """Return the entry of a line of the ledger."""
    record, _, columns = line.removesuffix(b"\n").rpartition(b" ")
    return Entry(FIRST, Record.from_bytes(record), bytes.fromhex(columns.decode()))


def _read_arrays(path: Path) -> tuple[bytes, dict[str, Array]]:
    """Return the manifest and the arrays of an export whose digest is right."""
    require("safetensors", extra="store")
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise StoreError(f"there is no file {path}. Check the path.")
    check_budget(path, path.stat().st_size, "export")
    try:
        with safe_open(path, framework="numpy") as file:
            notes = file.metadata() or {}
            names = file.keys()
            arrays = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError) as error:  # NumPy lacks some types
        raise DamagedStoreError(f"{path} is not an intact safetensors file: {error}. Export it again.") from error
    manifest = notes.get("ridgeway", "").encode()
    if not manifest:
        raise StoreError(f"{path} was not made by `ridgeway export`. Pass a file that was.")
    if _digest(manifest, arrays) != notes.get("digest"):
        raise DamagedStoreError(f"{path} is not what was exported: its digest differs. Export it again.")
    return manifest, arrays


def _digest(manifest: bytes, arrays: dict[str, Array]) -> str:
    return digest_of(manifest, digest_of_arrays(arrays)).hex()


def _export_coefficients(known: dict[str, Any], path: Path) -> None:
    """Write the coefficients as CSV, one line per target, or class, and feature."""
    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["target", "feature", "coefficient"])
        for target, coefs in known["coefficients"].items():
            if known["fit_intercept"]:
                writer.writerow([quoted(target), "(intercept)", repr(known["intercepts"][target])])
            for feature, value in coefs.items():
                writer.writerow([quoted(target), quoted(feature), repr(value)])


class PredictedRows(NamedTuple):
    """The rows of a file of predictions.

    Attributes
    ----------
    n_samples : int
        Their number.
    n_missing : int
        Those without a prediction, because they have missing values.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from ridgeway import store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = store.create(f"{folder}/state.rw", features=["x"], target="y")
    ...     _ = state.absorb("May", [[0.0], [1.0]], [1.0, 2.0])
    ...     print(state.predict_file(pd.DataFrame({"x": [2.0]}), f"{folder}/found.csv"))
    PredictedRows(n_samples=1, n_missing=0)
    """

    n_samples: int
    n_missing: int


def predict_file(found: Iterator[Any], out: Path, n_ids: int) -> PredictedRows:
    """Write predictions, which come after the ids, to a file; return the numbers of rows."""
    done, missing = 0, 0
    with written(out) as temporary, writer(out, temporary, next(found).schema) as write:
        for part in found:
            write(part)
            done, missing = done + part.num_rows, missing + part.column(n_ids).null_count
    return PredictedRows(done, missing)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it becomes `path`, which must not exist, once it is complete and on disk.

    Only its owner can read the file.
    """
    try:
        with atomic_path(path, replace=False, mode=PRIVATE) as temporary:
            yield temporary
    except FileExistsError:
        raise StoreError(f"{path} exists already. Choose another name, or remove the file first.") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}. Nothing was written.") from error
