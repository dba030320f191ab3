"""`ridgeway history`: the ledger of a state file."""

from ridgeway._text import counted
from ridgeway.cli._options import command, state_file
from ridgeway.cli._output import emit, family_line, print_table, say

HEADINGS = ("#", "task", "rows", "absorbed", "digest", "note")


@command("ridgeway history wages.rw", "ridgeway history wages.rw --json")
@state_file
def history(file: str, as_json: bool) -> None:
    """List what was learned and when, with row counts and digests. Exits with 2 if the file cannot be read.

    Column "#" numbers all changes in order; a removal has its own number.
    """
    from ridgeway import store

    opened = store.open(file)
    ledger = opened.ledger()
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
            record.note,
        ]
        for record in ledger
    ]
    print_table(file, HEADINGS, rows, left=["task", "absorbed", "digest", "note"], n_names=2)
    there = [record for record in ledger if record.removed is None]
    n_samples = sum(record.n_samples for record in there)
    say(f"{counted(len(there), 'task')}, {counted(n_samples, 'row')}")
    family = opened.schema.family
    if family is not None:
        say(family_line(family.name, family.memory, family.classes))
