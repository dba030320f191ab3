"""What the state machines of hypothesis have in common: a store in a folder, and calls that must not change it."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from ridgeway.errors import RidgewayError
from ridgeway.store import Absorbed, Store, import_arrays
from torture.broken import SOUND, Variant
from torture.job import Job
from torture.outcome import Outcome

STEPS_FOR_A_CONTROL = 2000
STEPS_A_RUN = 50


class WatchedMachine(RuleBasedStateMachine):
    """A store in a folder of its own, and the tasks that it should hold."""

    store: Store
    tasks: Sequence[object]
    runs_a_round: ClassVar[int] = 20
    steps: ClassVar[int] = 0
    """Calls made so far by every machine of this process."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="torture-"))
        self.files = 0
        self.begun = False

    def teardown(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder)

    def another(self) -> Path:
        """Return the path of a file that does not exist yet."""
        self.files += 1
        return self.folder / f"{self.files}.rw"

    def count(self) -> None:
        """Count a step; each machine checks once before its first one."""
        WatchedMachine.steps += self.begun
        self.begun = True

    def known(self, taken: Absorbed) -> None:
        """Expect that a task was recognised."""
        self.expect(taken.already, "a task was counted again")

    def import_export(self) -> None:
        """Continue with what an export makes of the store."""
        copy = self.another()
        self.unchanged(lambda: self.store.export(copy.with_suffix(".safetensors")))
        self.store = import_arrays(copy.with_suffix(".safetensors"), copy)

    def unchanged(self, call: Callable[[], object]) -> None:
        """Make a call that must leave the file byte for byte as it was."""
        before = self.store.path.read_bytes()
        call()
        self.expect(self.store.path.read_bytes() == before, "a call that only reads or was refused changed the file")

    def refused(self, error: type[RidgewayError], call: Callable[[], object]) -> None:
        """Make a call that must raise and leave the file byte for byte as it was."""

        def raises() -> None:
            try:
                call()
            except error:
                return
            self.expect(False, f"what {error.__name__} should refuse was accepted")

        self.unchanged(raises)

    def expect(self, held: bool, wrong: str) -> None:
        """Raise if a condition does not hold."""
        if not held:
            raise AssertionError(f"{wrong}; the tasks should be {self.tasks}")


def run_machine(kind: type[WatchedMachine], part: str, job: Job, controls: Sequence[Variant]) -> Outcome:
    """Take steps; then check that broken stores are caught."""
    tempfile.tempdir = str(job.folder)
    outcome = _take(kind, part, job, SOUND)
    for variant in controls if job.has_controls else ():
        outcome.control(variant, _take(kind, part, job, variant))
    return outcome


def _take(kind: type[WatchedMachine], part: str, job: Job, variant: Variant) -> Outcome:
    """Take steps in rounds of runs, each round with its own seed, until there are enough or one fails."""
    phases = [Phase.generate, Phase.shrink] if variant is SOUND else [Phase.generate]
    chosen = settings(
        max_examples=kind.runs_a_round,
        stateful_step_count=STEPS_A_RUN,
        deadline=None,
        database=None,
        derandomize=False,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    outcome = Outcome(part)
    times = job.share if variant is SOUND else STEPS_FOR_A_CONTROL
    begin, rounds = WatchedMachine.steps, 0
    while WatchedMachine.steps - begin < times and not any(map(variant.shown_by, outcome.violations)):
        rounds += 1
        before = WatchedMachine.steps
        seed(int(job.rng(6, rounds).integers(2**32)))(kind)
        try:
            with variant.in_force():
                run_state_machine_as_test(kind, settings=chosen)
        except Exception as error:
            told = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]
            outcome.violations.append(f"round {rounds} of lane {job.lane}: {' / '.join(told)}")
        job.advance(WatchedMachine.steps - before)
    outcome.add("steps", WatchedMachine.steps - begin)
    outcome.add("runs", rounds * kind.runs_a_round)
    return outcome
