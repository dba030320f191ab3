from collections.abc import Callable, Iterable
from typing import Any, ParamSpec

P = ParamSpec("P")

class Parallel:
    def __init__(
        self,
        n_jobs: int | None = None,
        *,
        backend: str | None = None,
        return_as: str = "list",
        batch_size: int | str = "auto",
    ) -> None: ...
    def __call__(self, iterable: Iterable[Any]) -> Any: ...

def delayed(function: Callable[P, Any]) -> Callable[P, Any]: ...
