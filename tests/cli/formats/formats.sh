# Formats of images: the samples that they hold.
. "$(dirname "$0")/../support/check.sh"
corpus=$support/../../fuzz/corpus/image

# reads FILE: does this build?
reads() {
    "$histo" "$corpus/$1" 2>&1 >"$out" | grep -q 'which this build of histo cannot read' || return 0
    echo "left out: $1, which this build cannot read"
    return 1
}

# holds REFERENCE FILE ARGUMENTS…: the page has the samples of an image in PAM or PPM.
holds() {
    wanted=$1
    shift
    checks=$((checks + 1))
    "$histo" stretch -r 0:255 "$@" "out.${wanted##*.}" 2>"$err" || fail "histo stretch $*: $(cat "$err")"
    cmp -s "out.${wanted##*.}" "$wanted" || fail "$* does not hold the samples of $wanted"
}

# counts REFERENCE FILE ARGUMENTS…: the same for formats of floats, whole and by regions.
counts() {
    wanted=$1
    shift
    for roi in 0,0,7,5 0,0,3,2 2,3,4,2 6,4,1,1; do
        checks=$((checks + 1))
        "$histo" -b 256 -r 0:256 --to tsv --channel all --roi $roi "$wanted" >wanted
        "$histo" -b 256 -r 0:256 --to tsv --channel all --roi $roi "$@" >"$out" 2>"$err" ||
            fail "histo $*: $(cat "$err")"
        cmp -s "$out" wanted || fail "$* does not hold the samples of $wanted in $roi"
    done
}

# damaged FILE: with an end that is missing, or bytes that are wrong, it is refused in one sentence or, where that does
# not concern samples, read.
damaged() {
    size=$(wc -c <"$1")
    step=$((size / 20 + 1))
    at=$step
    while [ $at -lt "$size" ]; do
        head -c $at "$1" >cut
        { cat cut && printf '\377\001' && tail -c +$((at + 3)) "$1"; } >wrong
        for file in cut wrong; do
            checks=$((checks + 1))
            "$histo" --page all $file >"$out" 2>"$err"
            status=$?
            [ $status -eq 0 ] || [ $status -eq 1 ] || fail "$file: $1 at $at bytes: exit status $status"
            [ $status -eq 0 ] || [ "$(wc -l <"$err")" -eq 1 ] || fail "$file: $1 at $at bytes: $(cat "$err")"
        done
        at=$((at + step))
    done
    rm cut wrong
}

# The same image in many formats, losslessly: 7 x 5 pixels with alpha, and without.
alpha=$corpus/colors.pam
colors=$corpus/colors.ppm

# WebP, as Pillow writes it with lossless=True, exact=True. The first frame is the image moved by a column.
if reads alpha.webp; then
    holds "$alpha" "$corpus/alpha.webp"
    holds "$colors" "$corpus/colors.webp"
    holds "$alpha" "$corpus/frames.webp" --page 1
    checks=$((checks + 1))
    "$histo" stretch -r 0:255 - - <"$corpus/colors.webp" 2>"$err" && fail 'WebP is written to a pipe'
    "$histo" stretch -r 0:255 - out.ppm <"$corpus/colors.webp"
    cmp -s out.ppm "$colors" || fail 'WebP from a pipe has other samples'
    prints 'lo\thi\tr\tg\tb\ta\n0\t256\t70\t70\t70\t70\n' -b 1 --channel all --page all "$corpus/frames.webp"
    prints 'lo\thi\tr\tg\tb\n0\t128\t4\t4\t2\n128\t256\t0\t0\t2\n' -b 2 --roi 2,1,2,2 "$corpus/colors.webp"
    remarks 'page 0 of 2: --page all counts every page' "$corpus/frames.webp"
    refuses 2 'has no page 2: its last page is 1' --page 2 "$corpus/frames.webp"
    damaged "$corpus/frames.webp"
    damaged "$corpus/photo.webp"
fi

# HEIF: an AVIF by ffmpeg (libaom-av1, lossless=1, gbrp), the others by heif-enc -L, of which those of 7 x 5 pixels are
# a tile; those of 12 bits have 16 x + 5 for each x in gray.pgm.
if reads gray.heic; then
    holds "$colors" "$corpus/colors.avif"
    holds "$corpus/gray.pgm" "$corpus/gray.heic"
    holds "$corpus/gray.pgm" "$corpus/pages.heic" --page 1
    for file in gray12.heic gray12.avif; do
        prints 'lo\thi\tcount\n5\t1061\t17\n1061\t2117\t18\n' -b 2 "$corpus/$file"
        "$histo" equalize "$corpus/$file" out.pgm
        checks=$((checks + 1))
        [ "$(head -n 3 out.pgm | tail -n 1)" = 4095 ] || fail "$file does not stay an image of 12 bits"
    done
    prints 'lo\thi\tcount\n0\t128\t6\n128\t256\t29\n' -b 2 -r 0:256 --channel a "$corpus/alpha.avif"
    damaged "$corpus/photo.heic"
    damaged "$corpus/alpha.avif"
fi

# JPEG 2000, by opj_compress -n 2: tiles.jp2 with -t 4,3, photo.j2k with -r 3; signed.j2k has -1700 to 1700 in steps of
# 100, and chroma.jp2 0 to 47 in luma, and 100 to 111 and 200 to 211 in half as many rows and columns.
if reads colors.jp2; then
    holds "$colors" "$corpus/colors.jp2"
    holds "$alpha" "$corpus/tiles.jp2"
    holds "$alpha" - <"$corpus/tiles.jp2"
    prints 'lo\thi\tcount\n-1700\t0\t17\n0\t1701\t18\n' --edges -1700,0,1701 "$corpus/signed.j2k"
    prints 'lo\thi\ty\tcb\tcr\n0\t100\t48\t0\t0\n100\t200\t0\t12\t0\n200\t300\t0\t0\t12\n' \
        --channel all -b 3 -r 0:300 "$corpus/chroma.jp2"
    prints 'lo\thi\tr\tg\tb\n0\t128\t4\t4\t2\n128\t256\t0\t0\t2\n' -b 2 -r 0:256 --roi 2,1,2,2 "$corpus/tiles.jp2"
    damaged "$corpus/tiles.jp2"
    damaged "$corpus/photo.j2k"
fi

# OpenEXR, written by its Python package: PIZ, ZIPS, tiles of 3 x 2 pixels with RLE; layers R, G, B, Z = R / 4 and id =
# G + 4e9; two parts, of which the first is 0.
if reads half.exr; then
    counts "$alpha" "$corpus/half.exr"
    counts "$alpha" "$corpus/tiles.exr"
    prints 'lo\thi\tr\tg\tb\n0\t256\t35\t35\t35\n' -b 1 -r 0:256 - <"$corpus/tiles.exr"
    counts "$colors" "$corpus/float.exr"
    counts "$colors" --page 1 "$corpus/parts.exr"
    prints 'lo\thi\tcount\n0\t30\t15\n30\t60\t15\n60\t90\t5\n' --channel Z -b 3 -r 0:90 "$corpus/layers.exr"
    prints 'lo\thi\tcount\n4000000000\t4000000120\t14\n4000000120\t4000000240\t21\n' --channel id -b 2 \
        -r 4000000000:4000000240 "$corpus/layers.exr"
    remarks 'page 0 of 2: --page all counts every page' -b 1 -r 0:1 "$corpus/parts.exr"
    damaged "$corpus/half.exr"
    damaged "$corpus/parts.exr"
fi

# GIF, by Pillow (interlaced.gif by convert -interlace GIF): the first frame is black, and one colour of clear.gif is
# transparent.
if reads colors.gif; then
    holds "$colors" "$corpus/colors.gif"
    holds "$colors" "$corpus/interlaced.gif"
    holds "$colors" "$corpus/frames.gif" --page 1
    holds "$colors" - --page 1 <"$corpus/frames.gif"
    prints 'lo\thi\tr\tg\tb\n0\t1\t40\t42\t38\n1\t256\t30\t28\t32\n' --edges 0,1,256 --page all "$corpus/frames.gif"
    prints 'lo\thi\tcount\n0\t128\t1\n128\t256\t34\n' -b 2 -r 0:256 --channel a "$corpus/clear.gif"
    damaged "$corpus/frames.gif"
fi

# JPEG XL, by cjxl -d 0: frames.jxl from frames.gif with a delay, float.jxl from a PFM of 0.25 to 2; photo.jxl with -d 3.
# gray12.jxl has the samples of gray12.heic.
if reads colors.jxl; then
    holds "$alpha" "$corpus/alpha.jxl"
    holds "$colors" "$corpus/colors.jxl"
    holds "$colors" - <"$corpus/colors.jxl"
    prints 'lo\thi\tr\tg\tb\n0\t1\t5\t7\t3\n1\t256\t30\t28\t32\n' --edges 0,1,256 --page 1 "$corpus/frames.jxl"
    prints 'lo\thi\tcount\n5\t1061\t17\n1061\t2117\t18\n' -b 2 "$corpus/gray12.jxl"
    prints 'lo\thi\tcount\n0\t1\t2\n1\t2\t1\n2\t3\t1\n' -b 3 -r 0:3 "$corpus/float.jxl"
    prints 'lo\thi\tr\tg\tb\n0\t1\t40\t42\t38\n1\t256\t30\t28\t32\n' --edges 0,1,256 --page all "$corpus/frames.jxl"
    damaged "$corpus/frames.jxl"
    damaged "$corpus/photo.jxl"
fi

# BMP, by Pillow, and by ImageMagick (core.bmp as BMP2:, runs.bmp with -compress RLE, alpha.bmp) and ffmpeg (masks.bmp as
# rgb565le, with its dither). Rows of top_down.bmp lie the other way round, and its last lacks the padding. runs4.bmp has
# a run, literals, and pixels that are skipped.
holds "$colors" "$corpus/colors.bmp"
holds "$colors" "$corpus/top_down.bmp"
holds "$colors" - <"$corpus/top_down.bmp"
holds "$colors" "$corpus/core.bmp"
holds "$colors" "$corpus/runs.bmp"
holds "$alpha" "$corpus/alpha.bmp"
holds "$corpus/gray.pgm" "$corpus/gray.bmp"
prints 'lo\thi\tcount\n0\t128\t16\n128\t256\t19\n' -b 2 -r 0:256 "$corpus/bits.bmp"
prints 'lo\thi\tr\tg\tb\n0\t128\t20\t17\t19\n128\t256\t15\t18\t16\n' -b 2 -r 0:256 "$corpus/masks.bmp"
{
    printf 'P6\n5 3\n255\nFPZFPZ\0\0\0\0\0\0\0\0\0FPZ\012\024\036\050\062\074\0\0\0FPZ'
    printf '\012\024\036\050\062\074\012\024\036\050\062\074\012\024\036'
} >runs4.ppm
holds runs4.ppm "$corpus/runs4.bmp"
damaged "$corpus/top_down.bmp"
damaged "$corpus/runs.bmp"

# Radiance HDR, by OpenCV: powers of 2 from 2^-3 (red), 2^-2 (green) and 2^-5 (blue) on, in two rows of 9, and of 5.
prints 'lo\thi\tr\tg\tb\n0\t0.2\t2\t0\t6\n0.2\t1\t4\t4\t4\n1\t2\t2\t2\t2\n2\t100\t10\t12\t6\n' \
    --edges 0,0.2,1,2,100 "$corpus/powers.hdr"
prints 'lo\thi\tr\tg\tb\n0\t0.2\t2\t0\t6\n0.2\t1\t4\t4\t4\n1\t2\t2\t2\t0\n2\t100\t2\t4\t0\n' \
    --edges 0,0.2,1,2,100 - <"$corpus/flat.hdr"
prints 'lo\thi\tcount\n0\t0.2\t0\n0.2\t1\t1\n' --edges 0,0.2,1 --roi 2,1,1,1 --channel r "$corpus/powers.hdr"
damaged "$corpus/powers.hdr"

# TIFF whose 0 is white: unsigned gray is inverted, alpha and floats are not. The files hold 0 to 5.
prints 'lo\thi\tcount\n250\t253\t3\n253\t256\t3\n' -b 2 -r 250:256 "$corpus/white8.tif"
shows '^65535	65536	1$' "$corpus/white16.tif"
prints 'lo\thi\tcount\n0\t128\t3\n128\t256\t3\n' -b 2 "$corpus/white1.tif"
prints 'lo\thi\tgray\ta\n10\t16\t0\t6\n16\t250\t0\t0\n250\t256\t6\t0\n' --channel all --edges 10,16,250,256 \
    "$corpus/white_planes.tif"
prints 'lo\thi\tcount\n0\t3\t3\n3\t6\t3\n' -b 2 -r 0:6 "$corpus/white_float.tif"
checks=$((checks + 1))
"$histo" stretch -r 0:255 "$corpus/white8.tif" out.pgm
printf 'P5\n3 2\n255\n\377\376\375\374\373\372' | cmp - out.pgm || fail 'a TIFF whose 0 is white becomes another image'
# JPEG of 12 bits: not damaged, and not for this library.
python3 - "$corpus/about.jpg" twelve.jpg <<'END' || fail "the file cannot be made"
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[data.index(b"\xff\xc0") + 4] = 12
open(sys.argv[2], "wb").write(data)
END
refuses 1 'precision 12): convert it' twelve.jpg
finish
