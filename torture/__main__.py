"""The fault campaign: what a state file must survive, done to it.

`python -m torture` is the full campaign (some 25 minutes on two cores), `--short` a share of it; names of parts pick
some. Figures go to the terminal, into build/torture/figures.json beside those of other parts, and with `--page` from
there into docs/torture.md, between its marks. The status is 1 where a promise was broken, or a broken store was not
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
    """Run the parts asked for; print, store, and write the page where asked to."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; all if none is named")
    parser.add_argument("--short", action="store_true", help="a share of it, in about a minute")
    parser.add_argument("--seed", type=int, default=1, help="what all random numbers depend on")
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="processes side by side")
    parser.add_argument("--json", type=Path, default=FIGURES, help="where the figures go")
    parser.add_argument("--page", action="store_true", help="write the stored figures into docs/torture.md")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
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
