"""What one row says about w: its log-likelihood, the derivatives, and the polynomial that remains of gone rows."""

from ridgeway.likelihoods._families import Binomial, Gaussian, Poisson
from ridgeway.likelihoods._likelihood import Likelihood, Slopes
from ridgeway.likelihoods._multinomial import Multinomial
from ridgeway.likelihoods._newton import Climbed, SlopeCurvature, climb, newton_step
from ridgeway.likelihoods._observed import Observed, column_centres
from ridgeway.likelihoods._polynomial import Polynomial, packed_third, pairs, unpacked_third

__all__ = [
    "FAMILIES",
    "Binomial",
    "Climbed",
    "Gaussian",
    "Likelihood",
    "Multinomial",
    "Observed",
    "Poisson",
    "Polynomial",
    "SlopeCurvature",
    "Slopes",
    "climb",
    "column_centres",
    "newton_step",
    "packed_third",
    "pairs",
    "unpacked_third",
]

FAMILIES: dict[str, type[Likelihood]] = {
    "gaussian": Gaussian,
    "binomial": Binomial,
    "poisson": Poisson,
    # A state of several classes has this name. Multinomial needs their number, which only `with_targets` is given, so
    # a Binomial stands in until then.
    "multinomial": Binomial,
}
"""The likelihoods by name; `with_targets` turns the binomial one into the multinomial."""
