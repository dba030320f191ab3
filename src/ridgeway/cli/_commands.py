"""The group of all commands."""

import click

from ridgeway.cli._absorb import absorb, remove
from ridgeway.cli._compare import compare
from ridgeway.cli._compare_task import compare_task
from ridgeway.cli._exchange import export, import_, merge, predict
from ridgeway.cli._init import init
from ridgeway.cli._inspect import check, history, show
from ridgeway.cli._plot import plot
from ridgeway.cli._reproduce import reproduce
from ridgeway.cli._simulate import simulate
from ridgeway.cli._summary import summary
from ridgeway.cli._verify import verify

__all__ = ["commands"]


EXAMPLES = """\b
Examples:
  ridgeway init wages.rw --features age,tenure --target log_wage
  ridgeway absorb wages.rw survey-2019.parquet --task 2019
  ridgeway show wages.rw
  ridgeway compare penguins --out report/
                                  who forgets, on real tasks
  ridgeway simulate --out runs/a  methods on simulated tasks; ridgeway plot runs/a draws them
  ridgeway reproduce --out DIR    the paper's figures, and a verdict on each claim
  ridgeway summary wages.rw       standard errors and tests, over rows that are gone
  ridgeway verify                 what holds of the paper, and what does not
  ridgeway verify --help          the options of a command
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(package_name="ridgeway", prog_name="ridgeway")
def commands() -> None:
    """Continual regression that does not forget.

    Exit codes: 0 for done, 1 where a check found something wrong, 2 where a command was refused and changed nothing,
    130 after Ctrl-C.
    """


STORE = (absorb, check, compare_task, export, history, import_, init, merge, predict, remove, show, summary)
for command in (*STORE, compare, plot, reproduce, simulate, verify):
    commands.add_command(command)
