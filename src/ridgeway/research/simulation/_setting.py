"""What is simulated: tasks, covariances, parameters, noise and order."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from ridgeway._checks import Array, flag, nonnegative, one_of, whole
from ridgeway.errors import InvalidParameterError
from ridgeway.research.simulation import _setting_checks as checks

Shift = Literal["none", "paper", "scaled"]


@dataclass(frozen=True, eq=False, init=False)
class Setting:
    """Tasks y_t = X_t·w_t + ε_t, with rows of X_t from N(0, Σ_t). The defaults are those of the paper.

    Parameters
    ----------
    n_tasks, n_features : int
        T and p.
    n_samples : int or sequence of T ints
        n_t.
    noise_variance : float or sequence of floats
        σ² ≥ 0. Several levels share their designs, and their noise up to its scale.
    shift : {"none", "paper", "scaled"}
        "none": Σ_t = I. "paper": diagonal, each entry 100 with probability 0.01 and otherwise 1, drawn for each
        task and repetition. "scaled": the same divided by 100, so that no entry exceeds 1.
    covariance : array of shape (p,), (p, p), (T, p) or (T, p, p), optional
        Σ_t instead: a diagonal or a positive semidefinite matrix, for all tasks or one per task.
    rotate : bool
        Rotate each Σ_t by its own random rotation, so that the covariances no longer commute.
    signal : "dense" or "sparse:k"
        w_* ~ N(0, I), or k random entries from N(0, p/k) and zeros; E[w_*w_*ᵀ] = I in both.
    noise : "gaussian", "laplace", "t:df" or "heteroscedastic"
        The law of ε, scaled to the variance σ². The last is normal with variance σ²·z², where z is the first standard
        normal of the row, so the variance depends on the row.
    distance : float
        w_t = w_* + distance·u_t with u_t uniform on the unit sphere: a parameter per task. Errors are relative to
        w_*.
    order : "given", "repeated:K", "adversarial" or sequence of T ints
        Which covariance each task has: a new one each; K of them in turn, with new rows; the most informative first
        (largest n_t·tr Σ_t), which is hardest for a method that forgets; or the numbers of the covariances, from 1.
    statistics : bool
        If n_t > p, draw X_tᵀX_t (Wishart, by Bartlett's decomposition) and X_tᵀε_t given it instead of rows: the same
        law in less time. For Gaussian noise.

    Examples
    --------
    >>> from ridgeway.research.simulation import Setting
    >>> Setting(n_tasks=3, n_samples=[5, 10, 5], n_features=8).n_samples
    (5, 10, 5)
    """

    n_tasks: int
    n_samples: tuple[int, ...]
    n_features: int
    noise_variance: tuple[float, ...]
    shift: Shift
    covariance: Array | None
    rotate: bool
    signal: str
    noise: str
    distance: float
    order: str | tuple[int, ...]
    statistics: bool

    def __init__(
        self,
        n_tasks: int = 20,
        n_samples: int | Sequence[int] = 150,
        n_features: int = 200,
        noise_variance: float | Sequence[float] = 1.0,
        *,
        shift: Shift = "none",
        covariance: ArrayLike | None = None,
        rotate: bool = False,
        signal: str = "dense",
        noise: str = "gaussian",
        distance: float = 0.0,
        order: str | Sequence[int] = "given",
        statistics: bool = False,
    ) -> None:
        tasks, features = whole(n_tasks, "n_tasks"), whole(n_features, "n_features")
        vars(self).update(
            n_tasks=tasks,
            n_samples=checks.sample_counts(n_samples, tasks, features),
            n_features=features,
            noise_variance=checks.noise_levels(noise_variance),
            shift=one_of(shift, get_args(Shift), "shift"),
            covariance=checks.covariances(covariance, tasks, features),
            rotate=flag(rotate, "rotate"),
            signal=checks.signal_law(signal, features),
            noise=checks.noise_law(noise),
            distance=nonnegative(distance, "distance"),
            order=checks.task_order(order, tasks),
            statistics=flag(statistics, "statistics"),
        )
        if covariance is not None and shift != "none":
            raise InvalidParameterError(f"pass either shift={shift!r} or a covariance, not both.")
        if statistics and noise != "gaussian":
            raise InvalidParameterError(
                f"statistics=True requires gaussian noise; got noise={noise!r}. Draw rows instead."
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the setting in a form that JSON can store; `from_dict` restores it exactly."""
        listed = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        if self.covariance is not None:
            buffer = io.BytesIO()
            np.save(buffer, self.covariance, allow_pickle=False)
            listed["covariance"] = base64.b64encode(buffer.getvalue()).decode("ascii")
        return listed

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the setting that `as_dict` described."""
        given = dict(values)
        if given.get("covariance") is not None:
            given["covariance"] = np.load(io.BytesIO(base64.b64decode(given["covariance"])), allow_pickle=False)
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash((self.n_tasks, self.n_samples, self.n_features, self.noise_variance, self.shift))
