"""Results of `histo bench` and `histo tune`, plain or compressed (.gz, .xz)."""
import gzip
import json
import lzma


def load(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get("." + str(path).rsplit(".", 1)[-1], open)
    with opener(path, "rt") as file:
        return json.load(file)
