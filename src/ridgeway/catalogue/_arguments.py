"""What follows the colon in the name of a method."""

import math

from ridgeway._checks import LARGEST
from ridgeway.errors import InvalidParameterError


def numbers(name: str, text: str, example: str, most: int | None = None, largest: float = LARGEST) -> tuple[float, ...]:
    """Return the numbers of an argument, such as 1/2/3, or raise."""
    try:
        found = tuple(float(part) for part in text.split("/"))
    except ValueError:
        found = (math.nan,)
    if not all(0.0 <= number <= largest for number in found) or (most and len(found) > most):
        raise InvalidParameterError(f"method '{name}:{text}' needs numbers ≥ 0 after the colon: {example}.")
    return found


def steps(argument: str) -> int:
    """Return a number of gradient steps, 100 if there is no argument, or raise."""
    text = argument or "100"
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise InvalidParameterError(f"method 'es:{text}' needs a number of steps ≥ 1 after the colon, such as es:20.")
    return int(text)
