"""The forms that a method can have in a simulation: functions of what all methods of a repetition share.

Updates that are linear in the targets are ŵ_t = ŵ_{t−1} + K_t·r, where r are the residuals of the task's equations.
Their exact error follows from K_t. If K_t depends on the noise variance, say ``uses_noise=True``.

- K_t = X_tᵀ·f(X_tX_tᵀ), a filter of the task's spectrum: ``Filter(name, applied)``. With X_tX_tᵀ = Q·T·Qᵀ and T
  tridiagonal (``task.form``), ``applied(task, noise_variance)`` returns the function Qᵀr ↦ f(T)·Qᵀr.
- K_t = P_t·X_tᵀ: ``Update(name, applied)``, where ``applied(task, noise_variance)`` returns the function
  X_tᵀr ↦ P_t·X_tᵀr.
- An estimate from the pooled sums: ``PooledMethod(name, estimate)``, where ``estimate(task, mix)`` returns ŵ_t of shape
  (p, k) from ``task.pooled``. There, information, moment @ mix and mixᵀ·squares·mix are XᵀX, Xᵀy and yᵀy of all rows
  so far, and ``mix`` has the columns (1, σ). If ŵ_t is not linear in the targets, say ``uses_noise=True`` and leave
  `second_moment` out: such a method can be drawn, but has no exact average.

Any other `weights.DesignPolicy` runs through its gain: ``PolicyMethod(name, policy)``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ridgeway._checks import Array
from ridgeway.catalogue import Method
from ridgeway.research.simulation._shared_task import SharedTask

if TYPE_CHECKING:
    from ridgeway.weights import DesignPolicy

Applied = Callable[[Array], Array]


@dataclass(frozen=True)
class Form:
    """What all forms have: the name of the method, and whether it depends on the noise variance."""

    name: str
    uses_noise: bool = field(default=False, kw_only=True)

    def as_method(self) -> Method:
        """Return the form as an entry for the catalogue."""
        return Method(self.name, self.name, simulated=self)


@dataclass(frozen=True)
class Filter(Form):
    """An update with K_t = X_tᵀ·f(X_tX_tᵀ).

    Attributes
    ----------
    name : str
    applied : function of (task, noise variance) that returns the function s ↦ f(T)·s
    uses_noise : whether f depends on the noise variance
    reduces_past : whether f uses the spectrum of the past, ``task.past.form``

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> def applied(task, noise_variance):  # (X_tX_tᵀ + n_tλ)⁻¹ with λ = 0.5
    ...     return lambda s: task.form.solve(0.5 * task.n_samples, s, tolerance=0.0)
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> mine = simulation.Filter("mine", applied)
    >>> found = simulation.run(setting, [mine, "crr:0.5"], repetitions=2)
    >>> bool(abs(found.of("mine") - found.of("crr:0.5")).max() < 1e-12)
    True
    """

    applied: Callable[[SharedTask, float], Applied]
    reduces_past: bool = False


@dataclass(frozen=True)
class Update(Form):
    """An update with K_t = P_t·X_tᵀ.

    Attributes
    ----------
    name : str
    applied : function of (task, noise variance) that returns the function g ↦ P_t·g
    uses_noise : whether P_t depends on the noise variance

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> def applied(task, noise_variance):  # P_t is the inverse of the pooled sums
    ...     return lambda g: task.pooled_solve(0.0, g)
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> mine = simulation.Update("mine", applied)
    >>> found = simulation.run(setting, [mine, "gr"], repetitions=2)
    >>> bool(abs(found.of("mine") - found.of("gr")).max() < 1e-12)
    True
    """

    applied: Callable[[SharedTask, float], Applied]


@dataclass(frozen=True)
class PooledMethod(Form):
    """An estimate from the pooled sums.

    Attributes
    ----------
    name : str
    estimate : function of (task, mix) that returns ŵ_t of shape (p, k)
    second_moment : function of (task, covariance of the pooled Xᵀy) that returns E[(ŵ_t − w_*)(ŵ_t − w_*)ᵀ], or None
    uses_noise : whether the estimate is not linear in the targets, or depends on σ

    Examples
    --------
    >>> from ridgeway.research import simulation
    >>> def estimate(task, mix):  # least squares on the pooled sums
    ...     return task.pooled_solve(0.0, task.pooled.moment @ mix)
    >>> setting = simulation.Setting(n_tasks=3, n_samples=5, n_features=8)
    >>> methods = [simulation.PooledMethod("mine", estimate), "oracle"]
    >>> found = simulation.run(setting, methods, repetitions=2, averaging="drawn")
    >>> bool(abs(found.of("mine") - found.of("oracle")).max() < 1e-12)
    True
    """

    estimate: Callable[[SharedTask, Array], Array]
    second_moment: Callable[[SharedTask, Array], Array] | None = None


@dataclass(frozen=True)
class PolicyMethod(Form):
    """Any policy whose gain depends on the designs alone.

    Attributes
    ----------
    name : str
    policy : weights.DesignPolicy
    """

    policy: "DesignPolicy"


class PolicyCourse:
    """A policy in one repetition, with what it remembers from task to task."""

    def __init__(self, method: PolicyMethod) -> None:
        self.policy = method.policy
        self.memory: Any = None

    def gain(self, task: SharedTask) -> Array:
        """Return K_t of the next task, of shape (p, n_t)."""
        gain = self.policy.checked_gain(self.memory, task.design_rows)
        self.memory = self.policy.remember(self.memory, task.design_rows)
        return gain
