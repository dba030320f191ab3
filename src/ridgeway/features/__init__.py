"""Fixed feature maps: drawn from a seed, or from the first task, and the same for every task after it.

A model that is linear in fixed features stays exact, whatever the order of the tasks. Use a map as a step of
`ContinualPipeline`:

- `RandomFourier`: random Fourier features, for tables and for the output of another map
"""

from ridgeway.features._random_fourier import RandomFourier

__all__ = ["RandomFourier"]
