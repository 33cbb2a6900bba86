"""Mutations of small valid files of every format, each read by the command under a limit of addresses. It must end in
time, by itself, in at most 256 MiB of memory, and what it says must steer no terminal. The number of mutations of each
file, and a seed, may be given: mutate.py HISTO CORPUS [COUNT [SEED [FORMAT]]]."""
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import unicodedata

from checking import check, finish

ADDRESSES, MOST_MEMORY, SECONDS = 6 << 30, 256 << 20, 60
histo, corpus = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
count = int(sys.argv[3]) if len(sys.argv) > 3 else 3
seed = sys.argv[4] if len(sys.argv) > 4 else "1"
only = sys.argv[5] if len(sys.argv) > 5 else ""
numbers = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FFFFFF, 0x10000000,
           0x40000000, 65537, 1000000]
steering = ["\x1b[31m", "\x9b31m", "\u009b31m", "\x07", "\x90q"]


def change(data, r):
    """One change: of a bit, a byte, a number in either order, an end, a place, or characters that a terminal obeys."""
    if not data:
        return
    at, kind = r.randrange(len(data)), r.randrange(8)
    if kind == 0:
        data[at] ^= 1 << r.randrange(8)
    elif kind == 1:
        data[at] = r.choice([0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)])
    elif kind in (2, 3):
        size, value = r.choice([2, 4, 4, 8]), r.choice(numbers)
        packed = struct.pack((r.choice("<>")) + {2: "H", 4: "I", 8: "Q"}[size], value & (1 << 8 * size) - 1)
        data[at:at + size] = packed[:len(data) - at]
    elif kind == 4:
        del data[at:]
    elif kind == 5:
        end = min(len(data), at + r.randrange(1, 64))
        data[at:at] = data[at:end]
    elif kind == 6:
        del data[at:at + r.randrange(1, 16)]
    else:
        text = r.choice(steering).encode(r.choice(["latin-1", "utf-8"]))
        data[at:at + len(text)] = text


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(path):
    with tempfile.TemporaryFile() as said:
        p = subprocess.Popen([histo, str(path)], cwd=path.parent, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=said, preexec_fn=limits)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return p.returncode, usage.ru_maxrss << 10, said.read()


def steers(said):
    try:
        return any(unicodedata.category(c) == "Cc" and c != "\n" for c in said.decode())
    except UnicodeDecodeError:
        return True


kept = os.environ.get("KEEP")  # a directory for mutations that fail
with tempfile.TemporaryDirectory() as place:
    for whole in sorted(corpus.glob(f"{only}*/*")):
        for i in range(count):
            r = random.Random(f"{seed} {whole.parent.name}/{whole.name} {i}")
            data = bytearray(whole.read_bytes())
            for _ in range(r.choice([1, 1, 2, 4])):
                change(data, r)
            path = pathlib.Path(place) / whole.name
            path.write_bytes(data)
            status, memory, said = run(path)
            good = status in (0, 1, 2) and memory <= MOST_MEMORY and not steers(said) and said.count(b"\n") <= 3
            if not good and kept:
                (pathlib.Path(kept) / f"{i}-{whole.parent.name}-{whole.name}").write_bytes(data)
            check(good, f"{whole.parent.name}/{whole.name}, mutation {i} of seed {seed}: status {status}, "
                        f"{memory >> 20} MiB, {said[:300]!a}")
finish()
