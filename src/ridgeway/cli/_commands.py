"""The group of all commands."""

import click

from ridgeway.cli._verify import verify

__all__ = ["commands"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def commands() -> None:
    r"""Continual regression that does not forget.

    \b
    Examples:
      ridgeway verify                 what holds of the paper, and what does not
      ridgeway verify --help          the options of a command
    """


commands.add_command(verify)
