#!/usr/bin/env python3
"""Check that a block of every kernel in the CUDA backend fits a multiprocessor of every GPU it was compiled for.

    kernel_limits.py CUOBJDUMP LIBRARY

CUOBJDUMP extracts the code: it is in the CUDA toolkit, and in the package nvidia-cuda-cuobjdump. Dynamic shared memory
is chosen at run time: test_everyday checks it, and make_builtin checks kernels that are compiled for everyday problems.
"""

import collections
import os
import struct
import subprocess
import sys
import tempfile

REGISTERS = 64 << 10  # of a multiprocessor, from 7.5 to 12.0
ALLOCATED = 8  # registers of a thread come in eights
SHARED = 48 << 10  # bytes that a kernel may declare
RESERVED = 1 << 10  # which the system takes; from 9.0 on, code has it among what is declared
THREADS = 256  # the most that kernels without launch bounds are launched with

# Attributes of kernels in the sections .nv.info
WITH_BYTES, MAX_THREADS, REGISTER_COUNT = 4, 0x05, 0x2F


def sections(elf):
    """Yield name, content and size of each section of a 64-bit ELF file; of symbols, the names."""
    (at,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(count)]
    names_at = headers[names][4]
    for header in headers:
        begin, length, kind = header[4], header[5], header[1]
        name = elf[names_at + header[0] :].split(b"\0", 1)[0].decode()
        yield name, b"" if kind == 8 else elf[begin : begin + length], length, header[6]


def attributes(info):
    """Yield the number and bytes of each attribute."""
    at = 0
    while at + 4 <= len(info):
        format_, number, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if format_ == WITH_BYTES:
            yield number, info[at : at + size]
            at += size


def kernels(elf):
    """Return {name: [registers, threads, shared bytes]}."""
    found, symbols, counts = {}, [], []
    table = {name: (content, length, link) for name, content, length, link in sections(elf)}
    strings = table[".strtab"][0]
    content = table[".symtab"][0]
    for at in range(0, len(content), 24):
        (name,) = struct.unpack_from("<I", content, at)
        symbols.append(strings[name:].split(b"\0", 1)[0].decode())
    for name, (content, length, _) in table.items():
        if name == ".nv.info":
            counts = [struct.unpack("<II", value) for number, value in attributes(content) if number == REGISTER_COUNT]
        elif name.startswith(".nv.info."):
            its = found.setdefault(name.removeprefix(".nv.info."), [0, THREADS, 0])
            for number, value in attributes(content):
                if number == MAX_THREADS:
                    x, y, z = struct.unpack_from("<III", value)
                    its[1] = x * y * z
        elif name.startswith(".nv.shared.") and not name.startswith(".nv.shared.reserved"):
            found.setdefault(name.removeprefix(".nv.shared."), [0, THREADS, 0])[2] = length
    for symbol, registers in counts:
        if symbols[symbol] in found:
            found[symbols[symbol]][0] = registers
    return found


def check(architecture, found):
    """Print what is the most, and what is too much; return whether all fit."""
    right, most, most_shared = True, 0, 0
    for name, (registers, threads, shared) in found:
        of_block = -(-registers // ALLOCATED) * ALLOCATED * threads
        declared = shared - RESERVED if architecture >= 90 and shared else shared
        most, most_shared = max(most, of_block), max(most_shared, declared)
        if not registers or of_block > REGISTERS or declared > SHARED:
            print(f"{architecture}: {name}: {threads} threads of {registers} registers, {declared} bytes of shared memory")
            right = False
    print(f"{architecture}: {len(found)} kernels; blocks have up to {most} registers and {most_shared} bytes declared")
    return right


def main(cuobjdump, library):
    """Check all; return the exit status."""
    of = {}
    with tempfile.TemporaryDirectory() as directory:
        command = [os.path.abspath(cuobjdump), "--extract-elf", "all", os.path.abspath(library)]
        subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL)
        for name in os.listdir(directory):
            architecture = int(name.rsplit(".", 2)[1].removeprefix("sm_"))
            with open(os.path.join(directory, name), "rb") as file:
                of.setdefault(architecture, []).extend(sorted(kernels(file.read()).items()))
    right = bool(of)
    names = {architecture: collections.Counter(name for name, _ in found) for architecture, found in of.items()}
    for architecture in sorted(of):
        right &= check(architecture, of[architecture])
        for other in of:
            for name in names[other] - names[architecture]:
                print(f"{architecture}: {name} is missing, which {other} has")
                right = False
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
