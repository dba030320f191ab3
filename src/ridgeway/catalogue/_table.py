"""The table of methods: what a key stands for, in which families of targets, and how it looks in figures."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

from ridgeway._style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY
from ridgeway.catalogue._arguments import numbers, steps
from ridgeway.catalogue._learners import LEARNERS, estimator, of_policy
from ridgeway.catalogue._method import Method
from ridgeway.catalogue._peers import River, Sgd, SgdClasses
from ridgeway.catalogue._yardsticks import LastTask, PooledClasses, PooledRows
from ridgeway.data import FamilyName

FAMILIES: tuple[FamilyName, ...] = get_args(FamilyName)
LEAST_SQUARES: tuple[FamilyName, ...] = ("gaussian", "multiclass")
LIKELIHOODS: tuple[FamilyName, ...] = ("binomial", "poisson")
PRIOR = 1.0
"""The prior of the likelihoods: columns are standardised, and a task may separate its classes."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A row of the table.

    Attributes
    ----------
    build : function of the family of the target and the text after the colon, which is empty if there is none
    about : str
        One line, with what may follow the colon.
    takes_argument : bool
        Whether a text may follow the colon.
    rule : str
        See `Method.rule`.
    look : tuple of str, optional
        Colour and marker in figures.
    compared, also : tuples of families
        Where `compare` runs it by default, and where else it is known.
    """

    build: Callable[[FamilyName, str], Method]
    about: str
    takes_argument: bool = False
    rule: str = ""
    look: tuple[str, str] | None = None
    compared: tuple[FamilyName, ...] = ()
    also: tuple[FamilyName, ...] = ()

    def method(self, key: str, family: FamilyName, argument: str) -> Method:
        """Return the method of a key."""
        built = self.build(family, argument)
        return replace(built, key=key, rule=self.rule or built.rule)


def _policy(name: str, *arguments: Any, **options: Any) -> Any:
    """Return a policy of Ridgeway by its name."""
    from ridgeway import weights

    return getattr(weights, name)(*arguments, **options)


def _minimum_norm(family: FamilyName, _: str) -> Method:
    return of_policy(_policy("Zero"), family, name="MinimumNorm", about="ŵ; the least change that fits the task")


def _early_stopping(family: FamilyName, argument: str) -> Method:
    n = steps(argument)
    policy = _policy("GradientSteps", n_steps=n)
    return of_policy(policy, family, name="EarlyStopping", about=f"ŵ; {n} gradient steps per task")


def _continual_ridge(family: FamilyName, argument: str) -> Method:
    penalties = numbers("crr", argument or "1", "crr:0.1, or crr:1/2/3 with one penalty per task")
    policy = _policy("Isotropic", penalties[0] if len(penalties) == 1 else penalties)
    shown = "/".join(f"{value:g}" for value in penalties)
    return of_policy(policy, family, name="ContinualRidge", about=f"ŵ; λ = {shown}")


def _generalized_ridge(family: FamilyName, argument: str) -> Method:
    (prior,) = numbers("gr", argument or "0", "gr:1, one prior", most=1)
    about = "ŵ and the information" + (f", prior {prior:g}" if prior else "")
    return of_policy(_policy("Accumulated", prior=prior), family, name=LEARNERS[family], about=about)


def _learned_prior(family: FamilyName, _: str) -> Method:
    about = "ŵ and the information, with a prior learned from all rows so far"
    return of_policy(_policy("Accumulated", prior="evidence"), family, name=LEARNERS[family], about=about)


def _discriminants(family: FamilyName, argument: str) -> Method:
    (shrinkage,) = numbers("lda", argument or "0", "lda:0.1, one shrinkage up to 1", most=1, largest=1.0)
    return of_policy(
        _policy("Accumulated", prior=0.0),
        family,
        name="discriminant analysis",
        about=f"the same state as {LEARNERS[family]}, with linear discriminants",
        decision="lda",
        shrinkage=shrinkage,
    )


def _memory(memory: str, kept: str) -> Callable[[FamilyName, str], Method]:
    """Return what builds the method that keeps a polynomial of a likelihood."""

    def build(family: FamilyName, argument: str) -> Method:
        (prior,) = numbers(memory, argument or f"{PRIOR:g}", f"{memory}:0.1, one prior", most=1)
        likelihood: FamilyName = "binomial" if family == "multiclass" else family
        name, about = f"{LEARNERS[likelihood]} ({memory})", f"ŵ and {kept}, prior {prior:g}"
        return of_policy(_policy("Accumulated", prior=prior), likelihood, name=name, about=about, memory=memory)

    return build


def _alone(family: FamilyName) -> Callable[[], Any]:
    """Return what makes the estimator of a likelihood that is fitted to rows at hand."""
    return partial(estimator, LEARNERS[family], _policy("Accumulated", prior=PRIOR))


def _last(family: FamilyName, _: str) -> Method:
    alone = _alone(family)
    return Method("last", "last task", f"ŵ; {LEARNERS[family]} on each task alone", lambda: LastTask(alone))


def _oracle(family: FamilyName, _: str) -> Method:
    about = "every row: pooled " + (LEARNERS[family] if family in LIKELIHOODS else "least squares")
    if family == "gaussian":
        return Method("oracle", "Oracle", about, lambda: estimator("Oracle"))
    if family == "multiclass":
        return Method("oracle", "Oracle", about, PooledClasses)
    alone = _alone(family)
    return Method("oracle", "Oracle", about, lambda: PooledRows(alone))


def _sgd(family: FamilyName, _: str) -> Method:
    if family == "gaussian":
        return Method("sgd", "SGDRegressor", "ŵ; scikit-learn", Sgd)
    return Method("sgd", "SGDClassifier", "ŵ; scikit-learn", SgdClasses)


def _river(_family: FamilyName, _: str) -> Method:
    about = "ŵ and two matrices; its prior is 1"
    return Method("river", "river Bayesian", about, River, packages=("river", "pandas"))


TABLE: dict[str, Entry] = {
    "mn": Entry(
        _minimum_norm,
        "ŵ; the least change that fits the task",
        rule="mn",
        look=(RED, "o"),
        compared=LEAST_SQUARES,
    ),
    "es": Entry(
        _early_stopping,
        "early stopping after 100 gradient steps per task; es:20 after 20",
        takes_argument=True,
        rule="es",
        look=(PURPLE, "s"),
        compared=LEAST_SQUARES,
    ),
    "last": Entry(_last, "ŵ of the last task alone", look=(RED, "o"), compared=LIKELIHOODS),
    "crr": Entry(
        _continual_ridge,
        "continual ridge with λ = 1; crr:0.5 with another λ, crr:1/2/4 with one λ per task",
        takes_argument=True,
        rule="crr",
        look=(ORANGE, "^"),
        compared=FAMILIES,
    ),
    "sgd": Entry(
        _sgd, "gradient steps of scikit-learn", look=(SKY, "D"), compared=("gaussian", "multiclass", "binomial")
    ),
    "river": Entry(_river, "river's Bayesian regression; its prior is 1", look=(GREEN, "v"), compared=("gaussian",)),
    "gr": Entry(
        _generalized_ridge,
        "generalized ridge with the information of all past rows; gr:1 with the prior 1",
        takes_argument=True,
        rule="gr",
        look=(BLUE, "P"),
        compared=LEAST_SQUARES,
    ),
    "gr:evidence": Entry(
        _learned_prior,
        "generalized ridge with a prior learned from all rows so far",
        rule="gr:evidence",
        also=LEAST_SQUARES,
    ),
    "lda": Entry(
        _discriminants,
        "discriminant analysis from the state of gr; lda:0.1 with a shrinkage",
        takes_argument=True,
        look=(GREEN, "*"),
        also=("multiclass",),
    ),
    "quadratic": Entry(
        _memory("quadratic", "the curvature"),
        "a likelihood with a quadratic memory; quadratic:0.1 with the prior 0.1",
        takes_argument=True,
        rule="gr",
        look=(GREEN, "v"),
        compared=LIKELIHOODS,
        also=("multiclass",),
    ),
    "cubic": Entry(
        _memory("cubic", "the curvature and the third derivative"),
        "a likelihood with a cubic memory; cubic:0.1 with the prior 0.1",
        takes_argument=True,
        rule="gr",
        look=(BLUE, "P"),
        compared=LIKELIHOODS,
        also=("multiclass",),
    ),
    "oracle": Entry(_oracle, "every row, pooled", rule="oracle", look=(BLACK, "x"), compared=FAMILIES),
}
"""The methods that Ridgeway brings, in the order of tables."""

COMPARED: dict[FamilyName, tuple[str, ...]] = {
    family: tuple(key for key, entry in TABLE.items() if family in entry.compared) for family in FAMILIES
}
"""What `compare` runs by default, in the order of its tables, by the family of the target."""
