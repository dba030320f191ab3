"""The mutation campaign: changes the source in small ways; `verify` or a test must notice each change.

`python -m mutants` draws mutants of the packages that hold the mathematics, adds the named ones, and runs the checks
that reach each of them until one fails. The exit status is 1 if a mutant survives that is not listed as equivalent.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence

from mutants.campaign import PACKAGES, SUITES, THEORY, Fate, fates, reach
from mutants.changes import draw
from mutants.checks import files_below, import_libraries
from mutants.named import EQUIVALENT, NAMED


def main() -> int:
    """Draw mutants, run the checks on them, print the table, and say whether all were killed."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("packages", nargs="*", help=f"packages or modules; default: {', '.join(PACKAGES)}")
    parser.add_argument("--count", type=int, help="mutants to draw from each of them")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--checks", nargs="+", default=SUITES, help="test files and folders, and verify")
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
    found, done = reach(files, options.lanes), []
    print(f"{len(found)} checks pass without a mutant ({time.monotonic() - start:.0f} s).", flush=True)
    for fate in fates(list(dict.fromkeys([*named, *drawn])), found, options.lanes):
        done.append(fate)
        print(line(fate), flush=True)
    print(summary(done), f"{(time.monotonic() - start) / 60:.1f} minutes.")
    return 1 if any(fate.survived and fate.mutant not in EQUIVALENT for fate in done) else 0


def line(fate: Fate) -> str:
    """Return the mutant and who killed it."""
    killers = [killer for killer in (fate.statement, fate.test) if killer]
    survivor = "equivalent" if fate.mutant in EQUIVALENT else "SURVIVED"
    return f"{' and '.join(killers) or survivor}\t{fate.mutant}"


def summary(done: Sequence[Fate]) -> str:
    """Return the counts."""
    theory = [fate for fate in done if fate.mutant.module.startswith(THEORY)]
    by_verify = sum(fate.statement is not None for fate in theory)
    by_tests = sum(fate.test is not None for fate in done)
    survivors = [fate.mutant for fate in done if fate.survived]
    equivalent = sum(mutant in EQUIVALENT for mutant in survivors)
    share = f" ({by_verify / len(theory):.0%})" if theory else ""
    return (
        f"{len(done)} mutants: tests kill {by_tests}; verify kills {by_verify} of {len(theory)} in the theory{share}; "
        f"{equivalent} are equivalent; {len(survivors) - equivalent} survived."
    )


if __name__ == "__main__":
    sys.exit(main())
