"""
A learned prior: few patients, many columns
===========================================

A clinic wants to predict how far diabetes progresses, from ten measurements, their
squares and their products: 64 columns. Patients arrive 12 at a time. At first there
are fewer patients than columns, and least squares predicts nonsense. How much should
the model shrink its coefficients, if no patients can be set aside to find out?

The data are part of scikit-learn.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from ridgeway import GeneralizedRidge, retrospect, weights

measured, y = load_diabetes(return_X_y=True)
products = PolynomialFeatures(degree=2, include_bias=False).fit_transform(measured)
products = np.delete(products, 20, axis=1)  # the square of a column with two values
X = StandardScaler().fit_transform(products)

# %%
# The last 202 patients in a random order are only for the test.
order = np.random.default_rng(0).permutation(len(y))
arriving, test = order[:240], order[240:]

# %%
# ``prior="evidence"`` learns the prior from the rows that have been learned. It takes
# the prior under which these rows were most probable, and finds it again after each
# task. The state is enough for that.
models = {
    "least squares": GeneralizedRidge(),
    "learned prior": GeneralizedRidge(weights.Accumulated(prior="evidence")),
}
errors: dict[str, list[float]] = {name: [] for name in models}
for group in arriving.reshape(20, 12):
    for name, model in models.items():
        models[name] = model.partial_fit(X[group], y[group])
        missed = models[name].predict(X[test]) - y[test]
        errors[name].append(float(np.sqrt(np.mean(missed**2))))
found = retrospect.learn_prior(models["least squares"])
print(f"learned from 240 patients: {found.prior:.0f}")

# %%
# The dotted line predicts the mean of the test patients for everybody.
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
seen = np.arange(12, 241, 12)
axes.plot(seen, errors["least squares"], "s--", color="#666666", markersize=4)
axes.plot(seen, errors["learned prior"], "P-", color="#0072B2")
axes.axhline(y[test].std(), color="#222222", linestyle=":", linewidth=1)
axes.axvline(X.shape[1], color="#B5B5B5", linewidth=1)
axes.text(X.shape[1] + 2, 460, "as many patients as columns", color="#666666")
axes.text(105, 165, "least squares", color="#666666")
axes.text(78, 1.04 * y[test].std(), "the mean, for everybody")
axes.text(243, 55, "learned\nprior", va="center", color="#0072B2")
axes.set(xlabel="patients learned", ylabel="error on new patients (score points)")
axes.set(yscale="log", xlim=(0, 270), ylim=(45, 550))
axes.set_yticks([50, 100, 200, 400], ["50", "100", "200", "400"])
axes.minorticks_off()
figure.suptitle("A learned prior needs 60 patients; least squares needs more than 240")
plt.show()

# %%
# **What to see.** Least squares is worst when there are about as many patients as
# columns: it then fits the noise exactly. After 240 patients it is still no better than
# the mean. The learned prior beats the mean from the first group, and after 60
# patients its error is 58 points, close to what it has in the end.
#
# The scale of the columns matters, because one prior holds for all of them. Here all
# columns have the standard deviation 1.
#
# **Check.** A test runs this page, and finds the same prior by maximising the
# probability of the rows themselves.
