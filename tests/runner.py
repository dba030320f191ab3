"""click's test runner with stdout and stderr apart: click 8.1 does that only when asked, later versions always."""

from inspect import signature

import click.testing

APART = {"mix_stderr": False} if "mix_stderr" in signature(click.testing.CliRunner).parameters else {}


class CliRunner(click.testing.CliRunner):
    def __init__(self):
        super().__init__(**APART)
