"""The group of all commands."""

import click

from ridgeway.cli._verify import verify

__all__ = ["commands"]


EXAMPLES = """\b
Examples:
  ridgeway verify                 what holds of the paper, and what does not
  ridgeway verify --help          the options of a command
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.version_option(package_name="ridgeway", prog_name="ridgeway")
def commands() -> None:
    """Continual regression that does not forget."""


commands.add_command(verify)
