"""Models that others have fitted and printed: the rows, as statsmodels brings them along, and the printed figures.

The figures are read from the test results of the installed statsmodels (BSD-3), which name their source, Stata or R.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import gammaln
from statsmodels.datasets import anes96, cpunish, randhie, spector, star98
from statsmodels.discrete.tests import results as discrete_results
from statsmodels.discrete.tests.results import (
    results_count_robust_cluster,
    results_discrete,
    results_glm_logit_constrained,
)
from statsmodels.genmod.tests.results import results_glm, results_glm_poisson_weights

from ridgeway import GeneralizedLogistic, GeneralizedPoisson

DISCRETE = Path(discrete_results.__file__).parent


@dataclass(frozen=True, eq=False, kw_only=True)
class Published:
    """The rows of a model, and what was printed about it.

    Attributes
    ----------
    estimator : GeneralizedLogistic or GeneralizedPoisson
    X, y, weight, offset : arrays, as for `fit`
    coef : ndarray of shape (n_features + 1,)
        As printed; the intercept is last.
    errors : ndarray of shape (n_features + 1,)
        The standard errors.
    log_likelihood : float
    coef_digits, error_digits, likelihood_digits : float
        The relative difference that is allowed, with the reason where each model is defined.
    units : ndarray of int of shape (n_rows,)
        Rows of the same unit belong to the same task: the two rows of a school district.
    constant : float
        The part of the printed log-likelihood that does not depend on the coefficients and that Ridgeway leaves out.
    weight_kind : as for the estimators
    """

    estimator: Any
    X: Any
    y: Any
    coef: Any
    errors: Any
    log_likelihood: float
    coef_digits: float
    error_digits: float
    likelihood_digits: float
    units: Any
    weight: Any = None
    offset: Any = None
    constant: float = 0.0
    weight_kind: str = "precision"

    def rows(self, chosen):
        """Return X, y and the options of `fit` for some rows."""
        columns = {"sample_weight": self.weight, "offset": self.offset}
        options = {name: column[chosen] for name, column in columns.items() if column is not None}
        return self.X[chosen], self.y[chosen], options

    def model(self, **settings):
        """Return an estimator that has learned nothing yet."""
        return self.estimator(weight_kind=self.weight_kind, **settings)

    def first(self):
        """Return what the first task is told about the classes."""
        return {"classes": np.unique(self.y)} if self.estimator is GeneralizedLogistic else {}

    def fitted(self, **settings):
        """Return the estimator after one task with all rows."""
        X, y, options = self.rows(slice(None))
        return self.model(**settings).fit(X, y, **options)

    def distance(self, model):
        """Return the largest difference from the printed coefficients, in printed standard errors."""
        return float(np.max(np.abs(against_first(model) - self.coef) / self.errors))


def against_first(model):
    """Return the coefficients with the intercept below them; of more than two classes, less those of the first."""
    terms = np.append(np.atleast_2d(model.coef_), np.reshape(model.intercept_, (-1, 1)), axis=1)
    return (terms[1:] - terms[0]).T if len(terms) > 1 else terms[0]


def errors_of(model):
    """Return the standard errors, that of the intercept last."""
    return np.append(model.standard_errors_, model.intercept_error_)


def as_stata_float(column):
    """Return numbers as Stata stores them unless told otherwise: in 4 bytes, with 7 digits."""
    return np.asarray(column).astype(np.float32).astype(np.float64)


@cache
def star98_districts():
    """Binomial counts of 303 school districts, each as two weighted rows: above and below the median.

    R's `glm`. Coefficients with 10 decimals, of which the last differs by rounding; standard errors with 7 digits.
    """
    data, printed = star98.load_pandas(), results_glm.Star98()
    above, below = data.endog["NABOVE"].to_numpy(float), data.endog["NBELOW"].to_numpy(float)
    n = len(above)
    return Published(
        estimator=GeneralizedLogistic,
        X=np.vstack([data.exog, data.exog]),
        y=np.repeat([1, 0], n),
        weight=np.append(above, below),
        coef=np.array(printed.params),
        errors=np.array(printed.bse),
        log_likelihood=printed.llf,
        coef_digits=3e-7,  # the smallest is printed as 0.0002220095
        error_digits=5e-7,
        likelihood_digits=1e-13,  # Ridgeway's sum and the constant are 55 times as large, and nearly cancel
        units=np.tile(np.arange(n), 2),
        constant=float(np.sum(gammaln(above + below + 1) - gammaln(above + 1) - gammaln(below + 1))),
    )


@cache
def low_birth_weight():
    """Logistic regression, 189 births. R's `glm`: coefficients with 8 decimals.

    The standard errors are printed with 9 digits, but are those before the last step: 5 digits are right.
    """
    printed = results_glm.Lbw()
    return Published(
        estimator=GeneralizedLogistic,
        X=printed.exog.drop(columns="const").to_numpy(float),
        y=printed.endog.to_numpy(),
        coef=np.array(printed.params),
        errors=np.array(printed.bse),
        log_likelihood=printed.llf,
        coef_digits=2e-7,
        error_digits=2e-5,
        likelihood_digits=1e-13,
        units=np.arange(189),
    )


def executions(logarithm=np.log, stored=np.asarray):
    """Return X and y of the data on executions in 17 states in 1997, with the logarithm of violent crimes."""
    data = cpunish.load_pandas()
    X = data.exog.to_numpy(float)
    X[:, 3] = logarithm(X[:, 3])
    return stored(X), data.endog.to_numpy()


@cache
def executions_by_r():
    """Poisson regression, 17 states. R's `glm`: 7 digits, and standard errors before the last step (5 digits)."""
    printed = results_glm.Cpunish()
    X, y = executions()
    return Published(
        estimator=GeneralizedPoisson,
        X=X,
        y=y,
        coef=np.array(printed.params),
        errors=np.array(printed.bse),
        log_likelihood=printed.llf,
        coef_digits=3e-7,
        error_digits=1e-5,
        likelihood_digits=1e-13,
        units=np.arange(17),
    )


STATE_WEIGHTS = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 1, 1, 2, 2, 2, 3, 3])
"""The made-up weights of the 17 states: `poisson_weights_v2.do` in statsmodels."""


def executions_by_stata(printed, weight, weight_kind="precision"):
    """Return the same model by Stata's `glm`, under weights. The rows were stored as floats."""
    X, y = executions(stored=as_stata_float)
    return Published(
        estimator=GeneralizedPoisson,
        X=X,
        y=y,
        weight=weight,
        weight_kind=weight_kind,
        coef=printed.params,
        errors=printed.bse,
        log_likelihood=printed.ll,
        coef_digits=1e-8,  # printed with 13 digits, but Stata's search ends before
        error_digits=2e-9,
        likelihood_digits=1e-14,
        units=np.arange(17),
    )


@cache
def executions_unweighted():
    return executions_by_stata(results_glm_poisson_weights.results_poisson_none_nonrobust, None)


@cache
def executions_repeated():
    """`[fweight=fweight]`: frequencies."""
    printed = results_glm_poisson_weights.results_poisson_fweight_nonrobust
    return executions_by_stata(printed, STATE_WEIGHTS, "frequency")


@cache
def executions_weighted():
    """`[aweight=fweight]`: precisions, which Stata divides by their mean."""
    weight = STATE_WEIGHTS / STATE_WEIGHTS.mean()
    return executions_by_stata(results_glm_poisson_weights.results_poisson_aweight_nonrobust, weight)


def ships():
    """Return the damage to 34 groups of ships, from McCullagh and Nelder (1989), section 6.3.2."""
    return pd.read_csv(DISCRETE / "ships.csv").dropna()


@cache
def ships_by_stata():
    """`poisson accident yr_con op_75_79, exposure(service)`. Whole numbers: all digits count."""
    data, printed = ships(), results_count_robust_cluster.results_poisson_exposure_nonrobust
    return Published(
        estimator=GeneralizedPoisson,
        X=data[["yr_con", "op_75_79"]].to_numpy(float),
        y=data["accident"].to_numpy(),
        offset=np.log(data["service"].to_numpy()),
        coef=printed.params,
        errors=printed.bse,
        log_likelihood=printed.ll,
        coef_digits=1e-12,
        error_digits=1e-12,
        likelihood_digits=1e-14,
        units=np.arange(34),
    )


@cache
def spector_by_stata():
    """`logit grade gpa tuce psi`, 32 students, by Stata 11. The rows were stored as floats."""
    data, printed = spector.load_pandas(), results_discrete.Spector.logit
    return Published(
        estimator=GeneralizedLogistic,
        X=as_stata_float(data.exog),
        y=data.endog.to_numpy(int),
        coef=np.array(printed.params),
        errors=np.array(printed.bse),
        log_likelihood=printed.llf,
        coef_digits=1e-11,
        error_digits=1e-11,
        likelihood_digits=1e-13,
        units=np.arange(32),
    )


@cache
def spector_by_stata_glm():
    """`glm grade gpa tuce psi, family(binomial)`: stored as doubles; the search ends after 7 digits."""
    data, printed = spector.load_pandas(), results_glm_logit_constrained.results_noconstraint
    return Published(
        estimator=GeneralizedLogistic,
        X=data.exog.to_numpy(float),
        y=data.endog.to_numpy(int),
        coef=printed.params,
        errors=printed.bse,
        log_likelihood=printed.ll,
        coef_digits=2e-7,
        error_digits=1e-7,
        likelihood_digits=1e-13,
        units=np.arange(32),
    )


@cache
def doctor_visits():
    """Poisson regression of the RAND health insurance experiment, 20,190 rows, by Stata 11. Stored as floats."""
    data, printed = randhie.load_pandas(), results_discrete.RandHIE.poisson
    return Published(
        estimator=GeneralizedPoisson,
        X=as_stata_float(data.exog),
        y=data.endog.to_numpy(),
        coef=np.array(printed.params),
        errors=np.array(printed.bse),
        log_likelihood=printed.llf,
        coef_digits=1e-9,
        error_digits=1e-10,
        likelihood_digits=1e-13,
        units=np.arange(len(data.endog)),
    )


@cache
def party_identification():
    """`mlogit`, 7 classes, 944 voters in 1996, by Stata 11: 8 decimals of each class against the first."""
    data, printed = anes96.load_pandas(), results_discrete.Anes.mnlogit_basezero
    return Published(
        estimator=GeneralizedLogistic,
        X=data.exog.to_numpy(float),
        y=data.endog.to_numpy(int),
        coef=printed.params,
        errors=printed.bse,
        log_likelihood=printed.llf,
        coef_digits=1e-6,
        error_digits=1e-6,
        likelihood_digits=1e-10,
        units=np.arange(len(data.endog)),
    )


MODELS = {
    "star98": star98_districts,
    "low birth weight": low_birth_weight,
    "executions": executions_by_r,
    "executions, Stata": executions_unweighted,
    "executions, frequencies": executions_repeated,
    "executions, precisions": executions_weighted,
    "ships": ships_by_stata,
    "spector": spector_by_stata,
    "spector, glm": spector_by_stata_glm,
    "doctor visits": doctor_visits,
    "party identification": party_identification,
}
"""The models by name; each is read when it is first asked for."""


def random_tasks(published, seed):
    """Return the rows of 2 to 6 tasks: a random order of the units, cut at random places."""
    rng = np.random.default_rng(seed)
    n = published.units.max() + 1
    n_tasks = rng.integers(2, 7)
    cuts = np.sort(rng.choice(np.arange(1, n), n_tasks - 1, replace=False))
    return [np.flatnonzero(np.isin(published.units, units)) for units in np.split(rng.permutation(n), cuts)]
