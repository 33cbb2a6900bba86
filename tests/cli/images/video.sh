# Video in the YUV4MPEG2 format: planes are channels, frames are pages.
. "$(dirname "$0")/../support/check.sh"

# clip FILE TAGS PLANES FRAMES: FRAMES times these planes (escapes as in printf %b).
clip() {
    {
        printf 'YUV4MPEG2 %s\n' "$2"
        for _ in $(seq "$4"); do printf 'FRAME\n%b' "$3"; done
    } >"$1"
}

# 3 x 2 pixels of 4:2:0: six samples of luma, and two each of Cb and Cr.
clip a.y4m 'W3 H2 F25:1 Ip A1:1 C420jpeg Xunknown=1' '\0001\0002\0003\0004\0005\0377\0200\0200\0001\0003' 3
planes='lo\thi\ty\tu\tv\n0\t128\t15\t0\t6\n128\t256\t3\t6\t0\n'
prints "$planes" -b 2 a.y4m
prints "$planes" -b 2 <a.y4m
prints "$planes" -b 2 --format y4m a.y4m
gzip -c a.y4m >a.gz
prints "$planes" -b 2 a.gz
checks=$((checks + 1))
[ "$(cat a.y4m | "$histo" -b 2)" = "$(printf "$planes")" ] || fail "a pipe of video is counted wrong"
prints 'lo\thi\tcount\n0\t128\t5\n128\t256\t1\n' -b 2 -c gray --page 1 a.y4m
prints 'lo\thi\tpage 0 v\tpage 1 v\tpage 2 v\n0\t128\t2\t2\t2\n128\t256\t0\t0\t0\n' -b 2 --batch -c cr a.y4m
prints 'lo\thi\tu\tv\n0\t128\t0\t1\n128\t256\t1\t0\n' -b 2 -c u,v --roi 2,0,1,2 --page 0 a.y4m
prints 'lo\thi\ty\tu\n0\t128\t1\t0\n128\t256\t1\t2\n' -b 2 -c y,u --roi 1,1,2,1 --page 0 a.y4m
prints 'u_lo\tu_hi\tv_lo\tv_hi\tcount\n0\t128\t0\t2\t0\n0\t128\t2\t4\t0\n128\t256\t0\t2\t3\n128\t256\t2\t4\t3\n' \
    -j u,v -b '2;2' -r '0:256;0:4' a.y4m
prints 'lo\thi\tcount\n0\t128\t9\n128\t256\t3\n' -b 2 -c y --where 3: a.y4m

clip mono.y4m 'W2 H2 Cmono' '\0001\0002\0003\0004' 2
prints 'lo\thi\tcount\n0\t3\t4\n3\t6\t4\n' -b 2 -r 0:6 mono.y4m
printf 'P2\n2 2\n1\n1 0\n0 0\n' >mask.pgm
prints 'lo\thi\tcount\n0\t3\t2\n3\t6\t0\n' -b 2 -r 0:6 --mask mask.pgm mono.y4m
clip deep.y4m 'H1 W2 C422p10' '\0001\0000\0377\0003\0000\0002\0000\0001' 2
prints 'lo\thi\ty\tu\tv\n0\t512\t2\t0\t2\n512\t1024\t2\t2\t0\n' -b 2 -r 0:1024 deep.y4m
clip alpha.y4m 'W1 H1 C444alpha' '\0001\0002\0003\0004' 1
prints 'lo\thi\ty\tu\tv\n0\t2\t1\t0\t0\n2\t4\t0\t1\t1\n' -b 2 -r 0:4 alpha.y4m
prints 'lo\thi\tcount\n0\t8\t1\n' -b 1 -r 0:8 -c a alpha.y4m
clip untagged.y4m 'W2 H2' '\0001\0002\0003\0004\0005\0006' 1
prints 'lo\thi\ty\tu\tv\n0\t8\t4\t1\t1\n' -b 1 -r 0:8 untagged.y4m
printf 'YUV4MPEG2 W1 H1 Cmono\nFRAME Ixyz Xmore\n\001FRAME\n\002' >params.y4m
prints 'lo\thi\tcount\n0\t2\t1\n2\t4\t1\n' -b 2 -r 0:4 params.y4m
shows '0	256	0	0	0' -b 1 - <<'END'
YUV4MPEG2 W2 H2
END

size=$(wc -c <a.y4m)
head -c $((size - 1)) a.y4m >cut.y4m

# Luma is equalized, each frame by its own histogram; all else stays. tests/python/test_video.py compares values.
{
    printf 'YUV4MPEG2 W2 H2 F25:1 C420jpeg Xunknown=1\n'
    printf 'FRAME Ixyz\n\001\001\002\003\007\010FRAME\n\012\024\024\024\011\013'
} >two.y4m
{
    printf 'YUV4MPEG2 W2 H2 F25:1 C420jpeg Xunknown=1\n'
    printf 'FRAME Ixyz\n\000\000\200\377\007\010FRAME\n\000\377\377\377\011\013'
} >wanted.y4m
checks=$((checks + 6))
"$histo" equalize two.y4m made.y4m || fail "video cannot be equalized"
cmp made.y4m wanted.y4m || fail "video is equalized wrong"
cat two.y4m | "$histo" equalize - - | cmp - wanted.y4m || fail "a pipe of video is equalized wrong"
"$histo" equalize - - <two.y4m | cmp - wanted.y4m || fail "video from standard input is equalized wrong"
"$histo" equalize --smooth 1 --threads 3 two.y4m - | cmp - wanted.y4m || fail "--smooth 1 does not count one frame"
{
    printf 'YUV4MPEG2 W2 H2 F25:1 C420jpeg Xunknown=1\n'
    printf 'FRAME Ixyz\n\000\000\200\377\007\010FRAME\n\200\377\377\377\011\013'
} >wanted.y4m
"$histo" equalize --smooth 2 two.y4m - | cmp - wanted.y4m || fail "--smooth 2 does not count two frames"
"$histo" equalize --roi 0,0,1,2 two.y4m - >made.y4m || fail "a region cannot be counted"
rm made.y4m
refuses 1 'cut.y4m ends within frame 2: the video is cut off' equalize cut.y4m made.y4m
refuses 2 'name it \*.y4m' equalize a.y4m made.png
refuses 2 'leave --color out' equalize --color each a.y4m made.y4m
refuses 2 'leave --channel out' equalize -c u a.y4m made.y4m
refuses 2 'leave --page out' equalize --page 1 a.y4m made.y4m
refuses 2 'roi reaches outside' equalize --roi 2,0,2,2 a.y4m made.y4m
refuses 2 '1 to 1024' equalize --smooth 0 a.y4m made.y4m
printf 'P2\n2 2\n3\n1 2 2 3\n' >image.pgm
refuses 2 'is not a video, and --smooth is for its frames' equalize --smooth 8 image.pgm made.pgm

printf 'P2\n2 2\n1\n0 0 0 0\n' >nothing.pgm
for command in equalize stretch threshold; do
    refuses 1 'the mask leaves no sample' $command --mask nothing.pgm two.y4m made.y4m
done

refuses 2 'leave out the third of --tiles' clahe --tiles 2x2x2 two.y4m cut.y4m

# Classes are gray video, and each frame has its thresholds.
prints 'page\tmethod\tthreshold\n0\totsu\t1\n1\totsu\t10\n' threshold two.y4m classes.y4m
{
    printf 'YUV4MPEG2 W2 H2 F25:1 Cmono XCOLORRANGE=FULL\n'
    printf 'FRAME Ixyz\n\000\000\377\377FRAME\n\000\377\377\377'
} >wanted.y4m
checks=$((checks + 2))
cmp classes.y4m wanted.y4m || fail "classes of video are wrong"
"$histo" stretch -r 0:8 two.y4m - | tail -c 12 >made.y4m
printf 'FRAME\n\377\377\377\377\011\013' | cmp - made.y4m || fail "video is stretched wrong"
rm made.y4m
clip flat.y4m 'W2 H1 Cmono' '\0007\0007' 2
prints "$(cat flat.y4m)" stretch flat.y4m -
printf 'P2\n2 2\n255\n10 20 30 90\n' >target.pgm
prints "$(cat flat.y4m)" match --landmarks 3 flat.y4m target.pgm -
refuses 2 'landmarks itk:N takes each' match --landmarks itk:3 --smooth 2 flat.y4m target.pgm made.y4m
clip p10.y4m 'W2 H1 Cmono10' '\0007\0000\0011\0000' 2
clip wanted.y4m 'W2 H1 Cmono10' '\0007\0000\0377\0003' 1
clip p10.y4m 'W2 H1 Cmono10' '\0007\0000\0377\0003' 1
prints "$(cat wanted.y4m)" stretch -r 0:1023 --to 0:1023 p10.y4m -

# What is cut off or damaged.
refuses 1 'cut.y4m ends within frame 2: the video is cut off' -b 2 cut.y4m
refuses 1 'standard input ends within frame 2: the video is cut off' -b 2 <cut.y4m
head -c $((size - 12)) a.y4m >cut.y4m
refuses 1 'ends within frame 2' -b 2 cut.y4m
head -c 20 a.y4m >cut.y4m
refuses 1 'ends within its first line' cut.y4m
{
    cat a.y4m
    printf 'FRAMX\n'
} >bad.y4m
refuses 1 'frame 3 does not begin with FRAME' bad.y4m
clip bad.y4m 'W3 H0' '' 0
refuses 1 'its height is not a number' bad.y4m
clip bad.y4m 'W3' '' 0
refuses 1 'no width and height' bad.y4m
clip bad.y4m 'W3 H3 C410' '' 0
refuses 1 "chroma format '410', which is unknown" bad.y4m
clip bad.y4m 'W99999 H99999' '' 0
refuses 1 'more than the limit of 1 GiB' bad.y4m
refuses 2 "no channel 'r': choose among y, u, v, gray and all" -c r a.y4m
refuses 2 'no page 3: its last page is 2' --page 3 a.y4m
printf 'P2\n3 2\n1\n1 0 0\n0 0 1\n' >wide.pgm
prints 'lo\thi\tcount\n0\t128\t3\n128\t256\t3\n' -b 2 -c y --mask wide.pgm a.y4m
refuses 2 'fewer samples of chroma than pixels' -j y,u a.y4m
refuses 2 'fewer samples of chroma than pixels' --mask wide.pgm a.y4m
finish
