"""Structs of the headers have one layout, and enumerations one size, in C and in C++, by GCC and Clang, with and without
short enumerations: a program may be compiled otherwise than the library."""
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
COMPILERS = [[*compiler, *flags] for compiler in (["gcc", "-std=c11"], ["clang", "-std=c11"], ["g++", "-std=c++17", "-x", "c++"],
                                                  ["clang++", "-std=c++17", "-x", "c++"])
             for flags in ([], ["-fshort-enums"])]


def fields(body):
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        elif declaration.strip():
            yield from (re.search(r"(\w+)(?:\[\w+\])*\s*$", one).group(1) for one in declaration.split(","))


def expressions():
    """What must be equal: offsets and sizes."""
    for file in sorted((INCLUDE / "histo").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", file.read_text().split("/* ---- What follows is how")[0], flags=re.S)
        for name in re.findall(r"^typedef HISTO_ENUM\((\w+)\)", text, re.M):
            yield f"sizeof({name})"
        for body, name in re.findall(r"^typedef (?:struct|union) \w+ \{(.*?)^\} (\w+);", text, re.M | re.S):
            yield f"sizeof({name})"
            yield from (f"offsetof({name}, {field})" for field in fields(body))
            yield from (f"sizeof((({name} *)0)->{field})" for field in fields(body))


compared = list(expressions())
if len(compared) < 250:
    sys.exit(f"only {len(compared)} sizes and offsets were found in the headers")
with tempfile.TemporaryDirectory() as work:
    source, program = pathlib.Path(work, "layouts.c"), pathlib.Path(work, "layouts")
    prints = "\n".join(f'    printf("%zu {one}\\n", (size_t){one});' for one in compared)
    source.write_text(f"#include <histo/histo.h>\n#include <stdio.h>\nint main(void)\n{{\n{prints}\n}}\n")
    printed = []
    for compiler in COMPILERS:
        subprocess.run([*compiler, "-I", str(INCLUDE), str(source), "-o", str(program)], check=True)
        printed.append(subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines())
        for line, first in zip(printed[-1], printed[0]):
            if line != first:
                sys.exit(f"{line} by {' '.join(compiler)}, {first} by {' '.join(COMPILERS[0])}")
