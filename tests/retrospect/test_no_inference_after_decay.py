"""A model whose older tasks have faded has coefficients, and nothing that needs the noise, whoever let them fade."""

import copy
import inspect
import json

import numpy as np
import pytest

from ridgeway import GeneralizedRidge, GeneralizedRidgeClassifier, retrospect, weights
from ridgeway.errors import InferenceError, InvalidStateError, MergeError
from ridgeway.information import ByTask, Moments

DECAY = 0.8
X_NEW, Y_NEW = np.arange(30.0).reshape(15, 2) ** 2 % 7, np.arange(15.0) % 4

NEEDS_THE_NOISE = {
    "summary": (),
    "contrast": ([1.0, -1.0],),
    "intervals": (X_NEW,),
    "compare": (X_NEW, Y_NEW),
    "learn_prior": (),
}
"""What a model with a decay refuses as well."""
NEEDS_TASKS = {
    "clustered": (),
    "coefficient_path": (),
    "cusum": (),
    "fixed_effects": (),
    "heteroscedastic": (),
    "influence": (),
    "random_effects": (),
    "segments": (),
    "tasks": (),
}
"""What a model with a decay cannot be asked, as it keeps no tasks."""
ESTIMATES = {
    "best_subset": (1,),
    "elastic_net": (),
    "submodel": ([0],),
}
"""What a model with a decay answers."""
ELSEWHERE = {"reweighted", "likelihood_summary"}


def learned(rng, setting, n_tasks=12, **settings):
    model = GeneralizedRidge(information=setting, **settings)
    for number in range(n_tasks):
        model.partial_fit(rng.normal(size=(20, 2)), rng.normal(size=20), task=f"t{number}")
    return model


@pytest.fixture
def model(rng):
    return learned(rng, ByTask(fourth_moments=True))


@pytest.fixture
def faded(model):
    return retrospect.reweighted(model, decay=DECAY)


def ask(model, question):
    arguments = {**NEEDS_THE_NOISE, **NEEDS_TASKS, **ESTIMATES}[question]
    return getattr(retrospect, question)(model, *arguments)


def test_every_question_is_here():
    public = {name for name in retrospect.__all__ if inspect.isfunction(getattr(retrospect, name))}
    assert public == {*NEEDS_THE_NOISE, *NEEDS_TASKS, *ESTIMATES, *ELSEWHERE}


@pytest.mark.parametrize("question", [*NEEDS_THE_NOISE, *NEEDS_TASKS])
def test_what_needs_the_noise_is_refused(faded, question):
    with pytest.raises(
        InferenceError, match=r"have faded.*noise cannot be estimated.*Ask the model that was reweighted"
    ):
        ask(faded, question)


@pytest.mark.parametrize("question", NEEDS_THE_NOISE)
def test_the_policy_refuses_it_too(rng, question):
    fading = GeneralizedRidge(weights.Accumulated(decay=DECAY)).fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    with pytest.raises(InferenceError, match="noise cannot be estimated"):
        ask(fading, question)


@pytest.mark.parametrize("question", ESTIMATES)
def test_what_needs_no_noise_is_answered(faded, question):
    assert ask(faded, question) is not None


@pytest.mark.parametrize("question", [*NEEDS_THE_NOISE, *NEEDS_TASKS, *ESTIMATES])
def test_weights_that_are_named_are_precisions(model, question):
    """The advice in the error works: the same weights, as statements about the noise."""
    named = {f"t{j}": DECAY ** (11 - j) for j in range(12)}
    assert ask(model, question) is not None
    assert ask(retrospect.reweighted(model, named), question) is not None


def test_the_deviation_of_a_prediction_is_refused(faded, model):
    for known in (faded, retrospect.submodel(faded, [0, 1])):
        with pytest.raises(InferenceError, match="all rows count fully"):
            known.predict(X_NEW, return_std=True)
    np.testing.assert_array_equal(model.predict(X_NEW, return_std=True)[0], model.predict(X_NEW))


NEXT = {
    "submodel": lambda faded, _: retrospect.submodel(faded, [0]),
    "learned more": lambda faded, _: faded.partial_fit(X_NEW, Y_NEW, task="new"),
    "a known task grew": lambda faded, _: faded.partial_fit(X_NEW, Y_NEW, task="t0"),
    "a task was removed": lambda faded, _: faded.remove(task="t3"),
    "merged": lambda faded, other: faded.merge(other),
    "merged the other way": lambda faded, other: other.merge(faded),
    "merged with one that faded": lambda faded, other: faded.merge(retrospect.reweighted(other, decay=0.5)),
    "reweighted": lambda faded, _: retrospect.reweighted(faded, {"t0": 2.0}),
    "reweighted by decay 1": lambda faded, _: retrospect.reweighted(faded, decay=1.0),
    "arrays": lambda faded, _: GeneralizedRidge.from_arrays(faded.to_arrays()),
    "state": lambda faded, _: GeneralizedRidge.from_state(faded.state_),
    "pickled and copied": lambda faded, _: copy.deepcopy(faded),
}


@pytest.mark.parametrize("step", NEXT)
def test_it_stays_so(rng, faded, step):
    other = GeneralizedRidge(information=ByTask(fourth_moments=True)).fit(X_NEW, Y_NEW, tasks=["other"] * 15)
    retrospect.summary(other)
    after = NEXT[step](faded, other)
    assert np.isfinite(after.coef_).all()
    for question in (retrospect.summary, retrospect.tasks):
        with pytest.raises(InferenceError, match="have faded"):
            question(after)


def test_it_stays_so_with_a_new_prior(faded):
    faded.set_params(weights=weights.Accumulated(1.0)).partial_fit(X_NEW, Y_NEW, task="new")
    with pytest.raises(InferenceError, match="have faded"):
        retrospect.summary(faded)


@pytest.mark.parametrize("turned", [False, True])
def test_a_merge_is_that_of_the_rows(rng, faded, model, turned):
    """The coefficients after a merge are those of rows with these weights."""
    named = retrospect.reweighted(model, {f"t{j}": DECAY ** (11 - j) for j in range(12)})
    other = GeneralizedRidge(information=ByTask(fourth_moments=True)).fit(X_NEW, Y_NEW, tasks=["other"] * 15)
    found, expected = ((other.merge(one) if turned else one.merge(other)) for one in (faded, named))
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert (found.information_.ids, found.n_tasks_) == (expected.information_.ids, 13)
    assert faded.remove(task="t2").coef_.tobytes() == named.remove(task="t2").coef_.tobytes()


def test_a_merge_that_is_refused_is_a_merge_error(faded):
    other = GeneralizedRidge(weights.Accumulated(2.0), information=ByTask(fourth_moments=True))
    other.fit(X_NEW, Y_NEW, tasks=["other"] * 15)
    for one, two in ((faded, other), (other, faded)):
        with pytest.raises(MergeError, match="differ in: prior"):
            one.merge(two)


@pytest.mark.parametrize("setting", ["by_task", ByTask(Moments)], ids=str)
@pytest.mark.parametrize("prior", [0.0, 3.0])
def test_the_coefficients_are_those_of_the_weights(rng, setting, prior):
    model = learned(rng, setting, weights=weights.Accumulated(prior))
    found = retrospect.reweighted(model, decay=DECAY)
    named = retrospect.reweighted(model, {f"t{j}": DECAY ** (11 - j) for j in range(12)})
    assert found.coef_.tobytes() == named.coef_.tobytes()
    assert found.intercept_ == named.intercept_
    assert found.information_.ids == named.information_.ids


@pytest.mark.parametrize(("n_tasks", "decay"), [(12, 1.0), (1, DECAY), (12, 1e-200)])
def test_rows_that_all_count_fully_keep_their_inference(rng, n_tasks, decay):
    """No decay, one task, or a decay that leaves out all but one: nothing has faded."""
    found = retrospect.reweighted(learned(rng, "by_task", n_tasks), decay=decay)
    assert np.isfinite(retrospect.summary(found).standard_errors).all()


def test_a_learned_prior_needs_the_noise(rng, faded):
    model = learned(rng, "by_task", weights=weights.Accumulated("evidence"))
    fading = GeneralizedRidge(weights.Accumulated("evidence", decay=DECAY)).fit(X_NEW, Y_NEW)
    learning = faded.set_params(weights=weights.Accumulated("evidence")).partial_fit(X_NEW, Y_NEW, task="new")
    for call in (
        lambda: retrospect.reweighted(model, decay=DECAY),
        lambda: fading.coef_,
        lambda: learning.coef_,
    ):
        with pytest.raises(InferenceError, match=r"noise cannot be estimated.*give the prior as a number"):
            call()
    assert np.isfinite(retrospect.reweighted(model, last=3).coef_).all()


def test_a_classifier_fades_as_well(rng):
    model = GeneralizedRidgeClassifier(information="by_task")
    for number in range(4):
        model.partial_fit(rng.normal(size=(20, 2)), np.arange(20) % 3, task=f"t{number}", classes=[0, 1, 2])
    found = retrospect.reweighted(model, decay=DECAY)
    assert set(found.predict(X_NEW)) <= {0, 1, 2}
    with pytest.raises(InferenceError, match="have faded"):
        retrospect.summary(found)


def test_an_older_reader_refuses_its_arrays(faded):
    """They have a name of their own: a reader that does not know it cannot take them for rows that count fully."""
    arrays = faded.to_arrays()
    header = json.loads(arrays["header"].tobytes())
    assert header["state"] == "faded_by_task"
    header["information"] = "moments"
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with pytest.raises(InvalidStateError):
        GeneralizedRidge.from_arrays(arrays)
