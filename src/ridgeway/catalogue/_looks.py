"""How methods look in figures."""

from collections.abc import Iterable

from ridgeway._style import OTHERS, shade
from ridgeway.catalogue._table import TABLE

SHADES, MARKERS = (0.0, -0.4, 0.35, -0.65), "dh<>p8*"
"""How much darker or lighter the variants of a method are, and their markers."""


def looks(keys: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the colour and marker of each method by its key. Which others there are makes no difference.

    Methods that are compared by default have colours of their own within a family of targets. Variants of a method,
    such as `crr:0.1` and `crr:1`, are shades of its colour.

    Examples
    --------
    >>> from ridgeway import catalogue
    >>> catalogue.looks(["mn", "gr"])
    {'mn': ('#D55E00', 'o'), 'gr': ('#0072B2', 'P')}
    """
    found: dict[str, tuple[str, str]] = {}
    counts: dict[str, int] = {}
    for key in keys:
        word = key.partition(":")[0]
        look = TABLE[word].look if word in TABLE else None
        kind = word if look else ""
        number = counts[kind] = counts.get(kind, -1) + 1
        if look is None:
            found[key] = OTHERS[number % len(OTHERS)]
        elif number == 0:
            found[key] = look
        else:
            found[key] = shade(look[0], SHADES[number % len(SHADES)]), MARKERS[number % len(MARKERS)]
    return found
