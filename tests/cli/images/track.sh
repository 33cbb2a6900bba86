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
refuses 2 'is meanshift, camshift, comaniciu or ellipse' track --window 1,1,2,2 --method magic clip.y4m
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

# By ellipse: one of 7 x 9 pixels that moves, grows, and leaves the frame in part; test_ellipse.c has the definition.
makes_files <<'END'
def frame(cx, cy, half):
    def inside(x, y):
        return ((x - cx) / half) ** 2 + ((y - cy) / (half * 4 / 3)) ** 2 <= 1
    return [[(200, 80 + 4 * (x % 2), 60) if inside(x, y) else (50 + 20 * ((x // 4 + y // 4) % 3), 90, 100) for x in range(40)]
            for y in range(24)]

frames = [frame(*state) for state in ((10, 11, 3), (13, 12, 3), (16, 12, 4), (24, 12, 4), (32, 12, 4), (39, 12, 4))]
for i, pixels in enumerate(frames):
    with open(f"e{i}.ppm", "wb") as file:
        file.write(b"P6 40 24 255\n" + b"".join(bytes(pixel) for row in pixels for pixel in row))
with open("gray.y4m", "wb") as file:
    file.write(b"YUV4MPEG2 W40 H24 F25:1 Cmono\n")
    for pixels in frames:
        file.write(b"FRAME\n" + bytes(pixel[0] for row in pixels for pixel in row))
END
checks=$((checks + 4))
"$histo" track --method ellipse --window 7,7,7,9 e?.ppm | cut -f1-7 >path.tsv
{
    printf 'frame\tx\ty\tw\th\titerations\tscale\n0\t7\t7\t7\t9\t1\t3\n1\t10\t8\t7\t9\t755\t3\n'
    printf '2\t12\t7\t9\t11\t765\t4\n3\t20\t7\t9\t11\t680\t4\n4\t28\t7\t9\t11\t486\t4\n5\t33\t8\t7\t9\t366\t3\n'
} | cmp - path.tsv || fail "an ellipse is not followed: $(cat path.tsv)"
"$histo" track --method ellipse --window 7,7,7,9 --search 8x8x1 --threads 1 -o path.json e?.ppm
grep -q '^\[{"frame": 0, "x": 7, "y": 7, "w": 7, "h": 9, "iterations": 1, "scale": 3, "gradient": [0-9.]*, "color": 1},$' path.json ||
    fail "the first frame's scores are wrong: $(cat path.json)"
"$histo" track --method ellipse --space none --window 7,7,7,9 gray.y4m | cut -f1-7 | cmp - path.tsv ||
    fail "luma leads elsewhere than colours"
"$histo" backproject --space opponent --model-roi 8,8,5,7 e0.ppm opponent.json
"$histo" track --method ellipse --window 6,9,7,9 --model opponent.json --search 5x4 e0.ppm | cut -f1-6 >found.tsv
printf 'frame\tx\ty\tw\th\titerations\n0\t7\t7\t7\t9\t297\n' | cmp - found.tsv ||
    fail "a saved model is not found: $(cat found.tsv)"
refuses 2 'reaches outside e0.ppm, which has 40 x 24 pixels' track --method ellipse --window 34,2,7,9 e0.ppm
refuses 2 'follows windows from 5 x 5 to 16383 x 16383 pixels, not one of 4 x 9' track --method ellipse --window 2,2,4,9 e0.ppm
refuses 2 'has no colours for --space opponent: choose --space none' track --method ellipse --window 2,2,7,9 gray.y4m
refuses 2 'needs an axis of intensity: i of --space opponent, or y of 8 bits' track --method ellipse --window 2,2,7,9 --space hsv e0.ppm
refuses 2 'needs an axis of intensity' track --method ellipse --window 2,2,7,9 --axes b:8,g:8 e0.ppm
printf 'P5 7 9 65535\n' >deep.pgm && head -c 126 /dev/zero >>deep.pgm
refuses 2 'y of 8 bits' track --method ellipse --window 0,0,7,9 --space none deep.pgm
refuses 2 'use fewer bins' track --method ellipse --window 2,2,7,9 --axes b:99,g:99,i:9 e0.ppm
refuses 2 '--search is the range of --method ellipse' track --window 2,2,7,9 --search 8x8 e0.ppm
for range in 8 8x 257x1 1x1x33 1x1x1x1 ax1; do
    refuses 2 "as in 8x8 or 16x4x1, not '$range'" track --method ellipse --window 2,2,7,9 --search $range e0.ppm
done
"$histo" backproject --model-roi 8,8,5,7 e0.ppm hues.json
refuses 2 'has counted hue,saturation: it is for --space hsv' track --method ellipse --window 2,2,7,9 --model hues.json e0.ppm
refuses 2 'has counted blue-green,green-red,intensity: it is for --space opponent' track --window 2,2,7,9 --model opponent.json e0.ppm
finish
