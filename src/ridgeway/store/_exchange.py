"""The way out and back: plain arrays and a manifest as a safetensors file; coefficients and predictions as tables."""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ridgeway._files import atomic_path
from ridgeway._optional import require
from ridgeway.data import Progress, Schema, Table, check_columns, explained, numbers, writer
from ridgeway.errors import DamagedStoreError, StoreError
from ridgeway.estimators import GeneralizedRidge
from ridgeway.store._digests import digest_of
from ridgeway.store._generations import FIRST, MEMORY_BUDGET, Generation
from ridgeway.store._notes import canonical, parsed, schema_from
from ridgeway.store._records import Record, live, totals
from ridgeway.store._state import check_state

Array = NDArray[np.float64]

EXPORT_FORMAT = 1
RUNNABLE = ("=", "+", "-", "@", "\t", "\r")
PREDICTED_ROWS = 65536


def export_arrays(generation: Generation, arrays: Mapping[str, Array], path: Path) -> None:
    """Write a generation as a safetensors file: its arrays, and schema, ledger and a digest of our own beside them."""
    require("safetensors", extra="store")
    from safetensors.numpy import save_file

    manifest = canonical(
        {
            "format": EXPORT_FORMAT,
            "schema": generation.schema.to_bytes().decode(),
            "ledger": [record.to_bytes().decode() for record in generation.ledger],
        }
    )
    plain = {name: np.ascontiguousarray(array, dtype="<f8") for name, array in arrays.items()}
    notes = {"ridgeway": manifest.decode(), "digest": _digest(manifest, plain)}
    with written(path) as temporary:
        save_file(plain, temporary, metadata=notes)


def import_arrays(path: Path) -> tuple[Schema, list[tuple[int, Record]], dict[str, Array]]:
    """Return what `export_arrays` wrote, its digest checked and its state sound."""
    require("safetensors", extra="store")
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise StoreError(f"there is no file {path}. Check the path.")
    if path.stat().st_size > MEMORY_BUDGET:
        raise StoreError(f"{path} has {path.stat().st_size} bytes, beyond the budget of {MEMORY_BUDGET}.")
    try:
        with safe_open(path, framework="numpy") as file:
            notes = file.metadata() or {}
            names = file.keys()
            arrays = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise DamagedStoreError(f"{path} is no intact safetensors file: {error}. Export it again.") from error
    manifest = notes.get("ridgeway", "").encode()
    if not manifest:
        raise StoreError(f"{path} was not made by `ridgeway export`. Pass a file that was.")
    if _digest(manifest, arrays) != notes.get("digest"):
        raise DamagedStoreError(f"{path} is not what was exported: its digest differs. Export it again.")
    fields = parsed(manifest)
    if fields.get("format") != EXPORT_FORMAT:
        raise StoreError(f"{path} is an export of format {fields.get('format')!r}; known is {EXPORT_FORMAT}. Upgrade.")
    schema = schema_from(str(fields.get("schema")).encode())
    records = [Record.from_bytes(str(stored).encode()) for stored in fields.get("ledger", [])]
    check_state(schema, arrays, *totals(live(records)))
    return schema, [(FIRST, record) for record in records], arrays


def _digest(manifest: bytes, arrays: Mapping[str, Array]) -> str:
    parts = [manifest]
    for name, array in sorted(arrays.items()):
        parts += [name.encode(), repr((array.dtype.str, array.shape)).encode(), array.tobytes()]
    return digest_of(*parts).hex()


def export_coefficients(model: GeneralizedRidge, schema: Schema, path: Path) -> None:
    """Write the coefficients as CSV, one line for each feature and target."""
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["target", "feature", "coefficient"])
        for target, values, constant in zip(schema.targets, coef.tolist(), intercept.tolist(), strict=True):
            if schema.fit_intercept:
                writer.writerow([quoted(target), "(intercept)", repr(constant)])
            for feature, value in zip(schema.features, values, strict=True):
                writer.writerow([quoted(target), quoted(feature), repr(value)])


def quoted(text: str) -> str:
    """Return a text that a spreadsheet shows and does not run."""
    return f"'{text}" if text.startswith(RUNNABLE) else text


def predict_table(model: GeneralizedRidge, schema: Schema, table: Table, out: Path, progress: Progress | None) -> int:
    """Write a prediction for each row of a data file, which needs the features and may have more; return the rows."""
    check_columns(table.columns, schema.features, table.source, extra=None)
    names, done = [quoted(f"predicted_{target}") for target in schema.targets], 0
    with explained(table, schema.features), written(out) as temporary, writer(out, temporary, names) as write:
        for batch in table.batches(schema.features, rows=PREDICTED_ROWS):
            X = np.column_stack([numbers(batch.column(name), name, table) for name in schema.features])
            write(list(model.predict(X).reshape(len(X), -1).T))
            done += len(X)
            if progress is not None:
                progress(done, table.n_rows)
    return done


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it becomes `path`, which must not exist, once it is complete and on disk."""
    try:
        with atomic_path(path, replace=False) as temporary:
            yield temporary
    except FileExistsError:
        raise StoreError(f"{path} exists already. Choose another name, or remove the file first.") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}. Nothing was written.") from error
