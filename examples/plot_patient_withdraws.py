"""
Removal: a patient withdraws, and the model forgets exactly that
================================================================

A patient of a finished study withdraws. The records of the others are gone, so the
model cannot be fitted again. How can it answer as if this patient had never taken
part? And how much does that change the result?

The study has 442 patients with diabetes and ten measurements of each. The data are
part of scikit-learn.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes

from ridgeway import GeneralizedRidge, retrospect

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GeneralizedRidge()
for visit in range(4):
    model = model.partial_fit(X[visit::4], y[visit::4])

# %%
# To remove a row, show it once more. The model itself stays as it is; ``remove``
# returns a new one.
patient = 256
rest = model.remove(X[patient : patient + 1], y[patient : patient + 1])
place = list(X.columns).index("bmi")
print(f"{model.coef_[place]:.3f} → {rest.coef_[place]:.3f} per unit of body mass index")
print(f"digits lost: {rest.digits_lost_:.1f} of about 16")

# %%
# Is this much? Let each of the 442 patients withdraw in turn, and see how far the
# effect of the body mass index moves, in standard errors.
error = retrospect.summary(model).standard_errors[1 + place]
moves = np.empty(len(X))
for each in range(len(X)):
    without = model.remove(X[each : each + 1], y[each : each + 1])
    moves[each] = (without.coef_[place] - model.coef_[place]) / error

# %%
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
bmi = X["bmi"].to_numpy()
largest = np.argsort(-np.abs(moves))[:3]
axes.axhline(0, color="#222222", linewidth=0.8)
axes.plot(bmi, moves, "o", color="#0072B2", alpha=0.4, markersize=4)
axes.plot(bmi[largest], moves[largest], "o", color="#D55E00", markersize=6)
for each in largest:
    text = f"patient {each}: {moves[each]:+.2f}".replace("-", "−")
    spot = (bmi[each], moves[each])
    axes.annotate(text, spot, (-8, -3), textcoords="offset points", ha="right")
axes.set(xlabel="body mass index of the patient who withdraws (kg/m²)")
axes.set(ylabel="change of the effect (standard errors)", ylim=(-0.5, 0.5))
figure.suptitle("No single patient moves the result by a third of its error")
plt.show()

# %%
# **What to see.** Most patients hardly matter. Patient 256 matters most: without this
# patient, the effect of the body mass index falls by 0.27 standard errors. So the
# study can honour every withdrawal, and its conclusion stands.
#
# Whoever has both models, before and after, can work out that patient's record. Delete
# the older one.
#
# **Check.** A test runs this page and compares the moves with statsmodels, which fits
# the rows again without each patient.
