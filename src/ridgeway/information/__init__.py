"""What the past leaves behind: add, merge, remove.

Two kinds hold the same truth. `SquareRoot` keeps the digits of a QR decomposition of all rows; `Moments` is faster to
add to and keeps half of them.
"""

from ridgeway.information._base import Information
from ridgeway.information._moments import Moments
from ridgeway.information._square_root import SquareRoot

__all__ = ["Information", "Moments", "SquareRoot"]
