"""`ridgeway completion`: the Tab key."""

import click

from ridgeway.cli._options import command
from ridgeway.cli._output import answer

SHELLS = {
    "bash": ("~/.bashrc", 'eval "$(_RIDGEWAY_COMPLETE=bash_source ridgeway)"'),
    "zsh": ("~/.zshrc", 'eval "$(_RIDGEWAY_COMPLETE=zsh_source ridgeway)"'),
    "fish": ("~/.config/fish/completions/ridgeway.fish", "_RIDGEWAY_COMPLETE=fish_source ridgeway | source"),
}
"""The file that a shell reads when it starts, and the line to add to it."""


@command(
    "ridgeway completion bash",
    "ridgeway completion zsh >> ~/.zshrc",
    "ridgeway completion fish > ~/.config/fish/completions/ridgeway.fish",
)
@click.argument("shell", type=click.Choice([*SHELLS]))
def completion(shell: str, as_json: bool) -> None:
    """Print the line that makes Tab complete commands and options.

    Add the line to the named file, and open a new shell. The Tab key then completes commands, options, their values and
    the names of files. Needs bash 4.4, zsh or fish, with `ridgeway` on the path.
    """
    file, line = SHELLS[shell]
    said = f"# Add this line to {file}, and open a new shell:"
    answer({"shell": shell, "file": file, "line": line}, said, line, as_json=as_json)
