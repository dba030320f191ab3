"""The policy that keeps the past's information, and solves when asked."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ridgeway._checks import Array
from ridgeway.data import MemoryKind, Task
from ridgeway.errors import InvalidParameterError
from ridgeway.information import ByTask
from ridgeway.likelihoods import Likelihood
from ridgeway.weights._parted import Faded, Parted
from ridgeway.weights._penalties import FullInformation
from ridgeway.weights._policy import WeightPolicy
from ridgeway.weights._settings import PriorValue, checked_decay, checked_prior
from ridgeway.weights._states import Fading, Origin, Pooled, Retained, changed
from ridgeway.weights._with_likelihood import AccumulatedLikelihood


class Accumulated(WeightPolicy):
    """H_t = (1/n_t)·(Σ_{τ<t} X_τᵀX_τ + P): hold on to each direction as firmly as the past knows it.

    With P = 0 it is H̃_t of the paper and the estimate equals pooled least squares at every t. With P = σ²·E_0⁻¹,
    E_0 = E[w_*w_*ᵀ], it is the best possible H_t, whether or not covariances commute. P counts once.

    Parameters
    ----------
    prior : float, vector of shape (p,), positive semidefinite matrix of shape (p, p) or "evidence", default 0.0
        P; a number stands for that multiple of the identity, a vector for a diagonal. "evidence" learns σ² and
        P = λI from all rows so far, by maximising their marginal likelihood: the best H_t without knowing w_*.
    decay : float in (0, 1], default 1.0
        Online EWC's γ: J_0 = P, n_t·H_t = γ·J_{t−1}, J_t = γ·J_{t−1} + X_tᵀX_t. The prior decays too.

    Examples
    --------
    >>> from ridgeway import GeneralizedRidge, weights
    >>> model = GeneralizedRidge(weights.Accumulated(prior=1.0), fit_intercept=False)
    >>> model.partial_fit([[1.0]], [3.0]).partial_fit([[1.0]], [3.0]).coef_
    array([2.])
    """

    retains = True

    def __init__(self, prior: PriorValue | Literal["evidence"] = 0.0, decay: float = 1.0) -> None:
        self.prior = prior
        self.decay = decay

    def start(self, origin: Origin) -> Retained:
        """Return the state before the first task: no information, and the prior beside it."""
        (p, k), decay = origin.coef.shape, checked_decay(self.decay)
        empty, prior = origin.information.empty(p, k, centered=origin.centered), self._prior(p)
        given = (self.prior, self.decay)
        if origin.information.name == ByTask.name:
            if decay != 1.0:
                raise InvalidParameterError(
                    f"information='by_task' needs decay=1.0; got {self.decay!r}. Learn without decay: "
                    "retrospect.reweighted lets tasks fade when all are learned."
                )
            return Parted(origin, 0, empty, prior, given=given)
        if decay == 1.0:
            return Pooled(origin, 0, empty, prior, given=given)
        return Fading(origin, 0, empty, prior, decay, given=given)

    def step(self, state: Any, task: Task) -> Retained:
        """Return the state with a task's rows added."""
        prior, decay = getattr(state, "given", (None, None))
        if prior is not self.prior or decay is not self.decay:
            state = self._adopted(state, task.n_features)
        after: Retained = state.after(task)
        return after

    def _adopted(self, state: Any, n_features: int) -> Retained:
        """Return a state under this policy's prior, or raise if it is not a state of this policy."""
        decay = checked_decay(self.decay)
        kinds = (Pooled, Parted, Faded) if decay == 1.0 else (Fading,)
        if type(state) not in kinds or (isinstance(state, Fading) and state.decay != decay):
            raise changed()
        adopted: Retained = replace(state, prior=self._prior(n_features), given=(self.prior, self.decay))
        return adopted

    def design(self) -> FullInformation:
        """Return the twin that theory accepts; raise if the prior is learned from the targets."""
        checked_prior(self.prior if np.ndim(self.prior) == 0 else 0.0, 1)
        return FullInformation(self.prior, checked_decay(self.decay))

    def with_likelihood(self, likelihood: Likelihood, memory: MemoryKind) -> AccumulatedLikelihood:
        """Return the policy that keeps the past's log-likelihood as a polynomial."""
        return AccumulatedLikelihood(self.prior, self.decay, likelihood, memory)

    def _prior(self, n_features: int) -> Array | None:
        """Return P, or None if it is learned."""
        if isinstance(self.prior, str) and self.prior == "evidence":
            return None
        return checked_prior(self.prior, n_features)
