"""Digits, which come with scikit-learn."""

import numpy as np

from ridgeway.datasets._dataset import Dataset


def load_digits() -> Dataset:
    """Return 1,797 handwritten digits of 8 × 8 pixels, one task per digit: the classes arrive one after another.

    The target, the digit, is a class and names the tasks as well. Nothing is downloaded: scikit-learn has the data.

    Returns
    -------
    Dataset
        Columns pixel_0_0 to pixel_7_7 (grey values from 0 to 16) and digit (the target).

    References
    ----------
    Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI Machine Learning Repository. CC BY 4.0.

    Examples
    --------
    >>> from ridgeway.datasets import load_digits
    >>> digits = load_digits()
    >>> digits.n_rows, len(digits.features), digits.target, digits.task_columns
    (1797, 64, 'digit', ('digit',))
    """
    from sklearn.datasets import load_digits as load

    found = load()
    columns = {str(name): np.array(pixel) for name, pixel in zip(found.feature_names, found.data.T, strict=True)}
    return Dataset(
        name="digits",
        columns={**columns, "digit": np.array(found.target, dtype=np.int64)},
        target="digit",
        task_columns=("digit",),
        features=tuple(columns),
        source="Optical Recognition of Handwritten Digits: Alpaydin and Kaynak (1998), UCI Machine Learning "
        "Repository, through scikit-learn. CC BY 4.0.",
    )
