"""The methods by name: what `compare`, `simulate` and the command line accept, and how to add your own.

A name is a word, or a word and an argument: `mn`, `crr:0.1`, `crr:1/2/3` (one penalty per task), `es:20`, `gr`, `gr:1`,
`oracle`. `register` adds a name in this Python process; the command knows only built-in names. `resolve` turns names,
estimators and policies into `Method` objects. That happens once, in the calling process; worker processes receive the
objects.

A name stands for a policy, and the family of the target chooses the estimator that takes it: `find("mn", "multiclass")`
is a classifier. There are also `lda` for classes, `quadratic` and `cubic` (memories of a likelihood) and `last` (the
last task alone). `looks` has the colour and marker of each in figures.

`ridgeway.research.simulation` registers further methods, such as `crr:best`, when it is imported.
"""

from ridgeway.catalogue._looks import looks
from ridgeway.catalogue._method import SGD_STEPS, Method, Predictor
from ridgeway.catalogue._registry import find, known, register, resolve
from ridgeway.catalogue._table import COMPARED

__all__ = ["COMPARED", "SGD_STEPS", "Method", "Predictor", "find", "known", "looks", "register", "resolve"]
