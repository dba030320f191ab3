"""The kinds of information that a user may choose."""

from typing import Any

from ridgeway.errors import InvalidParameterError
from ridgeway.information._by_task import ByTask
from ridgeway.information._moments import Moments
from ridgeway.information._square_root import SquareRoot

KINDS: dict[str, Any] = {kind.name: kind for kind in (SquareRoot, Moments, ByTask())}
"""The kinds by name."""


def checked_kind(setting: Any) -> Any:
    """Return the kind that a user asks for, by name or as a `ByTask` without rows, or raise.

    Examples
    --------
    >>> from ridgeway.information import checked_kind
    >>> checked_kind("moments").name
    'moments'
    >>> checked_kind("rows")
    Traceback (most recent call last):
    ...
    ridgeway.errors.InvalidParameterError: information must be one of 'square_root', ...
    """
    if isinstance(setting, str) and setting in KINDS:
        return KINDS[setting]
    if not isinstance(setting, ByTask) or setting.blank is not None:
        raise InvalidParameterError(f"information must be one of {', '.join(map(repr, KINDS))}; got {setting!r}.")
    return setting
