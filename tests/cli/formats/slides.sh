# JPEG 2000 in TIFF, as Aperio's slides (.svs) have it. support/slide.svs, by imagecodecs and tifffile, has 40 x 24 pixels
# in tiles of 16 x 16: red, green and blue; a smaller copy; luma and chroma; and u16 in strips of 16 rows.
. "$(dirname "$0")/../support/check.sh"
needs jp2 OpenJPEG

cp "$support/slide.svs" .
makes_files <<'END'
from tiffs import page, write

places = [(x, y) for y in range(24) for x in range(40)]
pixels = lambda of: [v for p in places for v in of(*p)]
write("rgb.tif", page("u1", 40, pixels(lambda x, y: (x * 6, y * 10, x * y % 256)), channels=3))
write("deep.tif", page("u2", 40, pixels(lambda x, y: (y * 1000 + x,))))


def colors(x, y):
    luma, cb, cr = x * 6, y * 10 - 128, (x * 3 + y) % 256 - 128
    return [max(0, min(255, round(v))) for v in
            (luma + 1.402 * cr, luma - 0.344136286201022 * cb - 0.714136286201022 * cr, luma + 1.772 * cb)]


write("luma.tif", page("u1", 40, pixels(colors), channels=3))
END

# alike FILE ARGUMENTS…: both have the same samples, in place.
alike() {
    file=$1
    shift
    checks=$((checks + 1))
    "$histo" stretch -r dtype "$@" slide.svs one.ppm 2>"$err" || fail "$*: $(cat "$err")"
    "$histo" stretch -r dtype "$file" two.ppm || fail "$file"
    cmp -s one.ppm two.ppm || fail "slide.svs $* is not $file"
}
alike rgb.tif --page 0
alike luma.tif --page 2
alike deep.tif --page 3
remarks 'slide.svs: the largest image, without 3 smaller copies and previews: --page N chooses another$' slide.svs
prints "$("$histo" summary rgb.tif)\\n" summary --page 0 slide.svs

# Damaged blocks, and those that are not what the file says, are refused.
python3 - <<'END'
data = open("slide.svs", "rb").read()
at = data.index(b"\xff\x4f\xff\x51")
open("cut.svs", "wb").write(data[:at + 60] + bytes(80) + data[at + 140:])
open("huge.svs", "wb").write(data[:at + 8] + b"\0\1\0\0\0\1\0\0" + data[at + 16:])
END
refuses 1 'cannot be decoded (JPEG 2000: ' --page 0 cut.svs
refuses 1 'cannot be decoded (JPEG 2000: it has another size, or other channels, than the file says)' --page 0 huge.svs

finish
