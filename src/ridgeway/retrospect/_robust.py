"""Standard errors that do not assume independent rows of equal variance: what all kinds of them have in common."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from ridgeway._checks import Array
from ridgeway._text import counted
from ridgeway.errors import InferenceError
from ridgeway.information import Inference
from ridgeway.retrospect._coefficients import CoefficientTable
from ridgeway.retrospect._compressed import without_prior
from ridgeway.retrospect._model import (
    feature_names,
    least_squares,
    per_target,
    selection_cautions,
    state_of,
    whole_information,
)
from ridgeway.retrospect._units import check_range, lengths
from ridgeway.weights import Retained

RobustKind = Literal["CR0", "CR1", "CR2", "CR3", "HC0", "HC1"]


@dataclass(frozen=True, eq=False)
class RobustSummary(CoefficientTable):
    """What is known about each coefficient of least squares, with robust errors. Prints as a table, also in a notebook.

    With several targets each array has one more axis in front, except `degrees_of_freedom`, which are the same.

    Attributes
    ----------
    terms : tuple of str
        The intercept, if there is one, and the features.
    coef, standard_errors, t, p_values : ndarray of shape (n_terms,)
        The coefficients are those of `summary`. Student's t with `degrees_of_freedom`.
    intervals : ndarray of shape (n_terms, 2)
    level : float
    degrees_of_freedom : ndarray of shape (n_terms,)
        CR2 and CR3: Satterthwaite's, which can be far fewer than the clusters if most of what is known about a term
        comes from a few of them. CR0 and CR1: clusters less one. HC0 and HC1: rows less terms. NaN for terms that are
        not determined.
    covariance : ndarray of shape (n_terms, n_terms)
        Infinite or NaN for terms that are not determined.
    kind : {"CR0", "CR1", "CR2", "CR3", "HC0", "HC1"}
    n_samples : int
    n_clusters : int or None
        None for HC0 and HC1.
    assumption : str
        What the intervals assume, in words.
    not_estimable : tuple of str
        Terms that the rows do not determine, or whose variance cannot be estimated because one cluster alone decides
        them: their standard errors are infinite.
    post_selection : bool
        Whether `best_subset` chose the features. The p-values and the level of the intervals do not account for that.
    cautions : tuple of str
        The warnings that were issued, if any, and what `post_selection` means.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeway import GeneralizedRidge, retrospect
    >>> rng = np.random.default_rng(0)
    >>> schools, X = np.repeat(np.arange(20), 15), rng.normal(size=(300, 1))
    >>> y = 2.0 * X[:, 0] + 3.0 * rng.normal(size=20)[schools] + rng.normal(size=300)
    >>> model = GeneralizedRidge(information="by_task").fit(X, y, tasks=schools)
    >>> found, independent = retrospect.clustered(model), retrospect.summary(model)
    >>> found.n_clusters, (found.standard_errors / independent.standard_errors).round(1)
    (20, array([3.8, 1.1]))
    """

    degrees_of_freedom: Array
    covariance: Array
    kind: RobustKind
    n_samples: int
    n_clusters: int | None
    assumption: str
    not_estimable: tuple[str, ...]
    post_selection: bool
    cautions: tuple[str, ...]

    def _title(self) -> str:
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters} clusters"
        return f"Least squares with {self.kind} errors: {self.n_samples} rows{clusters}"

    def _caption(self, target: int) -> str:
        return ""

    def _columns(self) -> dict[str, Array]:
        columns = super()._columns()
        freedom = {"degrees_of_freedom": np.broadcast_to(self.degrees_of_freedom, self.coef.shape)}
        names = ("coef", "standard_error", "t")
        return {name: columns.pop(name) for name in names} | freedom | columns

    def _notes(self) -> list[str]:
        unknown = f"Not determined: {', '.join(self.not_estimable)}." if self.not_estimable else ""
        return [self.assumption, *self.cautions, *([unknown] if unknown else [])]


@dataclass(frozen=True, eq=False)
class Fit:
    """Least squares in whitened coordinates: those in which the information of all rows is the identity.

    Attributes
    ----------
    state : Retained
    known : Inference
    terms : tuple of str
    contrasts : ndarray of shape (r, n_terms)
        D with DᵀD = M, the inverse of the information, and V = DᵀΩD for scores of covariance Ω.
    estimable : ndarray of bool of shape (n_terms,)
    """

    state: Retained
    known: Inference
    terms: tuple[str, ...]
    contrasts: Array
    estimable: NDArray[np.bool_]

    @classmethod
    def of(cls, model: Any, question: str) -> "Fit":
        """Return the fit of a model without a prior, or raise."""
        without_prior(model, question)
        held = whole_information(model)
        known, p = least_squares(held), held.n_features
        if known.degrees_of_freedom < 1:
            raise InferenceError(
                f"no degrees of freedom are left: {counted(held.n_samples, 'row')} and {known.row_space.rank} "
                "independent columns"
                f"{' beside the intercept' if held.centered else ''}. Learn more rows, or use a submodel of fewer "
                "features."
            )
        functionals, on_intercept = np.eye(p, held.centered + p, k=held.centered), np.zeros(held.centered + p)
        on_intercept[: held.centered] = 1.0
        contrasts, estimable = known.whiten(functionals, on_intercept)
        intercept = ["intercept"] if held.centered else []
        return cls(state_of(model), known, (*intercept, *feature_names(model)), contrasts, estimable)

    def whitened(self, rows: Array) -> Array:
        """Return rows [1, x − x̄], or [x] without an intercept, (n, n_terms), in whitened coordinates, (n, r)."""
        held, space = self.known.information, self.known.row_space
        features = np.where(space.scale > 0.0, rows[:, held.centered :], 0.0)  # the others never varied
        first = rows[:, :1] / np.sqrt(held.total_weight) if held.centered else np.zeros((len(rows), 1))
        return np.hstack([first, space.whiten(features.T)[0].T])

    @property
    def coef(self) -> Array:
        """The coefficients in the user's units, (n_targets, n_terms)."""
        held, coef = self.known.information, self.known.coef
        return np.vstack([held.intercept(coef)[: held.centered * held.n_targets].reshape(-1, held.n_targets), coef]).T

    def summary(
        self, scores: Array, freedom: Array, level: float, *, cautions: tuple[str, ...] = (), **said: Any
    ) -> RobustSummary:
        """Return the coefficients with the errors that follow from the covariances (n_targets, r, r) of the scores.

        Terms whose degrees of freedom are NaN are not determined.
        """
        coef, unknown = self.coef, np.isnan(freedom)
        sizes = np.sqrt(np.diagonal(scores, axis1=1, axis2=2).max(axis=1))[:, None] * lengths(self.contrasts, 0)
        check_range(sizes[:, ~unknown], "the variance of a coefficient")
        covariance = self.contrasts.T @ scores @ self.contrasts
        covariance[:, unknown, :] = covariance[:, :, unknown] = np.nan
        covariance[:, unknown, unknown] = np.inf
        errors = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            t = coef / errors
            p_values = np.where(unknown, 1.0, 2.0 * scipy.special.stdtr(freedom, -np.abs(t)))
            half = np.where(unknown, np.inf, scipy.special.stdtrit(freedom, 0.5 + level / 2.0) * errors)
        return RobustSummary(
            terms=self.terms,
            coef=per_target(self.state, coef),
            standard_errors=per_target(self.state, errors),
            t=per_target(self.state, t),
            p_values=per_target(self.state, p_values),
            intervals=per_target(self.state, np.stack([coef - half, coef + half], axis=-1)),
            level=level,
            degrees_of_freedom=freedom,
            covariance=per_target(self.state, covariance),
            n_samples=self.known.information.n_samples,
            not_estimable=tuple(term for term, missing in zip(self.terms, unknown, strict=True) if missing),
            post_selection=self.state.features_selected,
            cautions=(*selection_cautions(self.state), *cautions),
            **said,
        )


def upper_case(kind: Any) -> Any:
    """Return the kind of errors in capitals: 'hc1' is 'HC1'. Anything but text is returned as it is."""
    return kind.upper() if isinstance(kind, str) else kind
