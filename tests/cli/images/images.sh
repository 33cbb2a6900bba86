# Images into images: what is kept, what is refused.
. "$(dirname "$0")/../support/check.sh"

# keeps COMMAND…: the command succeeds and says nothing.
does() {
    checks=$((checks + 1))
    "$histo" "$@" >"$out" 2>"$err" || fail "histo $*: exit status $?: $(cat "$err")"
    [ ! -s "$err" ] || fail "histo $*: said on standard error: $(cat "$err")"
}

# same FILE FILE
same() {
    checks=$((checks + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

# 4 x 2 pixels, equalized as OpenCV does.
printf 'P5\n4 2\n255\n\001\002\003\004\001\002\003\004' >gray.pgm
printf 'P5\n4 2\n255\n\000\125\252\377\000\125\252\377' >wanted.pgm
does equalize gray.pgm out.pgm
same out.pgm wanted.pgm
"$histo" equalize - - <gray.pgm >piped.pgm
same piped.pgm wanted.pgm
"$histo" equalize - piped.pgm <gray.pgm
same piped.pgm wanted.pgm
cp gray.pgm over.pgm
does equalize over.pgm over.pgm # the input is replaced when the output is complete
same over.pgm wanted.pgm

# What the largest value is, is kept; a constant image stays.
printf 'P5\n2 1\n1000\n\000\001\000\002' >deep.pgm
printf 'P5\n2 1\n1000\n\000\000\003\350' >wanted.pgm
does equalize deep.pgm out.pgm
same out.pgm wanted.pgm
printf 'P5\n2 1\n4095\n\001\002\001\002' >constant.pgm
does equalize constant.pgm out.pgm
same out.pgm constant.pgm
printf 'P5\n2 1\n255\n\115\115' >constant.pgm
does equalize constant.pgm out.pgm
same out.pgm constant.pgm

# Several images of a file have one histogram, or one each. The second stays when it is constant.
printf 'P5\n2 1\n255\n\001\002P5\n2 1\n255\n\005\005' >pages.pgm
printf 'P5\n2 1\n255\n\000\125P5\n2 1\n255\n\377\377' >wanted.pgm
does equalize pages.pgm out.pgm
same out.pgm wanted.pgm
does equalize pages.pgm out.tif
does equalize --page 0 pages.pgm out.png
printf 'P5\n2 1\n255\n\000\377P5\n2 1\n255\n\005\005' >wanted.pgm
does equalize --batch pages.pgm out.pgm
same out.pgm wanted.pgm
refuses 2 'png holds one page, and there are several: choose one with --page' equalize pages.pgm out3.png

# Thresholds are printed, and classes written; OUT on standard output leaves standard error to them.
prints 'method\tthreshold\notsu\t2\n' threshold gray.pgm
prints 'method\tthreshold\notsu\t1\notsu\t2\notsu\t3\n' threshold --classes 4 gray.pgm classes.pgm
printf 'P5\n4 2\n255\n\000\001\002\003\000\001\002\003' >wanted.pgm
same classes.pgm wanted.pgm
prints 'method\tthreshold\notsu\t77\n' threshold constant.pgm
prints 'page\tmethod\tthreshold\n0\totsu\t1\n1\totsu\t5\n' threshold --batch pages.pgm
"$histo" threshold - - <gray.pgm >piped.pgm 2>"$err"
printf 'P5\n4 2\n255\n\000\000\377\377\000\000\377\377' >wanted.pgm
same piped.pgm wanted.pgm
grep -q '^otsu.2$' "$err" || fail "no threshold on standard error: $(cat "$err")"

# Samples above a threshold are foreground, also where the edge between two bins is a sample: 0, 1, 2 in bins of width 1.
printf '\000\000\000\000\000\000\200\077\000\000\000\100' | npy edge.npy '<f4' '(1, 3)'
prints 'method\tthreshold\notsu\t0.9999999403953552\n' threshold -b 2 edge.npy edge.pgm
printf 'P5\n3 1\n255\n\000\377\377' >wanted.pgm
same edge.pgm wanted.pgm

# Of an animated PNG, the image that is there for others is read, with a word about the frames.
python3 - <<'END'
import struct, zlib


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


for name, frames in (("still.png", 0), ("one.png", 1), ("three.png", 3)):
    first, later = zlib.compress(b"\0\1\1\0\1\1"), zlib.compress(b"\0\2\2\0\2\2")
    control = lambda n: chunk(b"fcTL", struct.pack(">5I2H2B", n, 2, 2, 0, 0, 1, 10, 0, 0))
    image = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", 2, 2, 8, 0, 0, 0, 0))
    image += (chunk(b"acTL", struct.pack(">2I", frames, 0)) + control(0) if frames else b"") + chunk(b"IDAT", first)
    for i in range(1, frames):
        image += control(2 * i - 1) + chunk(b"fdAT", struct.pack(">I", 2 * i) + later)
    open(name, "wb").write(image + chunk(b"IEND", b""))
END
of_one='lo\thi\tcount\n0\t1\t0\n1\t2\t4\n2\t3\t0\n'
prints "$of_one" --edges 0,1,2,3 still.png
prints "$of_one" --edges 0,1,2,3 one.png
prints "$of_one" -q --edges 0,1,2,3 three.png
remarks 'three.png: image 0 of 3: the others, frames or views, are not read$' --edges 0,1,2,3 three.png

# A level of a PNG that is transparent becomes an alpha channel, which stays (26th byte of a header: 4 is gray and alpha).
key=$support/../../fuzz/corpus/image/gkey.png
does equalize "$key" out.png
[ "$(od -An -tu1 -j25 -N1 out.png)" -eq 4 ] || fail "the transparency of a PNG is lost"

# A given range needs no pass that counts the pages.
printf '\000\001\002\003\004\005\006\007' | npy stack.npy '|u1' '(2, 2, 2)'
printf '\000\044\111\155\222\266\333\377' | npy wanted.npy '|u1' '(2, 2, 2)'
does stretch -r 0:7 stack.npy out.npy
same out.npy wanted.npy

# A range that is given needs no pass over pages, unless the result has to say first how many there are.
does stretch -r 0:255 pages.pgm out.npy
"$histo" stretch -r 0:255 - piped.npy <pages.pgm
same out.npy piped.npy
checks=$((checks + 1))
"$histo" stretch -r 0:255 pages.pgm out.raw
tail -c +129 out.npy | cmp - out.raw || fail 'an array of pages has other samples'

# Results stay within the values that samples may have: those of PGM up to its largest.
printf 'P2\n4 1\n100\n0 25 50 100\n' >dim.pgm
printf 'P5\n4 1\n100\n\000\062\144\144' >wanted.pgm
does stretch -r 0:100 --to 0:200 dim.pgm out.pgm
same out.pgm wanted.pgm
printf 'P5\n4 1\n100\n\144\062\000\000' >wanted.pgm
does stretch -r 0:100 --to 100:-100 dim.pgm out.pgm
same out.pgm wanted.pgm
printf 'P5\n4 1\n100\n\144\144\144\144' >wanted.pgm
does stretch -r 0:100 --to 150:200 dim.pgm out.pgm
same out.pgm wanted.pgm

# Booleans stay booleans where the format has them, and become 0 and 255 elsewhere.
printf '\000\001\001\001' | npy bits.npy '|b1' '(2, 2)'
for command in equalize stretch 'match bits.npy'; do
    # shellcheck disable=SC2086
    set -- $command
    does "$1" bits.npy ${2:+"$2"} out.npy
    same out.npy bits.npy
done
printf 'P5\n2 2\n255\n\000\377\377\377' >wanted.pgm
does equalize bits.npy out.pgm
same out.pgm wanted.pgm
does stretch bits.npy out.pgm
same out.pgm wanted.pgm
prints 'x\ty\tmi\n0\t0\t0.5623351446188083\n' register bits.npy bits.npy out.npy
same out.npy bits.npy
does standardize --train bits.json bits.npy # with equal landmarks
does standardize --with bits.json bits.npy out.npy

# An image of one float: its threshold is the float, and it is 0 when equalized, however small or large.
single() { # single BYTES DTYPE VALUE
    # shellcheck disable=SC2059
    printf "$1$1" | npy single.npy "$2" '(1, 2)'
    prints "method\\tthreshold\\notsu\\t$3\\n" threshold single.npy out.pgm
    printf 'P5\n2 1\n255\n\000\000' >wanted.pgm
    same out.pgm wanted.pgm
    # shellcheck disable=SC2059
    printf "$4$4" | npy wanted.npy "$2" '(1, 2)'
    does equalize single.npy out.npy
    same out.npy wanted.npy
    does clahe single.npy out.npy
    same out.npy wanted.npy
}
single '\232\231\231\076' '<f4' 0.30000001192092896 '\000\000\000\000'
single '\001\000\000\000' '<f4' 1.401298464324817e-45 '\000\000\000\000'
single '\001\000\000\000\000\000\000\000' '<f8' 4.94065645841247e-324 '\000\000\000\000\000\000\000\000'
single '\234\165\000\210\074\344\067\176' '<f8' 1e+300 '\000\000\000\000\000\000\000\000'
# Each sample counts once, whatever the others are: by rank, as scikit-image does.
printf '\000\000\000\000\000\000\200\077\000\000\000\100\000\000\100\100' | npy four.npy '<f4' '(1, 4)'
printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\310\102' | npy hot.npy '<f4' '(1, 4)'
does match four.npy hot.npy out.npy
same out.npy hot.npy
printf 'P5\n4 1\n255\n\000\000\000\377' >wanted.pgm
prints 'method\tthreshold\notsu\t0\n' threshold hot.npy out.pgm
same out.pgm wanted.pgm
# 64-bit integers that no double holds.
printf '\001\000\000\000\000\000\000\200\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\200' |
    npy wide.npy '<u8' '(1, 3)'
printf 'P5\n3 1\n255\n\000\377\000' >wanted.pgm
prints 'method\tthreshold\notsu\t9223372036854775809\n' threshold wide.npy out.pgm
same out.pgm wanted.pgm
prints 'method\tthreshold\nmean\t12297829382473034410\n' threshold --method mean wide.npy
# Next to infinity, which is above it.
printf '\000\000\000\077\000\000\200\177' | npy single.npy '<f4' '(1, 2)'
printf 'P5\n2 1\n255\n\000\377' >wanted.pgm
prints 'method\tthreshold\notsu\t0.5\n' threshold single.npy out.pgm
same out.pgm wanted.pgm

# The smallest doubles: fewer bins than usual, and slopes that are no doubles.
printf '\000\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000' |
    npy tiny.npy '<f8' '(1, 3)'
printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\360\077\000\000\000\000\000\000\000\100' |
    npy small.npy '<f8' '(1, 3)'
does equalize tiny.npy out.npy
for of in 'tiny small' 'small tiny'; do
    # shellcheck disable=SC2086
    set -- $of
    does match --landmarks 3 "$1.npy" "$2.npy" out.npy
    "$histo" -b 1 -r 0:3 --to tsv out.npy >"$out"
    [ "$(cat "$out")" = "$(printf 'lo\thi\tcount\n0\t3\t3')" ] || fail "match $1 to $2: $(cat "$out")"
done

# Colours are split by their luma, or by the largest of red, green and blue.
printf 'P6\n2 1\n255\n\000\000\310\050\050\050' >blue.ppm
prints 'method\tthreshold\notsu\t23\n' threshold --color luma blue.ppm
prints 'method\tthreshold\notsu\t23\n' threshold blue.ppm
prints 'method\tthreshold\notsu\t40\n' threshold --color value blue.ppm
refuses 2 '3 channels to split: choose one' threshold --color each blue.ppm
refuses 2 '--channel and --color contradict' threshold --color luma --channel r blue.ppm

# Bad input.
npy empty.npy '|u1' '(0, 3)' </dev/null
refuses 1 'empty.npy has nothing to count' clahe empty.npy new.npy
printf 'P5\n2 1\n65535\n\000\001\001\054' >wide.pgm
refuses 2 'takes IN OUT: name them all' equalize gray.pgm
refuses 2 'takes two names' equalize a b c
refuses 2 "no image format has the suffix .xyz" equalize gray.pgm new.xyz
refuses 2 'has no suffix that names the format' equalize gray.pgm new
refuses 2 'pfm holds f32, and these are 1 x u8: write .png, .tif, .jpg, .pgm, .npy, .nii or .raw' equalize gray.pgm new.pfm
refuses 1 'directory does not exist' equalize gray.pgm none/new.png
refuses 1 'there is no such file' equalize none.png new.png
printf 'P5\n4 2\n255\n\001\002\003\004' >short.pgm
refuses 1 'truncated' equalize short.pgm new.png
printf 'P5\n4 2\n255\n\000\000\000\000\000\000\000\000' >nothing.pgm
refuses 1 'the mask leaves no sample' equalize --mask nothing.pgm gray.pgm new.png
refuses 2 'reaches outside' equalize --roi 3,0,2,1 gray.pgm new.png
printf '\000\000\200\177\000\000\000\000' | npy infinite.npy '<f4' '(1, 2)'
refuses 1 'percentile 100 of infinite.npy is infinite' stretch -r minmax infinite.npy new.npy
printf '\000\000\300\177\000\000\300\177' | npy nan.npy '<f4' '(1, 2)'
refuses 1 'nan.npy' equalize nan.npy new.npy
refuses 2 'holds u8 and u16, and these are 1 x f32: write .tif, .pfm, .npy, .nii or .raw, or add --to 8bit$' equalize nan.npy new.png
refuses 1 'constant.pgm: both ends of its range are 77: give others with -r LO:HI' stretch constant.pgm new.pgm
refuses 1 'gray.pgm: both ends of -r p50:p50 are 2.5' stretch -r p50:p50 gray.pgm new.pgm
{ printf 'P5\n10 10\n255\n' && head -c 99 /dev/zero && printf '\005'; } >sparse.pgm
remarks 'sparse.pgm: the 2nd and the 98th percentile are both 0: stretched from 0 to 5, all samples' stretch sparse.pgm new.pgm
{ printf 'P5\n10 10\n255\n' && head -c 99 /dev/zero && printf '\377'; } >wanted.pgm
same new.pgm wanted.pgm
refuses 2 'has no width' stretch -r 5:5 gray.pgm new.pgm
refuses 2 'is not a range of results' stretch --to 5:5 gray.pgm new.pgm
refuses 1 'the reference wide.pgm reaches 300, and samples of gray.pgm are 0 to 255: convert one' match gray.pgm wide.pgm new.pgm
refuses 1 'the reference wide.pgm reaches 300, and samples of dim.pgm are 0 to 100' match dim.pgm wide.pgm new.pgm
"$histo" --joint 0,0 -b 4 --to json gray.pgm >axes.json
refuses 1 'a reference has one axis' match gray.pgm axes.json new.pgm
refuses 2 'takes IN REFERENCE OUT: name them all' match gray.pgm new.pgm
refuses 1 'classes' threshold --classes 3 constant.pgm new.pgm
cp gray.pgm other.pgm
refuses 2 'other.pgm is the reference, and would be overwritten' match gray.pgm other.pgm other.pgm
refuses 2 'other.pgm is the mask, and would be overwritten' equalize --mask other.pgm gray.pgm ./other.pgm
refuses 2 'other.pgm is a scan, and would be overwritten' standardize --train other.pgm gray.pgm other.pgm
refuses 2 'axes.json is the model, and would be' backproject --model axes.json gray.pgm axes.json
refuses 2 'li finds two classes' threshold --method li --classes 3 gray.pgm
refuses 2 'or use them with --with' standardize gray.pgm new.pgm
refuses 1 'holds no landmarks' standardize --with axes.json gray.pgm new.npy
refuses 1 'leave it out' standardize --train new.json constant.pgm
refuses 2 'tiles of 5 x 2 pixels are larger than a page of gray.pgm, which has 4 x 2' clahe --tile-size 5x2 gray.pgm new.png
refuses 2 'takes numbers of columns and rows' clahe --tiles 8 gray.pgm new.png
refuses 2 'takes width and height' clahe --tile-size 8x gray.pgm new.png
refuses 2 'make --overlap divide both' clahe --tile-size 2x2 --overlap 3 gray.pgm new.png
refuses 2 'contradict each other' clahe --tiles 8x8 --tile-size 8x8 gray.pgm new.png
refuses 2 "'histo clahe' has no option --roi" clahe --roi 0,0,1,1 gray.pgm new.png
refuses 2 'is for floats' equalize --log gray.pgm new.png
refuses 2 "'histo equalize' has no option --joint" equalize --joint r,g gray.pgm new.png

# A colour profile that is damaged, or does not fit, is left out, with a word.
base64 -d >profile.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/4gAXSUNDX1BST0ZJTEUAAQFwcm9maWxl/9sAQwAIBgYHBgUIBwcHCQkICgwUDQwLCwwZEhMP
FB0aHx4dGhwcICQuJyAiLCMcHCg3KSwwMTQ0NB8nOT04MjwuMzQy/8AACwgACgAKAQERAP/EABUAAQEAAAAAAAAAAAAAAAAAAAAI
/+IAF0lDQ19QUk9GSUxFAAEBcHJvZmlsZf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8An8B//9k=
END
remarks 'profile.jpg: its colour profile is damaged, and is not read$' equalize profile.jpg new.png
prints 'lo\thi\tcount\n0\t1\t100\n' --edges 0,1 profile.jpg
PYTHONPATH=$support python3 -c 'from tiffs import *
write("profile.tif", page("u1", 2, [1, 2, 3, 4], fields={34675: (1, list(range(200)))}))'
remarks 'new.png is without the colour profile, which does not fit it$' equalize profile.tif new.png
does equalize profile.tif new.tif

finish
