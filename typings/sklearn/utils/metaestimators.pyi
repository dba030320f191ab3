from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

def available_if(check: Callable[[Any], bool]) -> Callable[[F], F]: ...
