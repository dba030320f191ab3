from typing import Any, Self, TypeVar

T = TypeVar("T")

class InputTags:
    sparse: bool

class TargetTags:
    positive_only: bool

class Tags:
    input_tags: InputTags
    target_tags: TargetTags

class BaseEstimator:
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def __sklearn_tags__(self) -> Tags: ...

class ClassifierMixin:
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

class RegressorMixin:
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

class MultiOutputMixin: ...

def clone(estimator: T, *, safe: bool = True) -> T: ...
def is_classifier(estimator: Any) -> bool: ...
