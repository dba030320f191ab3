"""Several classes: K of them have K − 1 linear predictors."""

import numpy as np
import scipy

from ridgeway._checks import Array, whole
from ridgeway.errors import InvalidDataError
from ridgeway.likelihoods._likelihood import Likelihood, Slopes


class Multinomial(Likelihood):
    """One of K classes, with the logit link: ℓ = y·s − log Σ_k e^{s_k}, with scores s = Cη of the classes.

    The columns of C, of shape (K, K − 1), are orthonormal and sum to 0. So the scores sum to 0, no class is the
    reference, and a prior λI on the coefficients of η is λI on those of the scores.

    Parameters
    ----------
    n_classes : int
        K ≥ 2. y has K − 1 columns of 0 and 1, one for each class but the last.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway.likelihoods import Multinomial
    >>> Multinomial(3).mean(np.zeros((1, 2)))
    array([[0.33, 0.33]])
    """

    name = "multinomial"

    def __init__(self, n_classes: int) -> None:
        self.n_classes = whole(n_classes, "n_classes", least=2)
        self.contrasts = helmert(n_classes)

    @property
    def n_predictors(self) -> int:
        """K − 1."""
        return self.n_classes - 1

    @property
    def scores(self) -> Array:
        """C."""
        return self.contrasts

    def check(self, y: Array) -> None:
        """Raise if a row has more than one class."""
        if (y < 0.0).any() or (y.sum(axis=1) > 1.0).any():
            raise InvalidDataError("y must have one class per row, as columns of 0 and 1. Pass one column per class.")

    def value(self, predictor: Array, y: Array) -> Array:
        """Return ℓ of each row."""
        scores = predictor @ self.contrasts.T
        seen = np.take_along_axis(scores, self._classes(y)[:, None], axis=1)[:, 0]
        return np.asarray(seen - scipy.special.logsumexp(scores, axis=1))

    def slopes(self, predictor: Array, y: Array) -> Slopes:
        """Return the derivatives: Cᵀ(y − π), and the second and third central moments of the rows of C under π."""
        shares = self.shares(predictor)
        centred = self.contrasts - (shares @ self.contrasts)[:, None, :]  # (n, K, K − 1)
        gradient = np.take_along_axis(centred, self._classes(y)[:, None, None], axis=1)[:, 0]
        weighted = shares[:, :, None] * centred
        curvature = np.einsum("nka,nkb->nab", weighted, centred)
        third = -np.einsum("nka,nkb,nkc->nabc", weighted, centred, centred, optimize=True)
        return Slopes(gradient, curvature, third)

    def shares(self, predictor: Array) -> Array:
        """Return π, the probabilities of all K classes, of shape (n_samples, K)."""
        return np.asarray(scipy.special.softmax(predictor @ self.contrasts.T, axis=1))

    def mean(self, predictor: Array) -> Array:
        """Return the probabilities of all classes but the last."""
        return self.shares(predictor)[:, :-1]

    def link(self, mean: Array) -> Array:
        """Return the η with these probabilities."""
        logs = np.log(np.concatenate([mean, 1.0 - mean.sum(axis=-1, keepdims=True)], axis=-1))
        return np.asarray(logs @ self.contrasts)

    def _classes(self, y: Array) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
        return np.where(y.any(axis=1), y.argmax(axis=1), self.n_classes - 1)


def helmert(n_classes: int) -> Array:
    """Return orthonormal columns that sum to 0: each class against the mean of those before it (Helmert)."""
    columns = np.triu(np.ones((n_classes, n_classes - 1)))
    columns[np.arange(1, n_classes), np.arange(n_classes - 1)] = -np.arange(1.0, n_classes)
    return np.asarray(columns / np.sqrt(np.square(columns).sum(axis=0)))
