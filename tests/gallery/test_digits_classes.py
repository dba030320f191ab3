"""The page about digits: scikit-learn's RidgeClassifier on all images so far reads the same after each day."""

import numpy as np
import pytest
from gallery_page import page_of
from sklearn.linear_model import RidgeClassifier


@pytest.fixture(scope="module")
def digits():
    return page_of("digits_classes")


def test_every_day_is_that_of_all_images_so_far(digits):
    images, labels, learned, held_out = (digits[name] for name in ("images", "labels", "learned", "held_out"))
    for digit in range(1, 10):
        pooled = RidgeClassifier(alpha=1.0).fit(
            images[learned & (labels <= digit)], labels[learned & (labels <= digit)]
        )
        seen = held_out & (labels <= digit)
        assert digits["score"]["ours"][digit] == pytest.approx(pooled.score(images[seen], labels[seen]))
    np.testing.assert_array_equal(digits["ours"].predict(images), pooled.predict(images))
    assert f"agree: {held_out.sum()} of {held_out.sum()}" in digits.printed
    assert digits.says("reads {:.0f} % of the test images", digits["limit"])
    assert digits["limit"] == pytest.approx(100.0 * digits["score"]["ours"][-1])


def test_gradient_steps_read_the_last_digit_only(digits):
    images, labels, held_out = (digits[name] for name in ("images", "labels", "held_out"))
    taken = digits["steps"].predict(images[held_out])
    assert digits.says("Gradient steps end at {:.0f} %", 100.0 * digits["score"]["steps"][-1])
    assert np.mean(taken == 9) > 0.9  # "nearly every image is taken for a nine"
    assert digits["score"]["zeros"][-1] > 0.95
    assert len(labels) == 1797
