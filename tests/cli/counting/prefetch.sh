# Files are decoded ahead of counting, by several threads, and kept for the next pass: ranges and bins found in the
# samples, statistics and messages are those of one thread, and memory is bounded.
. "$(dirname "$0")/../support/check.sh"

awk 'BEGIN { print "x,w"; for (i = 0; i < 500000; i++) printf "%d.5,0.%d\n", i * i % 9973, i % 89 }' >plain.csv
awk 'BEGIN { print "name,x"; for (i = 0; i < 200000; i++) printf "\"a\n\"\"7,8\n#9,\",%d\n%s", i * i % 997, i % 1000 ? "" : "\n" }' >quoted.csv
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%d,\"a\n7,\"\"8\n#9,\"\n", i * i % 997 }' >later.csv
tail -n +2 plain.csv | tr ',' '\n' >numbers.txt
gzip -k plain.csv numbers.txt

# alike ARGUMENTS…: what any number of threads finds, counts and remarks is what is counted in order, for a checkpoint.
alike() {
    checks=$((checks + 1))
    "$histo" "$@" --checkpoint ck --every 1000 -o one.histo 2>one.err || fail "histo $*: $(cat one.err)"
    for threads in 1 2 5; do
        "$histo" "$@" --threads $threads -o ahead.histo 2>ahead.err
        cmp one.histo ahead.histo || fail "histo $* with $threads threads counts something else"
        cmp one.err ahead.err || fail "histo $* with $threads threads says something else"
    done
}
alike --column x plain.csv
alike --column x,w plain.csv
alike --column x --weights w --reproducible plain.csv
alike --column x --where w=0.2:0.7 -b fd plain.csv
alike --column x --log plain.csv
alike --joint x,w -b 30 plain.csv
alike --column x -b 50 -r p1:p99 quoted.csv plain.csv
alike --column 0 later.csv
alike numbers.txt
alike numbers.txt.gz
alike --column x plain.csv.gz plain.csv
sed '300000s/.*/,0.5/; 444444s/.*/NA,0.5/' plain.csv >missing.csv
alike --column x missing.csv
sed '300000s/^/a/; 444444s/^/b/' plain.csv >bad.csv
alike --column x --skip-bad bad.csv
for threads in 1 2 5; do
    refuses 1 'bad.csv, line 300000, column 0 (x)' --column x --threads $threads -o x.histo bad.csv
done

# Images: a PNG is inflated by a thread of its own, and one large page of a TIFF is divided.
{ printf 'P5\n2000 2000\n65535\n' && cat plain.csv numbers.txt quoted.csv | head -c 8000000; } >gray.pgm
"$histo" equalize gray.pgm equal.pgm
"$histo" equalize gray.pgm equal.png
"$histo" equalize gray.pgm equal.tif
"$histo" -q equal.pgm -o pgm.histo
for image in equal.png equal.tif; do
    alike $image
    cmp pgm.histo ahead.histo || fail "$image has other samples"
done
head -c 2000000 equal.png >short.png
refuses 1 'short.png: row [0-9]* of 2000 cannot be decoded (it ends early)' short.png
{ head -c 1500000 equal.png && printf 'wrong' && tail -c +1500006 equal.png; } >wrong.png
refuses 1 'wrong.png: row [0-9]* of 2000 cannot be decoded (IDAT: .*)' wrong.png

# Files behind the one that is counted are decoded, too; what is wrong with one is said when it is its turn.
alike numbers.txt.gz plain.csv.gz --column 0 numbers.txt.gz numbers.txt.gz
alike equal.png equal.tif equal.png equal.png
refuses 1 'none.png: there is no such file' equal.png none.png equal.png
refuses 1 'short.png: row' equal.png short.png none.png
refuses 1 'none.png: there is no such file' equal.png none.png short.png

# Statistics depend on neither threads nor whether the bins are given.
"$histo" --to text --threads 1 numbers.txt | head -n 40 | grep -v ' in all$' >one.txt
for threads in 2 5; do
    checks=$((checks + 1))
    "$histo" --to text --threads $threads numbers.txt | head -n 40 | grep -v ' in all$' >more.txt
    cmp one.txt more.txt || fail "statistics by $threads threads are others"
done
checks=$((checks + 1))
"$histo" numbers.txt -o file.histo
"$histo" -o input.histo <numbers.txt && cmp file.histo input.histo || fail "standard input is counted differently"
# shellcheck disable=SC2002
cat numbers.txt | "$histo" -o pipe.histo && cmp file.histo pipe.histo || fail "a pipe is counted differently"

# Memory stays bounded where more is decoded than may be kept; that of sanitizers is not.
if grep -q -E '__(a|t)san_init' "$histo"; then
    echo 'memory is not measured with sanitizers'
else
    checks=$((checks + 1))
    awk 'BEGIN { for (i = 0; i < 100000; i++) printf "%d %d %d %d\n", i % 7, i % 11, i % 13, i % 17 }' >some.txt
    i=0
    while [ $i -lt 100 ]; do
        cat some.txt
        i=$((i + 1))
    done | gzip -1 >many.txt.gz
    truncate -s 800M zeros.raw
    python3 - "$histo" many.txt.gz <<'P' || fail "memory is not bounded"
import resource, subprocess, sys
subprocess.run([sys.argv[1], sys.argv[2], "-o", "many.histo"], check=True)
subprocess.run([sys.argv[1], "--dtype", "f32", "zeros.raw", "-o", "zeros.histo"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
sys.exit(f"{used} MiB" if used > 256 else 0)
P
    # 24 megapixels of one colour, without loss: libwebp has 4 bytes a pixel, and we 3, once.
    if "$histo" info | grep -q 'webp .*not in this build'; then
        echo 'this build lacks libwebp'
    else
        checks=$((checks + 1))
        python3 - "$histo" <<'P' || fail "a page that is decoded whole is kept twice"
import resource, struct, subprocess, sys
bits = f"{0x2f:08b}"[::-1] + f"{5999:014b}"[::-1] + f"{3999:014b}"[::-1] + "0000" + "000" + 5 * "1000"
bits += -len(bits) % 8 * "0"
data = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8)) + bytes(64)
chunk = lambda name, data: name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)
size = (5999).to_bytes(3, "little") + (3999).to_bytes(3, "little")
body = b"WEBP" + chunk(b"VP8X", bytes(4) + size) + chunk(b"VP8L", data) + chunk(b"MORE", bytes(70000))
open("flat.webp", "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)
printed = subprocess.run([sys.argv[1], "--channel", "g", "-b", "4", "flat.webp"], capture_output=True, text=True).stdout
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
sys.exit(f"{used} MiB" if used > 200 or "24000000" not in printed else 0)
P
    fi
fi
finish
