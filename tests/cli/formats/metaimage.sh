# Volumes of MetaImage and MGH. Each is counted as the .npy of the same values is.
. "$(dirname "$0")/../support/check.sh"

makes_files <<'END'
import gzip, random, struct, zlib
from volumes import npy

random.seed(21)

def header(kind, sizes="5 7 4", file="LOCAL", order="False", more="", ndim=3):
    return ("ObjectType = Image\nNDims = %d\nBinaryData = True\nBinaryDataByteOrderMSB = %s\nTransformMatrix = 1 0 0 0 1 0 0 0 1\n"
            "%sDimSize = %s\nElementType = MET_%s\nElementDataFile = %s\n" % (ndim, order, more, sizes, kind, file)).encode()

codes = {"u1": ("UCHAR", "B", 0, 255), "i1": ("CHAR", "b", -128, 127), "u2": ("USHORT", "H", 0, 65535),
         "i2": ("SHORT", "h", -32768, 32767), "u4": ("UINT", "I", 0, 2**32 - 1), "i4": ("INT", "i", -2**31, 2**31 - 1),
         "u8": ("ULONG_LONG", "Q", 0, 2**64 - 1), "i8": ("LONG_LONG", "q", -2**63, 2**63 - 1),
         "f4": ("FLOAT", "f", None, None), "f8": ("DOUBLE", "d", None, None)}
n = 5 * 7 * 4

def save(name, *parts):
    open(name, "wb").write(b"".join(parts))

def mgh(kind, data, dims=(5, 7, 4, 1), version=1):
    return struct.pack(">7i", version, *dims, kind, 0) + bytes(256) + data

for name, (kind, letter, lo, hi) in codes.items():
    values = [random.gauss(0, 3) if lo is None else random.randint(lo, hi) for _ in range(n)]
    values = list(struct.unpack("<%d%s" % (n, letter), struct.pack("<%d%s" % (n, letter), *values)))
    npy(name + ".npy", name, values)
    npy(name + "_page.npy", name, values[70:105])
    for order, word, msb in (("<", "le", "False"), (">", "be", "True")):
        data = struct.pack("%s%d%s" % (order, n, letter), *values)
        save("%s_%s.mha" % (name, word), header(kind, order=msb), data)
        packed = zlib.compress(data)
        size = "CompressedData = True\nCompressedDataSize = %d\n" % len(packed)
        save("%s_%s_z.mha" % (name, word), header(kind, order=msb, more=size), packed)
        save("%s_%s.mhd" % (name, word), header(kind, order=msb, file="%s_%s.zraw" % (name, word), more=size))
        save("%s_%s.zraw" % (name, word), packed)
    save(name + "_text.mha", header(kind).replace(b"BinaryData = True", b"BinaryData = False"),
         " ".join(map(repr, values)).encode())
    types = {"u1": 0, "i4": 1, "f4": 3, "i2": 4, "u2": 10}
    if name in types:
        save(name + ".mgh", mgh(types[name], data))
        save(name + ".mgz", gzip.compress(mgh(types[name], data)))

values = [random.randint(0, 4095) for _ in range(n)]
data = struct.pack("<%dh" % n, *values)
npy("plain.npy", "i2", values)
npy("scaled.npy", "f8", [v * .25 + 3.5 for v in values])
npy("hu.npy", "i4", [v - 1024 for v in values])
slope = "ElementToIntensityFunctionSlope = %g\nElementToIntensityFunctionOffset = %g\n"
save("scaled.mha", header("SHORT", more=slope % (.25, 3.5)), data)
save("hu.mha", header("SHORT", more=slope % (1, -1024)), data)
save("plain.raw", b"12345" + data)
save("skip.mhd", header("SHORT", file="plain.raw", more="HeaderSize = 5\n"))
save("end.mhd", header("SHORT", file="plain.raw", more="HeaderSize = -1\n").replace(b"\n", b"\r\n"))
colors = bytes(random.randint(0, 255) for _ in range(3 * 35))
npy("green.npy", "u1", colors[1::3])
save("colors.mha", header("UCHAR", "5 7", more="ElementNumberOfChannels = 3\n", ndim=2), colors)
npy("zeros.npy", "i2", [0] * 35)
zeros = "CompressedData = True\n"
save("zeros.mha", header("SHORT", more=zeros), zlib.compress(bytes(2 * n)))
save("zeros.nrrd", b"NRRD0004\ntype: short\ndimension: 3\nsizes: 5 7 4\nkinds: space space space\nendian: little\nencoding: gzip\n\n",
     gzip.compress(bytes(2 * n)))
save("four.mgz", gzip.compress(mgh(4, struct.pack(">%dh" % n, *values), (5, 7, 2, 2))))
save("short.mha", header("SHORT"), data[:-1])
save("cut.mha", header("SHORT", more=zeros), zlib.compress(data)[:-9])
save("lost.mhd", header("SHORT", file="lost.raw"))
save("list.mhd", header("SHORT", file="LIST"))
save("slices.mhd", header("SHORT", file="slice%03d.raw 1 4 1"))
save("untyped.mha", header("STRING"), data)
save("sizes.mha", header("SHORT", "5 7"), data)
save("negative.mha", header("SHORT", "5 -7 4"), data)
save("huge.mha", header("SHORT", "999999999 999999999 999999999"), data)
save("slopeless.mha", header("SHORT", more=slope % (0, 1)), data)
save("short.mgh", mgh(4, data[:-1]))
save("head.mgh", mgh(4, data)[:100])
save("type.mgh", mgh(5, data))
save("size.mgh", mgh(4, data, (5, 7, 0, 1)))
END

for type in u1 i1 u2 i2 u4 i4 u8 i8 f4 f8; do
    for order in le be; do
        like $type.npy ${type}_$order.mha
        like $type.npy ${type}_${order}_z.mha
        like $type.npy ${type}_$order.mhd
    done
    like ${type}_page.npy --page 2 ${type}_le.mha
    like ${type}_page.npy --page 2 ${type}_be_z.mha
    like $type.npy ${type}_text.mha
    like $type.npy - <${type}_be_z.mha
done
for type in u1 i4 f4 i2 u2; do
    like $type.npy $type.mgh
    like $type.npy $type.mgz
    like ${type}_page.npy --page 2 $type.mgz
done
like scaled.npy scaled.mha
like hu.npy hu.mha
like plain.npy --raw hu.mha
like plain.npy skip.mhd
like plain.npy end.mhd
like plain.npy four.mgz
like green.npy --channel 1 colors.mha
like zeros.npy --page 3 zeros.mha
like zeros.npy --page 3 zeros.nrrd
refuses 1 'short.mha is truncated: its header describes 280 bytes of samples, of which 279 are there' short.mha
refuses 1 'cut.mha is truncated' cut.mha
refuses 1 'lost.raw: there is no such file' lost.mhd
refuses 1 'has its samples in several files: save it as .mha' list.mhd
refuses 1 'has its samples in several files: save it as .mha' slices.mhd
refuses 1 'its samples are not numbers of a known type: MET_STRING' untyped.mha
refuses 1 'its sizes (DimSize) are not as many as its dimensions' sizes.mha
refuses 1 'its sizes are not 1 to 16 positive numbers: 5 -7 4' negative.mha
refuses 1 'is damaged: its header describes more than 2^63 bytes' huge.mha
refuses 1 'its slope is not a number other than 0: 0' slopeless.mha
refuses 2 'has no page 4: its last page is 3' --page 4 hu.mha
refuses 1 'short.mgh is truncated: its header describes 280 bytes of samples, of which 279 are there' short.mgh
refuses 1 'its MGH header is cut off' head.mgh
refuses 1 'samples of the type 5 of MGH' type.mgh
refuses 1 'a dimension that is not positive' size.mgh
finish
