"""The group of all commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ridgeway._text import visible
from ridgeway.cli._cmd_absorb import absorb
from ridgeway.cli._cmd_backup import backup
from ridgeway.cli._cmd_check import check
from ridgeway.cli._cmd_compare import compare
from ridgeway.cli._cmd_compare_task import compare_task
from ridgeway.cli._cmd_export import export
from ridgeway.cli._cmd_history import history
from ridgeway.cli._cmd_import import import_
from ridgeway.cli._cmd_init import init
from ridgeway.cli._cmd_merge import merge
from ridgeway.cli._cmd_path import path
from ridgeway.cli._cmd_predict import predict
from ridgeway.cli._cmd_reference import reference
from ridgeway.cli._cmd_remove import remove
from ridgeway.cli._cmd_reproduce import reproduce
from ridgeway.cli._cmd_segments import segments
from ridgeway.cli._cmd_show import show
from ridgeway.cli._cmd_simulate import simulate
from ridgeway.cli._cmd_summary import summary
from ridgeway.cli._cmd_tasks import tasks
from ridgeway.cli._cmd_verify import verify
from ridgeway.cli._cmd_widen import widen

SECTIONS = {
    "State file": (
        init,
        absorb,
        widen,
        reference,
        remove,
        merge,
        predict,
        show,
        history,
        check,
        backup,
        export,
        import_,
    ),
    "Questions about a state file": (summary, tasks, path, segments, compare_task),
    "Compare methods": (compare,),
    "Research": (reproduce, verify, simulate),
}
EXAMPLES = """\b
Examples:
  ridgeway init wages.rw --features age,tenure --target log_wage
  ridgeway absorb wages.rw survey-2019.parquet --task 2019
  ridgeway summary wages.rw                # standard errors, without the rows
  ridgeway compare penguins --out report/  # which methods forget
  ridgeway verify                          # which statements hold
  ridgeway summary --help                  # the options of a command
"""


class Sections(click.Group):
    """Commands in sections. Errors about the command line contain no control characters."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, self.commands))
        for title, members in SECTIONS.items():
            with formatter.section(title):
                room = formatter.width - longest - 6
                formatter.write_dl([(f"{one.name:<{longest}}", one.get_short_help_str(room)) for one in members])

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _plain_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _plain_errors():
            return super().invoke(ctx)


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        vars(error)["message"] = "\n".join(map(visible, error.message.split("\n")))
        raise


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(package_name="ridgeway", prog_name="ridgeway")
def commands() -> None:
    """Continual regression that does not forget.

    Exit codes: 0 for success, 1 if a check found something wrong or the result could not be printed, 2 if a command was
    refused and changed nothing, 3 if it did part of what was asked, 130 after Ctrl-C.
    """


for command in (command for members in SECTIONS.values() for command in members):
    commands.add_command(command)
