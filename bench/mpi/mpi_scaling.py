"""Weak scaling of histo-mpi on one host: each rank has the same number of bytes, and one thread.

    mpi_scaling.py MPI HISTO HISTO_MPI [--most RANKS] [--rounds N]

For comparison, as many processes of histo as there are ranks run at once, each with its own files. They share nothing,
so they show what the memory and the cores allow. The files are raw f32 in the page cache, in TMPDIR, 256 MiB for each
rank. All runs take turns. Times are the least of all rounds. They include the start of the processes, which runs with
few samples measure; scaling and ratios leave it out. Run by script/bench mpi.
"""

import argparse
import array
import os
import random
import subprocess
import tempfile
import time

FILE = 1 << 28  # bytes, more than caches hold
TIMES = 8  # that each file is counted, so that counting takes longer than the start
COUNT = ["-q", "--threads", "1", "--dtype", "f32", "-b", "1000", "-r", "0:1"]
LAUNCH = ["bash", "-c", '. tests/mpi/ranks; ranks "$@"', "ranks"]


def make(path, size):
    values = random.Random(20)
    block = array.array("f", (values.random() for _ in range(1 << 20))).tobytes()
    with open(path, "wb") as file:
        for at in range(0, size, len(block)):
            file.write(block[:size - at])


def seconds(commands):
    """The time until all processes, which begin at once, have ended."""
    began = time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    failed = [process.args for process in running if process.wait() != 0]
    if failed:
        raise SystemExit(f"failed: {' '.join(failed[0])}")
    return time.perf_counter() - began


def commands_of(o, ranks, files, folder):
    """The commands that run at once, by name. files: a list for each rank."""
    together = [file for of_rank in files for file in of_rank]
    return {"mpi": [[*LAUNCH, o.mpi, str(ranks), o.histo_mpi, *COUNT, "-o", f"{folder}/all.histo", *together]],
            "apart": [[o.histo, *COUNT, "-o", f"{folder}/{i}.histo", *of_rank] for i, of_rank in enumerate(files)]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mpi", choices=["openmpi", "mpich"])
    parser.add_argument("histo")
    parser.add_argument("histo_mpi")
    cpus = len(os.sched_getaffinity(0))
    parser.add_argument("--most", type=int, default=cpus, help="ranks; by default, as many as there are CPUs")
    parser.add_argument("--rounds", type=int, default=15)
    o = parser.parse_args()
    numbers = [2**i for i in range(o.most.bit_length()) if 2**i < o.most] + [o.most]
    with tempfile.TemporaryDirectory() as folder:
        make(f"{folder}/few", 4096)
        for i in range(o.most):
            make(f"{folder}/{i}", FILE)
        runs = {}
        for n in numbers:
            for name, commands in commands_of(o, n, [[f"{folder}/{i}"] * TIMES for i in range(n)], folder).items():
                runs[name, n] = commands
            for name, commands in commands_of(o, n, [[f"{folder}/few"]] * n, folder).items():
                runs[name + " start", n] = commands
        times = {run: [] for run in runs}
        for _ in range(o.rounds):
            for run, commands in runs.items():
                times[run].append(seconds(commands))
    ms = {run: min(of_run) * 1e3 for run, of_run in times.items()}
    net = {(name, n): ms[name, n] - ms[f"{name} start", n] for name in ("mpi", "apart") for n in numbers}
    print(f"{FILE * TIMES >> 20} MiB a rank; milliseconds; scaling: one rank by all; ratio: processes by histo-mpi")
    print(f"{'ranks':>5} {'start':>8} {'histo-mpi':>10} {'scaling':>8} {'processes':>10} {'scaling':>8} {'ratio':>6}")
    for n in numbers:
        print(f"{n:5} {ms['mpi start', n]:8.0f} {ms['mpi', n]:10.0f} {net['mpi', 1] / net['mpi', n]:8.2f} "
              f"{ms['apart', n]:10.0f} {net['apart', 1] / net['apart', n]:8.2f} {net['apart', n] / net['mpi', n]:6.2f}")


main()
