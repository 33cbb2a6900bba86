"""What script/documents/applications runs: write docs/applications.md and its pictures from page.md.

Usage: write.py            with histo in $PATH, and HISTO_LIBRARY
       write.py --check    only compare the page with the text
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SOURCE, PAGE, WORK = HERE / "page.md", ROOT / "docs/applications.md", ROOT / "build/applications"
sys.path.insert(0, str(HERE.parent))  # of page and results

import page


def run_commands(source):
    """Those in the text, in the order of the text."""
    for block in re.findall(r"^```sh\n(.*?)^```", source, re.S | re.M):
        for command in block.splitlines():
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=WORK, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"'{command}' failed: {done.stderr.strip()}")


def write(source):
    import os
    WORK.mkdir(parents=True, exist_ok=True)
    os.chdir(WORK)
    import data
    data.make()
    run_commands(source)
    import compare
    PAGE.write_text(page.make(source, vars(compare)))
    import draw
    draw.all_pictures(ROOT / "docs/images/applications")


def main(arguments):
    source = SOURCE.read_text()
    if arguments == ["--check"]:
        if not page.could_be(PAGE.read_text(), source):
            sys.exit(f"{PAGE.relative_to(ROOT)} is not what {SOURCE.relative_to(ROOT)} gives: run script/documents/applications")
    elif not arguments:
        write(source)
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
