"""The campaign: which checks reach which mutant, and who kills it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from mutants.checks import Reach, file_of, killer_of, reach_of
from mutants.children import Job, answers
from mutants.mutant import Mutant

PACKAGES = {"research.theory": 100, "information": 80, "retrospect": 80}
"""The packages that are mutated, and how many mutants are drawn from each."""

SUITES = (
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


def killers(mutants: Sequence[Mutant], found: Reach, lanes: int) -> Iterator[tuple[Mutant, str | None]]:
    """Yield each mutant with the check that killed it, or None if it survived, as they come."""
    jobs = []
    for mutant in mutants:
        checks = _reaching(mutant, found)
        if checks:
            limit = PATIENCE + 5 * sum(found[check][0] for check in checks)
            late = f"{checks[0]} or another check (no answer in {limit:.0f} s)"
            jobs.append(Job(killer_of, (mutant, checks), limit, late))
        else:
            yield mutant, None

    for job, killer in answers(jobs, lanes):
        yield job.arguments[0], killer


def _reaching(mutant: Mutant, found: Reach) -> list[str]:
    """Return the checks that reach the mutant, the fastest files first."""
    path, lines = str(mutant.path), mutant.lines()
    reaching = [check for check, (_, reached) in found.items() if any(line in lines for line in reached.get(path, ()))]
    spent: dict[str, float] = defaultdict(float)
    for check in reaching:
        spent[file_of(check)] += found[check][0]
    return sorted(reaching, key=lambda check: (spent[file_of(check)], found[check][0]))
