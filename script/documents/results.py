"""Results of `histo bench` and `histo tune`, plain or compressed (.gz, .xz)."""
import gzip
import json
import lzma
import sys


def load(path, key="results"):
    """The results in a file, a list by that key; ends the program with one sentence if it holds none."""
    opener = {".gz": gzip.open, ".xz": lzma.open}.get("." + str(path).rsplit(".", 1)[-1], open)
    try:
        with opener(path, "rt") as file:
            run = json.load(file)
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        sys.exit(f"{path}: cannot be read as JSON results: {error}")
    if not isinstance(run, dict) or not isinstance(run.get(key), list):
        sys.exit(f"{path}: holds no results of 'histo bench' or 'histo tune'")
    return run
