# Pictures of 8 bits of samples of any type: --to 8bit, and --bits of at most 8.
. "$(dirname "$0")/../support/check.sh"

makes_files <<'END'
import struct
from tiffs import page, write

values = [-1000, -200, 40, 300, 1000, 3000]
for dtype in ("i2", "i4", "f4", "f8"):
    write(dtype + ".tif", page(dtype, 3, values))
write("u2.tif", page("u2", 3, [v + 1000 for v in values]))
write("u4.tif", page("u4", 3, [v + 1000 for v in values]))
write("nan.tif", page("f4", 2, [0, 1, float("nan"), 2]))
colors = [0, 257, 514, 65535, 25700, 51400, 65535, 0, 257 * 7, 257 * 9, 257 * 90, 257 * 128, 0, 0, 65535, 257]
write("rgba.tif", page("u2", 2, colors, channels=4, fields={338: (3, 2)}))
open("wanted.pam", "wb").write(b"P7\nWIDTH 2\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" +
                               bytes(v // 257 for v in colors))
pgm = lambda name, values, most=255: open(name, "wb").write(b"P5\n3 2\n%d\n" % most + bytes(values))
pgm("range.pgm", [round((v + 1000) / 4000 * 255) for v in values])
pgm("window.pgm", [0, 0, 51, 106, 255, 255])
pgm("even.pgm", [0, 51, 102, 153, 204, 255])
pgm("even6.pgm", [0, 13, 25, 38, 50, 63], 63)
END

# same FILE FILE
same() {
    checks=$((checks + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ: $(od -An -tu1 "$2" | tail -2)"
}

# becomes FILE COMMAND…: with a result as its last argument, which becomes like FILE, and nothing is said.
becomes() {
    wanted=$1
    shift
    checks=$((checks + 1))
    "$histo" "$@" >"$out" 2>"$err" || fail "histo $*: exit status $?: $(cat "$err")"
    [ ! -s "$err" ] || fail "histo $*: said $(cat "$err")"
    same "$wanted" out.pgm
}

for type in i2 i4 f4 f8 u2 u4; do
    becomes range.pgm stretch --to 8bit -r minmax $type.tif out.pgm
    becomes even.pgm equalize --to 8bit $type.tif out.pgm
done
becomes window.pgm stretch --to 8bit -r -200:1000 i2.tif out.pgm
becomes window.pgm stretch --to 8bit -r -200:1000 f8.tif out.pgm
for type in u2 u4; do
    becomes even.pgm equalize --bits 8 $type.tif out.pgm
    becomes even6.pgm equalize --bits 6 $type.tif out.pgm
done
checks=$((checks + 1))
for type in i2 f4; do # as the map of all values does, rounded once
    "$histo" clahe --to 8bit --tiles 1x1 $type.tif out.png && "$histo" --to tsv out.png | awk 'NR > 1 && $3 && $1 > 200' |
        grep -q . || fail "clahe of $type.tif is dark"
done

# Alpha is scaled, and so are colours of which luma or value is mapped.
for color in luma value each joint; do
    checks=$((checks + 1))
    "$histo" stretch --to 8bit -r dtype --color $color rgba.tif out.pam || fail "--color $color"
    same wanted.pam out.pam
done
"$histo" stretch --to 8bit -r dtype --channel g rgba.tif out.pam || fail '--channel g'
same wanted.pam out.pam
"$histo" equalize --bits 8 rgba.tif out.png || fail '--bits 8 of colours'
prints 'lo\thi\tcount\n0\t1\t1\n1\t128\t1\n128\t129\t1\n129\t256\t1\n' --channel a --edges 0,1,128,129,256 out.png

# A pixel without a number is black.
"$histo" stretch --to 8bit -r 0:2 nan.tif out.pgm || fail 'NaN'
prints 'lo\thi\tcount\n0\t1\t2\n1\t255\t1\n255\t256\t1\n' --edges 0,1,255,256 out.pgm

refuses 2 'contradict each other' equalize --to 8bit --bits 8 u2.tif new.png
refuses 2 "takes 8bit, for a result of 8 bits, not '0:1'" equalize --to 0:1 u2.tif new.png
refuses 2 '--bits is for unsigned integers' equalize --bits 8 i2.tif new.tif
finish
