"""Run a page: its Python and its commands, in their order, in one folder. What is shown must be what is printed.

Python blocks are doctests that share their names. In a `console` block, lines after `$ ` are commands, and the other
lines are what the command before them prints; without such lines, its output is not compared. A command must succeed
unless `echo $?` comes next and shows its exit code.
"""

import doctest
import re
import shlex
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from runner import CliRunner

from ridgeway.cli._commands import commands

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BASH = shutil.which("bash")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SHELL = ("shell", "sh", "bash", "console")
PROGRAMS = ("cat", "chmod", "cp", "cut", "head", "ls", "mkdir", "mv", "rm", "sed", "tail")
SLOW = ("reproduce", "verify")
BLOCK = re.compile(r"^([ \t]*)```([^\n]*)\n(.*?)^\1```", flags=re.M | re.S)
ELSEWHERE = ("git clone ", "cd ", "source ", "deactivate", "python -m venv", "open ", "pre-commit ")


def blocks(text):
    """Return the language and the text of each fenced block, without its indentation."""
    return [
        (language.strip(), re.sub(f"^{indent}", "", body, flags=re.M)) for indent, language, body in BLOCK.findall(text)
    ]


def is_shell(language, body):
    """Say whether a block has commands. A block without a language may be a diagram."""
    return language in SHELL or (language == "" and re.match(r"(ridgeway|make|pip|python|head) ", body) is not None)


def commands_of(language, body):
    """Yield each command of a block with what is shown after it. Lines that end in a backslash are joined."""
    lines = iter(body.splitlines())
    command, shown = None, []
    for line in lines:
        if language == "console" and not line.startswith("$ "):
            shown.append(line)
            continue
        if command:
            yield command, "\n".join(shown)
        command, shown = line.removeprefix("$ "), []
        while command.endswith("\\"):
            command = command[:-1] + next(lines).strip()
        command = re.sub(r"(^|\s\s)#.*", "", command).strip()
    if command:
        yield command, "\n".join(shown)


class PageRun:
    """What a page has done so far: the names of its Python, its environment, and what it printed."""

    def __init__(self, name, environment, small=None):
        """`small` has options that make commands quicker, if their output is not shown."""
        self.name = name
        self.small = small or {}
        self.environment = environment
        self.names = {}
        self.code = 0
        self.printed = []
        self.said = {}

    def run(self, text):
        """Run all blocks of a page, and return self."""
        for language, body in blocks(text):
            if ">>>" in body:
                self.python(body)
            elif is_shell(language, body):
                self.shell(list(commands_of(language, body)))
        assert self.code == 0, self.said
        return self

    def python(self, body):
        test = doctest.DocTestParser().get_doctest(body, self.names, self.name, None, 0)
        runner = doctest.DocTestRunner(checker=_Recorder(self.printed), optionflags=FLAGS, verbose=False)
        report = []
        assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "".join(report)
        self.names.update(test.globs)

    def shell(self, lines):
        for command, shown in lines:
            if command != "echo $?":
                assert self.code == 0, (command, self.said)
            printed = self.command(command)
            self.said[command] = printed
            self.printed.append(printed)
            if shown.strip():
                self.compare(command, shown, printed)

    def compare(self, command, shown, printed):
        """Raise unless a command printed what the page shows; an ellipsis stands for anything."""
        example = doctest.Example(command, f"{shown}\n")
        checker = doctest.OutputChecker()
        said = checker.output_difference(example, printed, FLAGS)
        assert checker.check_output(example.want, printed, FLAGS), f"{self.name}: {command}\n{said}"

    def command(self, line):
        """Run one command, set its exit code, and return what it printed."""
        if line == "echo $?":
            code, self.code = self.code, 0
            return f"{code}\n"
        program, *arguments = shlex.split(line)
        if program == "make":
            assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text("utf-8"), flags=re.M), line
        elif program == "pip" or line.startswith(("python -m pip ", ".venv/bin/pip ")):
            extras = re.findall(r"\[([\w,]+)\]", line)
            assert all(
                f"\n{name} = [" in (ROOT / "pyproject.toml").read_text("utf-8")
                for text in extras
                for name in text.split(",")
            )
        elif line.startswith("python -m benchmarks."):
            assert find_spec(arguments[1]), line
        elif program == "export":
            self.environment(*arguments[0].split("=", 1))
        elif line.startswith(ELSEWHERE):
            return ""
        else:
            piped, printed = None, ""
            for part in line.split(" | "):
                ours = shlex.split(part)[0].split("/")[-1] == "ridgeway"
                piped, printed = (self.ridgeway if ours else self.outside)(part, piped)
            return printed
        return ""

    def outside(self, line, piped):
        """Run a command of the system, one of a few harmless ones."""
        assert shlex.split(line)[0] in PROGRAMS, line
        done = subprocess.run([BASH, "-c", line], input=piped, capture_output=True, check=False, text=True)
        self.code = done.returncode
        return done.stdout, done.stdout + done.stderr

    def ridgeway(self, line, piped):
        """Run a command of ours. The slow ones have tests of their own, so only their options are checked."""
        name, *arguments = shlex.split(line)[1:]
        if name in SLOW:
            commands.commands[name].make_context(name, arguments)
            return "", ""
        result = CliRunner().invoke(commands, [name, *arguments, *self.small.get(name, ())], input=piped)
        self.code = result.exit_code
        both = result.output if result.stderr in result.output else result.stdout + result.stderr
        return result.stdout, both


class _Recorder(doctest.OutputChecker):
    """Keeps what was printed, so that the numbers of the text can be looked up in it."""

    def __init__(self, printed):
        self.printed = printed

    def check_output(self, want, got, optionflags):
        self.printed.append(got)
        return super().check_output(want, got, optionflags)
