"""What to do with a task, in words."""

from dataclasses import dataclass
from math import isfinite, isnan
from typing import Literal, get_args

Advice = Literal["absorb", "absorb and watch", "keep apart"]

SIGNIFICANT, CLEAR = 0.05, 0.001
"""The p-values below which a difference is taken to be real, and below which it is clear."""
RELEVANT = 0.1
"""The size, in noise standard deviations, from which a difference matters."""

LEADS: dict[Advice, tuple[str, str]] = {
    "absorb": ("Absorb", "Leave it in"),
    "absorb and watch": ("Absorb and watch", "Leave it in and watch"),
    "keep apart": ("Keep apart", "Remove it and keep it apart"),
}
"""How the sentence begins, for a task that is new and for one that was absorbed."""
OUTCOMES = {
    (True, True): "better for past and task",
    (True, False): "better for the past and worse for the task",
    (False, True): "worse for the past and better for the task",
    (False, False): "worse, both for past tasks and for this one",
}


@dataclass(frozen=True)
class Grounds:
    """What the advice for one target is made from: the numbers of `Comparison`, and whether all of it is rounding."""

    p_value: float
    rounding: bool
    difference: float
    relative: float
    gain_for_past: float
    gain_for_task: float
    noise_assumed: bool = False
    """Whether past and task were taken to be equally noisy because one of them has too few rows to tell."""

    @property
    def small(self) -> bool:
        """Whether the difference is known to be small; an estimate of 0 says that its size cannot be told."""
        return 0.0 < self.relative < RELEVANT

    @property
    def advice(self) -> Advice:
        """What to do, by the rule in `Comparison`."""
        if not self.p_value < SIGNIFICANT or self.rounding:
            return "absorb"
        gains = self.gain_for_past, self.gain_for_task
        if self.small:
            return "absorb" if min(gains) >= 0.0 else "absorb and watch"
        is_clear = self.p_value < CLEAR and not self.noise_assumed  # more noise alone can make a p-value this small
        return "keep apart" if is_clear and max(gains) < 0.0 else "absorb and watch"

    def sentence(self, absorbed: bool) -> str:
        """Return the advice and its reason."""
        versus = " Compared with what remains without it." if absorbed else ""
        return f"{LEADS[self.advice][absorbed]}: {self._reason()}.{versus}"

    def _reason(self) -> str:
        if isnan(self.p_value):
            return "one relation fits all rows of past and task exactly"
        if self.rounding:
            return "past and task differ by no more than rounding"
        if self.p_value >= SIGNIFICANT:
            return f"no difference between past and task was found (p = {self.p_value:.2g})"
        outcome = OUTCOMES[self.gain_for_past >= 0.0, self.gain_for_task >= 0.0]
        slightly = "slightly " if self.small else ""
        said = f"the relation {self._size()}, and absorbing is expected to make predictions {slightly}{outcome}"
        return f"{said}. Perhaps only the noise differs: too few rows to tell" if self.noise_assumed else said

    def _size(self) -> str:
        verb = "differs" if self.p_value < CLEAR and not self.noise_assumed else "seems to differ"
        if self.relative == 0.0:
            return f"{verb} by an amount that cannot be told from these rows"
        noise = (
            f"{self.relative:.2g} times the noise standard deviation" if isfinite(self.relative) else "without noise"
        )
        return f"{verb} by {'only ' if self.small else ''}{self.difference:.3g} ({noise})"


def most_careful(grounds: list[Grounds]) -> Advice:
    """Return the most careful advice for any of the targets."""
    order: tuple[Advice, ...] = get_args(Advice)
    return max((each.advice for each in grounds), key=order.index)
