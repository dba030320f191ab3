"""Validate the HTML of a built site with the Nu Html Checker, the validator of the W3C.

`python tests/pages/validity.py build/docs` installs the checker in build/validator with npm, and runs it with Java. It
prints the errors, and exits with status 1 if there are any. Without Java or npm it says so, and checks nothing.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from pages.links import pages_of

CHECKER = "vnu-jar@26.9.27"
HOME = Path(__file__).parents[2] / "build" / "validator"
JAR = HOME / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"


def errors_of(paths):
    """Yield the page and the words of each error."""
    command = [shutil.which("java"), "-jar", JAR, "--errors-only", "--stdout", "--exit-zero-always", "--format", "json"]
    done = subprocess.run([*command, *paths], capture_output=True, text=True, check=True)
    for error in json.loads(done.stdout)["messages"]:
        yield error["url"], f"line {error.get('lastLine')}: {error['message']}"


def main(folder):
    missing = [name for name in ("java", "npm") if shutil.which(name) is None]
    if missing:
        print(f"The HTML was not validated: {' and '.join(missing)} not installed.")
        return 0
    if not JAR.exists():
        subprocess.run([shutil.which("npm"), "install", "--silent", "--prefix", HOME, CHECKER], check=True)
    paths = pages_of(folder)
    found = Counter(f"{Path(url).name}: {words}" for url, words in errors_of(paths))
    print(*found, f"HTML: {len(paths)} pages, {sum(found.values())} errors.", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
