# Back projection. tests/python/test_video.py compares with OpenCV.
. "$(dirname "$0")/../support/check.sh"

# 4 x 2 pixels: the left half has 10 three times and 200 once.
printf 'P2\n4 2\n255\n10 10 200 200\n10 200 90 10\n' >gray.pgm
printf 'P5\n4 2\n255\n\377\377\000\000\377\000\377\377' >wanted.pgm
checks=$((checks + 3))
"$histo" backproject --model-roi 0,0,2,2 --axes y:2 gray.pgm out.pgm || fail "no back projection"
cmp out.pgm wanted.pgm || fail "a back projection is wrong"
"$histo" --roi 0,0,2,2 -b 2 -r 0:256 -o model.json gray.pgm
"$histo" backproject --model model.json - - <gray.pgm | cmp - out.pgm || fail "a saved model gives another image"
"$histo" backproject --model model.json gray.pgm out.png || fail "a PNG image cannot be written"

rm out.pgm out.png
refuses 2 'name the image and the result' backproject --model model.json gray.pgm
refuses 2 'from --model-roi X,Y,W,H or from --model SAVED: give one' backproject gray.pgm out.pgm
refuses 2 'give one' backproject --model model.json --model-roi 0,0,1,1 gray.pgm out.pgm
refuses 2 'model-roi 3,0,2,1 reaches outside gray.pgm' backproject --model-roi 3,0,2,1 gray.pgm out.pgm
refuses 2 'has no colours' backproject --space hsv --model-roi 0,0,1,1 gray.pgm out.pgm
refuses 2 'no image format has the suffix' backproject --model-roi 0,0,1,1 gray.pgm out.xyz
"$histo" --batch -b 2 -r 0:256 -o two.json gray.pgm gray.pgm
printf 'P6\n2 1\n255\n\100\0\0\0\0\200' >colors.ppm
"$histo" --joint r,g,b -b 2 -r 0:256 -o joint.json colors.ppm
refuses 2 'has counted r,g,b, not hue and saturation: add --space none' backproject --model joint.json colors.ppm out.pgm
refuses 2 'add --space none' track --window 0,0,1,1 --model joint.json colors.ppm
"$histo" backproject --model joint.json --space none colors.ppm out.pgm ||
    fail "a model of red, green and blue is refused"
rm out.pgm
# The result may be the model, whose name says what was counted.
printf 'P6\n3 1\n255\n\310\012\012\012\310\012\012\012\310' >hues.ppm
for options in '' '--axes s:4' '--axes h:9,v:4' '--space none --axes b:4,r:4'; do
    for suffix in json histo; do
        checks=$((checks + 3))
        # shellcheck disable=SC2086
        "$histo" backproject $options --model-roi 0,0,2,1 hues.ppm wanted.pgm || fail "no back projection"
        # shellcheck disable=SC2086
        "$histo" backproject $options --model-roi 0,0,2,1 hues.ppm "model.$suffix" || fail "a model cannot be saved"
        # shellcheck disable=SC2086
        "$histo" backproject ${options%--axes*} --model "model.$suffix" hues.ppm out.pgm || fail "a saved model is refused"
        cmp out.pgm wanted.pgm || fail "a saved model of '$options' gives another image"
    done
done
"$histo" backproject --model-roi 0,0,2,1 hues.ppm model.json
prints 'frame\tx\ty\tw\th\titerations\n0\t0\t0\t2\t1\t0\n' track --window 0,0,2,1 --model model.json hues.ppm
refuses 2 'has counted hue,saturation: it is for images in colour' backproject --space none --model model.json hues.ppm out.png
refuses 2 'model.json is saved already: give --model-roi' backproject --model model.json hues.ppm other.json
refuses 1 'does not exist' backproject --model-roi 0,0,2,1 hues.ppm none/model.json
printf 'YUV4MPEG2 W2 H1 F25:1 Cmono\nFRAME\n\001\377FRAME\n\377\377' >gray.y4m
checks=$((checks + 1))
"$histo" backproject --axes y:2 --model-roi 0,0,2,1 gray.y4m gray.json || fail "a frame's model cannot be saved"
prints 'lo\thi\tcount\n0\t128\t1\n128\t256\t1\n' show gray.json
rm out.pgm
refuses 1 'holds 2 histograms' backproject --model two.json gray.pgm out.pgm
printf 'YUV4MPEG2 W2 H1 F25:1 Xmine C420jpeg\nFRAME\n\001\377\100\100FRAME Ip\n\377\377\100\100' >clip.y4m
printf 'YUV4MPEG2 W2 H1 F25:1 Cmono XCOLORRANGE=FULL\nFRAME\n\377\000FRAME Ip\n\000\000' >wanted.y4m
checks=$((checks + 1))
"$histo" backproject --space none --axes y:2 --model-roi 0,0,1,1 - - <clip.y4m | cmp - wanted.y4m ||
    fail "the back projection of a video is wrong"
refuses 2 'name it \*.y4m' backproject --model-roi 0,0,1,1 clip.y4m out.pgm
finish
