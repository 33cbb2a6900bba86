"""The same table gives the same answer in every format, and it is that of an exact model. HISTO_COMMAND is the command.

HISTO_TABLES is the number of random tables (default 500), HISTO_SEED the first seed. A failure prints the seed that
repeats it, and keeps the files if HISTO_KEEP names a folder for them.
"""
import dataclasses
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

from tables import formats, generate, questions

# What cannot be, and says so.
REFUSED = ("and no common range: give one with -b N -r lo:hi", "the quantiles are of ",
           "as numbers of a unit, unlike the first file: name it first")
COMMAND = os.environ["HISTO_COMMAND"]


def arguments_of(question, held, suffix):
    """By numbers of columns where the name does not do."""
    def name_of(column):
        if any(c in column.name for c in ',"*?[-:=!') or column.name[0].isdigit():
            return str([c.name for c in held].index(column.name))
        return column.name

    arguments = question.arguments([name_of(column) for column in question.columns])
    return [{"--column": "--dataset"}.get(a, a) for a in arguments] if suffix in formats.ARRAYS else arguments


def run(*arguments):
    line = [COMMAND, *arguments]
    done = subprocess.run(line, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    return " ".join(line[1:]), done.returncode, done.stdout, done.stderr.decode(errors="replace")


def holds(held, question, suffix):
    if suffix in formats.ARRAYS and ("--column" not in question.options or len(question.columns) > 1):
        return False
    return {c.name for c in question.columns} <= {c.name for c in held}


def part_of(table, begin, end):
    return [dataclasses.replace(c, values=c.values[begin:end]) for c in table]


def in_files(rng, table, question, place):
    """The same rows in several files, of several formats if the columns have names in all."""
    n = len(table[0].values)
    cuts = sorted(rng.sample(range(1, n), min(n - 1, rng.randint(1, 3))))
    paths, first = [], None
    for i, (begin, end) in enumerate(zip([0, *cuts], [*cuts, n])):
        suffixes = [s for s in formats.FORMATS if s not in ("sqlite", "h5", *formats.ARRAYS)]
        rng.shuffle(suffixes)
        for suffix in suffixes:
            path = f"{place}/part{i}.{suffix}"
            held = formats.FORMATS[suffix](path, part_of(table, begin, end))
            if holds(held, question, suffix) and (first is None or arguments_of(question, held, suffix) == first):
                break
        else:
            return None
        first = arguments_of(question, held, suffix)
        paths.append(path)
    return run(question.command, *first, *paths)


def in_shards(rng, question, arguments, place):
    """Counted in parts, which are merged."""
    parts = [f"{place}/{i}.histo" for i in range(rng.randint(1, 4))]
    for i, part in enumerate(parts, 1):
        done = run(question.command, *arguments, "--shard", f"{i}/{len(parts)}", "-o", part)
        if done[1]:
            return done
    return run("merge", "--complete", *parts)


def ways(rng, question, table, held, path, place):
    """Other ways to ask the same: what they are called, and what they print."""
    extra = ["--dataset", "t"] if path.endswith(".sqlite") else []
    arguments = [*arguments_of(question, held, pathlib.Path(path).suffix[1:]), *extra, path]
    if question.has_bins() and "--compare" not in question.options:
        yield "shards", in_shards(rng, question, arguments, place)
        yield "checkpoint", run(question.command, *arguments, "--checkpoint", f"{place}/checkpoint")
    if len(table[0].values) > 1 and "--compare" not in question.options:  # which tells files apart
        done = in_files(rng, table, question, place)
        if done:
            yield "files", done


def judged(question, done, expected, alone):
    """What is wrong with what was printed; nothing."""
    line, status, out, said = done
    if status and any(sentence in said for sentence in REFUSED):
        return ""
    if status:
        return f"exit status {status}"
    try:
        question.judge(questions.parse(out.decode()))
    except Exception as error:  # whatever the output makes of the judge
        return f"{type(error).__name__}: {error}"
    left_out = question.left_out()
    if alone and left_out and f": left out {left_out} " not in said:
        return f"{left_out} missing values are not said"
    if expected is not None and not questions.same(out.decode(), expected.decode()):
        return f"not what CSV gives:\n{expected.decode()}"
    return ""


def check(seed):
    rng = random.Random(seed)
    table = generate.table(rng)
    failures = []
    asked = 0
    with tempfile.TemporaryDirectory() as place:
        paths = {suffix: f"{place}/t.{suffix}" for suffix in formats.FORMATS}
        held = {suffix: formats.FORMATS[suffix](path, table) for suffix, path in paths.items()}

        def tell(question, name, done, expected):
            nonlocal asked
            asked += 1
            wrong = judged(question, done, expected, name in paths)
            if not wrong:
                return done[2]
            if "HISTO_KEEP" in os.environ:
                shutil.copytree(place, pathlib.Path(os.environ["HISTO_KEEP"], str(seed)), dirs_exist_ok=True)
            text = f"{done[0]}\n{wrong}\n{done[2].decode()[:800]}{done[3][:400]}".replace(place + "/", "")
            failures.append((seed, f"{make.__name__}, {name}: {text}"))
            return None

        for make in rng.sample(questions.QUESTIONS, 4):
            question = make(rng, table)
            if question is None:
                continue
            expected = None
            asking = [suffix for suffix in paths if holds(held[suffix], question, suffix)]
            for suffix in asking:
                extra = ["--dataset", "t"] if suffix == "sqlite" else []
                done = run(question.command, *arguments_of(question, held[suffix], suffix), *extra, paths[suffix])
                printed = tell(question, suffix, done, expected)
                expected = printed if suffix == "csv" else expected
            suffix = rng.choice(asking)
            for name, done in ways(rng, question, table, held[suffix], paths[suffix], place):
                tell(question, f"{name} of {suffix}", done, expected)
    return asked, failures


def main():
    first = int(os.environ.get("HISTO_SEED", 1))
    seeds = range(first, first + int(os.environ.get("HISTO_TABLES", 500)))
    asked, failures = 0, []
    with ProcessPoolExecutor(2) as pool:
        for more, wrong in pool.map(check, seeds, chunksize=4):
            asked += more
            failures += wrong
    for seed, text in failures:
        print(f"HISTO_SEED={seed} HISTO_TABLES=1, {text}\n")
    print(f"{len(seeds)} tables from seed {first}: {asked} answers, {len(failures)} wrong")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
