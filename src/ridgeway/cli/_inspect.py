"""`ridgeway history`, `show` and `check`: what a state file holds, and whether it is in order."""

import sys
from pathlib import Path

import click

from ridgeway.cli._failures import guarded
from ridgeway.cli._shared import as_json_option, emit, examples, print_table, state_file
from ridgeway.errors import DamagedStoreError

__all__ = ["check", "history", "show"]


@click.command(epilog=examples("ridgeway history wages.rw", "ridgeway history wages.rw --json"))
@state_file
@as_json_option
@guarded()
def history(file: str, as_json: bool) -> None:
    """Show what was learned, when, how many rows, and the digests. Exits with 2 where the file cannot be read.

    # counts what happened, in its order; a removal has a number of its own.
    """
    from ridgeway import store

    ledger = store.open(file).ledger()
    if as_json:
        emit([record.as_dict() for record in ledger])
        return
    rows = [
        [
            str(record.sequence),
            record.task_id,
            f"{record.n_samples:,}",
            record.absorbed_at,
            record.digest[:12],
            f"removed at #{record.removed}" if record.removed else record.reason or "",
        ]
        for record in ledger
    ]
    print_table(file, ["#", "task", "rows", "absorbed", "digest", "note"], rows, right=["#", "rows"])
    there = [record for record in ledger if record.removed is None]
    click.echo(f"{len(there)} tasks, {sum(record.n_samples for record in there):,} rows")


@click.command(epilog=examples("ridgeway show wages.rw", "ridgeway show wages.rw --json"))
@state_file
@as_json_option
@guarded()
def show(file: str, as_json: bool) -> None:
    """Show coefficients, rank, condition and size. Exits with 2 where the file cannot be read or is still empty."""
    from ridgeway import store

    shown = store.open(file).describe()
    size = Path(file).stat().st_size
    if as_json:
        emit({**shown, "bytes_on_disk": size})
        return
    rows = [
        [target, feature, f"{value:.10g}"]
        for target, coefs in shown["coefficients"].items()
        for feature, value in {"(intercept)": shown["intercepts"][target], **coefs}.items()
    ]
    print_table(file, ["target", "feature", "coefficient"], rows, right=["coefficient"])
    condition = "infinite" if shown["condition"] is None else f"{shown['condition']:.3g}"
    click.echo(
        f"{shown['n_tasks']} tasks, {shown['n_samples']:,} rows; rank {shown['rank']} of {len(shown['features'])}, "
        f"condition {condition}, digits lost to removals {shown['digits_lost']:.1f}; {size:,} bytes on disk"
    )


@click.command(epilog=examples("ridgeway check wages.rw", "ridgeway check wages.rw --restore-previous"))
@state_file
@click.option("--restore-previous", is_flag=True, help="Go back to the previous generation of a damaged file.")
@as_json_option
@guarded()
def check(file: str, restore_previous: bool, as_json: bool) -> None:
    """Check every digest and every invariant. Exits with 1 where the file is damaged, with 2 where it is none."""
    from ridgeway import store

    try:
        opened = store.restore_previous(file) if restore_previous else store.open(file)
        health = opened.check()
    except DamagedStoreError as error:
        if as_json:
            emit({"file": file, "in_order": False, "error": str(error)})
        click.echo(f"ridgeway check: {error}", err=True)
        sys.exit(1)
    if as_json:
        emit({"file": file, "in_order": True, **health.as_dict()})
        return
    if restore_previous:
        click.echo(f"{file}: the previous generation is the current one again. Absorb what came after it anew.")
    kept = "none kept" if health.previous is None else f"{health.previous} kept"
    click.echo(
        f"{file}: in order. {health.n_tasks} tasks, {health.n_samples:,} rows, generation {health.generation} "
        f"(previous: {kept}), {health.n_bytes:,} bytes of state"
    )
