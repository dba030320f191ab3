"""Fixed feature maps: drawn from a seed, or from the first task, and the same for every task after it.

A model that is linear in fixed features stays exact, whatever the order of the tasks. Use a map as a step of
`ContinualPipeline`:

- `RandomFourier`: random Fourier features, for tables and for the output of another map
- `RandomPatches`: responses of small random filters, pooled on a grid, for images
"""

from ridgeway.features._random_fourier import RandomFourier
from ridgeway.features._random_patches import RandomPatches

__all__ = ["RandomFourier", "RandomPatches"]
