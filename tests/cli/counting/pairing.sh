# Images read in step: mi, register, outliers.
. "$(dirname "$0")/../support/check.sh"

printf 'P5\n4 2\n255\n\001\002\002\003\011\002\001\004' >a.pgm
printf 'P5\n4 2\n255\n\011\022\022\033\111\022\011\044' >b.pgm
printf 'P5\n2 4\n255\n\011\022\022\033\111\022\011\044' >tall.pgm
printf 'P5\n4 2\n255\n\0\1\1\0\0\1\1\1' >some.pgm
printf 'P5\n4 2\n255\n\0\0\0\0\0\0\0\0' >none.pgm
printf 'P6\n2 1\n255\n\001\002\003\005\006\007' >rgb.ppm
printf '\000\001\001\000' | npy two.npy '|u1' '(2, 2)'
python3 - <<'END'
import array, random
random.seed(1)
H, W = 60, 80
big = [[int(30 + 25 * ((x * x // 40 + y * y // 23 + x * y // 31) % 7)) + random.randrange(4) for x in range(W + 20)] for y in range(H + 20)]
def crop(dx, dy, change=lambda v: v):
    return bytes(change(big[y + 10 - dy][x + 10 - dx]) for y in range(H) for x in range(W))
def pgm(name, pixels):
    open(name, "wb").write(b"P5\n%d %d\n255\n" % (W, H) + pixels)
def npy(name, dtype, shape, data, fortran=False):
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (dtype, fortran, shape)
    open(name, "wb").write(b"\x93NUMPY\1\0v\0" + head.ljust(117).encode() + b"\n" + data)
pgm("fixed.pgm", crop(0, 0))
pgm("zero.pgm", bytes(W * H))
gray = crop(0, 0)
open("color.ppm", "wb").write(b"P6\n%d %d\n255\n" % (W, H) + bytes(v for g in gray for v in (g, 255 - g, g // 2)))
pgm("moved.pgm", crop(7, -4, lambda v: 255 - v * v // 255))
D, N = (-2, 3, 1), (12, 20, 24)
noise = {}
def at(z, y, x):
    return noise.setdefault((z, y, x), random.randrange(1000))
def volume(dz, dy, dx):
    return array.array("H", (at(z - dz, y - dy, x - dx) for z in range(N[0]) for y in range(N[1]) for x in range(N[2])))
npy("v.npy", "<u2", N, volume(0, 0, 0).tobytes())
npy("w.npy", "<u2", N, volume(*D).tobytes())
npy("f.npy", "<f4", N, array.array("f", volume(*D)).tobytes())
npy("fortran.npy", "<u2", N, volume(*D).tobytes(), True)
for die in range(4):
    pixels = bytearray(crop(0, 0))
    for i in range(len(pixels)):
        pixels[i] += random.randrange(3)
    if die == 2:
        pixels[40 * W + 25] += 40
        pixels[0] -= 25
    if die == 3:
        pixels[H * W - 1] += 40
    pgm("die%d.pgm" % die, bytes(pixels))
    npy("die%d.npy" % die, "<u2", (H, W), array.array("H", (v * 40 for v in pixels)).tobytes())
END

# Mutual information, of equal entropies where one image follows from the other.
shows '^8	1.49417[0-9]*	1.49417[0-9]*	1.49417[0-9]*	1.49417[0-9]*	2$' mi a.pgm b.pgm
shows '^5	0.950270539233234[0-9]*	' mi --mask some.pgm -b 64 a.pgm b.pgm
prints 'samples\th_a\th_b\th_ab\tmi\tnmi\n8\t0\t0\t0\t0\t1\n' mi none.pgm none.pgm
shows '"samples": 6,' mi --to json -b '2;3' -r '0:4;0:30' a.pgm b.pgm
shows '^4	1.0397' mi --roi 0,0,2,2 a.pgm b.pgm
shows '^5760	' mi v.npy f.npy
shows '^5760	6.' mi -b 1000000 v.npy w.npy
refuses 1 'has 4 x 2 pixels, and tall.pgm has 2 x 4 pixels: their shapes must be equal' mi a.pgm tall.pgm
refuses 1 'their shapes must be equal' mi a.pgm two.npy
refuses 1 'stored by rows and .* by columns' mi v.npy fortran.npy
refuses 2 'has 3 channels to count, but one is needed' mi rgb.ppm rgb.ppm
refuses 1 'no finite sample' mi --mask none.pgm a.pgm b.pgm
refuses 1 'no unmasked samples in the bins' mi -r 100:200 a.pgm a.pgm
refuses 2 'takes two images' mi a.pgm
refuses 2 'standard input can be read only once' mi - -
refuses 2 'has no option --skip-bad' mi --skip-bad a.pgm b.pgm

# The shift, whole and in parts, of images and volumes of any types.
shows '^7	-4	' register fixed.pgm moved.pgm
shows '^-7	4	' register moved.pgm fixed.pgm
shows '^7	-4	' register --search 8 -b 16 --threads 1 fixed.pgm moved.pgm back.pgm
shows '^0	0	' register fixed.pgm back.pgm
shows '^7\(\.0[0-9]*\)\?	-[34]\.[0-9]*	' register --interpolate fixed.pgm moved.pgm
shows '^0	0	' register --channel gray color.ppm color.ppm same.ppm
cmp color.ppm same.ppm || fail 'an image that is not moved is another one'
shows '^-7	4	' register --channel gray moved.pgm color.ppm colors.ppm
prints 'name\tq\tvalue\nr\t0\t0\ng\t0\t0\nb\t0\t0\n' quantile -q 0 --roi 0,0,7,60 colors.ppm
prints 'metric\tvalue\nintersection\t1\n' compare --metric intersection --channel r --roi 7,0,73,56 colors.ppm colors.ppm
shows '^1	3	-2	' register v.npy w.npy
shows '^1	3	-2	' register v.npy f.npy moved.npy
prints 'metric\tvalue\nintersection\t1\n' compare --metric intersection moved.npy moved.npy
shows '^0	0	0	' register -b 16 --search 2 v.npy v.npy
refuses 1 'share no information' register none.pgm none.pgm
refuses 1 'no finite sample' register --mask zero.pgm fixed.pgm moved.pgm
refuses 1 'different shapes' register fixed.pgm a.pgm
refuses 2 'takes two images' register fixed.pgm
refuses 2 'no image format has the suffix .xyz' register fixed.pgm moved.pgm out.xyz
refuses 2 'would overwrite its input' register fixed.pgm moved.pgm moved.pgm
refuses 2 'holds' register v.npy f.npy out.png
refuses 2 'is printed on standard output' register fixed.pgm moved.pgm -
refuses 1 'cannot be written' register fixed.pgm moved.pgm missing/out.pgm
refuses 2 'search' register --search 0 fixed.pgm moved.pgm

# Planted outliers, all of them and no other, by file or page, of bytes or wider samples.
found='die\tx\ty\tmean\tdifference\n'
shows '^2	25	40	' outliers --pairs ring die0.pgm die1.pgm die2.pgm die3.pgm
places() { "$histo" outliers "$@" | cut -f1-3 | tr '\t\n' ', '; }
for type in pgm npy; do
    for pairs in ring apart; do
        checks=$((checks + 1))
        [ "$(places --pairs $pairs die0.$type die1.$type die2.$type die3.$type)" = 'die,x,y 2,0,0 2,25,40 3,79,59 ' ] ||
            fail "outliers of $type in pairs $pairs: $(places --pairs $pairs die0.$type die1.$type die2.$type die3.$type)"
    done
done
[ "$(places --pairs ring --page all die0.pgm die1.pgm die2.pgm die3.pgm)" = 'die,x,y 2,0,0 2,25,40 3,79,59 ' ] || fail 'outliers of pages'
[ "$(places --pairs ring --roi 20,30,10,20 die0.pgm die1.pgm die2.pgm die3.pgm)" = 'die,x,y 2,5,10 ' ] || fail 'outliers of a region'
prints "$found" outliers --pairs ring die0.pgm die0.pgm die0.pgm
prints '[]\n' outliers --pairs ring --sigma 1000 --to json die0.pgm die1.pgm die2.pgm
shows '^2	25	40	' outliers --pairs ring -o flags.pgm die0.pgm die1.pgm die2.pgm die3.pgm
prints 'count\tmean\tstd\tskewness\tkurtosis\tentropy\tmin\tmax\tmode\n1\t255\t0\tnan\tnan\t0\t255\t255\t255\n' \
    summary --roi 25,40,1,1 flags.pgm
shows '^2	25	40	' outliers --pairs ring -o - die0.pgm die1.pgm die2.pgm die3.pgm
shows '^4800	0.159375	' summary flags.pgm
"$histo" outliers --pairs ring -o flags.csv die0.pgm die1.pgm die2.pgm die3.pgm
[ "$(cut -d, -f1-3 flags.csv | tr '\n' ' ')" = 'die,x,y 2,0,0 2,25,40 3,79,59 ' ] || fail 'the table is not in flags.csv'
refuses 2 'no image format has the suffix .xyz' outliers --pairs ring -o flags.xyz die0.pgm die1.pgm die2.pgm
refuses 2 'would overwrite its input' outliers --pairs ring -o die0.pgm die0.pgm die1.pgm die2.pgm
refuses 2 'add --pairs ring or' outliers die0.pgm die1.pgm die2.pgm
refuses 2 'even number of images' outliers --pairs apart die0.pgm die1.pgm die2.pgm
refuses 1 'their shapes must be equal' outliers --pairs ring die0.pgm die1.pgm a.pgm
refuses 1 'all images need the same type' outliers --pairs ring die0.pgm die1.pgm die2.npy
refuses 2 'takes a number above 0' outliers --pairs ring --sigma -1 die0.pgm die1.pgm die2.pgm
refuses 2 'nothing to inspect' outliers --pairs ring

# Images of any type: each as it is scaled, with a sample that is far off and one that is missing. Of two, the last is
# the reference.
makes_files <<'END'
import random, struct
random.seed(6)
W, H = 60, 50
scene = [[60 + 60 * ((x // 6 + y // 6) % 2) for x in range(W)] for y in range(H)]
def die(changes):
    rows = [[v + random.gauss(0, 1.5) for v in row] for row in scene]
    for x, y, by in changes:
        rows[y][x] += by
    return [v for row in rows for v in row]
dies = [die([(20, 10, 60)]), die([(5, 30, -50)]), die([(59, 0, 70), (57, 1, 70)]), die([])]
kinds = {"u1": ("B", 1, 0), "u2": ("H", 100, 0), "i1": ("b", .5, -60), "i2": ("h", 100, -20000),
         "i4": ("i", 10000, -10**6), "f4": ("f", 1e-3, 0), "f8": ("d", 1e5, -3e6)}
for name, (code, scale, offset) in kinds.items():
    for i, pixels in enumerate(dies):
        values = [v * scale + offset for v in pixels]
        values = values if code in "fd" else [round(v) for v in values]
        head = "{'descr': '<%s', 'fortran_order': False, 'shape': (%d, %d), }" % (name, H, W)
        if name == "f4" and i == 3:
            values[0], values[77] = 1e6, float("nan")
        open("%s-%d.npy" % (name, i), "wb").write(b"\x93NUMPY\1\0v\0" + head.ljust(117).encode() + b"\n" +
                                                struct.pack("<%d%s" % (W * H, code), *values))
END
for type in u1 u2 i1 i2 i4 f4 f8; do
    checks=$((checks + 1))
    all='2,59,0 2,57,1 0,20,10 1,5,30 '
    [ $type = f4 ] && all="3,0,0 $all"
    [ "$(places --pairs ring $type-0.npy $type-1.npy $type-2.npy $type-3.npy)" = "die,x,y $all" ] ||
        fail "outliers of $type: $(places --pairs ring $type-0.npy $type-1.npy $type-2.npy $type-3.npy)"
    [ "$(places $type-0.npy $type-1.npy)" = 'die,x,y 0,20,10 0,5,30 ' ] || fail "die to database of $type"
done
refuses 2 'give its reference, too' outliers --pairs ring die0.pgm

# Review images: of images with outliers only, which are framed.
rm -f review-*
"$histo" outliers --pairs ring --review review.ppm f8-0.npy f8-1.npy f8-2.npy f8-3.npy >"$out" || fail 'review'
[ "$(echo review-*)" = 'review-0.ppm review-1.ppm review-2.ppm' ] || fail "reviewed: $(echo review-*)"
checks=$((checks + 1))
python3 - <<'END' || fail 'frames are wrong'
import sys
data = open("review-0.ppm", "rb").read()[-60 * 50 * 3:]
red = {(i % 60, i // 60) for i in range(60 * 50) if data[3 * i:3 * i + 3] == bytes([230, 30, 30])}
frame = {(x, y) for x in range(14, 27) for y in range(4, 17) if x in (14, 26) or y in (4, 16)}
sys.exit(red != frame or data[3 * (10 * 60 + 20)] < 200)
END
remarks 'no outlier is found, and no review image is written' outliers --pairs ring \
    --review none.png die0.pgm die0.pgm die0.pgm
cp die0.pgm over-1.pgm
refuses 2 'over-1.pgm is an image, and would be overwritten' \
    outliers --pairs ring --review over.pgm die0.pgm die1.pgm over-1.pgm
refuses 2 'review images have colours: write .png, .jpg or .tif' \
    outliers --pairs ring --review a.pfm die0.pgm die1.pgm die2.pgm
finish
