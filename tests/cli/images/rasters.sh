# What GeoTIFF and alpha say of samples: values that stand for none, mask pages, scale and offset, and colours that are
# stored times alpha. Counted, and kept in what is written.
. "$(dirname "$0")/../support/check.sh"

# holds 'EXPRESSION', of tiffs.read and of all before: in Python.
holds() {
    checks=$((checks + 1))
    PYTHONPATH=$support python3 -c "from tiffs import *
import sys
sys.exit(not ($1))" || fail "not true: $1"
}

makes_files <<'END'
from tiffs import MASK, page, write

nodata = lambda text: {42113: (2, text)}
values = [-9999, 10, 20, 30, -9999, 40, 50, 60]
for dtype in ("i2", "i4", "f4", "f8"):
    write(dtype + ".tif", page(dtype, 4, values, fields=nodata("-9999")))
write("dotted.tif", page("i2", 4, values, fields=nodata("-9999.0")))
write("nan.tif", page("f4", 4, [float("nan") if v < 0 else v for v in values], fields=nodata("nan")))
write("far.tif", page("f4", 4, [-3.4028234663852886e38 if v < 0 else v for v in values],
                      fields=nodata("-3.40282346638529e+38")))
write("other.tif", page("u1", 4, [0, 10, 20, 30, 0, 40, 50, 60], fields=nodata("-9999")))
write("low.tif", page("u1", 4, [0, 10, 20, 30, 0, 40, 50, 60], fields=nodata("0")))
write("high.tif", page("u1", 4, [255, 10, 20, 30, 255, 40, 50, 60], fields=nodata("255")))
write("deep.tif", page("u2", 4, [65535, 10, 20, 30, 65535, 40, 50, 60], fields=nodata("65535")))
write("white.tif", page("u1", 4, [255, 10, 20, 30, 255, 40, 50, 60], fields={262: (3, 0), **nodata("255")}))
seen = [0, 1, 1, 1, 0, 1, 1, 1]
shown = [7, 10, 20, 30, 200, 40, 50, 60]
write("masked.tif", page("u1", 4, shown), page("u1", 4, seen, bits=1, fields=MASK))
write("pages.tif", page("u1", 4, shown), page("u1", 4, seen, bits=1, fields=MASK),
      page("u1", 4, [1] * 8), page("u1", 4, [2] * 8), page("u1", 4, seen[::-1], bits=1, fields=MASK))
write("float_mask.tif", page("f4", 4, shown), page("u1", 4, seen, bits=1, fields=MASK))
item = '<Item name="%s" sample="%d" role="%s">%s</Item>'
about = lambda *items: {42112: (2, "<GDALMetadata><Item name=\"K\">V</Item>" + "".join(items) + "</GDALMetadata>")}
write("scaled.tif", page("i2", 4, values, fields={**nodata("-9999"), **about(item % ("SCALE", 0, "scale", "0.5"),
                                                                             item % ("OFFSET", 0, "offset", "100"))}))
write("moved.tif", page("u1", 4, shown, fields=about(item % ("OFFSET", 0, "offset", "-100"))))
both = [v for a, b in zip(shown, shown) for v in (a, b)]
write("planes.tif", page("u1", 4, both, channels=2, fields={338: (3, 0), **about(item % ("SCALE", 1, "scale", "10"))}))
write("small.tif", page("u1", 4, shown), page("u1", 2, [1, 2], fields={254: (4, 1)}))
write("slide.tif", page("u1", 4, shown, fields={270: (2, "Aperio Image Library v1")}), page("u1", 2, [1, 2]),
      page("u1", 1, [9]))
colors = [0, 0, 0, 0, 40, 20, 10, 40, 100, 50, 0, 200, 255, 128, 7, 255]
write("associated.tif", page("u1", 2, colors, channels=4, fields={338: (3, 1)}))
write("associated16.tif", page("u2", 2, [257 * v for v in colors], channels=4, fields={338: (3, 1)}))
write("associated32f.tif", page("f4", 2, [v / 255 for v in colors], channels=4, fields={338: (3, 1)}))
write("gray_alpha.tif", page("u1", 2, [0, 0, 40, 80, 100, 200, 255, 255], channels=2, fields={338: (3, 1)}))
palette = {262: (3, 3), 320: (3, [0] * 256 + [65535] * 256 + [256] * 256)}
write("palette.tif", page("u1", 4, seen, fields={**palette, **nodata("0")}))
END

# Counting: the samples that have a value.
columns='count\tmean\tstd\tskewness\tkurtosis\tentropy\tmin\tmax\tmode\n'
for name in i2 i4 f4 f8 dotted nan far low high deep masked float_mask; do
    remarks "^histo: $name.tif: left out 2 missing values" summary --to json $name.tif
    grep -q '"count": *6,' "$out" && grep -q '"min": *10,' "$out" && grep -q '"max": *60,' "$out" ||
        fail "summary $name.tif: $(cat "$out")"
    checks=$((checks + 1))
    "$histo" summary --raw --to json $name.tif >"$out" 2>"$err"
    grep -q '"count": *[68],' "$out" && ! grep -v 'nan.tif: left out 2 NaN$' "$err" || fail "summary --raw $name.tif: $(cat "$out" "$err")"
done
prints "${columns}8\t26.25\t21.176342932621772\t0.18140353255785455\t-1.33882892835897\t2.75\t0\t60\t0\n" \
    summary other.tif # no sample is that low
remarks 'left out 2 missing' --edges 0,200,256 white.tif
grep -q '^200.256.5$' "$out" || fail "white.tif: $(cat "$out")"
remarks 'left out 4 missing' --page all --edges 1,2,3,11 pages.tif
[ "$(cut -f3 "$out" | tr '\n' ' ')" = 'count 8 6 1 5 ' ] || fail "pages.tif: $(cat "$out")"
remarks 'left out 6 missing' summary palette.tif # samples of three channels

# Scaled, unless --raw says otherwise.
remarks 'left out 2' summary --to json scaled.tif
grep -q '"min": *105,' "$out" && grep -q '"max": *130,' "$out" || fail "scaled.tif: $(cat "$out")"
prints 'lo\thi\tcount\n-100\t-50\t5\n-50\t0\t2\n0\t101\t1\n' --edges=-100,-50,0,101 moved.tif
prints 'lo\thi\t0\t1\n0\t100\t7\t1\n100\t2001\t1\t7\n' --edges 0,100,2001 planes.tif
prints 'lo\thi\tcount\n0\t101\t7\n101\t256\t1\n' --raw --edges 0,101,256 moved.tif

# Maps: pixels without a value keep it, others do not get it, and the file says which they are.
for name in i2 i4 low high deep; do
    checks=$((checks + 1))
    "$histo" equalize $name.tif out.tif 2>"$err" && [ ! -s "$err" ] || fail "equalize $name.tif: $(cat "$err")"
    holds "(lambda a, b: a[0][1][42113] == b[0][1][42113] and len(b) == 1 and
           [v == float(a[0][1][42113]) for v in a[0][0]] == [v == float(a[0][1][42113]) for v in b[0][0]])
           (read('$name.tif'), read('out.tif'))"
done
for name in f4 f8 far; do
    "$histo" stretch -r minmax $name.tif out.tif || fail "stretch $name.tif"
    holds "(lambda v: v[0] == v[4] < -9000 and [round(x, 6) for x in v[1:4] + v[5:]] == [0, .2, .4, .6, .8, 1])
           (read('out.tif')[0][0])"
done
"$histo" stretch -r minmax scaled.tif out.tif || fail 'stretch scaled.tif'
holds "(lambda v, f: f[42113] == '-9999' and v[0] == v[4] == -9999 and abs(v[3] - .4) < 1e-9 and 'K' in f[42112] and
       'scale' not in f[42112] and 'offset' not in f[42112])(*read('out.tif')[0])"
for command in 'equalize' 'stretch -r minmax' 'clahe --tiles 1x1'; do
    "$histo" $command masked.tif out.tif || fail "$command masked.tif"
    holds "(lambda p: p[0][0][0] == 7 and p[0][0][4] == 200 and p[1][1][254] == [4] and
           [p[1][0][k] for k in (0, 1, 2, 3, 8, 9, 10, 11)] == [0, 1, 1, 1] * 2)(read('out.tif'))"
    remarks 'left out 2 missing' summary out.tif
done
"$histo" stretch -r minmax masked.tif one.tif && "$histo" stretch -r 10:60 masked.tif two.tif || fail 'stretch masked.tif'
holds "read('one.tif')[0][0] == read('two.tif')[0][0]"
"$histo" equalize --batch pages.tif out.tif || fail 'equalize pages.tif'
holds "[p[1].get(254, [0])[0] & 4 for p in read('out.tif')] == [0, 4, 0, 0, 4]"
remarks 'masked.tif: pixels without a value, which png cannot say, keep what is stored: 2' equalize masked.tif out.png
prints 'method\tthreshold\notsu\t30\n' threshold i2.tif out.tif
holds "(lambda p: p[0][0] == [0, 0, 0, 0, 0, 255, 255, 255] and 42113 not in p[0][1] and len(p) == 2)(read('out.tif'))"
prints 'method\tthreshold\notsu\t30\n' threshold masked.tif
refuses 1 'missing values, which cannot be left out here: count all with --raw' mi low.tif masked.tif

# One image of several sizes.
remarks 'small.tif: the largest image, without 1 smaller copy and preview: --page N chooses another' small.tif
remarks 'slide.tif: the largest image, without 2 smaller copies and previews' slide.tif
prints 'lo\thi\tcount\n9\t10\t1\n' --page 2 --edges 9,10 slide.tif

# Associated alpha: colours are divided by it, and multiplied again where a format keeps them so.
does() {
    checks=$((checks + 1))
    "$histo" "$@" >"$out" 2>"$err" || fail "histo $*: $(cat "$err")"
}
does stretch -r dtype associated.tif out.pam
holds "list(open('out.pam', 'rb').read()[-16:]) == [0, 0, 0, 0, 255, 128, 64, 40, 128, 64, 0, 200, 255, 128, 7, 255]"
for name in associated associated16 associated32f gray_alpha; do
    does stretch -r dtype $name.tif out.tif # changes nothing
    holds "(lambda a, b: a[0][1][338] == b[0][1][338] and all(abs(x - y) < 1e-6 for x, y in zip(a[0][0], b[0][0])))
           (read('$name.tif'), read('out.tif'))"
    does equalize $name.tif out.tif
    holds "(lambda v, n: all(v[i] <= v[i - i % n + n - 1] for i in range(len(v))))
           (read('out.tif')[0][0], $([ $name = gray_alpha ] && echo 2 || echo 4))"
done
does summary associated.tif # counts what is stored

finish
