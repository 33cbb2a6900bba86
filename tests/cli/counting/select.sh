# Selecting samples: channels, columns, regions, masks, filters, pages, several files.
. "$(dirname "$0")/../support/check.sh"

# 2 x 2 pixels: (255 0 0) (0 255 0) / (0 0 255) (10 20 30). Their luma is 76 150 29 18, as in Pillow.
printf 'P6 2 2 255\n\377\000\000\000\377\000\000\000\377\012\024\036' >color.ppm
prints 'lo\thi\tr\tg\tb\n0\t128\t3\t3\t3\n128\t256\t1\t1\t1\n' -b 2 color.ppm
prints 'lo\thi\tb\tr\n0\t128\t3\t3\n128\t256\t1\t1\n' -b 2 --channel b,r color.ppm
prints 'lo\thi\tcount\n0\t128\t3\n128\t256\t1\n' -b 2 -c 1 color.ppm
prints 'lo\thi\tcount\n18\t19\t1\n19\t29\t0\n29\t30\t1\n30\t76\t0\n76\t77\t1\n77\t150\t0\n150\t151\t1\n' \
    --edges 18,19,29,30,76,77,150,151 -c gray color.ppm

# The same with 16 bits, by the same integer arithmetic.
printf 'P6 1 1 65535\n\377\377\000\000\200\000' >deep.ppm
prints 'lo\thi\tcount\n23330\t23331\t1\n' -b 1 -r 23330:23331 -c gray deep.ppm

# Columns.
printf 'name,"a, b",Price\nx,1,10\ny,2,20\nz,3,20\n' >table.csv
prints 'lo\thi\tcount\n10\t15\t1\n15\t20\t2\n' -b 2 --column Price table.csv
prints 'lo\thi\tcount\n10\t15\t1\n15\t20\t2\n' -b 2 --column price table.csv
prints 'lo\thi\tcount\n10\t15\t1\n15\t20\t2\n' -b 2 --column 2 table.csv
prints 'lo\thi\tcount\n1\t2\t1\n2\t3\t2\n' -b 2 --column 'a, b' table.csv
prints 'lo\thi\ta, b\tPrice\n1\t10.5\t3\t1\n10.5\t20\t0\t2\n' -b 2 -r 1:20 --column all table.csv
prints 'lo,hi,"a, b",Price\n1,10.5,3,1\n10.5,20,0,2\n' -b 2 -r 1:20 --column all --to csv table.csv
printf 'a,A,a,b\n1,2,3,4\n' >same.csv
refuses 2 "same.csv has 3 columns called 'a': give the number of one, from 0 to 3" -b 1 --column a same.csv
refuses 2 "has 3 columns called 'a'" -b 1 --column b --weights a same.csv
prints 'lo\thi\tcount\n2\t3\t1\n' -b 1 -r 2:3 --column A same.csv
prints 'lo\thi\ta\tb\n3\t4\t1\t1\n' -b 1 -r 3:4 --column 2,b same.csv
printf 'word,number\nx,1\ny,3\n' >single.csv
prints 'lo\thi\tcount\n1\t2\t1\n2\t3\t1\n' -b 2 single.csv

# A region with more pixels than 64 bits can count, on pages of different sizes.
checks=$((checks + 1))
python3 - <<'END' || fail "the TIFF file cannot be made"
import struct
file, entries = b"II*\0\x08\0\0\0", 8
for width, height, pixels, last in (2, 2, bytes([1, 2, 3, 4]), False), (1, 1, bytes([5]), True):
    strip = len(file) + 2 + 12 * entries + 4
    tags = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, strip), (278, height), (279, width * height)]
    file += struct.pack("<H", entries) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    file += struct.pack("<I", 0 if last else strip + len(pixels)) + pixels
open("pages.tif", "wb").write(file)
END
prints 'lo\thi\tcount\n1\t3\t2\n3\t5\t3\n' --edges 1,3,5 --page all pages.tif
refuses 2 'reaches outside page 0 of pages.tif' -b 1 --page all --roi 0,0,4611686018427387905,4 pages.tif

# Region and mask.
printf 'P5 4 3 255\n\001\002\003\004\005\006\007\010\011\012\013\014' >gray.pgm
prints 'lo\thi\tcount\n6\t7\t1\n7\t8\t1\n8\t9\t0\n9\t10\t0\n10\t11\t2\n' -r 6:11 -b 5 --roi 1,1,2,2 gray.pgm
printf 'P5 4 3 255\n\000\000\000\000\001\000\000\001\000\000\000\377' >mask.pgm
prints 'lo\thi\tcount\n5\t8.5\t2\n8.5\t12\t1\n' -b 2 -r minmax --mask mask.pgm gray.pgm
prints 'lo\thi\tcount\n5\t9\t1\n' -b 1 -r 5:9 --mask mask.pgm --roi 0,1,2,2 gray.pgm
shows '"masked": "0:9"' -b 1 -r 0:256 --mask mask.pgm --to json gray.pgm
{
    dd if=/dev/zero bs=44 count=1 2>/dev/null
    printf '\000\000\300\177' # NaN is not zero
} | npy mask.npy '<f4' '(3, 4)'
prints 'lo\thi\tcount\n11.5\t12.5\t1\n' -b 1 -r minmax --mask mask.npy gray.pgm
printf '1\n0\n1\n' >mask.txt
prints 'lo\thi\tcount\n10\t15\t1\n15\t20\t1\n' -b 2 --column Price --mask mask.txt table.csv

# An array stored by columns walks back and forth over its mask.
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 4), }"
    printf '\001\005\011\002\006\012\003\007\013\004\010\014'
} >columns.npy
prints 'lo\thi\tcount\n5\t8.5\t2\n8.5\t12\t1\n' -b 2 -r minmax --mask mask.pgm columns.npy

# Filters.
prints 'lo\thi\tcount\n10\t15\t0\n15\t20\t2\n' -b 2 -r 10:20 --column Price --where 15: table.csv
prints 'lo\thi\tcount\n20\t20.5\t1\n' -b 1 -r 20:20.5 --column Price --where 'a, b=2:2' table.csv
shows '"masked": "0:2"' -b 1 -r 0:20 --column Price --where 'a, b=2:2' --to json table.csv

# Several files are added, or shown separately.
prints 'lo\thi\tcount\n0\t5\t8\n5\t13\t16\n' --edges 0,5,13 gray.pgm gray.pgm
prints 'lo\thi\tgray.pgm gray\tmask.pgm gray\n0\t128\t12\t11\n128\t256\t0\t1\n' -b 2 --batch gray.pgm mask.pgm
printf '5\n' >five.txt
prints 'lo\thi\tcount\n1\t3\t1\n3\t5\t2\n' --edges 1,3,5 single.csv - <five.txt

# Segments: one histogram per segment, with offsets from a file of any format.
printf '1\n2\n3\n1\n2\n1\n' >six.txt
printf '0\n3\n3\n6\n' >ends.txt
prints 'lo\thi\t0\t1\t2\n1\t2\t1\t0\t2\n2\t3\t2\t0\t1\n' -b 2 -r 1:3 --segments ends.txt six.txt
python3 -c 'import struct; open("ends.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", 70) + b"{\"descr\": \"<i8\", \"fortran_order\": False, \"shape\": (4,)}".ljust(69) + b"\n" + struct.pack("<4q", 0, 3, 3, 6))'
prints 'lo\thi\t0\t1\t2\n1\t2\t1\t0\t2\n2\t3\t2\t0\t1\n' -b 2 -r 1:3 --segments ends.npy six.txt
# A number is that of the type of the samples: 0.1 and 0.3 as f32, beside 2^-149 and infinity.
printf '\315\314\314\075\232\231\231\076\001\000\000\000\000\000\200\177' >tenths
for where in 0.1:0.3 0.1:0.1 0.3:0.3; do
    case $where in 0.1:0.3) count=2 ;; *) count=1 ;; esac
    prints "lo\thi\tcount\n0\t1\t$count\n" --dtype f32 -b 1 -r 0:1 --where $where tenths
done
prints 'lo\thi\tcount\n0\t1\t3\n' --dtype f32 -b 1 -r 0:1 --where :1e300 tenths
printf 'PF 1 1 -1.0\n\000\000\200\077\315\314\314\075\000\000\000\000' >tenth.pfm # 1, 0.1, 0
prints 'lo\thi\tcount\n0\t2\t1\n' -b 1 -r 0:2 -c r --where g=0.1 tenth.pfm
prints 'lo\thi\tcount\n0\t2\t1\n' -b 1 -r 0:2 -c r --where g=0.1,7 tenth.pfm
prints 'lo\thi\tcount\n0\t2\t0\n' -b 1 -r 0:2 -c r --where 'g!=0.1' tenth.pfm
# Beyond 2^53, floats are compared as floats, whose shortest digits are another integer.
printf '\000\000\000\000\000\000\260\103' >large # 2^60
prints 'lo\thi\tcount\n0\t2e+18\t1\n' --dtype f64 -b 1 -r 0:2e18 --where 1.152921504606847e+18:1.152921504606847e+18 large
# Given bins beyond 2^53 are those of all files, whatever their types; text and integers are exact.
printf '\003\000\000\000\000\000\040\000' | npy far.npy '<i8' '(1,)' # 2^53 + 3: as a double, 2^53 + 4
echo 9007199254740995 >far.txt
for files in 'far.npy far.txt' 'far.txt far.npy'; do
    prints 'lo\thi\tcount\n0\t9007199254740994\t0\n9007199254740994\t9007199254740996\t2\n9007199254740996\t9007199254740998\t0\n' \
        --edges 0,9007199254740994,9007199254740996,9007199254740998 $files
done
# A number with a point or an exponent is a double.
printf '1.152921504606847e+18\n3\n' >float.txt
prints 'lo\thi\tcount\n0\t2e+18\t1\n' -b 1 -r 0:2e18 --where 0=4:1152921504606846976 float.txt
prints 'lo\thi\t0\t1\t2\n2\t3\t2\t0\t1\n' -b 1 -r 2:3 --where 2: --segments ends.txt six.txt
printf '0\n5\n' >short.txt
printf '1\n6\n' >late.txt
printf '0\n4\n3\n6\n' >back.txt
printf '0\n' >one.txt
refuses 1 'six.txt has 6 samples, and the last offset is 5' -b 2 --segments short.txt six.txt
refuses 1 'number 1 of the offsets late.txt is wrong' -b 2 --segments late.txt six.txt
refuses 1 'number 3 of the offsets back.txt is wrong' -b 2 --segments back.txt six.txt
printf '\001\000\377' >plain.raw
refuses 1 'plain.raw is binary and of unknown format: offsets are read from png, .*, hdf5, .*, text$' \
    -b 2 --segments plain.raw six.txt
refuses 1 'plain.raw is binary and of unknown format: masks are read from png, .*, hdf5, .*, text$' \
    -b 2 --mask plain.raw gray.pgm
# Bands of different lengths, two passes over each, and many segments: of three numbers each, and empty ones.
seq 0 300000 | awk '{ print int($1 / 3) * 3; if ($1 == 299999) { print 300001; exit } }' >many.txt
seq 1 300001 | "$histo" -b 1 -r minmax --segments many.txt -o many.npy -
checks=$((checks + 1))
python3 - <<'END' || fail "many segments are counted wrong"
import struct
counts = struct.unpack("<300000Q", open("many.npy", "rb").read()[-8 * 300000:])
assert counts[:299999] == tuple(3 * (i % 3 == 2) for i in range(299999)), counts[:9]
assert counts[299999] == 300001 - 299997, counts[-1]
END
refuses 2 'standard input can be read only once' -b 2 --segments - - <ends.txt
refuses 2 'standard input can be read only once' -b 2 --mask - <mask.pgm
refuses 2 'standard input can be read only once' -b 2 - gray.pgm - <mask.pgm
prints 'lo\thi\t0\t1\t2\n1\t2\t1\t0\t2\n2\t3\t2\t0\t1\n' -b 2 -r 1:3 --segments - six.txt <ends.txt
refuses 1 'must be two or more' -b 2 --segments one.txt six.txt
refuses 2 'samples of one file, but there are 2' -b 2 --segments ends.txt six.txt six.txt
refuses 2 'in one dimension' -b 2 --segments ends.txt gray.pgm
refuses 2 'contradict' --batch --segments ends.txt six.txt
for format in json histo; do # reported before anything is read
    refuses 2 "$format cannot hold segments: write a table" -b 2 --segments ends.txt -o out.$format none.txt
done

finish
