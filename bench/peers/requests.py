"""What the programs that run Python's libraries begin with: requests, and arrays of the parent process.

Requests are lines on standard input, words separated by tabs: a verb, an ID and what the verb needs. The answer to each
is a line: "ok", perhaps with more, or "no" and the reason. Files are descriptors of the parent process.
"""

import mmap
import os
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("NumPy is not installed")


def path_of(file):
    return f"/proc/{os.getppid()}/fd/{file}"


def dtype_of(name):
    return np.dtype({"u": "uint", "i": "int", "f": "float"}[name[0]] + name[1:])


def numbers(words):
    return [int(word) for word in words.split(",")]


def mapped(file, dtype, shape, strides=None, offset=0):
    descriptor = os.open(path_of(file), os.O_RDONLY)
    memory = mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ)
    os.close(descriptor)
    return np.ndarray(numbers(shape), dtype_of(dtype), memory, offset, strides)


def serve(begin):
    """begin(words) makes what an ID stands for until it ends. Other verbs are its methods: what they return, unless
    None, is behind "ok"; what they raise is the reason of "no"."""
    states = {}
    for line in sys.stdin:
        verb, key, *words = line.rstrip("\n").split("\t")
        text = None
        try:
            if verb == "begin":
                states[key] = begin(*words)
            elif verb == "end":
                states.pop(key, None)
            else:
                text = getattr(states[key], verb)(*words)
            text = "ok" if text is None else f"ok\t{text}"
        except Exception as error:  # whatever a library raises, the benchmark goes on
            text = "no\t" + " ".join(str(error).split())
        print(text, flush=True)


