"""Data files with altered bytes: whatever is in them, they are read or refused with a typed error.

Run as a script, because a file that is not refused may end the process: `strangers.py FOLDER file=9 csv=4` alters an
Arrow file 9 times and a CSV file 4 times, and prints how often each thing happened, as JSON. With `unchecked`, Arrow
data is not validated.
"""

import json
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from ridgeway.data import Schema, _arrow_tables, open_table, tasks_in
from ridgeway.errors import RidgewayError
from ridgeway.report._encoded_rows import encode

N_ROWS = 30
SCHEMA = Schema(("x", "level"), ("y",), True, None, True, "moments")
ENDINGS = {"file": ".arrow", "stream": ".arrow", "compressed": ".arrow", "parquet": ".parquet", "csv": ".csv"}


def table():
    """Return a table with numbers, decimals, booleans with nulls, text, and dictionaries of numbers and of text."""
    rows = range(N_ROWS)
    return pa.table(
        {
            "x": np.random.default_rng(0).normal(size=N_ROWS),
            "level": pa.array([row % 5 for row in rows]).dictionary_encode(),
            "y": [Decimal(row) for row in rows],
            "site": pa.array([f"s{row % 3}" for row in rows]).dictionary_encode(),
            "word": [f"w{row % 4}" for row in rows],
            "flag": [None if row % 5 == 0 else row % 2 == 0 for row in rows],
        }
    )


def write(path, kind):
    """Write the table to a file."""
    data = table()
    if kind == "parquet":
        parquet.write_table(data, path, row_group_size=12)
    elif kind == "csv":
        csv.write_csv(pa.Table.from_pandas(data.to_pandas()), path)
    else:
        options = pa.ipc.IpcWriteOptions(compression="lz4" if kind == "compressed" else None)
        new = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
        with new(path, data.schema, options=options) as sink:
            for batch in data.to_batches(max_chunksize=12):
                sink.write_batch(batch)


def absorb(path):
    """Read a file as the store does."""
    opened = open_table(path)
    opened.columns = [name for name in opened.columns if name not in ("word", "flag")]
    return [task for task, _ in tasks_in(opened, SCHEMA, None, "site")]


def compare(path):
    """Read a file as a comparison does."""
    return encode(open_table(path), "y", ["site"], None)


def altered(data, seed):
    """Return the bytes with a few of them changed, and some of the files cut off."""
    chance, changed = np.random.default_rng(seed), np.frombuffer(data, np.uint8).copy()
    if chance.random() < 0.1:
        changed = changed[: chance.integers(len(changed))]
    places = chance.integers(len(changed) or 1, size=chance.choice([1, 1, 2, 8]) if len(changed) else 0)
    changed[places] = chance.choice([0, 1, 127, 128, 255, chance.integers(256)], size=len(places))
    return changed.tobytes()


def outcome(read, path):
    """Return what became of reading a file."""
    try:
        read(path)
    except RidgewayError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "read"


def fuzz(folder, kind, count):
    """Alter a file many times, and return how often each thing happened."""
    good, bad = (folder / f"{name}{ENDINGS[kind]}" for name in ("good", "bad"))
    write(str(good), kind)
    absorb(good), compare(good)
    found = Counter()
    for seed in range(count):
        bad.write_bytes(altered(good.read_bytes(), seed))
        found.update(f"{read.__name__}: {outcome(read, bad)}" for read in (absorb, compare))
        bad.unlink()  # the next one is another file: this one may still be mapped
    return found


def main(folder, *arguments):
    """Print what became of each kind of file."""
    if "unchecked" in arguments:
        _arrow_tables.validated = lambda data: data
    counts = dict(argument.split("=") for argument in arguments if "=" in argument)
    print(json.dumps({kind: fuzz(Path(folder), kind, int(count)) for kind, count in counts.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
