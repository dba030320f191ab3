"""
Digits: ten classes, one after another
======================================

A post office teaches a model to read. On the first day it sees only zeros, on the
second only ones, and so on. Each day's images are deleted. Can the model still read a
zero on day ten?

The 1,797 handwritten digits are part of scikit-learn. A quarter is kept for the test.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier, SGDClassifier

from ridgeway import GeneralizedRidgeClassifier, weights

images, labels = load_digits(return_X_y=True)
images = images / 16
held_out = np.random.default_rng(0).random(len(labels)) < 0.25
learned = ~held_out

# %%
# Some pixels are black in all images, and a prior of 1 says what to do about them.
# scikit-learn's ``SGDClassifier`` takes gradient steps, 20 passes over each day's
# images. It must be told all ten classes in advance; ridgeway's classifier need not.
ours = GeneralizedRidgeClassifier(weights.Accumulated(prior=1.0))
steps = SGDClassifier(random_state=0)
score: dict[str, list[float]] = {"ours": [], "steps": [], "zeros": []}
for digit in range(10):
    today = learned & (labels == digit)
    ours = ours.partial_fit(images[today], labels[today])
    for _ in range(20):
        steps = steps.partial_fit(images[today], labels[today], classes=np.arange(10))
    seen = held_out & (labels <= digit)
    zeros = held_out & (labels == 0)
    score["ours"].append(float(np.mean(ours.predict(images[seen]) == labels[seen])))
    score["steps"].append(float(np.mean(steps.predict(images[seen]) == labels[seen])))
    score["zeros"].append(float(np.mean(ours.predict(images[zeros]) == 0)))

# %%
# The yardstick keeps all images and learns them at once.
pooled = RidgeClassifier(alpha=1.0).fit(images[learned], labels[learned])
same = ours.predict(images[held_out]) == pooled.predict(images[held_out])
print(f"test images on which both agree: {same.sum()} of {len(same)}")
print(f"zeros read on day ten: {score['zeros'][-1]:.0%}")

# %%
# How much can each model read after each day?
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
days = np.arange(1, 11)
blue, sky = "#0072B2", "#56B4E9"
axes.plot(days, 100 * np.array(score["ours"]), "P-", color=blue)
axes.plot(days, 100 * np.array(score["steps"]), "D-", color=sky)
limit = 100 * pooled.score(images[held_out], labels[held_out])
axes.plot(10, limit, "x", color="black", markersize=10)
axes.annotate("all images at once", (10, limit), (9.9, 82), ha="right")
axes.text(4.2, 89, "GeneralizedRidgeClassifier", color=blue)
axes.text(4.2, 27, "SGDClassifier", color="#2E6A8C")
axes.set(xlabel="days, one new digit each", ylabel="read correctly (%)", ylim=(0, 104))
axes.set_xticks(days, [f"{day}\n“{day - 1}”" for day in days])
figure.suptitle("One model still reads all ten digits, the other only the newest")
plt.show()

# %%
# **What to see.** After ten days the exact model reads 93 % of the test images, as
# well as a model that kept all images. Gradient steps end at 13 %: nearly every image
# is taken for a nine, the last digit that was learned.
#
# The exact line falls a little as well. Nothing is forgotten there: ten digits are
# harder to tell apart than two.
#
# **Check.** A test runs this page and compares all scores with ``RidgeClassifier`` of
# scikit-learn, fitted again on all images so far after each day.
