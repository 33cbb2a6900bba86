# What the header of DICOM images says of their samples: each file is counted as the .npy of the values is, or refused.
. "$(dirname "$0")/../support/check.sh"

needs dicom GDCM

makes_files <<'END'
import math, random, struct
from dicom_files import dicom, sequence
from volumes import npy

random.seed(36)
w, h = 14, 9
n = w * h
EXPLICIT, BIG, DEFLATED = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2", "1.2.840.10008.1.2.1.99"

def scale(slope, intercept):
    return [(0x28, 0x1052, "DS", intercept), (0x28, 0x1053, "DS", slope)]

def group(*elements, tag=0x9145, order="<"):
    return [(0x28, tag, "SQ", sequence(list(elements), order=order))]

def save(name, content):
    open(name + ".dcm", "wb").write(content)

# Slopes and intercepts: of each frame, of all frames, of the file; the next one that says so.
raw = [random.randint(0, 4095) for _ in range(3 * n)]
u2 = lambda values, order="<": struct.pack("%s%dH" % (order, len(values)), *(v & 65535 for v in values))
slopes, intercepts = (2, 0.5, 3), (-1000, 7, -500)
per_frame = [group(*scale(str(s), str(i))) for s, i in zip(slopes, intercepts)]
npy("frames.npy", "f8", [v * slopes[i // n] + intercepts[i // n] for i, v in enumerate(raw)])
npy("frame2.npy", "f8", [float(v * 3 - 500) for v in raw[2 * n:]])
npy("raw.npy", "u2", raw)
shared = (0x5200, 0x9229, "SQ", sequence(group(*scale("1", "-1024"))))
save("frames", dicom(h, w, 16, 12, 0, u2(raw), *scale("9", "9"), shared, (0x5200, 0x9230, "SQ", sequence(*per_frame)),
                     frames=3))
big = [group(*scale(str(s), str(i)), order=">") for s, i in zip(slopes, intercepts)]
save("frames_big", dicom(h, w, 16, 12, 0, u2(raw, ">"), (0x5200, 0x9230, "SQ", sequence(*big, order=">")), frames=3,
                         syntax=BIG, order=">"))
save("frames_deflated", dicom(h, w, 16, 12, 0, u2(raw), (0x5200, 0x9230, "SQ", sequence(*per_frame)), frames=3,
                              syntax=DEFLATED))
save("few_groups", dicom(h, w, 16, 12, 0, u2(raw), (0x5200, 0x9230, "SQ", sequence(*per_frame[:2])), frames=3))
npy("shared.npy", "i2", [v - 1024 for v in raw])
save("shared", dicom(h, w, 16, 12, 0, u2(raw), shared, (0x5200, 0x9230, "SQ", sequence([], [], [])), frames=3))
mapping = [(0x40, 0x9224, "FD", struct.pack("<d", -2)), (0x40, 0x9225, "FD", struct.pack("<d", .25))]
real = lambda *items: (0x5200, 0x9229, "SQ", sequence([(0x40, 0x9096, "SQ", sequence(*items))]))
npy("real.npy", "f8", [v * .25 - 2 for v in raw[:n]])
save("real", dicom(h, w, 16, 12, 0, u2(raw[:n]), real(mapping)))
save("real_several", dicom(h, w, 16, 12, 0, u2(raw[:n]), real(mapping, mapping)))
save("dose", dicom(h, w, 16, 16, 0, u2(raw[:n]), (0x3004, 0xe, "DS", "0.001")))
save("no_slope", dicom(h, w, 16, 12, 0, u2(raw[:n]), *scale("0", "1")))
save("no_number", dicom(h, w, 16, 12, 0, u2(raw[:n]), *scale("2.x", "1")))
npy("raw1.npy", "u2", raw[:n])

# Tables instead: values of 8 and 16 bits from a first, possibly negative, number on.
def table(count, first, bits, data, sign="US"):
    size = struct.pack("<HhH" if first < 0 else "<3H", count % 65536, first, bits)
    return [(0x28, 0x3002, sign, size), (0x28, 0x3006, "OW", data)]

lut = [random.randint(0, 65535) for _ in range(3000)]
look = lambda v, first: lut[min(max(v - first, 0), len(lut) - 1)]
save("table", dicom(h, w, 16, 12, 0, u2(raw[:n]), (0x28, 0x3000, "SQ", sequence(table(3000, 500, 16, u2(lut))))))
npy("table.npy", "u2", [look(v, 500) for v in raw[:n]])
signed = [random.randint(-2048, 2047) for _ in range(n)]
save("table_signed", dicom(h, w, 16, 12, 1, u2(signed),
                           (0x28, 0x3000, "SQ", sequence(table(3000, -1500, 16, u2(lut), "SS")))))
npy("table_signed.npy", "u2", [look(v, -1500) for v in signed])
bytes_ = [v & 255 for v in lut]
save("table_bytes", dicom(h, w, 16, 12, 0, u2(raw[:n]), (0x28, 0x3000, "SQ", sequence(table(3000, 0, 8, bytes(bytes_))))))
npy("table_bytes.npy", "u2", [bytes_[min(v, 2999)] for v in raw[:n]])
save("table_short", dicom(h, w, 16, 12, 0, u2(raw[:n]), (0x28, 0x3000, "SQ", sequence(table(3000, 0, 16, u2(lut[:9]))))))

# Samples whose highest bit is not the first one that it could be, among others' bits.
for sign in (0, 1):
    values = signed if sign else raw[:n]
    bits = [(v & 4095) << 2 | random.randint(0, 3) | random.randint(0, 3) << 14 for v in values]
    npy("high%d.npy" % sign, "i2" if sign else "u2", values)
    save("high%d" % sign, dicom(h, w, 16, 12, sign, u2(bits), high=13))

# Floats, and what is padding among them.
for code, bits, pad, limit in (("f", 32, 0x122, 0x124), ("d", 64, 0x123, 0x125)):
    name = code + str(bits)
    floats = struct.unpack("<%d%s" % (2 * n, code), struct.pack("<%d%s" % (2 * n, code),
                                                                *(random.gauss(0, 99) for _ in range(2 * n))))
    data = struct.pack("<%d%s" % (2 * n, code), *floats)
    npy(name + ".npy", "f%d" % (bits // 8), floats)
    npy(name + "_1.npy", "f%d" % (bits // 8), floats[n:])
    save(name, dicom(h, w, bits, bits, None, data, frames=2))
    save(name + "_big", dicom(h, w, bits, bits, None, struct.pack(">%d%s" % (2 * n, code), *floats), frames=2,
                              syntax=BIG, order=">"))
    save(name + "_cut", dicom(h, w, bits, bits, None, data, frames=2)[:-8])
    vr = "FL" if bits == 32 else "FD"
    ends = [(0x28, pad, vr, struct.pack("<" + code, 50)), (0x28, limit, vr, struct.pack("<" + code, 80))]
    save(name + "_padded", dicom(h, w, bits, bits, None, data, *ends, frames=2))
    npy(name + "_padded.npy", "f%d" % (bits // 8), [v for v in floats if not 50 <= v <= 80])
# Padding stays missing where values become floats, and may be a number that only all bits hold.
padded = [63536 if i % 5 == 0 else v for i, v in enumerate(raw[:n])]
save("beyond", dicom(h, w, 16, 12, 0, u2(padded), (0x28, 0x120, "US", struct.pack("<H", 63536)), *scale("0.5", "0")))
npy("beyond.npy", "f8", [v * .5 for v in padded if v != 63536])

# Bytes of words in the other order, and bytes that are none.
eight = [random.randint(0, 255) for _ in range(n)]
npy("eight.npy", "u1", eight)
save("bytes_big", dicom(h, w, 8, 8, 0, bytes(eight), syntax=BIG, order=">"))
save("words_big", dicom(h, w, 8, 8, 0, struct.pack(">%dH" % (n // 2), *struct.unpack("<%dH" % (n // 2), bytes(eight))),
                        syntax=BIG, order=">", word="OW"))
save("deflated32", dicom(h, w, 32, 22, 0, struct.pack("<%dI" % n, *raw[:n]), syntax=DEFLATED))
npy("raw32.npy", "u4", raw[:n])
whole = dicom(h, w, 16, 16, 0, u2(raw[:n]), syntax=DEFLATED)
save("deflated_cut", whole[:-50])

# Windows: what is shown, from 0 (black) to 255.
def shown(v, center, width, function="LINEAR"):
    if function == "SIGMOID":
        return 255 / (1 + math.exp(-4 * (v - center) / width))
    c, d = (center - .5, width - 1) if function == "LINEAR" else (center, width)
    return 0 if v <= c - d / 2 else 255 if v > c + d / 2 else ((v - c) / d + .5) * 255

def window(*lines, function="", tag=None):
    centers, widths, names = zip(*lines)
    found = [(0x28, 0x1050, "DS", "\\".join(map(str, centers))), (0x28, 0x1051, "DS", "\\".join(map(str, widths))),
             (0x28, 0x1055, "LO", "\\".join(names))]
    return found + ([(0x28, 0x1056, "CS", function)] if function else [])

hu = [v - 1024 for v in raw[:n]]
shades = lambda values, *how: [math.floor(shown(v, *how) + .5) for v in values]
ct = lambda *extra, **more: dicom(h, w, 16, 12, 0, u2(raw[:n]), *scale("1", "-1024"), *extra, **more)
two = window((40, 400, "BRAIN"), (300, 1500, "BONE"))
save("ct", ct(*two))
save("ct_white", ct(*two, colors="MONOCHROME1"))
save("ct_padded", ct(*two, (0x28, 0x120, "US", struct.pack("<H", raw[0]))))
save("ct_exact", ct(*window((40, 401, ""), function="LINEAR_EXACT")))
save("ct_sigmoid", ct(*window((40, 401, ""), function="SIGMOID")))
save("ct_plain", ct())
npy("brain.npy", "u1", shades(hu, 40, 400), (h, w))
npy("bone.npy", "u1", shades(hu, 300, 1500), (h, w))
npy("own.npy", "u1", shades(hu, 7.5, 1), (h, w))
npy("white.npy", "u1", [255 - v for v in shades(hu, 40, 400)], (h, w))
npy("black.npy", "u1", [s if v != hu[0] else 0 for v, s in zip(hu, shades(hu, 40, 400))], (h, w))
npy("exact.npy", "u1", shades(hu, 40, 401, "LINEAR_EXACT"), (h, w))
npy("sigmoid.npy", "u1", shades(hu, 40, 401, "SIGMOID"), (h, w))
curve = [random.randint(0, 4095) for _ in range(2000)]
save("curve", dicom(h, w, 16, 12, 0, u2(raw[:n]), *two, (0x28, 0x3010, "SQ", sequence(
    table(2000, 100, 12, u2(curve)) + [(0x28, 0x3003, "LO", "NORMAL")]))))
npy("curve.npy", "u1", [math.floor(curve[min(max(v - 100, 0), 1999)] / 4095 * 255 + .5) for v in raw[:n]], (h, w))
each = [group(*window((c, 400, "")), tag=0x9132) for c in (100, 900, 2000)]
save("ct_frames", dicom(h, w, 16, 12, 0, u2(raw), (0x5200, 0x9230, "SQ", sequence(*each)), frames=3))
npy("ct_frames.npy", "u1", sum((shades(raw[i * n:(i + 1) * n], c, 400) for i, c in enumerate((100, 900, 2000))), []))
save("ct_none", ct(*window((40, 0, "EMPTY"))))
save("rgb", dicom(h, w, 8, 8, 0, bytes(3 * n), samples=3, colors="RGB"))

# White as the smallest value.
mono = [random.randint(0, 255) for _ in range(n)]
save("mono", dicom(h, w, 8, 8, 0, bytes(mono), colors="MONOCHROME1"))
save("mono12", dicom(h, w, 16, 12, 0, u2(raw[:n]), colors="MONOCHROME1"))
npy("mono12.npy", "u2", raw[:n], (h, w))
npy("like.npy", "u2", [v * 4 for v in raw[n:2 * n]], (h, w))
npy("mono.npy", "u1", mono, (h, w))
npy("turned.npy", "u1", [255 - v for v in mono], (h, w))
import os
for name, colors in (("a", "MONOCHROME1"), ("b", "MONOCHROME2")):
    os.makedirs("mixed", exist_ok=True)
    open("mixed/" + name, "wb").write(dicom(h, w, 8, 8, 0, bytes(mono), (0x20, 0xe, "UI", "1.2.3"), colors=colors))
END

like frames.npy frames.dcm
like frames.npy frames_big.dcm
like frames.npy frames_deflated.dcm
like frame2.npy --page 2 frames.dcm
like raw.npy --raw frames.dcm
like shared.npy shared.dcm
like real.npy real.dcm
remarks 'its samples times DoseGridScaling, which is not applied, are doses' -b 50 dose.dcm
"$histo" -b 50 raw1.npy | cmp -s - "$out" || fail "samples of doses are counted wrong"
like raw1.npy --raw dose.dcm
refuses 1 'its header describes 2 of its 3 frames' few_groups.dcm
refuses 1 'maps its samples to values (RealWorldValueMappingSequence) by a table or in several ways' real_several.dcm
refuses 1 'its RescaleSlope is 0' no_slope.dcm
refuses 1 "its RescaleSlope '2.x' is not a number" no_number.dcm
for name in real_several no_slope no_number; do
    like raw1.npy --raw $name.dcm
done

like table.npy table.dcm
like table_signed.npy table_signed.dcm
like table_bytes.npy table_bytes.dcm
like raw1.npy --raw table.dcm
refuses 1 'its Modality LUT is damaged: it has 18 bytes for 3000 values of 16 bits' table_short.dcm
like high0.npy high0.dcm
like high1.npy high1.dcm

for type in f32 d64; do
    like $type.npy $type.dcm
    like $type.npy ${type}_big.dcm
    like ${type}_1.npy --page 1 $type.dcm
    refuses 1 'it is truncated' ${type}_cut.dcm
    remarks 'left out [0-9]* missing values' -b 50 ${type}_padded.dcm
    "$histo" -b 50 ${type}_padded.npy | cmp -s - "$out" || fail "padding of $type is counted"
done
remarks 'left out 26 missing values' -b 50 beyond.dcm
"$histo" -b 50 beyond.npy | cmp -s - "$out" || fail "padding beyond the samples' bits is counted"
checks=$((checks + 1))
"$histo" stretch -r minmax beyond.dcm beyond_map.npy && [ "$("$histo" summary --to json beyond_map.npy |
    grep -c '"count": *100')" = 1 ] || fail "padding among floats is mapped"

like eight.npy bytes_big.dcm
like eight.npy words_big.dcm
like raw32.npy deflated32.dcm
refuses 1 'deflated_cut.dcm cannot be read' deflated_cut.dcm

# shows ARRAY ARGUMENTS…: stretch writes this picture, and counts are those of it.
shows() {
    array=$1
    shift
    like "$array" "$@"
    checks=$((checks + 1))
    "$histo" stretch "$@" shown.pgm && "$histo" stretch -r dtype "$array" expected.pgm &&
        cmp -s shown.pgm expected.pgm || fail "stretch $*: not the picture $array"
}
shows brain.npy --window auto ct.dcm
shows brain.npy --window brain ct.dcm
shows bone.npy --window 1 ct.dcm
shows bone.npy --window BONE ct.dcm
shows own.npy --window 7.5,1 ct.dcm
shows white.npy --window auto ct_white.dcm
shows black.npy --window auto ct_padded.dcm
shows exact.npy --window auto ct_exact.dcm
shows sigmoid.npy --window auto ct_sigmoid.dcm
shows curve.npy --window auto curve.dcm
shows curve.npy --window Normal curve.dcm
like ct_frames.npy --window auto ct_frames.dcm
refuses 1 "it has no window 'lung': its windows are 0 (BRAIN), 1 (BONE)" --window lung ct.dcm
refuses 1 'it has no window: give its centre and width' --window auto ct_plain.dcm
refuses 1 'its window has the width 0' --window auto ct_none.dcm
refuses 1 'its window has the width -3' --window 5,-3 ct.dcm
refuses 1 'its pixels are colours' --window auto rgb.dcm
refuses 2 'raw1.npy was read as npy, and --window is for DICOM images' --window 40,400 raw1.npy

like mono.npy mono.dcm
remarks 'mono.dcm: its smallest value is white (MONOCHROME1), and that of the picture is black' stretch -r dtype mono.dcm \
    mono.pgm
checks=$((checks + 1))
"$histo" stretch -r dtype turned.npy turned.pgm && cmp -s turned.pgm mono.pgm || fail "MONOCHROME1 is not upright"
# turns MOST ARGUMENTS…: the picture of mono12.dcm has MOST - v for each value v of the array mono12.npy.
turns() {
    most=$1
    command=$2
    shift 2
    checks=$((checks + 1))
    "$histo" "$command" mono12.dcm "$@" turned.pgm 2>"$err" && "$histo" "$command" mono12.npy "$@" straight.pgm &&
        python3 - "$most" <<'END' || fail "$command $*: a picture of MONOCHROME1 is not upright"
import struct, sys
a, b = (open(p, "rb").read()[-252:] for p in ("turned.pgm", "straight.pgm"))
assert all(x + y == int(sys.argv[1]) for x, y in zip(struct.unpack(">126H", a), struct.unpack(">126H", b)))
END
}
turns 4095 equalize
turns 4095 clahe --tiles 2x2
turns 16383 match like.npy
turns 65535 stretch
turns 1023 stretch --to 0:1000
remarks 'its smallest value is white (MONOCHROME1), as that of the result' stretch -r dtype mono.dcm same.npy
checks=$((checks + 1))
"$histo" stretch -r dtype mono.npy expected.npy && cmp -s same.npy expected.npy || fail "values of an array are turned round"
refuses 1 'the slices of mixed differ: .*MONOCHROME1' mixed
finish
