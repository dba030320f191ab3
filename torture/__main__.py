"""The fault campaign: does to a state file what it must survive.

`python -m torture` runs the full campaign (up to an hour on two cores), `--short` a share of it; names of parts
select some. The results go to the terminal and to build/torture/figures.json, beside those of other parts; `--page`
writes them from there into docs/torture.md. The exit status is 1 if a promise was broken, or if a broken store was not
caught.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from torture.campaign import PARTS, run_part
from torture.children import end_as_at_the_keyboard
from torture.outcome import Outcome
from torture.page import table, write_page

FIGURES = Path("build") / "torture" / "figures.json"


def main() -> int:
    """Run the parts asked for; print and store the results, and write the page if asked to."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; default: all")
    parser.add_argument("--short", action="store_true", help="run a share of it, in about a minute")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="number of parallel processes")
    parser.add_argument("--json", type=Path, default=FIGURES, help="file for the results")
    parser.add_argument("--page", action="store_true", help="write the stored results into docs/torture.md")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    end_as_at_the_keyboard()
    figures: dict[str, dict[str, Any]] = json.loads(options.json.read_text()) if options.json.exists() else {}
    outcomes = []
    for part in options.parts or PARTS:
        outcome = run_part(part, short=options.short, seed=options.seed, lanes=options.lanes)
        outcomes.append(outcome)
        print(table([outcome]), flush=True)
        figures[part] = outcome.record()
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=1))
    if options.page:
        write_page([Outcome(**figures[part]) for part in PARTS if part in figures])
    return 0 if all(outcome.holds for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
