# Volumes of scientific formats that the command reads itself: NIfTI and NRRD. Each is counted as the .npy of the same
# values is.
. "$(dirname "$0")/../support/check.sh"

makes_files <<'END'
import bz2, gzip, random, struct
from volumes import npy

random.seed(20)

def nifti(dims, kind, data, order="<", two=False, slope=0.0, intercept=0.0, magic=None, offset=None):
    size = 540 if two else 348
    h = bytearray(size)
    dims = [len(dims)] + list(dims) + [1] * (7 - len(dims))
    offset = size + 4 if offset is None else offset
    struct.pack_into(order + "i", h, 0, size)
    if two:
        h[4:12] = (magic or b"n+2\0") + b"\r\n\x1a\n"
        struct.pack_into(order + "hh8q", h, 12, kind, 0, *dims)
        struct.pack_into(order + "qdd", h, 168, offset, slope, intercept)
    else:
        struct.pack_into(order + "8h", h, 40, *dims)
        struct.pack_into(order + "h", h, 70, kind)
        struct.pack_into(order + "fff", h, 108, offset, slope, intercept)
        h[344:348] = magic or b"n+1\0"
    return bytes(h) + b"\0" * (offset - size) + data

codes = {"u1": (2, "B", 0, 255), "i1": (256, "b", -128, 127), "u2": (512, "H", 0, 65535), "i2": (4, "h", -32768, 32767),
         "u4": (768, "I", 0, 2**32 - 1), "i4": (8, "i", -2**31, 2**31 - 1), "u8": (1280, "Q", 0, 2**64 - 1),
         "i8": (1024, "q", -2**63, 2**63 - 1), "f4": (16, "f", None, None), "f8": (64, "d", None, None)}
n = 5 * 7 * 4
for name, (kind, letter, lo, hi) in codes.items():
    values = [random.gauss(0, 3) if lo is None else random.randint(lo, hi) for _ in range(n)]
    values = list(struct.unpack("<%d%s" % (n, letter), struct.pack("<%d%s" % (n, letter), *values)))
    npy(name + ".npy", name, values)
    for order, word in (("<", "le"), (">", "be")):
        data = struct.pack("%s%d%s" % (order, n, letter), *values)
        open("%s_%s.nii" % (name, word), "wb").write(nifti((5, 7, 4), kind, data, order))
        open("%s_%s.nii.gz" % (name, word), "wb").write(gzip.compress(nifti((5, 7, 4), kind, data, order, two=True)))
        nrrd = "NRRD0004\n# by hand\ntype: %s\ndimension: 3\nsizes: 5 7 4\nkinds: domain domain domain\nendian: %s\nkey:=value\n" % (
            {"u1": "uchar", "i1": "signed char", "u2": "unsigned short", "i2": "int16", "u4": "uint32_t", "i4": "int",
             "u8": "uint64", "i8": "long long int", "f4": "float", "f8": "double"}[name],
            "little" if order == "<" else "big")
        open("%s_%s.nrrd" % (name, word), "wb").write((nrrd + "encoding: raw\n\n").encode() + data)
        open("%s_%s_gz.nrrd" % (name, word), "wb").write((nrrd + "encoding: gzip\n\n").encode() + gzip.compress(data))
        open("%s_%s_hex.nrrd" % (name, word), "wb").write((nrrd + "encoding: hex\n\n").encode() + data.hex(" ").encode())
    text = " ".join(repr(v) for v in values)
    open(name + "_text.nrrd", "w").write(nrrd + "encoding: ascii\n\n" + text + "\n")

values = [random.randint(0, 4095) for _ in range(n)]
data = struct.pack("<%dh" % n, *values)
npy("page.npy", "i2", values[2 * 35:3 * 35])
npy("corner.npy", "i2", [values[z * 35 + y * 5 + x] for z in range(4) for y in range(1, 3) for x in range(2, 5)])
npy("plain.npy", "i2", values)
open("plain.nii", "wb").write(nifti((5, 7, 4), 4, data))
open("four.nii", "wb").write(nifti((5, 7, 2, 2), 4, data))
npy("hu.npy", "i4", [v - 1024 for v in values])
open("hu.nii", "wb").write(nifti((5, 7, 4), 4, data, slope=1, intercept=-1024))
npy("scaled.npy", "f8", [v * 0.25 + 3.5 for v in values])
open("scaled.nii", "wb").write(nifti((5, 7, 4), 4, data, slope=0.25, intercept=3.5))
open("half_scaled.nii", "wb").write(nifti((5, 7, 4), 4, data, slope=0.25, intercept=float("nan")))
open("pair.hdr", "wb").write(nifti((5, 7, 4), 4, b"", magic=b"ni1\0", offset=348)[:348])
h = bytearray(open("pair.hdr", "rb").read()); struct.pack_into("<f", h, 108, 0.0); open("pair.hdr", "wb").write(h)
open("pair.img", "wb").write(data)
open("lonely.hdr", "wb").write(h)
npy("mask.npy", "i2", [v for v in values if v > 2000])
open("mask.nii", "wb").write(nifti((5, 7, 4), 2, bytes(v > 2000 for v in values)))
rgb = bytes(random.randrange(256) for _ in range(3 * 12))
npy("green.npy", "u1", list(rgb[1::3]))
open("rgb.nii", "wb").write(nifti((4, 3), 128, rgb))
open("rgb.nrrd", "wb").write(b"NRRD0005\ntype: uint8\ndimension: 3\nsizes: 3 4 3\nkinds: RGB-color domain domain\nencoding: raw\n\n" + rgb)
open("short.nii", "wb").write(nifti((5, 7, 4), 4, data)[:-1])
open("short.nii.gz", "wb").write(gzip.compress(nifti((5, 7, 4), 4, data)[:-1]))
open("complex.nii", "wb").write(nifti((2,), 32, b"\0" * 16))
open("absurd.nii", "wb").write(nifti((32767,) * 7, 64, b""))
open("none.nii", "wb").write(nifti((5, 0), 4, b""))
detached = "NRRD0004\ntype: short\ndimension: 3\nsizes: 5 7 4\nendian: little\nencoding: %s\nbyte skip: %d\nline skip: %d\ndata file: %s\n"
open("a.nhdr", "w").write(detached % ("raw", 0, 0, "a.raw"))
open("a.raw", "wb").write(data)
open("b.nhdr", "w").write(detached % ("gzip", 0, 0, "b.raw.gz"))
open("b.raw.gz", "wb").write(gzip.compress(data))
open("c.nhdr", "w").write(detached % ("raw", 3, 2, "c.raw"))
open("c.raw", "wb").write(b"one\ntwo\nxyz" + data)
open("d.nhdr", "w").write(detached % ("raw", -1, 0, "c.raw"))
# Bytes are skipped after decompression, lines before it.
open("e.nhdr", "w").write(detached % ("gzip", 3, 0, "e.raw.gz"))
open("e.raw.gz", "wb").write(gzip.compress(b"xyz" + data))
open("f.nhdr", "w").write(detached % ("gzip", 3, 1, "f.raw"))
open("f.raw", "wb").write(b"one\n" + gzip.compress(b"xyz" + data))
open("g.nhdr", "w").write(detached % ("bz2", 3, 0, "g.bz2"))
open("g.bz2", "wb").write(bz2.compress(b"xyz" + data))
attached = detached[:detached.index("data file")] + "\n"
open("skip_gz.nrrd", "wb").write((attached % ("gzip", 3, 1)).encode() + b"one\n" + gzip.compress(b"xyz" + data))
open("skip_raw.nrrd", "wb").write((attached % ("raw", 3, 2)).encode() + b"one\ntwo\nxyz" + data)
open("skip_cut.nrrd", "wb").write((attached % ("gzip", 3, 0)).encode() + gzip.compress(b"xyz" + data)[:-6])
open("skip_far.nrrd", "wb").write((attached % ("gzip", 2**62, 0)).encode() + gzip.compress(b"xyz" + data))
open("end.nrrd", "wb").write((attached % ("raw", -1, 0)).encode() + b"header of another program" + data)
open("end_short.nrrd", "wb").write((attached % ("raw", -1, 0)).encode() + data[1:])
open("end_gz.nrrd", "wb").write((attached % ("gzip", -1, 0)).encode() + gzip.compress(data))
open("lost.nhdr", "w").write(detached % ("raw", 0, 0, "lost.raw"))
open("bz.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 140\nencoding: bzip2\n\n" + bz2.compress(bytes(v % 256 for v in values)))
npy("low.npy", "u1", [v % 256 for v in values])
gz = b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 140\nencoding: gzip\n\n" + gzip.compress(bytes(v % 256 for v in values))
open("cut_gz.nrrd", "wb").write(gz[:-6])
open("changed_gz.nrrd", "wb").write(gz[:-6] + bytes(6))
open("odd.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: zrl\n\nabc")
open("lies.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: gzip\n\nabc")
open("untyped.nrrd", "wb").write(b"NRRD0004\ndimension: 1\nsizes: 3\nencoding: raw\n\nabc")
open("short.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 4\nencoding: raw\n\nabc")
open("word.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 1\nsizes: 3\nencoding: text\n\n1 256 3")
END

for type in u1 i1 u2 i2 u4 i4 u8 i8 f4 f8; do
    for order in le be; do
        like $type.npy ${type}_$order.nii
        like $type.npy ${type}_$order.nii.gz
        for encoding in '' _gz _hex; do
            like $type.npy ${type}_$order$encoding.nrrd
        done
    done
    like $type.npy ${type}_text.nrrd
    like $type.npy - <${type}_be.nii.gz
done

# Slices are pages; a region is of each slice; a mask is of the whole volume.
like page.npy --page 2 plain.nii
like page.npy --page 2 four.nii
like plain.npy --page all four.nii
like plain.npy four.nii
like corner.npy --roi 2,1,3,2 plain.nii
refuses 2 'has no page 4: its last page is 3' --page 4 plain.nii
shows '^lo,hi,page 0,page 1,page 2,page 3$' --batch --page all -b 2 --to csv plain.nii
checks=$((checks + 1))
[ "$("$histo" -b 50 --mask mask.nii plain.nii)" = "$("$histo" -b 50 mask.npy)" ] || fail "the mask of a volume is wrong"
checks=$((checks + 1))
cat plain.nii | "$histo" -b 50 - >"$out" && "$histo" -b 50 plain.npy | cmp -s - "$out" || fail "a volume from a pipe"

# Values as the header scales them.
like hu.npy hu.nii
like scaled.npy scaled.nii
like plain.npy --raw scaled.nii
like plain.npy --raw half_scaled.nii
refuses 1 'has a slope (scl_slope) without an intercept' half_scaled.nii
like plain.npy pair.hdr
refuses 1 'pair.img has no header: name the .hdr file' pair.img
like green.npy --channel g rgb.nii
like green.npy --channel g rgb.nrrd
for name in a b c d e f g; do
    like plain.npy $name.nhdr
done

like plain.npy skip_gz.nrrd
like plain.npy skip_raw.nrrd
like plain.npy - <skip_gz.nrrd
like plain.npy end.nrrd
refuses 1 'skip_cut.nrrd is truncated: the end of its compressed samples is missing' skip_cut.nrrd
refuses 1 'skip_far.nrrd is damaged' skip_far.nrrd
refuses 1 'end_short.nrrd is truncated: its header describes 280 bytes of samples, of which 279 are there' end_short.nrrd
refuses 1 'a byte skip of -1 is for raw samples' end_gz.nrrd
refuses 1 'short.nii is truncated: its header describes 280 bytes of samples, of which 279 are there' short.nii
refuses 1 'short.nii.gz is truncated' short.nii.gz
refuses 1 'complex numbers' complex.nii
refuses 1 'is truncated\|is damaged' absurd.nii
refuses 1 'a dimension that is not positive' none.nii
refuses 1 'samples are in an .img file of the same name' lonely.hdr
refuses 1 'lost.raw: there is no such file' lost.nhdr
mkfifo fifo.raw
sed s/lost.raw/fifo.raw/ lost.nhdr >fifo.nhdr
refuses 1 "fifo.raw, which fifo.nhdr names, is not a regular file" fifo.nhdr
like low.npy bz.nrrd
refuses 1 'cut_gz.nrrd is truncated: the end of its compressed samples is missing' cut_gz.nrrd
refuses 1 'changed_gz.nrrd is damaged: its compressed samples are invalid' changed_gz.nrrd
refuses 1 "encoding 'zrl'" odd.nrrd
refuses 1 'not compressed as its header says' lies.nrrd
refuses 1 'the type is missing' untyped.nrrd
refuses 1 'is truncated' short.nrrd
refuses 1 "holds '256'" word.nrrd
finish
