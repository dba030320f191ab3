"""The campaign: which checks reach which mutant, and who kills it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mutants.checks import VERIFY, Reach, file_of, killer_of, reach_of
from mutants.children import Job, answers
from mutants.mutant import Mutant

PACKAGES = {"research.theory": 100, "information": 80, "retrospect": 80}
"""The packages that are mutated, and how many mutants are drawn from each."""

THEORY = "research.theory"
"""The package that `verify` tests."""

SUITES = (
    VERIFY,
    "tests/research/theory",
    "tests/information",
    "tests/retrospect",
    *(f"tests/estimators/test_{name}.py" for name in ("attacked", "digits", "discriminant", "exactness", "handled")),
    *(f"tests/estimators/test_{name}.py" for name in ("class_labels", "classifier_exactness", "reviewed")),
    *(f"src/ridgeway/{package.replace('.', '/')}" for package in PACKAGES),
)
"""What may kill them."""

PATIENCE = 60.0
"""Seconds that the checks of a mutant get beyond five times what they took without it."""


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: the statement of `verify` and the test that killed it, if one did."""

    mutant: Mutant
    statement: str | None
    test: str | None

    @property
    def survived(self) -> bool:
        """Whether nothing killed it."""
        return self.statement is None and self.test is None


def reach(files: Sequence[str], lanes: int) -> Reach:
    """Return the time and the lines of every check, or raise `RuntimeError` if one fails on the source as it is."""
    jobs = [Job(reach_of, (file,), 600.0, None) for file in files]
    found: Reach = {}
    for job, answer in answers(jobs, lanes):
        if answer is None:
            raise RuntimeError(
                f"{job.arguments[0]} fails without a mutant, or takes {job.seconds:.0f} s. Run it alone."
            )
        found |= answer
    return found


def fates(mutants: Sequence[Mutant], found: Reach, lanes: int) -> Iterator[Fate]:
    """Yield the fate of each mutant, as they come. All meet the tests; mutants of the theory also meet `verify`."""
    jobs = [job for mutant in mutants for job in _jobs(mutant, found)]
    waiting = {mutant: sum(job.arguments[0] == mutant for job in jobs) for mutant in mutants}
    killers: dict[Mutant, list[str]] = {mutant: [] for mutant in mutants}
    yield from (Fate(mutant, None, None) for mutant, left in waiting.items() if not left)
    for job, killer in answers(jobs, lanes):
        mutant = job.arguments[0]
        waiting[mutant] -= 1
        killers[mutant] += [killer] if killer else []
        if not waiting[mutant]:
            by_verify = [killer for killer in killers[mutant] if killer.startswith(VERIFY)]
            by_test = [killer for killer in killers[mutant] if not killer.startswith(VERIFY)]
            yield Fate(mutant, next(iter(by_verify), None), next(iter(by_test), None))


def _jobs(mutant: Mutant, found: Reach) -> Iterator[Job]:
    """Yield one job for the statements that reach the mutant and one for the tests, the fastest files first."""
    path, lines = str(mutant.path), mutant.lines()
    reaching = [check for check, (_, reached) in found.items() if any(line in lines for line in reached.get(path, ()))]
    spent: dict[str, float] = defaultdict(float)
    for check in reaching:
        spent[file_of(check)] += found[check][0]
    reaching.sort(key=lambda check: (spent[file_of(check)], found[check][0]))
    for by_verify in (True, False):
        checks = [check for check in reaching if check.startswith(f"{VERIFY} ") == by_verify]
        if checks and (mutant.module.startswith(THEORY) or not by_verify):
            limit = PATIENCE + 5 * sum(found[check][0] for check in checks)
            yield Job(killer_of, (mutant, checks), limit, f"{checks[0]} or another check (no answer in {limit:.0f} s)")
