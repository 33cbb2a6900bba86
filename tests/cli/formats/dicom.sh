# DICOM images, written here by hand, and frames that other programs compressed. Each is counted as the .npy of the same
# values is.
. "$(dirname "$0")/../support/check.sh"

needs dicom GDCM

makes_files <<'END'
import gzip, os, random, struct
from dicom_files import dicom, element
from volumes import npy

random.seed(3)

w, h = 14, 9
n = w * h
for name, bits, signed, letter in (("u1", 8, 0, "B"), ("i1", 8, 1, "b"), ("u2", 16, 0, "H"), ("i2", 16, 1, "h"),
                                   ("u4", 32, 0, "I"), ("i4", 32, 1, "i")):
    lo, hi = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    values = [lo, hi] + [random.randint(lo, hi) for _ in range(n - 2)]
    npy(name + ".npy", name, values)
    data = struct.pack("<%d%s" % (n, letter), *values)
    open(name + ".dcm", "wb").write(dicom(h, w, bits, bits, signed, data))
    open(name + "_implicit.dcm", "wb").write(dicom(h, w, bits, bits, signed, data, syntax="1.2.840.10008.1.2"))
    if bits > 8:
        open(name + "_big.dcm", "wb").write(dicom(h, w, bits, bits, signed, struct.pack(">%d%s" % (n, letter), *values),
                                                  syntax="1.2.840.10008.1.2.2", order=">"))

# 12 bits of 16, in Hounsfield units; the other bits are not the image's.
raw = [random.randint(0, 4095) for _ in range(n)]
hu = [(0x28, 0x1052, "DS", "-1024"), (0x28, 0x1053, "DS", "1")]
npy("raw.npy", "u2", raw)
npy("hu.npy", "i2", [v - 1024 for v in raw])
data = struct.pack("<%dH" % n, *(v | random.randint(0, 15) << 12 for v in raw))
open("hu.dcm", "wb").write(dicom(h, w, 16, 12, 0, data, *hu))
tiff = b"II*\0\x08\0\0\0" + bytes(120)
open("hu_tiff.dcm", "wb").write(dicom(h, w, 16, 12, 0, data, *hu, preamble=tiff))
open("hu.dcm.gz", "wb").write(gzip.compress(dicom(h, w, 16, 12, 0, data, *hu)))
open("cut.dcm", "wb").write(dicom(h, w, 16, 12, 0, data, *hu)[:-10])
open("header.dcm", "wb").write(dicom(h, w, 16, 12, 0, data, *hu)[:200])
negative = [random.randint(-2048, 2047) for _ in range(n)]
npy("negative.npy", "i2", negative)
open("negative.dcm", "wb").write(dicom(h, w, 16, 12, 1, struct.pack("<%dH" % n, *(v & 4095 for v in negative))))
npy("scaled.npy", "f8", [v * 0.5 + 3 for v in raw])
open("scaled.dcm", "wb").write(dicom(h, w, 16, 12, 0, struct.pack("<%dH" % n, *raw), (0x28, 0x1052, "DS", "3"),
                                     (0x28, 0x1053, "DS", "0.5")))
padded = [-2000 if i % 5 == 0 else v for i, v in enumerate(negative)]
npy("mask.npy", "u1", [7] * n, (h, w))
npy("padded.npy", "i4", [v + 100000 for v in padded if v != -2000])
open("padded.dcm", "wb").write(dicom(h, w, 16, 16, 1, struct.pack("<%dh" % n, *padded), (0x28, 0x120, "SS",
                                     struct.pack("<h", -2000)), (0x28, 0x1052, "DS", "100000")))
frames = [random.randint(0, 255) for _ in range(3 * n)]
npy("frames.npy", "u1", frames)
npy("frame.npy", "u1", frames[n:2 * n])
open("frames.dcm", "wb").write(dicom(h, w, 8, 8, 0, bytes(frames), frames=3, colors="MONOCHROME1"))
rgb = [random.randint(0, 255) for _ in range(3 * n)]
npy("blue.npy", "u1", rgb[2::3])
open("rgb.dcm", "wb").write(dicom(h, w, 8, 8, 0, bytes(rgb), samples=3, colors="RGB"))
open("planes.dcm", "wb").write(dicom(h, w, 8, 8, 0, bytes(rgb[0::3] + rgb[1::3] + rgb[2::3]), samples=3, colors="RGB",
                                     planar=1))
bits = [random.randint(0, 1) for _ in range(3 * n)]
npy("bits.npy", "u1", bits)
npy("bit_frame.npy", "u1", bits[n:2 * n])
packed = bytes(sum(b << k for k, b in enumerate(bits[i:i + 8])) for i in range(0, 3 * n, 8))
open("bits.dcm", "wb").write(dicom(h, w, 1, 1, 0, packed, frames=3))
open("none.dcm", "wb").write(bytes(128) + b"DICM" + element(2, 0, "UL", struct.pack("<I", 28)) +
                             element(2, 0x10, "UI", "1.2.840.10008.1.2.1") + element(8, 0x60, "CS", "SR"))
open("bare", "wb").write(dicom(h, w, 16, 12, 0, data, *hu, syntax="1.2.840.10008.1.2", bare=True))
open("bare_explicit", "wb").write(dicom(h, w, 16, 12, 0, data, *hu, bare=True))

# Run lengths: for each byte of a pixel, the highest first, one run of those of all pixels.
def run(values):
    packed = b""
    while values:
        count = next((i for i, v in enumerate(values[:128]) if v != values[0]), min(len(values), 128))
        if count > 1:
            packed += bytes([257 - count, values[0]])
        else:
            repeats = (i for i in range(1, min(len(values), 129) - 1) if values[i] == values[i + 1])
            count = next(repeats, min(len(values), 128))
            packed += bytes([count - 1]) + values[:count]
        values = values[count:]
    return packed + b"\0" * (len(packed) % 2)

def rle_frame(values, samples, size):
    planes = [bytes(v >> 8 * byte & 255 for v in values[c::samples]) for c in range(samples)
              for byte in reversed(range(size))]
    runs = [run(p) for p in planes]
    places = [64 + sum(map(len, runs[:i])) for i in range(len(runs))]
    return struct.pack("<16I", len(runs), *(places + [0] * (15 - len(places)))) + b"".join(runs)

def encapsulated(fragments, table=b""):
    items = [table, *fragments, None]
    return b"".join(b"\xfe\xff\xdd\xe0\0\0\0\0" if i is None else b"\xfe\xff\0\xe0" + struct.pack("<I", len(i)) + i
                    for i in items)

def rle(path, values, samples, bits, signed, frames=1, table=b"", parts=1, data=None):
    size, count = bits // 8, len(values) // frames
    stored = [v & 2**bits - 1 for v in values]
    packed = [rle_frame(stored[i * count:(i + 1) * count], samples, size) for i in range(frames)]
    cut = lambda p: [p[i * 64:(i + 1) * 64] if i < parts - 1 else p[i * 64:] for i in range(parts)]
    fragments = [part for p in packed for part in cut(p)]
    if table is None:
        begins = [sum(8 + len(f) for f in fragments[:i * parts]) for i in range(frames)]
        table = struct.pack("<%dI" % frames, *begins)
    whole = dicom(h, w, bits, bits, signed, b"", frames=frames, samples=samples,
                  colors="RGB" if samples > 1 else "MONOCHROME2", syntax="1.2.840.10008.1.2.5")
    open(path, "wb").write(whole[:-4] + b"\xff\xff\xff\xff" + (data or encapsulated(fragments, table)))

for code, bits, signed in (("u1", 8, 0), ("i1", 8, 1), ("u2", 16, 0), ("i2", 16, 1), ("u4", 32, 0), ("i4", 32, 1)):
    lo, hi = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    for samples in (1, 3):
        values = [random.choice([lo, hi, random.randint(lo, hi)]) for _ in range(2 * samples * n)]
        name = "%s_%d" % (code, samples)
        for c in range(samples):
            npy("rle_%s_%d.npy" % (name, c), code, values[c::samples])
            npy("rle_%s_%d_one.npy" % (name, c), code, values[:samples * n][c::samples])
        rle("rle_%s.dcm" % name, values, samples, bits, signed, frames=2)
        rle("rle_%s_one.dcm" % name, values[:samples * n], samples, bits, signed, parts=2)
        rle("rle_%s_parts.dcm" % name, values, samples, bits, signed, frames=2, table=None, parts=2)
rle("rle_lost.dcm", values, 3, 32, 1, frames=2, parts=2)  # no table says where the second frame begins
rle("rle_claims.dcm", [1] * n, 1, 16, 0, data=encapsulated([struct.pack("<16I", 4, *[64] * 15)]))
short = struct.pack("<16I", 2, 64, 66, *[0] * 13) + b"\x81\0\xff\1"
rle("rle_short.dcm", [1] * n, 1, 16, 0, data=encapsulated([short]))

# Series: directories of slices, whose names and numbers are in another order than their positions.
def folder(name, files):
    os.makedirs(name, exist_ok=True)
    for file, content in files.items():
        open(name + "/" + file, "wb").write(content)

def slice_of(values, z=None, number=None, uid="1.2.3", description="T1 axial", series=5, slope="1", intercept="-1024",
             size=(h, w), directions="1\\0\\0\\0\\1\\0", pad=None, **more):
    extra = [(8, 0x103e, "LO", description), (0x20, 0xe, "UI", uid), (0x20, 0x11, "IS", str(series)),
             (0x28, 0x1052, "DS", intercept), (0x28, 0x1053, "DS", slope)]
    if z is not None:
        extra += [(0x20, 0x32, "DS", "-10.5\\3\\%g" % z), (0x20, 0x37, "DS", directions)]
    if number is not None:
        extra.append((0x20, 0x13, "IS", str(number)))
    if pad is not None:
        extra.append((0x28, 0x120, "US", struct.pack("<H", pad)))
    return dicom(*size, 16, 12, 0, struct.pack("<%dH" % len(values), *values), *extra, **more)

planes = [[random.randint(0, 4095) for _ in range(n)] for _ in range(5)]
stack = sum(planes, [])
npy("stack.npy", "i2", [v - 1024 for v in stack], (5, h, w))
npy("stack2.npy", "i2", [v - 1024 for v in planes[2]], (h, w))
depths = [-7.25, -2, 3.5, 9, 100]
names = ["d", "a", "IM9", "IM10", "b"]
files = {k: slice_of(p, z, 9 - i, preamble=tiff if i else bytes(128))
         for i, (k, p, z) in enumerate(zip(names, planes, depths))}
others = {"notes.txt": b"no slice", "._d": b"junk", ".hidden.dcm": b"junk",
          "SR1": open("none.dcm", "rb").read()}
folder("series", {**files, **others})
os.makedirs("series/more")
# Sagittal: the normal is x, along which the positions are all the same; then numbers, then names.
folder("numbers", {k: slice_of(p, None, i + 7) for i, (k, p) in enumerate(zip(names, planes))})
folder("names", {"IM%d" % (i + 8): slice_of(p) for i, p in enumerate(planes)})
folder("several", {**files, "s1": slice_of(planes[2], 1, 1, "1.2.4", "Localizer", 2)})
folder("sizes", {**files, "x": slice_of(planes[0][:100], 5, 1, size=(10, 10))})
folder("damaged", {**files, "x.dcm": b""})
folder("cut", {**files, "d": files["d"][:-9]})
folder("header", {**files, "d": files["d"][:300]})
folder("reports", {"SR1": others["SR1"]})
folder("bare_files", {k: slice_of(p, z, syntax="1.2.840.10008.1.2", bare=True)
                      for k, p, z in zip(names, planes, depths)})
# Each slice has its own rescaling, as of positron emission; whole ones stay integers.
folder("slopes", {k: slice_of(p, z, slope=str(0.5 + i), intercept=str(i))
                  for i, (k, p, z) in enumerate(zip(names, planes, depths))})
npy("slopes.npy", "f8", [v * (0.5 + i) + i for i, p in enumerate(planes) for v in p], (5, h, w))
folder("whole", {k: slice_of(p, z, intercept=str(-40000 * i)) for i, (k, p, z) in enumerate(zip(names, planes, depths))})
npy("whole.npy", "i4", [v - 40000 * i for i, p in enumerate(planes) for v in p], (5, h, w))
padded = [[7 if i % 9 == 0 else max(v, 8) for i, v in enumerate(p)] for p in planes]
folder("padded", {k: slice_of(p, z, pad=7 if z > 0 else None) for k, p, z in zip(names, padded, depths)})
npy("raws.npy", "u2", sum(padded, []), (5, h, w))
npy("pads.npy", "i2", [v - 1024 for i, p in enumerate(padded) for v in p if i < 2 or v != 7])
# As on media: directories of a patient, a study and its series, and a file that lists them.
for deep, (k, content) in zip(("PAT1/ST1/SE1", "PAT1/ST1/SE1", "PAT1/ST1/SE2", "PAT1/ST2/SE1", "PAT1"), files.items()):
    os.makedirs("media/" + deep, exist_ok=True)
    open("media/%s/%s" % (deep, k), "wb").write(content)
meta = element(2, 2, "UI", "1.2.840.10008.1.3.10") + element(2, 0x10, "UI", "1.2.840.10008.1.2.1")
open("media/DICOMDIR", "wb").write(bytes(128) + b"DICM" + element(2, 0, "UL", struct.pack("<I", len(meta))) + meta +
                                   element(4, 0x1130, "CS", "TEST") + element(4, 0x1220, "SQ", b""))
os.makedirs("media/PAT1/.cache")
open("media/PAT1/.cache/x", "wb").write(files["d"])
open("media/README", "w").write("a viewer")
os.symlink("..", "media/PAT1/up")
deepest = "deep" + "/d" * 9
os.makedirs(deepest)
open(deepest + "/x.dcm", "wb").write(files["d"])
# Two times at two positions.
folder("times", {"t%d" % (9 - i): slice_of(planes[i], i % 2, i) for i in range(4)})
END

for type in u1 i1 u2 i2 u4 i4; do
    like $type.npy $type.dcm
    like $type.npy ${type}_implicit.dcm
done
for type in u2 i2 u4 i4; do
    like $type.npy ${type}_big.dcm
done
like hu.npy hu.dcm
like hu.npy hu_tiff.dcm
like hu.npy hu.dcm.gz
like hu.npy - <hu.dcm
checks=$((checks + 1))
[ "$("$histo" -b 50 hu.npy negative.npy)" = "$("$histo" -b 50 hu.dcm negative.dcm)" ] || fail "two files are counted wrong"
like negative.npy negative.dcm
like scaled.npy scaled.dcm
remarks 'left out 26 missing values' -b 50 padded.dcm
"$histo" -b 50 padded.npy | cmp -s - "$out" || fail "padding is counted"

like frames.npy frames.dcm
like frame.npy --page 1 frames.dcm
refuses 2 'has no page 3: its last page is 2' --page 3 frames.dcm
like blue.npy --channel b rgb.dcm
like blue.npy --channel b planes.dcm
like bits.npy bits.dcm
like bit_frame.npy --page 1 bits.dcm
for name in rle jpeg2000; do
    like "$support/frames.npy" "$support/$name.dcm"
done

for type in u1 i1 u2 i2 u4 i4; do
    like rle_${type}_1_0.npy rle_${type}_1.dcm
    like rle_${type}_1_0_one.npy rle_${type}_1_one.dcm
    like rle_${type}_1_0.npy rle_${type}_1_parts.dcm
    for channel in 0 1 2; do
        color=$(echo r g b | cut -d' ' -f$((channel + 1)))
        like rle_${type}_3_$channel.npy --channel $color rle_${type}_3.dcm
        like rle_${type}_3_${channel}_one.npy --channel $color rle_${type}_3_one.dcm
        like rle_${type}_3_$channel.npy --channel $color rle_${type}_3_parts.dcm
    done
done
refuses 1 'which of its compressed pixels are those of which frame' rle_lost.dcm
refuses 1 'the run lengths of frame 0 are truncated or damaged' rle_claims.dcm
refuses 1 'the run lengths of frame 0 are truncated or damaged' rle_short.dcm
head -c -20 "$support/rle.dcm" >cut_rle.dcm
refuses 1 'truncated within its compressed pixels' cut_rle.dcm
refuses 1 'truncated: 242 of the 252 bytes of its pixels are there' cut.dcm
refuses 1 'header.dcm cannot be read' header.dcm
refuses 1 'it holds no image' none.dcm

# Files without the 128 bytes in front.
like hu.npy --format dicom bare
like hu.npy --format dicom bare_explicit

# Series.
like stack.npy series
like stack.npy series/
like stack.npy --format dicom series
like stack2.npy --page 2 series
like stack2.npy --page 2 numbers
like stack2.npy --page 2 names
like stack2.npy --page 2 --format dicom bare_files
like stack.npy series/.
like stack.npy media
like stack2.npy --page 2 media/
like stack.npy --dataset 0 media
refuses 1 'media/DICOMDIR lists the images of its directory: name the directory' media/DICOMDIR
refuses 1 'deep is a directory: name the files in it' deep
like stack.npy --dataset 1 several
like stack.npy --dataset 1.2.3 several
like stack2.npy --dataset 0 several
like slopes.npy slopes
like whole.npy whole
like stack2.npy --page 2 times
remarks 'left out 42 missing values' -b 50 padded
"$histo" -b 50 pads.npy | cmp -s - "$out" || fail "padding of a series is counted"
checks=$((checks + 2))
[ "$("$histo" mi stack.npy series)" = "$("$histo" mi stack.npy stack.npy)" ] || fail "a series is not a volume for mi"
"$histo" clahe --tiles 2x2x2 series of_series.npy && "$histo" clahe --tiles 2x2x2 stack.npy of_stack.npy &&
    cmp -s of_series.npy of_stack.npy || fail "a series is not a volume for clahe"
refuses 1 'padded has missing values, which cannot be left out here: count all with --raw' mi padded stack.npy
remarks 'padded: pixels without a value, which npy cannot say, keep what is stored: 42$' equalize padded kept.npy
prints "$("$histo" mi raws.npy stack.npy)\\n" mi --raw padded stack.npy
like raws.npy --raw padded
like raw.npy --raw hu.dcm
prints 'lo\thi\tcount\n0\t256\t100\n' --mask padded.dcm -b 1 -r 0:256 mask.npy
checks=$((checks + 1))
"$histo" match stack.npy series matched.npy && "$histo" match stack.npy stack.npy unmatched.npy &&
    cmp -s matched.npy unmatched.npy ||
    fail "a series is not a reference"
refuses 2 'series has no page 5: its last page is 4' --page 5 series
refuses 1 'several holds 2 series: choose one with --dataset, by number or UID: 0: Localizer (1 file), 1: T1 axial (5 files)$' several
refuses 2 "several has no series '7': choose one" --dataset 7 several
refuses 2 'one DICOM file, and --dataset is for series in directories' --dataset 0 hu.dcm
refuses 1 'the slices of sizes differ in size: .*10 x 10' sizes
refuses 1 'damaged/x.dcm cannot be read as DICOM (GDCM): it is empty' damaged
refuses 1 'cut/d cannot be read as DICOM (GDCM): it is truncated: 243 of the 252' cut
refuses 1 'header/d cannot be read: GDCM' header
refuses 1 'reports holds DICOM files, but no images' reports
refuses 1 'bare_files is a directory: name the files in it' bare_files
refuses 1 'times has 4 dimensions' register times times
finish
