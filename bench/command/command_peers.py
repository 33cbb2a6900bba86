"""The command beside other programs that answer the same question: whole processes, warm, interleaved.

    command_peers.py HISTO DIRECTORY [--rounds N] [--only TEXT] [--json FILE]

Makes the files in DIRECTORY unless they are there, always the same, and prints a table: of each program the median and the
least time of the clock, the processor time and the largest resident memory of the run in the middle. A program that is not
installed is left out, and said so. What the programs print is not compared: each finds a histogram in its own way.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from functools import partial

import h5py
import numpy as np

SEED = 20
AUTO = "import numpy as np; print(np.histogram({}, bins='auto')[0].sum())"


def numpy_reads(read, modules=""):
    """A Python program that reads samples and counts them as NumPy chooses."""
    return [sys.executable, "-c", modules + AUTO.format(read)]


# ---- The files ------------------------------------------------------------------------------------------------------


def photograph(side, channels=1):
    """Smooth light with noise, as a camera sees it: 16 bits, of which noise has about 8."""
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[0:side[0], 0:side[1]].astype(np.float32) / np.float32(side[1])
    light = 20000 + 12000 * np.sin(5 * x) * np.cos(3 * y)
    planes = [light * (1 + 0.1 * c) + random.normal(0, 100, side).astype(np.float32) for c in range(channels)]
    return np.stack(planes, axis=-1).clip(0, 65535).astype(np.uint16).squeeze()


def make_npy(path):
    np.save(path, np.random.default_rng(SEED).standard_normal(50_000_000, dtype=np.float32))


def make_image(shape, options, path):
    """A photograph, written by vips through a raw file."""
    pixels, raw, native = photograph(*shape), path + ".raw", path + ".v"
    bands = pixels.shape[2] if pixels.ndim == 3 else 1
    pixels.tofile(raw)
    subprocess.run(["vips", "rawload", raw, native, str(pixels.shape[1]), str(pixels.shape[0]), str(bands), "--format",
                    "ushort", "--interpretation", "rgb16" if bands == 3 else "grey16"], check=True)
    subprocess.run(["vips", "copy", native, path + options], check=True)
    os.remove(raw)
    os.remove(native)


def make_hdf5(path):
    samples = np.random.default_rng(SEED).standard_normal((5000, 10_000), dtype=np.float32)
    with h5py.File(path, "w") as file:
        file.create_dataset("samples", data=samples, chunks=(250, 1000), compression="gzip", compression_opts=4,
                            shuffle=True)


def make_text(count, head, path):
    """Numbers as text, which a path that ends in .gz gets compressed."""
    random = np.random.default_rng(SEED)
    with open(path, "wb") as stored:
        file = gzip.GzipFile("", "wb", 6, stored, mtime=0) if path.endswith(".gz") else stored
        file.write(head)
        for begin in range(0, count, 1_000_000):
            file.write(b"".join(b"%.6f\n" % x for x in random.random(min(1_000_000, count - begin)).tolist()))
        file.close()


# ---- The work -------------------------------------------------------------------------------------------------------


POLARS = "import polars as pl; ", "pl.read_csv('{}'%s)[:, 0].to_numpy()"
VIPS = "vips", ["vips", "hist_find", "{}", "{}.hist.v"]
SQUARE, PHOTO = ((8192, 8192),), ((4000, 6000), 3)
DEFLATE = "[compression=deflate,predictor=horizontal,tile,tile-width=256,tile-height=256]"
make_small = partial(make_text, 113, b"")

# Title, file and its maker, the words of histo, another program and its words; {} is the file.
WORKS = [
    ("f32 .npy, 200 MB", "samples.npy", make_npy, ["{}"], "NumPy", numpy_reads("np.load('{}')")),
    ("TIFF, 16 bits, 8192 x 8192, LZW", "lzw.tif",
     partial(make_image, SQUARE, "[compression=lzw,predictor=horizontal]"), ["{}"], *VIPS),
    ("TIFF, 16 bits, 8192 x 8192, deflate, tiles", "tiles.tif", partial(make_image, SQUARE, DEFLATE), ["{}"], *VIPS),
    ("HDF5, f32, gzip, 200 MB", "samples.h5", make_hdf5, ["{}"], "h5py + NumPy",
     numpy_reads("h5py.File('{}')['samples'][...]", "import h5py; ")),
    ("CSV, 144 MB", "numbers.csv", partial(make_text, 16_000_000, b"value\n"), ["{}"], "polars + NumPy",
     numpy_reads(POLARS[1] % "", POLARS[0])),
    ("PNG, 16 bits, 24 megapixels", "photo.png", partial(make_image, PHOTO, "[compression=6]"), ["{}"], *VIPS),
    ("gzipped text, 91 MB", "numbers.txt.gz", partial(make_text, 10_100_000, b""), ["{}"], "polars + NumPy",
     numpy_reads(POLARS[1] % ", has_header=False", POLARS[0])),
    ("text, 1 KB", "small.txt", make_small, ["{}"], "datamash", ["sh", "-c", "exec datamash mean 1 median 1 <{}"]),
    ("--version", "small.txt", make_small, ["--version"], "datamash", ["datamash", "--version"]),
]


def run(words):
    """Seconds of the clock and of the processor, and MiB of memory."""
    begin = time.perf_counter()
    pid = os.posix_spawnp(words[0], words, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ])
    _, status, used = os.wait4(pid, 0)
    seconds = time.perf_counter() - begin
    if status:
        sys.exit(f"{' '.join(words)} failed with status {os.waitstatus_to_exitcode(status)}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure(programs, rounds):
    """In turns, after one run each that is not counted."""
    taken = {name: [] for name in programs}
    for turn in range(rounds + 1):
        for name, words in programs.items():
            one = run(words)
            if turn:
                taken[name].append(one)
    return {name: {"median_s": statistics.median(s for s, _, _ in runs), "least_s": min(s for s, _, _ in runs),
                   "processor_s": statistics.median(u for _, u, _ in runs), "memory_MiB": max(m for _, _, m in runs)}
            for name, runs in taken.items()}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("histo")
    arguments.add_argument("directory")
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--json")
    given = arguments.parse_args()
    os.makedirs(given.directory, exist_ok=True)
    print(f"{platform.machine()}, {os.cpu_count()} processors, {given.rounds} rounds\n")
    print(f"{'work':44}{'program':16}{'median s':>10}{'least s':>10}{'processor s':>13}{'MiB':>7}")
    results = []
    for title, name, make, words, peer, peer_words in WORKS:
        if given.only not in title:
            continue
        programs = {"histo": [os.path.abspath(given.histo), *words], peer: peer_words}
        path = os.path.join(given.directory, name)
        if not os.path.exists(path):
            making = os.path.join(given.directory, "new-" + name)
            process = multiprocessing.Process(target=make, args=(making,))  # its memory must not count as that of a run
            process.start()
            process.join()
            os.rename(making, path)
        installed = {which: [word.replace("{}", path) for word in words] for which, words in programs.items()
                     if shutil.which(words[2].split()[1] if words[0] == "sh" else words[0])}
        for which, taken in measure(installed, given.rounds).items():
            print(f"{title:44}{which:16}{taken['median_s']:10.4f}{taken['least_s']:10.4f}"
                  f"{taken['processor_s']:13.4f}{taken['memory_MiB']:7.0f}", flush=True)
            results.append({"work": title, "program": which, **taken})
            title = ""
        for which in programs.keys() - installed.keys():
            print(f"{'':44}{which:16}  is not installed")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"rounds": given.rounds, "processors": os.cpu_count(), "results": results}, file, indent=1)


main()
