# MATLAB's .mat files of versions 4, 5 and 7. Each variable is counted as the .npy of the same values is.
. "$(dirname "$0")/../support/check.sh"

needs mat matio

makes_files <<'END'
import random, struct, zlib
from volumes import npy, TYPES

random.seed(6)
classes = {"f8": 6, "f4": 7, "i1": 8, "u1": 9, "i2": 10, "u2": 11, "i4": 12, "u4": 13, "i8": 14, "u8": 15}
types = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 9, "i8": 12, "u8": 13}

def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

def matrix(name, code, shape, values, stored=None, flags=0, other=None):
    stored = stored or code
    data = struct.pack("<%d%s" % (len(values), TYPES[stored]), *values)
    return element(14, element(6, struct.pack("<II", classes[code] | flags, 0)) +
                   element(5, struct.pack("<%di" % len(shape), *shape)) + element(1, name.encode()) +
                   element(types[stored], data) + (element(types[stored], data) if flags & 0x800 else b""))

def compressed(m):
    z = zlib.compress(m)
    return struct.pack("<II", 15, len(z)) + z

head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
everything = head
for code in classes:
    if code[0] == "f":
        values = [struct.unpack("<f", struct.pack("<f", random.gauss(0, 3)))[0] for _ in range(60)]
    else:
        bits = 8 * int(code[1])
        lo, hi = (-2**(bits - 1), 2**(bits - 1) - 1) if code[0] == "i" else (0, 2**bits - 1)
        values = [lo, hi] + [random.randint(lo, hi) for _ in range(58)]
    npy(code + ".npy", code, values)
    open(code + ".mat", "wb").write(head + matrix("x", code, (10, 6), values))
    open(code + "_7.mat", "wb").write(head + compressed(matrix("x", code, (3, 4, 5), values)))
    everything += compressed(matrix("of_" + code, code, (60, 1), values))
open("all.mat", "wb").write(everything)
small = [random.randint(0, 255) for _ in range(60)]
npy("small.npy", "f8", small)
open("small.mat", "wb").write(head + matrix("x", "f8", (6, 10), small, stored="u1"))
npy("corner.npy", "f8", [small[x * 6 + y] for y in range(1, 3) for x in range(2, 6)])
open("complex.mat", "wb").write(head + matrix("z", "f8", (6, 10), small, flags=0x800))
open("four.mat", "wb").write(struct.pack("<5i", 0, 6, 10, 0, 2) + b"x\0" + struct.pack("<60d", *small))
open("cut.mat", "wb").write((head + matrix("x", "f8", (6, 10), small))[:-200])
changed = bytearray(head + matrix("x", "u1", (4, 1), [1, 2, 3, 4]) + compressed(matrix("y", "i4", (10, 6), list(range(60)))))
changed[-1] ^= 1
open("changed.mat", "wb").write(changed)
beside = bytearray(compressed(matrix("z", "f8", (6, 10), small, flags=0x800)))
beside[-1] ^= 1  # of the checksum
open("beside.mat", "wb").write(head + beside + compressed(matrix("x", "f8", (6, 10), small)))
open("cut_7.mat", "wb").write((head + compressed(matrix("x", "i4", (10, 6), list(range(60)))))[:-40])
END

for type in f8 f4 i1 u1 i2 u2 i4 u4 i8 u8; do
    like $type.npy $type.mat
    like $type.npy ${type}_7.mat
    like $type.npy --dataset of_$type all.mat
done
like i2.npy - <i2.mat
like small.npy small.mat
like small.npy four.mat
like corner.npy --roi 2,1,4,2 small.mat
refuses 1 'holds 10 variables of numbers: choose one with --dataset: of_f8, of_f4' all.mat
refuses 1 "no variable 'y'" --dataset y all.mat
refuses 1 'no variable of plain numbers' complex.mat
refuses 1 'variable z holds complex numbers' --dataset z complex.mat
refuses 1 'cut.mat' cut.mat
refuses 1 'cut_7.mat' cut_7.mat
refuses 1 'changed.mat is damaged: the checksum of a variable does not fit' --dataset y changed.mat
refuses 1 'beside.mat is damaged: the checksum of a variable does not fit' beside.mat
like small.npy --dataset x beside.mat
"$histo" --dataset x -q changed.mat >"$out" || fail "another variable is refused"
finish
