"""`ridgeway show`: the coefficients of a state file."""

from pathlib import Path

from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import emit, print_table, say


@command("ridgeway show wages.rw", "ridgeway show wages.rw --json")
@state_file
def show(file: str, as_json: bool) -> None:
    """Show coefficients, rank, condition number and size. Exits with 2 if the file cannot be read or is empty."""
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
    print_table(file, ["target", "feature", "coefficient"], rows, left=["target", "feature"], n_names=2)
    condition = "infinite" if shown["condition"] is None else f"{shown['condition']:.3g}"
    say(
        f"{shown['n_tasks']} tasks, {shown['n_samples']:,} rows; rank {shown['rank']} of {len(shown['features'])}, "
        f"condition {condition}, digits lost to removals {shown['digits_lost']:.1f}; {size:,} bytes on disk"
    )
    if "keep" in shown:
        say(f"kept besides the total: {', '.join(sorted(shown['keep'], reverse=True))}")
