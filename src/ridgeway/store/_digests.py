"""Canonical bytes and their digests: of notes, of a task's values, of a state, and of everything together."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeway.data import Schema
from ridgeway.errors import DamagedStoreError, InvalidStateError

Array = NDArray[Any]

DIGEST_BYTES = 32
BLOCK_BYTES = 4 * 2**20
"""Bytes of a state's array under one digest; one row of the table of blocks."""
CHUNK_ROWS = 8192
"""Rows of a column under one digest. Part of the format: another number gives other digests."""
TILE_ROWS = 1024
"""Rows that are transposed at a time, which stay in the processor's cache. Changes speed only."""
# SHA-256 is the fastest of the standard library if the processor supports it: 1.8 GB/s, against 0.85 for BLAKE2b.

RESTORE = "Restore the file from a copy, or try `ridgeway check --restore-previous`."


def canonical(value: Any) -> bytes:
    """Return JSON as bytes, always the same for the same value."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


def parsed(stored: bytes) -> dict[str, Any]:
    """Return the dictionary that `canonical` wrote, or raise `DamagedStoreError`."""
    try:
        value = json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise DamagedStoreError(f"the state file has a metadata record that cannot be read. {RESTORE}") from error
    if not isinstance(value, dict):
        raise DamagedStoreError(f"the state file has a metadata record of the wrong kind. {RESTORE}")
    return value


def schema_from(stored: bytes) -> Schema:
    """Return the schema that `Schema.to_bytes` wrote, or raise `DamagedStoreError`."""
    try:
        return Schema.from_bytes(stored)
    except InvalidStateError as error:
        raise DamagedStoreError(f"the state file is damaged: {error} {RESTORE}") from error


class _Kept(bytearray):
    """Digests of chunks one after another: kept where a hash of them would be."""

    update = bytearray.extend


class Content(NamedTuple):
    """What the ledger keeps of a task's values: its digest, those of its columns (joined), and its size."""

    digest: str
    columns: bytes
    n_samples: int
    total_weight: float


@dataclass
class ContentDigest:
    """The digest of a task's values, taken while its rows go by.

    Each column is cut into chunks of `CHUNK_ROWS` rows, counted from the task's first row; the last chunk may be
    shorter. The digest of a column is that of its chunks' digests. So neither the blocks and files in which the rows
    arrive nor the order of the columns matter, and chunks may be hashed anywhere. Rows of weight zero are absent;
    weights that are all 1 are no weights.

    With `keeps_chunks`, the digests of the chunks are kept for `chunks`, and `finish` is not called.
    """

    keeps_chunks: bool = False
    n_samples: int = 0
    total_weight: float = 0.0
    _chunks: list[Any] = field(default_factory=list)
    _columns: list[Any] = field(default_factory=list)
    _n_chunk_rows: int = 0
    _weighted: bool = False

    def add(self, X: Array, y: Array, sample_weight: Array | None, offset_values: Array | None = None) -> None:
        """Add the next rows: X (n, p), y (n, k) and values of the offset column without -0.0, and weights above 0."""
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        parts = [X, y] if offset_values is None else [X, y, offset_values[:, None]]
        parts.append(weight[:, None])
        if not self._columns:
            start_column = _Kept if self.keeps_chunks else hashlib.sha256
            self._columns = [start_column() for _ in range(sum(part.shape[1] for part in parts))]
            self._chunks = [hashlib.sha256() for _ in self._columns]
        self.n_samples += len(X)
        self.total_weight += float(weight.sum())
        self._weighted = self._weighted or bool((weight != 1.0).any())
        start = 0
        while start < len(X):
            stop = min(len(X), start + TILE_ROWS, start + CHUNK_ROWS - self._n_chunk_rows)
            tile = [np.ascontiguousarray(A[start:stop].T, "<f8") for A in parts]
            for chunk, values in zip(self._chunks, (column for part in tile for column in part), strict=True):
                chunk.update(values)
            self._n_chunk_rows += stop - start
            if self._n_chunk_rows == CHUNK_ROWS:
                self._end_chunk()
            start = stop

    def _end_chunk(self) -> None:
        for column, chunk in zip(self._columns, self._chunks, strict=True):
            column.update(chunk.digest())
        self._chunks = [hashlib.sha256() for _ in self._columns]
        self._n_chunk_rows = 0

    def finish(self, names: Sequence[str]) -> Content:
        """Return the digests of all rows; `names` are those of the features and targets. No rows can follow."""
        if self._n_chunk_rows:
            self._end_chunk()
        columns = self._columns if self._weighted else self._columns[:-1]
        joined = b"".join(column.digest() for column in columns)
        return Content(task_digest(names, self.n_samples, joined), joined, self.n_samples, self.total_weight)

    def chunks(self) -> "ChunkDigests":
        """Return the digests of the chunks. No rows can follow, unless the last chunk is complete."""
        if self._n_chunk_rows:
            self._end_chunk()
        kept = np.frombuffer(b"".join(self._columns), np.uint8).reshape(len(self._columns), -1)
        return ChunkDigests(kept, self.n_samples, self.total_weight, self._weighted)


class ChunkDigests(NamedTuple):
    """The digests of the chunks of some rows of a task, which begin with a chunk.

    Attributes
    ----------
    columns : ndarray of uint8 of shape (n_columns + 1, 32 · n_chunks)
        One row per column, the weights last.
    n_samples, total_weight, weighted
        The number of rows, the sum of their weights, and whether one is not 1.
    """

    columns: NDArray[np.uint8]
    n_samples: int
    total_weight: float
    weighted: bool

    def followed_by(self, other: "ChunkDigests") -> "ChunkDigests":
        """Return the digests of these rows and those of the rows that follow them; these end with a whole chunk."""
        both = np.hstack([self.columns, other.columns])
        rows, weight = self.n_samples + other.n_samples, self.total_weight + other.total_weight
        return ChunkDigests(both, rows, weight, self.weighted or other.weighted)

    def content(self, names: Sequence[str]) -> Content:
        """Return the digests of a task whose rows these are, as `ContentDigest.finish` would."""
        columns = self.columns if self.weighted else self.columns[:-1]
        joined = b"".join(hashlib.sha256(column.tobytes()).digest() for column in columns)
        return Content(task_digest(names, self.n_samples, joined), joined, self.n_samples, self.total_weight)


def task_digest(names: Sequence[str], n_samples: int, columns: bytes) -> str:
    """Return the digest of a task, of the digests of its columns: by name, in alphabetical order, then the weights."""
    digests = [columns[start : start + DIGEST_BYTES] for start in range(0, len(columns), DIGEST_BYTES)]
    named = sorted(zip((name.encode() for name in names), digests, strict=False))
    header = f"ridgeway task of {n_samples} rows".encode()
    return digest_of(header, *(part for pair in named for part in pair), *digests[len(names) :]).hex()


def split_digests(names: Sequence[str], columns: bytes) -> tuple[dict[str, bytes], bytes]:
    """Return the digests of columns by name, and that of the weights, if any."""
    end = DIGEST_BYTES * len(names)
    digests = (columns[start : start + DIGEST_BYTES] for start in range(0, end, DIGEST_BYTES))
    return dict(zip(names, digests, strict=True)), columns[end:]


def constant_digest(value: float, n_samples: int) -> bytes:
    """Return the digest of a column that has one value in every row."""
    column, (whole, rest) = hashlib.sha256(), divmod(n_samples, CHUNK_ROWS)
    values = np.full(CHUNK_ROWS, value + 0.0, "<f8")
    chunk = hashlib.sha256(values.data).digest()
    for _ in range(whole):
        column.update(chunk)
    if rest:
        column.update(hashlib.sha256(values[:rest].data).digest())
    return column.digest()


def digest_of(*parts: bytes) -> bytes:
    """Return one digest of several parts, each preceded by its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return bytes(digest.digest())


def digest_of_arrays(arrays: Mapping[str, Array]) -> bytes:
    """Return one digest of named arrays."""
    parts: list[bytes] = []
    for name, array in sorted(arrays.items()):
        parts += [name.encode(), repr((array.dtype.str, array.shape)).encode(), array.tobytes()]
    return digest_of(*parts)


def blocks_of(array: Array) -> list[memoryview]:
    """Return the bytes of an array, in C order, as blocks."""
    view = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return [view[start : start + BLOCK_BYTES] for start in range(0, len(view), BLOCK_BYTES)]


@contextmanager
def digesting(views: Sequence[memoryview]) -> Iterator[Iterator[str]]:
    """Yield the digests of blocks, in order; large ones are hashed by other threads while the caller goes on."""
    if sum(map(len, views)) < BLOCK_BYTES:
        yield (hashlib.sha256(view).hexdigest() for view in views)
        return
    with ThreadPoolExecutor(2) as pool:
        yield pool.map(lambda view: hashlib.sha256(view).hexdigest(), views)
