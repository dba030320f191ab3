"""`ridgeway absorb`: learn data files."""

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ridgeway._text import counted
from ridgeway.cli._failures import one_line
from ridgeway.cli._options import command, csv_options, opened_cluster, option, state_file
from ridgeway.cli._output import PrintingError, answer, progress_bar, say
from ridgeway.errors import InvalidParameterError, RidgewayError

if TYPE_CHECKING:
    from ridgeway.store import Absorbed, Store

SOME = 3
"""Exit code if some files were absorbed and some were not."""


@command(
    "ridgeway absorb wages.rw survey-2019.parquet --task 2019",
    "ridgeway absorb wages.rw all.parquet --task-column year  # a task per value",
    "ridgeway absorb wages.rw survey-*.csv --task-from-name   # a task per file",
    "ridgeway absorb wages.rw - --task 2019                   # CSV from a pipe",
    "ridgeway absorb wages.rw late.csv --task 2019 --force 'late returns, other households'",
    "ridgeway absorb wages.rw '2019/*.parquet' --task 2019 --workers 4  # one task",
)
@state_file
@click.argument("data", type=click.Path(allow_dash=True), metavar="DATA...", nargs=-1, required=True)
@click.option("--task", help="Id of the task.")
@click.option("--task-column", help="Column that holds the task id of each row.")
@click.option(
    "--task-from-name",
    is_flag=True,
    help="Use the name of each file, without its extension, as the id of its task.",
)
@click.option(
    "--force",
    metavar="REASON",
    help="Absorb a task even if its id or rows were absorbed before; the ledger keeps the reason.",
)
@click.option("--stop-on-error", is_flag=True, help="Stop at the first file that cannot be absorbed.")
@click.option("--workers", type=int, help="Learn all files as one task, on this many processes (extra dask).")
@click.option("--scheduler", help="Learn all files as one task, on the Dask cluster with this address: tcp://…")
@option("--patience", default=60.0, help="Seconds to wait for a cluster that has no workers. Finished parts are kept.")
@csv_options
def absorb(file: str, data: tuple[str, ...], stop_on_error: bool, as_json: bool, **options: Any) -> None:
    """Learn data files (CSV, TSV, Parquet, Arrow). Each file is learned completely or not at all.

    With --workers or --scheduler, all files together are one task, and addresses such as s3://… are accepted.

    The command can be repeated safely: a task with the same rows counts once. If it exits with 0, what it learned
    survives a power failure. If it exits with 2, the state file is unchanged; with 3, some files were absorbed and some
    were not.
    """
    from ridgeway import store
    from ridgeway.data import expand, is_address

    opened, cluster = store.open(file), {name: options.pop(name) for name in ("workers", "scheduler")}
    if {*cluster.values()} != {None}:
        outcomes, lines = _absorbed_in_parts(opened, data, cluster, **options)
        answer(outcomes, *lines, as_json=as_json)
        return
    if addresses := [*filter(is_address, data)]:
        raise InvalidParameterError(f"only workers can read addresses; got {addresses[0]}. Pass --workers 1 or more.")
    files = expand(data)
    if len(files) == 1:
        outcomes, lines = _absorbed(opened, files[0], **options)
        answer(outcomes, *lines, as_json=as_json)
        return
    if options["task"] is not None:
        raise InvalidParameterError(
            f"--task names one task; got {len(files)} files. Use --task-from-name or --task-column; or --workers, if "
            "all files are one task."
        )
    _absorb_many(opened, files, stop_on_error, as_json, options)


def _absorb_many(
    opened: "Store", files: Sequence[Path], stop_on_error: bool, as_json: bool, options: dict[str, Any]
) -> None:
    """Absorb files one after another, print what became of each, and exit with 0, 2 or 3."""
    found: list[dict[str, Any]] = []
    failed = 0
    with progress_bar(f"absorbing {len(files)} files") as progress:
        for number, path in enumerate(files):
            try:
                outcomes, lines = _absorbed(opened, path, **options)
                found.append({"file": str(path), "tasks": outcomes})
                if not as_json:
                    with suppress(PrintingError):  # the last line will fail too, and say so
                        say(*lines)
            except (RidgewayError, OSError, MemoryError) as error:
                failed += 1
                said = one_line(str(error) or f"{path}: not enough memory. Use less data at a time.")
                found.append({"file": str(path), "error": said})
                say(f"ridgeway absorb: {said}", err=True)
                if stop_on_error:
                    break
            progress(number + 1, len(files))
    done = len(found) - failed
    known = sum("tasks" in file and all(task["already"] for task in file["tasks"]) for file in found)
    left = f", {len(files) - len(found)} not tried" if len(found) < len(files) else ""
    repeated = f"{known} already absorbed, " if known else ""
    said = f"{len(files)} files: {done - known} absorbed, {repeated}{failed} failed{left}"
    try:
        answer(found, said, as_json=as_json)
    finally:
        if failed:
            sys.exit(SOME if done else 2)


def _absorbed(
    opened: "Store", path: Path, *, task: str | None, task_column: str | None, task_from_name: bool, **options: Any
) -> tuple[list[dict[str, Any]], list[str]]:
    """Absorb one file; return what became of its tasks, as data and as lines."""
    from ridgeway.data import open_stream

    if task_from_name and str(path) == "-":
        raise InvalidParameterError("standard input has no name. Name its task with --task or --task-column.")
    if task_from_name and (task is not None or task_column is not None):
        raise InvalidParameterError(
            "--task-from-name cannot be combined with --task or --task-column. Leave those out."
        )
    dropped, force, added = Counter[tuple[str, ...]](), options["force"], list[str]()
    with progress_bar(f"absorbing {path}") as progress:
        table = open_stream(sys.stdin.buffer, csv=options["csv"]) if str(path) == "-" else path
        name = path.stem if task_from_name else task
        found = opened.absorb_table(
            table,
            task_id=name,
            task_column=task_column,
            force=force,
            csv=options["csv"],
            progress=progress,
            dropped=dropped,
            added=added,
        )
    return _told(str(path), found, force, added, dropped)


def _absorbed_in_parts(
    opened: "Store", data: Sequence[str], cluster: dict[str, Any], *, task: str | None, **options: Any
) -> tuple[list[dict[str, Any]], list[str]]:
    """Absorb files as one task, on a cluster; return what became of it, as data and as lines."""
    from ridgeway import distributed

    if task is None or options["task_column"] is not None or options["task_from_name"] or "-" in data:
        raise InvalidParameterError(
            "--workers and --scheduler learn all files as one task. Name it with --task, leave out --task-column and "
            "--task-from-name, and pass files, not standard input."
        )
    how = {"dropped": Counter[tuple[str, ...]](), "added": list[str](), "force": options["force"]}
    also = {"csv": options["csv"], "patience": options["patience"]}
    with opened_cluster(**cluster) as client, progress_bar(f"absorbing {task}") as progress:
        found = distributed.absorb(opened, data, task, client=client, progress=progress, **also, **how)
    return _told(task, [found], **how)


def _told(
    what: str, found: Sequence["Absorbed"], force: str | None, added: list[str], dropped: Counter[tuple[str, ...]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what became of tasks, as data and as lines."""
    lines = [*(_line(each, force) for each in found), *([f"{what}: added {', '.join(added)}"] if added else [])]
    return [_as_dict(each) | {"added": added} for each in found], [*lines, *_dropped(what, dropped)]


def _as_dict(absorbed: "Absorbed") -> dict[str, Any]:
    record, already = absorbed
    return record.as_dict() | {"already": already, "forced": not already and record.reason is not None}


def _line(absorbed: "Absorbed", force: str | None) -> str:
    record, already = absorbed
    words = "already absorbed" if already else "absorbed"
    note = "" if force in (None, record.reason) else "; --force was not needed, so the reason was not kept"
    rows = counted(record.n_samples, "row")
    return f"{record.task_id}: {words}, {rows}, digest {record.digest[:12]}{note}"


def _dropped(what: str, dropped: Counter[tuple[str, ...]]) -> list[str]:
    """Return a line that says how many rows were left out, and how many of them each column had no value in."""
    if not dropped:
        return []
    missing = Counter[str]()
    for names, count in dropped.items():
        missing.update(dict.fromkeys(names, count))
    listed = ", ".join(f"{name} ({count:,})" for name, count in missing.most_common())
    count = dropped.total()
    were = "was" if count == 1 else "were"
    return [f"{what}: {counted(count, 'row')} with missing values {were} left out: {listed}"]
