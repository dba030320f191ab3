"""The paper as code: its theory, a verdict on each of its statements, and its simulations."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeway.research import simulation, theory, verify

__all__ = ["simulation", "theory", "verify"]


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name in __all__:
        return import_module(f"ridgeway.research.{name}")
    raise AttributeError(f"module 'ridgeway.research' has no attribute {name!r}")
