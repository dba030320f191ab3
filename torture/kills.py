"""`kill -9` some time after the k-th acknowledgement."""

from torture.broken import DOUBLING, EARLY, NO_TRANSACTION, SCHEMA_FIRST, SOUND, Variant
from torture.broken_families import ADDS_TWICE, FORGETS_CLASSES
from torture.broken_parts import NOT_THE_ROOT
from torture.children import Child
from torture.crashes import MOST_FOR_A_CONTROL, Crashes
from torture.families import CLASS_LIFE, LIKELIHOOD_LIFE
from torture.growth import GROWING_LIFE
from torture.job import Job
from torture.kept import KEPT_LIFE
from torture.outcome import Outcome
from torture.tasks import PLAIN_LIFE, Life

CONTROLS = {
    EARLY: PLAIN_LIFE,
    NO_TRANSACTION: PLAIN_LIFE,
    DOUBLING: PLAIN_LIFE,
    SCHEMA_FIRST: GROWING_LIFE,
    NOT_THE_ROOT: KEPT_LIFE,
    FORGETS_CLASSES: CLASS_LIFE,
    ADDS_TWICE: LIKELIHOOD_LIFE,
}
SHARE_GROWING = 6
"""The number of kills per kill of a store that grows."""
SHARE_KEPT = 4
"""The number of kills per kill of a store that keeps its tasks."""
SHARE_FAMILY = 16
"""The number of kills per kill of a store of classes, and of a likelihood."""


def run(job: Job) -> Outcome:
    """Kill; then check that broken stores are caught."""

    def crashes(name: str, variant: Variant, life: Life, times: int) -> Outcome:
        return Crashes(job, job.place(name), Child.kill, Outcome("kills"), times, variant=variant, life=life).run()

    outcome = crashes("sound", SOUND, PLAIN_LIFE, job.share)
    outcome.merge(crashes("growing", SOUND, GROWING_LIFE, -(-job.share // SHARE_GROWING)).of("a store that grows"))
    outcome.merge(crashes("kept", SOUND, KEPT_LIFE, -(-job.share // SHARE_KEPT)).of("a store that keeps tasks"))
    few = -(-job.share // SHARE_FAMILY)
    outcome.merge(crashes("classes", SOUND, CLASS_LIFE, few).of("a store of classes"))
    outcome.merge(crashes("likelihood", SOUND, LIKELIHOOD_LIFE, few).of("a store of a likelihood"))
    for number, (variant, life) in enumerate(CONTROLS.items() if job.has_controls else ()):
        outcome.control(variant, crashes(f"broken-{number}", variant, life, MOST_FOR_A_CONTROL))
    return outcome
