# Video files, which ffmpeg decodes. Most is tested with a program of this name that writes a y4m file.
. "$(dirname "$0")/../support/check.sh"
samples=$support/../samples

# clip.mkv has two frames of 8 x 4 pixels: luma 0 to 31, and 50; u 100 and 101, v 200 and 201 (ffv1, from a y4m file).
every='lo\thi\ty\tu\tv\n0\t32\t32\t0\t0\n32\t100\t32\t0\t0\n100\t200\t0\t16\t0\n200\t255\t0\t0\t16\n'
if command -v ffmpeg >/dev/null; then
    prints "$every" --edges 0,32,100,200,255 "$samples/clip.mkv"
    prints "$every" --edges 0,32,100,200,255 - <"$samples/clip.mkv"
    prints 'lo\thi\tcount\n0\t50\t0\n50\t51\t32\n' --channel y --edges 0,50,51 --page 1 "$samples/clip.mkv"
    head -c 300 "$samples/clip.mkv" >cut.mkv
    refuses 1 'cut.mkv cannot be decoded by ffmpeg (.*): get an intact copy, or convert it$' cut.mkv
else
    echo 'left out: ffmpeg itself, which is not installed'
fi

mkdir bin
echo '#!/bin/sh' >bin/ffmpeg
cat >>bin/ffmpeg <<'END'
[ "$(head -c 4 | od -An -tx1 | tr -d ' ')" = 1a45dfa3 ] || exit 9 # the file is its input
echo run >>runs
case $(cat kind) in
good) printf 'YUV4MPEG2 W2 H1 F25:1 Cmono\nFRAME\n\001\002FRAME\n\003\004' ;;
bad)
    printf 'YUV4MPEG2 W2 H1 F25:1 Cmono\nFRAME\n\001\002'
    printf '[matroska @ 0x1] the file is bad\nmore\n' >&2
    exit 1
    ;;
short)
    printf 'YUV4MPEG2 W2 H1 F25:1 Cmono\nFRAME\n\001\002'
    echo '[matroska @ 0x1] File ended prematurely' >&2
    ;;
endless) printf 'YUV4MPEG2 W2 H1 F25:1 Cmono\n' && while printf 'FRAME\n\001\002'; do :; done ;;
esac
END
chmod +x bin/ffmpeg
PATH=$PWD/bin:$PATH
echo good >kind
prints 'lo\thi\tcount\n1\t3\t2\n3\t5\t2\n' -b 2 -r 1:5 "$samples/clip.mkv"
[ "$(wc -l <runs)" -eq 1 ] || fail "bins that are given need one pass, and not $(wc -l <runs)"
prints 'lo\thi\tcount\n1\t2.5\t2\n2.5\t4\t2\n' -b 2 -r minmax "$samples/clip.mkv" # two passes
gzip -c "$samples/clip.mkv" >clip.mkv.gz
prints 'lo\thi\tcount\n1\t3\t2\n3\t5\t2\n' -b 2 -r 1:5 clip.mkv.gz
checks=$((checks + 1))
"$histo" equalize "$samples/clip.mkv" out.y4m || fail 'a video cannot be equalized'
printf 'YUV4MPEG2 W2 H1 F25:1 Cmono\nFRAME\n\000\377FRAME\n\000\377' | cmp - out.y4m || fail 'it is equalized wrongly'
echo bad >kind
refuses 1 'clip.mkv cannot be decoded by ffmpeg (the file is bad): get an intact copy, or convert it$' "$samples/clip.mkv"
refuses 1 'cannot be decoded by ffmpeg (the file is bad)' equalize "$samples/clip.mkv" bad.y4m

# What it complains of without failing is told, once for all passes.
echo short >kind
remarks 'clip.mkv: ffmpeg says: File ended prematurely$' -b 2 -r minmax "$samples/clip.mkv"

# It ends with the last frame that is wanted.
echo endless >kind
prints 'lo\thi\tcount\n1\t3\t2\n' -b 1 -r 1:3 --page 2 "$samples/clip.mkv"

# Without ffmpeg.
printf '#!/bin/sh\nPATH=/nowhere exec "%s" "$@"\n' "$histo" >without
chmod +x without
histo=./without
refuses 1 'clip.mkv is decoded by ffmpeg, which is not installed: install it, or convert the file$' "$samples/clip.mkv"
finish
