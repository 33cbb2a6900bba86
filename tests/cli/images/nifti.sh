# Images and volumes that are written as NIfTI: their samples, the header of their source, and their place in space.
. "$(dirname "$0")/../support/check.sh"

needs dicom GDCM

makes_files <<'END'
import gzip, os, random, struct, zlib
from dicom_files import dicom
from volumes import npy

random.seed(22)
n = 5 * 7 * 4
values = [random.randint(0, 100) for _ in range(n)]
data = struct.pack("<%dh" % n, *values)
npy("plain.npy", "i2", values, (4, 7, 5))
npy("slice.npy", "i2", values[70:105], (7, 5))
npy("wide.npy", "u1", [1, 2] * 20000, (1, 40000))
npy("colors.npy", "u1", [random.randint(0, 255) for _ in range(105)], (7, 5, 3))
npy("halves.npy", "f4", values, (4, 7, 5))
rows = [-2, 0, 0, 90, 0, -1.5, .5, 126, 0, -.5, 3, -72]

def nifti_1(order, slope):
    h = bytearray(348)
    put = lambda at, form, *v: struct.pack_into(order + form, h, at, *v)
    put(0, "i", 348), put(40, "8h", 3, 5, 7, 4, 1, 1, 1, 1), put(70, "hh", 4, 16), put(76, "8f", 1, 2, 1.58, 3.04, 2, 1, 1, 1)
    put(108, "fff", 352, slope, 0), put(123, "B", 10), put(124, "ff", 90, 5), put(252, "hh", 1, 2)
    put(256, "6f", 0, 0, 1, 90, 126, -72), put(280, "12f", *rows)
    h[148:153], h[344:348] = b"hello", b"n+1\0"
    return bytes(h) + b"\0" * 4

def nifti_2(order):
    h = bytearray(540)
    put = lambda at, form, *v: struct.pack_into(order + form, h, at, *v)
    put(0, "i", 540), put(12, "hh", 4, 16), put(16, "8q", 3, 5, 7, 4, 1, 1, 1, 1), put(104, "8d", 1, 2, 1.58, 3.04, 2, 1, 1, 1)
    put(168, "qdd", 544, 1, 0), put(344, "ii", 1, 2), put(352, "6d", 0, 0, 1, 90, 126, -72), put(400, "12d", *rows)
    put(500, "i", 10)
    h[4:12], h[240:245] = b"n+2\0\r\n\x1a\n", b"hello"
    return bytes(h) + b"\0" * 4

for order, name in (("<", "le"), (">", "be")):
    samples = struct.pack("%s%dh" % (order, n), *values)
    open("one_%s.nii" % name, "wb").write(nifti_1(order, 1) + samples)
    open("two_%s.nii.gz" % name, "wb").write(gzip.compress(nifti_2(order) + samples))
open("scaled.nii", "wb").write(nifti_1("<", .5) + data)

# The same place: as DICOM, ITK and FreeSurfer say it. x and y are to the left and the back in the first two.
lps = [[-r if d < 2 else r for r in rows[4 * d:4 * d + 4]] for d in range(3)]
step = [[lps[d][k] for d in range(3)] for k in range(3)]
size = [sum(v * v for v in s) ** .5 for s in step]
unit = [[v / size[k] for v in s] for k, s in enumerate(step)]
first = [lps[d][3] for d in range(3)]
words = lambda v: " ".join(map(repr, v))
open("x.mha", "wb").write(("ObjectType = Image\nNDims = 3\nBinaryData = True\nTransformMatrix = %s\nOffset = %s\nElementSpacing = %s\n"
                           "DimSize = 5 7 4\nElementType = MET_SHORT\nElementDataFile = LOCAL\n"
                           % (words(sum(unit, [])), words(first), words(size))).encode() + data)
vector = lambda v: "(" + ",".join(map(repr, v)) + ")"
open("x.nrrd", "wb").write(("NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 5 7 4\n"
                            "space directions: %s\nspace origin: %s\nendian: little\nencoding: raw\n\n"
                            % (" ".join(map(vector, step)), vector(first))).encode() + data)
ras = [[rows[4 * d + k] for d in range(3)] for k in range(3)]
centre = [rows[4 * d + 3] + sum(ras[k][d] * (5, 7, 4)[k] / 2 for k in range(3)) for d in range(3)]
open("x.mgz", "wb").write(gzip.compress(
    struct.pack(">7ih", 1, 5, 7, 4, 1, 4, 0, 1) +
    struct.pack(">15f", *size, *(v / size[k] for k in range(3) for v in ras[k]), *centre) + bytes(194) +
    struct.pack(">%dh" % n, *values)))
os.makedirs("scan")
for z in range(4):
    position = [first[d] + step[2][d] * z for d in range(3)]
    join = lambda v: "\\".join("%.10g" % x for x in v)
    open("scan/%d" % (9 - z), "wb").write(dicom(7, 5, 16, 16, 1, data[z * 70:z * 70 + 70], (0x20, 0x32, "DS", join(position)),
        (0x20, 0x37, "DS", join(unit[0] + unit[1])), (0x28, 0x30, "DS", join([size[1], size[0]]))))
END

cat >check.py <<'END'
"""check.py FILE.nii[.gz] ARRAY.npy [VERSION TYPE [kept|placed|free]]: the file has the samples of the array, and this place."""
import gzip, struct, sys

path, array, *more = sys.argv[1:]
version, code, place = (more + ["1", "4", "free"][len(more):])[:3]
bytes_ = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
samples = open(array, "rb").read()[128:]
two = version == "2"
get = lambda form, one, other: struct.unpack_from("<" + form, bytes_, other if two else one)
assert bytes_[:4] == struct.pack("<i", 540 if two else 348), "version"
assert bytes_[4:12] == b"n+2\0\r\n\x1a\n" if two else bytes_[344:348] == b"n+1\0", "magic"
assert bytes_[544 if two else 352:] == samples, "samples"
assert get("h", 70, 12)[0] == int(code), "type"
real = "d" if two else "f"
assert get("q" if two else "f", 108, 168)[0] == (544 if two else 352)
assert get("2" + real, 112, 176) == (1, 0), "slope and intercept"
rows = [-2, 0, 0, 90, 0, -1.5, .5, 126, 0, -.5, 3, -72]
if place != "free":
    assert all(abs(a - b) < 1e-4 for a, b in zip(get("12" + real, 280, 400), rows)), "rows"
    sizes = get("3" + real, 80, 112)
    assert all(abs(a - b) < 5e-3 for a, b in zip(sizes, (2, 1.58, 3.04))), "sizes"
if place == "kept":
    assert bytes_[240 if two else 148:][:5] == b"hello" and get("2" + real, 124, 192) == (0, 0), "description"
    assert get("ii" if two else "hh", 252, 344) == (1, 2), "spaces"
if place == "free":
    assert get("ii" if two else "hh", 252, 344) == (0, 0), "spaces"
if place == "placed":
    assert get("ii" if two else "hh", 252, 344) == (0, 1), "spaces"
END

# writes ARRAY RESULT VERSION TYPE PLACE ARGUMENTS…: the command, with RESULT as its last argument, writes this NIfTI file.
writes() {
    array=$1 result=$2 version=$3 type=$4 where=$5
    shift 5
    checks=$((checks + 1))
    "$histo" "$@" "$result" 2>"$err" || fail "histo $*: exit status $?: $(cat "$err")"
    python3 check.py "$result" "$array" "$version" "$type" "$where" 2>"$err" || fail "histo $*: $(tail -n 1 "$err")"
}

same="stretch -r 0:100 --to 0:100"
for order in le be; do
    # shellcheck disable=SC2086
    for result in x.nii x.nii.gz; do
        writes plain.npy $result 1 4 kept $same one_$order.nii
        writes plain.npy $result 2 4 kept $same two_$order.nii.gz
    done
done
# shellcheck disable=SC2086
{
    for source in x.mha x.nrrd x.mgz scan; do
        writes plain.npy x.nii.gz 1 4 placed $same $source
    done
    writes plain.npy x.nii 1 4 free $same plain.npy
    writes plain.npy x.nii 1 4 free $same --page all one_le.nii
    writes slice.npy x.nii 1 4 free $same --page 2 one_le.nii
    writes halves.npy x.nii 1 16 free $same halves.npy
    writes wide.npy x.nii 2 2 free stretch -r dtype wide.npy
    writes colors.npy x.nii 1 128 free stretch -r dtype colors.npy
}
checks=$((checks + 2))
"$histo" stretch -r 0:50 --to 0:100 scaled.nii x.nii && "$histo" stretch -r 0:50 --to 0:100 scaled.nii y.npy &&
    python3 check.py x.nii y.npy 1 64 kept || fail "a scaled volume is written wrong"
"$histo" threshold one_le.nii x.nii.gz >"$out" && "$histo" threshold plain.npy y.npy >"$out" &&
    python3 check.py x.nii.gz y.npy 1 2 kept || fail "classes of a volume are written wrong"
refuses 2 "x.gz: no image format has the suffix .gz" stretch plain.npy x.gz
finish
