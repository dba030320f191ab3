"""The group of all commands."""

import click

from ridgeway.cli._compare import compare
from ridgeway.cli._compare_task import compare_task
from ridgeway.cli._plot import plot
from ridgeway.cli._reproduce import reproduce
from ridgeway.cli._simulate import simulate
from ridgeway.cli._summary import summary
from ridgeway.cli._verify import verify

__all__ = ["commands"]


EXAMPLES = """\b
Examples:
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
    """Continual regression that does not forget."""


commands.add_command(compare)
commands.add_command(compare_task)
commands.add_command(plot)
commands.add_command(reproduce)
commands.add_command(simulate)
commands.add_command(summary)
commands.add_command(verify)
