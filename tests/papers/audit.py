#!/usr/bin/env python3
"""Usage: audit.py cpu HISTO | audit.py cuda HISTO-BENCH

Check the tables of docs/papers.md: every item of the five documents has a row with a mark; what is marked F has a command
or a link; and each command of `bench` and `generate` runs: on a CPU for a moment, and strategies of a GPU by name only; on
a GPU as printed, of few samples."""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
ITEMS = {"R": 58, "M": 23, "P": 13, "H": 6, "L": 13}
device, program = sys.argv[1:3]
pool = ThreadPoolExecutor(max(1, os.cpu_count() // 2))
started = []


def run(*arguments):
    words = arguments[1:] if device == "cuda" and arguments[0] == "bench" else arguments
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"histo {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()[-300:]}")
    return done.stdout


def start(*arguments):
    started.append(pool.submit(run, *arguments))


def option(words, name):
    return words[words.index(name) + 1] if name in words else None


def experiments():
    """(paper, kind, number) of all, each number of "5 and 6"."""
    paper = None
    for line in run("bench", "paper").splitlines():
        if line and not line.startswith(" "):
            paper = line.split(":")[0]
        elif line:
            kind, numbers = line.split()[0], re.match(r" *\w+ +(\S+(?: and \S+)?)", line)[1]
            yield from ((paper, kind, n) for n in numbers.split(" and "))


def run_paper(words, row):
    named = re.findall(r"--(figure|table|section) ([A-Za-z0-9.]+)", row)
    for kind, number in named:
        more = ["--budget", "1e-9"] if device == "cpu" else []
        start("bench", "paper", words[3], f"--{kind}", number, "--device", device, "--quick", *more)
    return {(words[3], kind, number) for kind, number in named}


def run_gallery(words, known):
    on_gpu = option(words, "--device") != "cpu"
    strategies, name = option(words, "--strategy"), option(words, "--input")
    unknown = set(strategies.split(",")) - known
    if unknown and device == "cpu":
        sys.exit(f"there is no strategy {', '.join(sorted(unknown))}")
    if not name:
        return  # a photograph
    more = ["--bins", option(words, "--bins")] if option(words, "--bins") else []
    if on_gpu and device == "cpu":
        strategies = "privatized"
    elif option(words, "--param"):
        more += ["--param", option(words, "--param")]
    start("bench", "gallery", "--device", device if on_gpu else "cpu", "--quick", "--repeat", "1", "--samples",
          "1000" if device == "cpu" else "2^20", "--strategy", strategies, "--input", name, *more)


def main():
    known = {line.split("\t")[1] for line in run("strategies").splitlines()[1:]} if device == "cpu" else set()
    missing = {letter + str(i) for letter, count in ITEMS.items() for i in range(1, count + 1)}
    ran = set()
    for row in (ROOT / "docs/papers.md").read_text().splitlines():
        cells = [c.strip() for c in row.strip("|").split("|")]
        if not row.startswith("|") or not re.fullmatch(r"[RMPHL]\d+", cells[0]):
            continue
        item, _, mark, how = cells
        missing.remove(item)
        commands = [c.split() for c in re.findall(r"`histo ([^`]*)`", how)]
        links = re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", how)
        if mark not in ("F", "N") or not how or (mark == "F" and not commands and not links):
            sys.exit(f"{item}: has no mark, or neither a command nor a reason")
        for link in links:
            if link and not (ROOT / "docs" / link).exists():
                sys.exit(f"{item}: {link} is not there")
        for words in (["histo", *c] for c in commands):
            if words[1:3] == ["bench", "paper"]:
                ran |= run_paper(words, how)
            elif words[1:3] == ["bench", "gallery"]:
                run_gallery(words, known)
            elif words[1] == "generate":
                start("generate", words[2], "--quiet", "--to", "raw", "-o", "/dev/null", "--samples", "1000")
    if missing:
        sys.exit(f"no row for {', '.join(sorted(missing))}")
    left = set(experiments()) - ran - {("milic", "figure", n) for n in ("6", "9")}  # of which 5 and 8 are the other half
    if left:
        sys.exit(f"no row runs {sorted(left)}")
    for one in started:
        one.result()


main()
