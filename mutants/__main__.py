"""The mutation campaign: changes the source in small ways; a test must notice each change.

`python -m mutants` draws mutants of the packages that hold the mathematics, adds the named ones, and runs the checks
that reach each of them until one fails. The exit status is 1 if a mutant survives that is not listed as equivalent.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping

from mutants.campaign import PACKAGES, SUITES, killers, reach
from mutants.changes import draw
from mutants.checks import files_below, import_libraries
from mutants.mutant import Mutant
from mutants.named import EQUIVALENT, NAMED


def main() -> int:
    """Draw mutants, run the checks on them, print the table, and say whether all were killed."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("packages", nargs="*", help=f"packages or modules; default: {', '.join(PACKAGES)}")
    parser.add_argument("--count", type=int, help="mutants to draw from each of them")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--checks", nargs="+", default=SUITES, help="test files and folders")
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="number of parallel processes")
    options = parser.parse_args()
    packages = {name: options.count or PACKAGES.get(name, 100) for name in options.packages or PACKAGES}
    drawn = draw(packages, options.seed)
    named = [mutant for mutant in NAMED.values() if any(mutant.module.startswith(name) for name in packages)]
    for mutant in (*NAMED.values(), *EQUIVALENT):
        mutant.applied()  # or raise: a listed mutant must still apply
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"  # before NumPy is imported: the lanes share the cores
    files = files_below(options.checks)
    import_libraries(files)
    start = time.monotonic()
    found = reach(files, options.lanes)
    print(f"{len(found)} checks pass without a mutant ({time.monotonic() - start:.0f} s).", flush=True)
    done = dict[Mutant, str | None]()
    for mutant, killer in killers(list(dict.fromkeys([*named, *drawn])), found, options.lanes):
        done[mutant] = killer
        print(line(mutant, killer), flush=True)
    print(summary(done), f"{(time.monotonic() - start) / 60:.1f} minutes.")
    return 1 if any(killer is None and mutant not in EQUIVALENT for mutant, killer in done.items()) else 0


def line(mutant: Mutant, killer: str | None) -> str:
    """Return the mutant and who killed it."""
    survivor = "equivalent" if mutant in EQUIVALENT else "SURVIVED"
    return f"{killer or survivor}\t{mutant}"


def summary(done: Mapping[Mutant, str | None]) -> str:
    """Return the counts."""
    survivors = [mutant for mutant, killer in done.items() if killer is None]
    equivalent = sum(mutant in EQUIVALENT for mutant in survivors)
    return (
        f"{len(done)} mutants: tests kill {len(done) - len(survivors)}; {equivalent} are equivalent; "
        f"{len(survivors) - equivalent} survived."
    )


if __name__ == "__main__":
    sys.exit(main())
