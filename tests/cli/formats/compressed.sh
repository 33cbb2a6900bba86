# Compressed input: all formats, from files and pipes, of several members, and what is said of those that cannot be read.
. "$(dirname "$0")/../support/check.sh"
command -v python3 >/dev/null || fail 'python3 is missing'

# compress METHOD <IN >OUT: by other means than the libraries' command line tools, where Python has some.
compress() {
    case $1 in
    zstd) zstd -q -c ;;
    *) python3 -c 'import bz2, gzip, lzma, sys
module = {"gzip": gzip, "xz": lzma, "bzip2": bz2}[sys.argv[1]]
sys.stdout.buffer.write(module.compress(sys.stdin.buffer.read()))' "$1" ;;
    esac
}

python3 -c 'import random; r = random.Random(1)
for i in range(60000): print("%d,%.6f" % (r.randrange(64), r.gauss(0, 1)))' >table.csv
head -c 300000 table.csv >begin.csv
tail -c +300001 table.csv >end.csv
"$histo" --column 0 -b 64 -r 0:64 table.csv >expected
"$histo" --column 1 table.csv >gauss
printf '\001\002\003\001' | npy u1.npy '|u1' '(2, 2)'
printf 'P5\n2 2\n255\n\001\002\003\001' >gray.pgm
two='lo\thi\tcount\n1\t2\t2\n2\t3\t1\n3\t4\t1\n'
for method in gzip zstd xz bzip2; do
    compress $method <table.csv >table
    compress $method <begin.csv >parts
    compress $method <end.csv >>parts
    truncate -s +512 parts # as on tapes
    for file in table parts; do
        for way in file redirected piped; do
            checks=$((checks + 2))
            case $way in
            file) "$histo" --column 0 -b 64 -r 0:64 $file && "$histo" --column 1 $file ;;
            redirected) "$histo" --column 0 -b 64 -r 0:64 <$file && "$histo" --column 1 <$file ;;
            piped) cat $file | "$histo" --column 0 -b 64 -r 0:64 && cat $file | "$histo" --column 1 ;;
            esac >got || fail "$method, $file, $way: exit status $?"
            cat expected gauss | cmp -s - got || fail "$method, $file, $way: counted wrong"
        done
    done
    for file in u1.npy gray.pgm; do
        compress $method <$file >packed
        prints "$two" --edges 1,2,3,4 packed
        prints "$two" --edges 1,2,3,4 <packed
    done
    compress $method <"$support/chunks.h5" >packed
    "$histo" "$support/chunks.h5" >want && "$histo" packed >got && cmp -s want got || fail "$method: HDF5 is counted wrong"
    compress $method </dev/null >packed
    refuses 1 'packed is empty$' packed

    # Cut at the end, in its middle, and behind the signature; with a wrong check; and followed by something else.
    size=$(wc -c <table)
    for cut in $((size - 1)) $((size / 2)) 30; do
        head -c $cut table >cut
        refuses 1 "cut is truncated: its $method data stops after $cut bytes, before its end" --column 0 cut
    done
    { head -c $((size - 8)) table && printf '\001\377\002\376\003\375\004\374'; } >wrong
    refuses 1 "wrong is damaged: its $method data is invalid (.*) before byte [0-9]*; download or compress" --column 0 wrong
    { cat table && echo and more than a header; } >followed
    refuses 1 "followed is damaged: its $method data is invalid" --column 0 followed
done

# Frames to skip come first, as pzstd writes them.
{ printf '\120\052\115\030\004\000\000\000\001\002\003\004' && compress zstd <table.csv; } >skipped
checks=$((checks + 1))
"$histo" --column 0 -b 64 -r 0:64 skipped | cmp -s - expected || fail 'frames that are skipped matter'

# Memory is bounded, whatever the data ask for.
printf '\050\265\057\375\000\250\021\000\0001\n' >large.zst # a window of 2 GiB, and a stored block
refuses 1 'large.zst needs more than 144 MiB of memory to be decompressed: pipe it through zstd -dc --long=31 into' large.zst
python3 -c 'import lzma, struct, sys, zlib
data = bytearray(lzma.compress(b"1\n"))
header = data[12 : 12 + 4 * data[12]] # of the block, without its check
header[4] = 38 # a dictionary of 2 GiB
data[12 : 16 + len(header)] = header + struct.pack("<I", zlib.crc32(header))
sys.stdout.buffer.write(data)' >large.xz
refuses 1 'large.xz needs more than 144 MiB of memory to be decompressed: pipe it through xz -dc into' large.xz

"$histo" --column 0 -b 4 -o saved.json table.csv
compress xz <saved.json >saved.xz
refuses 1 'saved.xz is compressed by xz: decompress it first, with xz -dc$' show saved.xz
finish
