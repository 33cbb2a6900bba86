# FITS images and tables, written here by hand, and tiles that cfitsio compressed. Each is counted as the .npy of the
# same values is.
. "$(dirname "$0")/../support/check.sh"

needs fits cfitsio

makes_files <<'END'
import gzip, math, random, struct
from volumes import npy

random.seed(8)

def card(key, value):
    if isinstance(value, bool):
        value = "T" if value else "F"
        return ("%-8s= %20s" % (key, value)).ljust(80)
    if isinstance(value, str):
        return ("%-8s= %-20s" % (key, "'%-8s'" % value)).ljust(80)
    return ("%-8s= %20s" % (key, value)).ljust(80)

def pad(data, with_=b"\0"):
    return data + with_ * (-len(data) % 2880)

def hdu(cards, data=b"", fill=b"\0"):
    return pad(("".join(card(*c) for c in cards) + "END".ljust(80)).encode(), b" ") + pad(data, fill)

def image(bitpix, shape, data, *extra, primary=True):
    first = ("SIMPLE", True) if primary else ("XTENSION", "IMAGE")
    rest = [] if primary else [("PCOUNT", 0), ("GCOUNT", 1)]
    return hdu([first, ("BITPIX", bitpix), ("NAXIS", len(shape))] +
               [("NAXIS%d" % (i + 1), n) for i, n in enumerate(shape)] + rest + list(extra), data)

empty = hdu([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
w, h = 13, 11
n = w * h
bitpix = {"u1": 8, "i2": 16, "i4": 32, "i8": 64, "f4": -32, "f8": -64}
letters = {"u1": "B", "i2": "h", "i4": "i", "i8": "q", "f4": "f", "f8": "d"}
limits = {"u1": (0, 255), "i2": (-2**15, 2**15 - 1), "i4": (-2**31, 2**31 - 1), "i8": (-2**63, 2**63 - 1)}
kept = {}
for name in bitpix:
    values = [random.randint(*limits[name]) for _ in range(n - 2)] + list(limits[name]) if name in limits else [random.gauss(0, 1) for _ in range(n)]
    data = struct.pack(">%d%s" % (n, letters[name]), *values)
    values = kept[name] = list(struct.unpack(">%d%s" % (n, letters[name]), data))
    npy(name + ".npy", name, values)
    open(name + ".fits", "wb").write(image(bitpix[name], (w, h), data))
    open(name + ".fits.gz", "wb").write(gzip.compress(image(bitpix[name], (w, h), data)))
# Integers of the other sign by BZERO, exactly.
for name, of, zero in (("i1", "u1", -128), ("u2", "i2", 2**15), ("u4", "i4", 2**31), ("u8", "i8", 2**63)):
    npy(name + ".npy", name, [v + zero for v in kept[of]])
    data = struct.pack(">%d%s" % (n, letters[of]), *kept[of])
    open(name + ".fits", "wb").write(image(bitpix[of], (w, h), data, ("BZERO", zero), ("BSCALE", 1)))
data = struct.pack(">%dh" % n, *kept["i2"])
npy("scaled.npy", "f8", [v * 0.5 + 100.25 for v in kept["i2"]])
open("scaled.fits", "wb").write(image(16, (w, h), data, ("BSCALE", 0.5), ("BZERO", 100.25)))
blank = [-999 if i % 7 == 0 else v for i, v in enumerate(kept["i2"])]
data = struct.pack(">%dh" % n, *blank)
npy("blank.npy", "i2", [v for v in blank if v != -999])
npy("corner.npy", "i2", [blank[y * w + x] for y in range(2, 6) for x in range(3, 8) if blank[y * w + x] != -999])
open("blank.fits", "wb").write(image(16, (w, h), data, ("BLANK", -999)))
npy("half.npy", "i2", [v for i, v in enumerate(blank) if v != -999 and i % 2])
npy("odd.npy", "u1", [i % 2 for i in range(n)])
odd = open("odd.npy", "rb").read()
open("odd.npy", "wb").write(odd.replace(b"(143,), }  ", b"(11, 13), }"))
open("blank_scaled.fits", "wb").write(image(16, (w, h), data, ("BLANK", -999), ("BSCALE", 0.5)))
npy("blank_scaled.npy", "f8", [math.nan if v == -999 else v * 0.5 for v in blank])
cube = [random.randint(0, 4000) for _ in range(n * 3)]
npy("cube.npy", "i2", cube)
npy("slice.npy", "i2", cube[n:2 * n])
open("cube.fits", "wb").write(image(16, (w, h, 3, 1), struct.pack(">%dh" % (3 * n), *cube)))
open("cut.fits", "wb").write(image(16, (w, h, 3), struct.pack(">%dh" % (3 * n), *cube))[:2880])
one, two = kept["i2"], kept["i4"]
open("several.fits", "wb").write(
    empty + image(16, (w, h), struct.pack(">%dh" % n, *one), ("EXTNAME", "SCI"), primary=False) +
    image(32, (w, h), struct.pack(">%di" % n, *two), ("EXTNAME", "ERR"), ("EXTVER", 1), primary=False) +
    image(16, (w, h), struct.pack(">%dh" % n, *blank), ("EXTNAME", "ERR"), ("EXTVER", 2), ("BLANK", -999), primary=False))

# Tiles, compressed by gzip: a row each.
rows = [gzip.compress(struct.pack(">%di" % w, *two[y * w:(y + 1) * w])) for y in range(h)]
places = b"".join(struct.pack(">ii", len(r), sum(map(len, rows[:y]))) for y, r in enumerate(rows))
open("gzip.fits.fz", "wb").write(empty + hdu(
    [("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 8), ("NAXIS2", h),
     ("PCOUNT", sum(map(len, rows))), ("GCOUNT", 1), ("TFIELDS", 1), ("TTYPE1", "COMPRESSED_DATA"), ("TFORM1", "1PB"),
     ("ZIMAGE", True), ("ZCMPTYPE", "GZIP_1"), ("ZBITPIX", 32), ("ZNAXIS", 2), ("ZNAXIS1", w), ("ZNAXIS2", h),
     ("ZTILE1", w), ("ZTILE2", 1)], places + b"".join(rows)))

# Infinities are no NaN, in tiles neither.
for name in ("f4", "f8"):
    special = [math.inf, -math.inf, math.nan, math.inf] + kept[name][4:]
    npy("special_%s.npy" % name, name, special)
    packed = struct.pack(">%d%s" % (n, letters[name]), *special)
    open("special_%s.fits" % name, "wb").write(image(bitpix[name], (w, h), packed))
    rows = [gzip.compress(packed[y * len(packed) // h:(y + 1) * len(packed) // h]) for y in range(h)]
    places = b"".join(struct.pack(">ii", len(r), sum(map(len, rows[:y]))) for y, r in enumerate(rows))
    open("special_%s.fits.fz" % name, "wb").write(empty + hdu(
        [("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 8), ("NAXIS2", h),
         ("PCOUNT", sum(map(len, rows))), ("GCOUNT", 1), ("TFIELDS", 1), ("TTYPE1", "COMPRESSED_DATA"),
         ("TFORM1", "1PB"), ("ZIMAGE", True), ("ZCMPTYPE", "GZIP_1"), ("ZBITPIX", bitpix[name]), ("ZNAXIS", 2),
         ("ZNAXIS1", w), ("ZNAXIS2", h), ("ZTILE1", w), ("ZTILE2", 1)], places + b"".join(rows)))

# Tables.
N = 1000
ids = [random.randint(-30000, 30000) for _ in range(N)]
ids[::10] = [-1] * 100
mags = [struct.unpack(">f", struct.pack(">f", random.gauss(20, 2)))[0] for _ in range(N)]
wide = [random.randint(0, 2**32 - 1) for _ in range(N)]
vector = [random.random() for _ in range(3 * N)]
large = [random.randint(0, 2**64 - 1) for _ in range(N)]
flags = [random.randint(0, 1) for _ in range(N)]
npy("id.npy", "i2", [v for v in ids if v != -1])
npy("mag.npy", "f4", mags)
npy("paired.npy", "f4", [m for i, m in zip(ids, mags) if i != -1])
npy("wide.npy", "u4", wide)
npy("vector.npy", "f8", vector)
npy("large.npy", "u8", large)
npy("flag.npy", "u1", flags)
npy("temp.npy", "f8", [i * 0.1 + 5 for i in ids])
body = b"".join(struct.pack(">hfi3d", ids[i], mags[i], wide[i] - 2**31, *vector[3 * i:3 * i + 3]) +
                (b"T" if flags[i] else b"F") + b"name%03d\0" % i + struct.pack(">hq", ids[i], large[i] - 2**63) for i in range(N))
columns = [("id", "I"), ("mag", "E"), ("wide", "J"), ("vector", "3D"), ("flag", "L"), ("name", "8A"), ("temp", "I"), ("large", "K")]
table = hdu([("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", len(body) // N), ("NAXIS2", N),
             ("PCOUNT", 0), ("GCOUNT", 1), ("TFIELDS", len(columns))] +
            [("TTYPE%d" % (i + 1), c[0]) for i, c in enumerate(columns)] +
            [("TFORM%d" % (i + 1), c[1]) for i, c in enumerate(columns)] +
            [("TNULL1", -1), ("TZERO3", 2**31), ("TSCAL7", 0.1), ("TZERO7", 5), ("TZERO8", 2**63), ("EXTNAME", "CAT")], body)
open("table.fits", "wb").write(empty + table)
open("both.fits", "wb").write(image(16, (w, h), struct.pack(">%dh" % n, *one), ("EXTEND", True)) + table)
real = [random.gauss(0, 1) for _ in range(N)]
npy("real.npy", "f8", [float("%.9f" % v) for v in real])
npy("whole.npy", "i8", [i for i in ids if i != -1])
lines = "".join("%6s %13.9f %-5s" % ("none  " if i == -1 else i, r, "x") for i, r in zip(ids, real)).encode()
open("ascii.fits", "wb").write(empty + hdu(
    [("XTENSION", "TABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 26), ("NAXIS2", N), ("PCOUNT", 0), ("GCOUNT", 1),
     ("TFIELDS", 3), ("TTYPE1", "whole"), ("TBCOL1", 1), ("TFORM1", "I6"), ("TNULL1", "none"), ("TTYPE2", "real"),
     ("TBCOL2", 8), ("TFORM2", "F13.9"), ("TTYPE3", "word"), ("TBCOL3", 22), ("TFORM3", "A5")], lines, b" "))
open("empty.fits", "wb").write(empty)
END

for type in u1 i1 i2 u2 i4 u4 i8 u8 f4 f8; do
    like $type.npy $type.fits
done
for type in u1 i2 i4 i8 f4 f8; do
    like $type.npy $type.fits.gz
    like $type.npy - <$type.fits.gz
    like $type.npy - <$type.fits
done
for type in f4 f8; do
    like special_$type.npy special_$type.fits
    like special_$type.npy special_$type.fits.fz
done
like scaled.npy scaled.fits
like blank_scaled.npy blank_scaled.fits

# missing WORDS ARRAY ARGUMENTS…: as like, but for a remark on what is missing.
missing() {
    words=$1
    array=$2
    shift 2
    remarks "left out $words" -b 50 "$@"
    "$histo" -b 50 "$array" | cmp -s - "$out" || fail "histo $*: not the counts of $array"
}
missing '21 missing values' blank.npy blank.fits
missing '3 missing values' corner.npy --roi 3,2,5,4 blank.fits
missing '21 rows with a missing value' half.npy --mask odd.npy blank.fits

like cube.npy cube.fits
like slice.npy --page 1 cube.fits
like cube.npy --page all cube.fits
refuses 2 'has no page 3: its last page is 2' --page 3 cube.fits

# Units.
like i2.npy --dataset SCI several.fits
like i2.npy --dataset 1 several.fits
like i4.npy --dataset ERR several.fits
missing '21 missing values' blank.npy --dataset err,2 several.fits
refuses 1 'holds 3 images and tables: .* 1 (SCI), 2 (ERR), 3 (ERR)' several.fits
refuses 1 "no image or table 'DQ'" --dataset DQ several.fits
refuses 1 'has no data' --dataset 0 several.fits
refuses 1 'no image and no table' empty.fits
like i2.npy both.fits
like mag.npy --dataset CAT --column mag both.fits

like i4.npy gzip.fits.fz
for tiles in rice hcompress plio quantized; do
    like "$support/$tiles.npy" "$support/$tiles.fits.fz"
done

# Tables.
missing '100 missing values' id.npy --column id table.fits
like mag.npy --column mag table.fits
like wide.npy --column wide table.fits
like vector.npy --column vector table.fits
like large.npy --column large table.fits
like flag.npy --column flag table.fits
like temp.npy --column temp table.fits
remarks 'left out 100 rows with a missing value' -b '4;4' --joint id,mag table.fits
refuses 1 'column name holds strings, not plain numbers' --column mag --weights name table.fits
refuses 2 'has no column' --column nothing table.fits
refuses 2 'has 1 values in a row, and column vector has 3' --column mag,vector table.fits
missing '100 missing values' whole.npy --column whole ascii.fits
like real.npy --column real ascii.fits

refuses 1 'cut.fits, 0 cannot be read (cfitsio: .*truncated or damaged' cut.fits
# Without BSCALE and BZERO; BLANK stands for none among what is stored.
like i2.npy --raw scaled.fits
remarks 'blank_scaled.fits: left out 21 missing values' summary --raw --to json blank_scaled.fits
refuses 2 'is a table, and --raw is for images of FITS: leave it out' --raw table.fits

finish
