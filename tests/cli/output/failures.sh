# Bad input gives one message, the right exit status, and no output file.
. "$(dirname "$0")/../support/check.sh"

printf '1\n2\n3\n' >n.txt
printf 'a,b\n1,2\n3,x\n' >cells.csv

# The environment.
for threads in abc 0 -3 1025 2x; do
    HISTO_THREADS=$threads refuses 2 "HISTO_THREADS is '$threads': it must be a whole number from 1 to 1024" -b 3 n.txt
done
HISTO_CPU=foo refuses 2 "HISTO_CPU is 'foo': it must be baseline, avx2, avx512 or avx512vbmi2" info
HISTO_CPU=avx2 HISTO_THREADS=2 prints 'lo\thi\tcount\n1\t3\t3\n' -b 1 n.txt
HISTO_CPU='' HISTO_THREADS='' prints 'lo\thi\tcount\n1\t3\t3\n' -b 1 n.txt

# Options.
refuses 2 '\-b 0 is out of range: give 1 to' -b 0 -o out.json n.txt
refuses 2 '\-b -3 is out of range' -b -3 -o out.json n.txt
refuses 2 '\-b 1099511627776 is out of range' -b 1099511627776 -o out.json n.txt
refuses 2 "'lots' is not a number of bins" -b lots -o out.json n.txt
refuses 2 'the lower end comes first' -r 5:1 -o out.json n.txt
refuses 2 'is not a range' -r 5 -o out.json n.txt
refuses 1 'none/x.checkpoint' -b 2 -r 0:5 --checkpoint none/x.checkpoint -o out.json n.txt
refuses 2 'both ends must be finite' -r 0:inf -o out.json n.txt
refuses 2 'percentiles run from' -r p5:p101 -o out.json n.txt
refuses 2 'number above 0' --width 0 -o out.json n.txt
refuses 2 'both define the bins' -b 3 --width 1 -o out.json n.txt
refuses 2 'edges must increase, and 2 follows 3' --edges 1,3,2 -o out.json n.txt
refuses 2 'edges must increase, and inf follows inf' --edges 1,inf,inf -o out.json n.txt
refuses 1 'no room for a bin with an infinite edge' --edges 1,2,inf -o out.svg n.txt
refuses 2 'edges must increase, and 1 follows 1' --edges 1,1 -o out.json n.txt
refuses 2 'one edge makes no bin' --edges 1 -o out.json n.txt
for edges in 1,,2 ,1,2 1,2, '1, ,2' ,; do
    refuses 2 '--edges: a comma lacks a number on one side' --edges "$edges" -o out.json n.txt
done
refuses 2 'is longer than any number$' --edges "0,$(printf '%0600d' 1)" -o out.json n.txt
refuses 2 'leave -r out' --edges 1,2 -r 0:1 -o out.json n.txt
printf '1 2\n3,x' >edges.txt
refuses 2 "edges.txt, line 2: 'x' is not a number" -b @edges.txt -o out.json n.txt
printf '1,\n2,\n3,\n' >edges.txt
refuses 2 'edges.txt: a comma lacks a number' -b @edges.txt -o out.json n.txt
refuses 1 'the file of edges none.txt cannot be read' -b @none.txt -o out.json n.txt
refuses 2 'further apart' -r -1e308:1.7e308 -o out.json n.txt
refuses 2 'would have no width' -b 5 -r 0:1e-323 -o out.json n.txt
refuses 2 'needs a range above 0' --log -r 0:1 -o out.json n.txt
refuses 2 'given for 2 axes' -b '1;2' -o out.json n.txt
refuses 2 "there is no strategy 'magic'" --strategy magic -o out.json n.txt
refuses 2 "no parameter 'speed'" --param speed=9 -o out.json n.txt
refuses 2 'no suffix' -o out n.txt
refuses 2 'the empty name after -o' -o '' n.txt
refuses 2 'no format has the suffix .xls' -o out.xls n.txt
refuses 2 "no output format 'excel'" --to excel -o out.json n.txt
refuses 1 'nowhere/out.json cannot be written' -o nowhere/out.json n.txt
refuses 1 'is a directory' -o . --to json n.txt

# Files.
refuses 1 'none.txt: there is no such file' -o out.json none.txt
refuses 1 'is a directory' -o out.json .
ln -s loop.txt loop.txt
refuses 1 'loop.txt cannot be opened: Too many levels' loop.txt
refuses 1 'n.txt/x cannot be opened: Not a directory' n.txt/x
: >empty
refuses 1 'empty is empty' -o out.json empty
printf 'no magic here\001\002\003' >unknown
refuses 1 'of unknown format: .*--dtype' -o out.json unknown
refuses 1 'unknown' --format png -o out.json unknown
refuses 2 "no format 'odd'" --format odd -o out.json unknown

# damaged FILE BYTES [PATTERN]: a file of these bytes (escapes as in printf) is refused by name.
damaged() {
    printf "$2" >"$1"
    refuses 1 "$1${3-}" -o out.json "$1"
}

# What files say steers no terminal: control characters of C0 and C1, and bytes that are not UTF-8, become question marks.
printf 'NRRD0004\ndimension: 2\033[31mx\302\23331m\23331m\377\n\n' >steer.nrrd
refuses 1 ' 2?\[31mx?31m?31m?; save' steer.nrrd
printf 'a\302\23331m,b\n1,\n2,3\n' >steer.csv
refuses 2 "no column 'c': it has a?31m, b " --column c steer.csv
mv steer.csv "$(printf 'steer\033[31m\302\233.csv')"
remarks 'steer?\[31m?.csv: left out 1 missing value$' --column 1 -b 1 steer*.csv
rm steer*
# And none changes the direction of what follows, in messages, drawings and JSON.
for turn in '\342\200\216' '\342\200\217' '\342\200\252' '\342\200\256' '\342\201\246' '\342\201\251' '\330\234'; do
    printf "a${turn}b,c\n1,2\n3,4\n" >turn.csv
    refuses 2 "no column 'd': it has a?b, c " --column d turn.csv
    shows 'a?b' --to text -b 2 --column 0 turn.csv
done
printf 'a\342\200\260b,c\n1,2\n3,4\n' >turn.csv
refuses 2 "no column 'd': it has a‰b, c " --column d turn.csv
rm turn.csv

# Damaged images and arrays.
damaged cut.pgm 'P5 4 4 255\n\001\002\003'
damaged bad.pgm 'P5 4 x 255\n\001\002\003'
damaged huge.pgm 'P5 4294967295 1 255\n\001' ': .*the width, at most 2147483647, was expected'
damaged cut.png '\211PNG\r\n\032\n\000\000\000\015IHDR\000\000'
damaged cut.jpg '\377\330\377\340\000\020JFIF\000'
damaged cut.tif 'II*\000\010\000\000\000'
damaged cut.gz '\037\213\010\000\000\000\000\000\000\003abc'
gzip -c n.txt | head -c 20 >short.gz
refuses 1 'short.gz' -o out.json short.gz
printf '\001\002' | npy short.npy '<f8' '(3,)'
refuses 1 'short.npy holds 2 bytes of samples where .* 24' -o out.json short.npy
printf '\001\002' | npy object.npy '|O' '(1,)'
refuses 1 'object.npy' -o out.json object.npy
damaged head.npy '\223NUMPY\001\000'
damaged bad.npz 'PK\003\004junk'
damaged bad.h5 '\211HDF\r\n\032\njunk'
printf '123' >odd.bin
refuses 1 'odd.bin' --dtype u16 -o out.json odd.bin
printf '1234' >four.bin
refuses 1 'four.bin holds 4 bytes of samples where .* 12' --dtype u16 --shape 2x3 -o out.json four.bin
if [ "$data" ]; then
    head -c 3000 "$data/grace_hopper.jpg" >half.jpg
    refuses 1 'half.jpg' -o out.json half.jpg
    head -c 3000 "$data/logo2.png" >half.png
    refuses 1 'half.png' -o out.json half.png
    refuses 1 'choose one with --dataset' -o out.json "$data/jacksboro_fault_dem.npz"
    refuses 1 "no array 'height'" --dataset height -o out.json "$data/jacksboro_fault_dem.npz"
    refuses 2 "no channel 'x': choose among r, g, b, gray and all" -c x -o out.json "$data/grace_hopper.jpg"
    refuses 2 'reaches outside .* 512 x 600' --roi 500,0,20,20 -o out.json "$data/grace_hopper.jpg"
    refuses 1 'must have the same height and width' --mask n.txt -o out.json "$data/grace_hopper.jpg"
    refuses 1 "line 1, column 1: 'Open' is not a number" --header no -c 1 -o out.json "$data/msft.csv"
fi

# Cells and columns.
refuses 1 "cells.csv, line 3, column 1 (b): 'x' is not a number" --column b -o out.json cells.csv
refuses 2 "cells.csv has no column 'c': it has a, b" --column c -o out.json cells.csv
refuses 1 "cells.csv, line 3, column 1 (b): 'x' is not a number" -o out.json cells.csv
refuses 2 "no column 'c'" --column a --weights c -o out.json cells.csv
refuses 2 'names 1 column of' --joint a -o out.json cells.csv
refuses 2 '\-\-where NAME=lo:hi' --joint a,b --where 1:2 -o out.json cells.csv
printf '1\n2 x\n' >words.txt
refuses 1 "words.txt, line 2, word 2: 'x' is not a number" -o out.json words.txt
printf 'a,b\n1,2\n3\n' >ragged.csv
refuses 1 'ragged.csv, line 3: the row has 1 cell where the first has 2' --column a -o out.json ragged.csv
printf 'a\n"1\n' >quote.csv
refuses 1 'quote.csv' --column 0 -o out.json quote.csv

# No range in the data.
printf 'nan\nnan\n' >nan.txt
refuses 1 'nan.txt: no finite sample to take a range from: give one with -r lo:hi' -o out.json nan.txt
printf -- '-1\n0\n' >negative.txt
refuses 1 'above 0, no finite sample' --log -o out.json negative.txt
refuses 1 'no finite sample' --where 5:6 -o out.json n.txt
printf '1 1.0000000000000002\n' >near.txt
refuses 1 'near.txt: .* no width: .* with -b N or -r lo:hi' -b 5 -o out.json near.txt
printf -- '-1e308 1.7e308\n' >apart.txt
refuses 1 'apart.txt: .* wider than a double .* with -r lo:hi' -o out.json apart.txt
npy none.npy '<f8' '(0,)' </dev/null
refuses 1 'none.npy holds no samples' -o out.json none.npy
for header in 'only a header\n' '# nothing\na,b\n\n'; do
    printf "$header" >header.csv
    refuses 1 'header.csv holds a header but no rows' -c 0 -o out.json header.csv
    refuses 1 'header.csv holds a header but no rows' -c 0 -b 2 -r 0:1 -o out.json header.csv
done
printf 'apple,b\npear,c\nfig,d\n' >apple.csv
refuses 1 'apple.csv has no column of numbers among apple, b: choose strings to count with --column' -o out.json apple.csv
printf 'a,b\nx,y\n' >text.csv
refuses 1 'text.csv has no column of numbers among a, b' -o out.json text.csv
refuses 1 'text.csv has no column of numbers among a, b' --column all -o out.json text.csv
refuses 1 'text.csv has no column of numbers among a, b' --joint all -o out.json text.csv

# Files that do not match each other.
printf 'P5 1 1 255\n\001' >a.pgm
printf 'P5 1 1 65535\n\001\001' >b.pgm
printf 'P6 1 1 255\n\001\002\003' >c.ppm
printf 'P5 2 1 255\n\001\002' >d.pgm
refuses 1 'b.pgm has u16 samples among others of u8' -o out.json a.pgm b.pgm
refuses 1 'c.ppm has 3 channels to count where a.pgm has 1' -o out.json a.pgm c.ppm
refuses 1 'the mask d.pgm has 2 x 1 pixels and a.pgm has 1 x 1' --mask d.pgm -o out.json a.pgm
refuses 1 'there is no such file' --mask none.pgm -o out.json a.pgm
refuses 2 'heat maps do not fit into one picture' --batch --joint 0,0 -o out.png a.pgm a.pgm
refuses 2 'of 3 axes cannot be drawn' --joint r,g,b -o out.png none.ppm
refuses 2 'of 3 axes cannot be drawn' --joint all -o out.png c.ppm
refuses 1 'cannot read wisdom from none.txt: .* --wisdom' --wisdom none.txt -o out.json n.txt
refuses 1 'n.txt is not a wisdom file .* --wisdom' --wisdom n.txt -o out.json n.txt
grep -q '^histo: n.txt is' "$err" || fail "the name is said twice: $(cat "$err")"

# A missing device is reported, whatever else is wrong.
refuses 1 'take --device cpu' --device cuda:1023 -o out.json none.txt
refuses 2 'cuda:N for GPU N, or cuda:all' --device cuda:some none.txt
refuses 1 'take --device cpu' explain --device cuda:1023 n.txt
finish
