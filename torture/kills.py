"""`kill -9` some time after the k-th acknowledgement."""

from torture.broken import DOUBLING, EARLY, NO_TRANSACTION, SOUND, Variant
from torture.children import Child
from torture.crashes import Crashes
from torture.job import Job
from torture.outcome import Outcome

CONTROLS = (EARLY, NO_TRANSACTION, DOUBLING)


def run(job: Job) -> Outcome:
    """Kill; then check that broken stores are caught."""

    def crashes(name: str, variant: Variant) -> Outcome:
        return Crashes(job, job.place(name), Child.kill, Outcome("kills"), variant=variant).run()

    outcome = crashes("sound", SOUND)
    for number, variant in enumerate(CONTROLS if job.has_controls else ()):
        outcome.control(variant, crashes(f"broken-{number}", variant))
    return outcome
