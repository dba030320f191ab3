"""`ridgeway show`: the coefficients of a state file."""

from pathlib import Path
from typing import Any

from ridgeway._text import counted
from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import emit, family_line, print_table, say


@command("ridgeway show wages.rw", "ridgeway show wages.rw --json")
@state_file
def show(file: str, as_json: bool) -> None:
    """Show the family, coefficients, rank, condition and size. Exits with 2 if the file cannot be read or is empty."""
    from ridgeway import store
    from ridgeway.data import OffsetColumn

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
    n_tasks, n_samples = shown["n_tasks"], shown["n_samples"]
    say(
        f"{counted(n_tasks, 'task')}, {counted(n_samples, 'row')}; "
        f"rank {shown['rank']} of {len(shown['features'])}, {_quality(shown)}; {size:,} bytes on disk"
    )
    if shown["family"] != "gaussian":
        say(family_line(shown["family"], shown.get("memory"), shown.get("classes", ())))
    if "offset" in shown:
        say(f"offset: {OffsetColumn.from_dict(shown['offset']).meaning}")
    if "keep" in shown:
        say(f"kept besides the total: {', '.join(sorted(shown['keep'], reverse=True))}")


def _quality(shown: dict[str, Any]) -> str:
    """Say how well the coefficients are known."""
    if "log_likelihood" in shown:
        of_rates = " (of rates, not of counts)" if shown["rates"] else ""
        return f"log-likelihood {shown['log_likelihood']:.6g}{of_rates}"
    condition = "infinite" if shown["condition"] is None else f"{shown['condition']:.3g}"
    return f"condition {condition}, digits lost to removals {shown['digits_lost']:.1f}"
