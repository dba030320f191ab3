"""Every question, asked by a process that never saw a row: it has the arrays of the state and nothing else."""

import json
import subprocess
import sys

import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import Lasso

from ridgeway import GeneralizedRidge

ASK = """
import json, sys
import numpy as np
import pandas as pd
from ridgeway import GeneralizedRidge, retrospect

with np.load(sys.argv[1]) as stored:
    model = GeneralizedRidge.from_arrays(dict(stored), ["a", "b", "c"])
summary = retrospect.summary(model)
subset = retrospect.best_subset(model, 1)
answers = {
    "standard_errors": summary.standard_errors,
    "aic": summary.aic,
    "deviation": model.predict(pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "c"]), return_std=True)[1],
    "f": retrospect.contrast(model, [[1.0, -1.0, 0.0]]).f,
    "submodel": retrospect.submodel(model, ["c", "a"]).coef_,
    "lasso": retrospect.elastic_net(model, l1_ratio=1.0, penalties=0.1).coefs[0],
    "subset": subset.columns,
    "evidence": retrospect.learn_prior(model).log_evidence,
}
print(json.dumps({name: np.asarray(value).tolist() for name, value in answers.items()}))
"""


def test_a_process_with_the_arrays_alone(rng, tmp_path):
    X = rng.normal(size=(40, 3)) + 1.0
    y = X @ [1.0, 0.2, -3.0] + rng.normal(size=40)
    np.savez(tmp_path / "state.npz", **GeneralizedRidge().fit(X, y, tasks=np.arange(40) // 10).to_arrays())
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "state.npz")], capture_output=True, text=True, check=True
    )
    answers = json.loads(done.stdout)
    fit = sm.OLS(y, sm.add_constant(X)).fit()
    small = sm.OLS(y, sm.add_constant(X[:, [2, 0]])).fit()
    expected = {
        "standard_errors": fit.bse,
        "aic": fit.aic,
        "deviation": fit.get_prediction([[1.0, 1.0, 2.0, 3.0]]).se_obs,
        "f": float(fit.f_test([[0.0, 1.0, -1.0, 0.0]]).fvalue),
        "submodel": small.params[1:],
        "lasso": Lasso(alpha=0.1, tol=1e-13).fit(X, y).coef_,
        "subset": [2],
    }
    for name, value in expected.items():
        np.testing.assert_allclose(answers[name], value, rtol=1e-6 if name == "lasso" else 1e-8)
    assert np.isfinite(answers["evidence"])
