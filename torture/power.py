"""Power cuts: a loop-mounted ext4 is shut down without a flush, and mounted again."""

from collections.abc import Callable
from functools import partial

from torture.broken import FOLDER_NOT_SYNCED, NOT_SYNCED, SOUND, UNCONFIRMED, Variant
from torture.children import ACKNOWLEDGED, Child, fork
from torture.crashes import MOST_FOR_A_CONTROL, Crashes
from torture.growth import GROWING_LIFE
from torture.job import Job
from torture.kept import KEPT_LIFE
from torture.loopback import Disk, missing
from torture.outcome import Outcome
from torture.tasks import LIFE, PLAIN_LIFE, Life, disagreement

SHARE_REPEATED = 10
"""The number of random cuts per repeated call."""
SHARE_GROWING = 2
"""The number of random cuts per cut on a store that grows."""
SHARE_KEPT = 2
"""The number of random cuts per cut on a store that keeps its tasks."""


def run(job: Job) -> Outcome:
    """Cut the power; then check that broken stores are caught."""
    if reason := missing(job.place("probe")):
        return Outcome("power", skipped=reason)
    outcome = _cuts(job, "sound", SOUND)
    outcome.merge(_cuts(job, "growing", SOUND, GROWING_LIFE, SHARE_GROWING).of("a store that grows"))
    outcome.merge(_cuts(job, "kept", SOUND, KEPT_LIFE, SHARE_KEPT).of("a store that keeps tasks"))
    outcome.merge(_repeats(job, "repeated", SOUND))
    controls: dict[Variant, Callable[[Job, str, Variant], Outcome]] = {
        NOT_SYNCED: _cuts,
        FOLDER_NOT_SYNCED: _cuts,
        UNCONFIRMED: _repeats,
    }
    for number, (variant, kind) in enumerate(controls.items() if job.has_controls else ()):
        outcome.control(variant, kind(job, f"broken-{number}", variant))
    return outcome


def _cuts(job: Job, name: str, variant: Variant, life: Life = PLAIN_LIFE, one_in: int = 1) -> Outcome:
    """Cut the power at random moments."""
    with Disk(job.place(name)) as disk:

        def cut(child: Child) -> None:
            disk.cut_power()
            child.end()
            disk.restart()

        times = -(-job.share // one_in) if variant is SOUND else MOST_FOR_A_CONTROL
        cuts = Crashes(job, disk.path, cut, Outcome("power"), times, errors_expected=True, variant=variant, life=life)
        return cuts.run()


def _repeats(job: Job, name: str, variant: Variant) -> Outcome:
    """End a process between its commit and the sync of the folder, repeat the call in another, and cut the power."""
    outcome = Outcome("power")
    with Disk(job.place(name)) as disk:
        for trial in range(-(-job.share // SHARE_REPEATED)):
            path = disk.path / f"{trial}.rw"
            for step in LIFE[:2]:
                step.take(path)
            fork(partial(FOLDER_NOT_SYNCED.run, partial(LIFE[2].take, path))).finish()
            again = fork(partial(variant.run, partial(LIFE[2].repeat, path))).finish()
            disk.cut_power()
            disk.restart()
            outcome.add("repeated after a death, then cut")
            wrong = disagreement(path, 3)
            if wrong or again != ACKNOWLEDGED:
                outcome.violations.append(f"repeated call {trial}, which reported {again!r}: {wrong}")
            path.unlink()
    return outcome
