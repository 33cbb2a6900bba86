# Following an object through frames. tests/python/test_video.py compares with OpenCV and with the truth.
. "$(dirname "$0")/../support/check.sh"

# frame X: 12 x 6 pixels, black but for a bright square of 2 x 2 at X, 2.
frame() {
    for y in 0 1 2 3 4 5; do
        for x in $(seq 0 11); do
            if [ $y -ge 2 ] && [ $y -le 3 ] && [ "$x" -ge "$1" ] && [ "$x" -le $(($1 + 1)) ]; then
                printf '\310'
            else
                printf '\012'
            fi
        done
    done
}
{
    printf 'YUV4MPEG2 W12 H6 F25:1 Cmono\n'
    for x in 2 3 4 6; do printf 'FRAME\n' && frame $x; done
} >clip.y4m
for x in 2 3 4 6; do { printf 'P5\n12 6\n255\n' && frame $x; } >"f$x.pgm"; done
# What is bright is looked for in the first frame, too, and lost in the last one.
"$histo" --roi 2,2,2,2 -b 2 -r 0:256 -o model.json f2.pgm
path='frame\tx\ty\tw\th\titerations\n0\t0\t1\t4\t4\t0\n1\t1\t1\t4\t4\t1\n2\t2\t1\t4\t4\t1\n3\t2\t1\t4\t4\t0\n'
prints "$path" track --window 0,1,4,4 --model model.json clip.y4m
prints "$path" track --window 0,1,4,4 --model model.json f2.pgm f3.pgm f4.pgm f6.pgm
prints "$path" track --window 0,1,4,4 --model model.json --axes y:2 --space none clip.y4m
checks=$((checks + 1))
"$histo" track --window 0,1,4,4 --model model.json - -o path.tsv <clip.y4m || fail "a pipe cannot be followed"
"$histo" track --window 0,1,4,4 --model model.json clip.y4m | cmp - path.tsv || fail "-o writes another path"

refuses 2 'add --window' track clip.y4m
refuses 2 'reaches outside clip.y4m, which has 12 x 6 pixels' track --window 9,0,4,4 clip.y4m
refuses 2 'is not a region' track --window 9,0 clip.y4m
refuses 2 'has no colours for --space hsv' track --window 1,1,2,2 --space hsv clip.y4m
refuses 2 "takes channels of 'y' and their numbers of bins" track --window 1,1,2,2 --axes h:3 clip.y4m
prints "$path" track --window 0,1,4,4 --model model.json --axes gray:2 clip.y4m
printf 'P6\n3 3\n255\n123456789012345678901234567' >rgb.ppm
printf 'YUV4MPEG2 W9 H9 Cmono\n' >empty.y4m
refuses 1 'empty.y4m has no frames' track --window 1,1,2,2 empty.y4m
refuses 2 'only sparse storage' track --window 1,1,2,2 --space none --axes r:60000,g:60000,b:60000 rgb.ppm
refuses 2 "takes channels of 'y'" track --window 1,1,2,2 --axes :3 clip.y4m
refuses 2 "names 'y' twice" track --window 1,1,2,2 --axes y:3,y:4 clip.y4m
refuses 2 'is meanshift, camshift or comaniciu' track --window 1,1,2,2 --method magic clip.y4m
refuses 2 'has 2 bins' track --window 1,1,2,2 --model model.json --axes y:4 clip.y4m
printf 'P5\n3 2\n255\n123456' >small.pgm
refuses 2 'written as text, tsv, csv or json' track --window 1,1,2,2 -o t.png f2.pgm
"$histo" track --window 1,1,2,2 -o t.json f2.pgm f2.pgm
grep -q '^ {"frame": 1, "x": ' t.json || fail "no JSON: $(cat t.json)"
rm -f t.json
refuses 1 'frames must have the same size' track --window 1,1,2,2 -o t.tsv f2.pgm small.pgm
printf 'Pf\n1 1\n-1.0\n\000\000\000\000' >float.pfm
refuses 1 'f32 samples' track --window 0,0,1,1 float.pfm
head -c 300 clip.y4m >cut.y4m
refuses 1 'ends within frame 3' track --window 2,2,2,2 -o t.tsv cut.y4m
finish
