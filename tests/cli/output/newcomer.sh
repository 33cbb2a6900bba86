# What surprises first-time users: nothing is dropped, merged or overwritten silently.
. "$(dirname "$0")/../support/check.sh"
images=$support/../../fuzz/corpus/image

# fortran FILE DTYPE SHAPE: like npy, in Fortran order.
fortran() {
    {
        printf '\223NUMPY\001\000v\000'
        printf '%-117s\n' "{'descr': '$2', 'fortran_order': True, 'shape': $3, }"
        cat
    } >"$1"
}

# Channels: an array with four has four, in either order; alpha is excluded only if the file declares it.
printf '\001\002\003\004\005\006\007\010' | npy c.npy '|u1' '(1, 2, 4)'
printf '\001\005\002\006\003\007\004\010' | fortran f.npy '|u1' '(1, 2, 4)'
printf '\001\002\003\004\005\006\007\010' >four.raw
four='lo\thi\t0\t1\t2\t3\n1\t5\t1\t1\t1\t1\n5\t9\t1\t1\t1\t1\n'
prints "$four" --edges 1,5,9 c.npy
prints "$four" --edges 1,5,9 f.npy
prints "$four" --edges 1,5,9 --dtype u8 --shape 1x2x4 four.raw
prints 'lo\thi\tcount\n4\t6\t1\n6\t8\t1\n' -b 2 -r minmax -c a c.npy
prints 'lo\thi\tcount\n1\t5\t4\n5\t9\t4\n' --edges 1,5,9 --column 0 --dtype u8 --shape 2x4 four.raw
prints 'lo\thi\t0\t1\t2\t3\n0\t50\t0\t0\t0\t1\n50\t256\t1\t1\t1\t0\n' --edges 0,50,256 "$images/rgbx.tif"
printf 'P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\001\002\003\004' >alpha.pam
prints 'lo\thi\tr\tg\tb\n0\t256\t1\t1\t1\n' -b 1 alpha.pam
prints 'lo\thi\tr\tg\tb\ta\n0\t256\t1\t1\t1\t1\n' -b 1 -c all alpha.pam
for inks in cmyk.jpg cmyk.tif; do
    "$histo" --edges 5,15,45,55,95,105,195,205 --to csv "$images/$inks" | tr -d 0468 | tr '\n' ' ' >ink
    checks=$((checks + 1))
    grep -q '^lo,hi,c,m,y,k 5,15,,,,' ink || fail "$inks: $(cat ink)"
done
shows '^195	205	64$' --edges 195,205 -c cyan "$images/cmyk.jpg"
shows '^5	15	64$' --edges 5,15 -c k "$images/cmyk.jpg"
shows '^5	15	4$' --edges 5,15 -c k "$images/cmyk.tif"
refuses 2 'choose among c, m, y, k and all' -c r "$images/cmyk.jpg"

# A bad cell is excluded alone, or with its row if columns are paired.
printf 'a,b\n1,x\n4,5\ny,8\nnan,8\n' >bad.csv
remarks 'bad.csv: skipped 2 cells that are not numbers' --skip-bad --column a,b --edges 0,5,9 bad.csv
[ "$(cat "$out")" = "$(printf 'lo\thi\ta\tb\n0\t5\t2\t0\n5\t9\t0\t3\nnan\tnan\t1\t0')" ] || fail "--skip-bad: $(cat "$out")"
remarks 'bad.csv: skipped 2 rows with a cell' --skip-bad --joint a,b --edges 0,9 bad.csv
remarks 'bad.csv: skipped 2 rows with a cell' --skip-bad --column a --weights b --edges 0,9 bad.csv
remarks 'bad.csv: skipped 1 cell that is not a number' --skip-bad --column b --edges 0,9 bad.csv

# The output must not be an input.
printf '1\n2\n' >n.txt
cp n.txt n.json
ln -s n.json link.json
refuses 2 'would overwrite its input' -o n.json n.txt n.json
refuses 2 'would overwrite its input' -o link.json n.json
refuses 2 'would overwrite its input' -o n.json <n.json
refuses 2 'would overwrite its mask' -o n.json --mask n.json n.txt
refuses 2 '-o and --wisdom are both new.json' --measure --wisdom new.json -o new.json n.txt
refuses 2 'would overwrite its segments' -o n.json --to csv --segments n.json n.txt
refuses 2 'would overwrite its file of edges' -o n.json -b @link.json n.txt
printf 'P5 1 1 255\n\001' >photo.json
refuses 2 'would overwrite its input' bench conflicts -o photo.json photo.json
checks=$((checks + 1))
cmp -s n.txt n.json || fail "an input was overwritten"
"$histo" -b 1 -r 0:5 -o sum.json n.txt
prints '' merge -o sum.json sum.json sum.json
prints 'lo\thi\tcount\n0\t5\t4\n' show sum.json

# Decimal commas, and cells that are not numbers.
printf '1;2,5\n3;4,5\n' >europe.csv
prints 'lo\thi\tcount\n1\t2\t1\n2\t3\t1\n' -b 2 --column 0 europe.csv
refuses 1 "europe.csv, line 1, column 1: '2,5' is not a number; say what its comma is" --column 1 europe.csv
printf 'a;b\n1,5;2,5\n' >named.csv
refuses 1 "line 2, column 0 (a): '1,5' is not a number; say what its comma is" --column a named.csv
printf 'a,b\n1;2,3\n4;5,6\n' >comma.csv
prints 'lo\thi\tcount\n3\t4.5\t1\n4.5\t6\t1\n' -b 2 comma.csv
for first in NA n/a -; do
    printf '%s\n1\n2\n' "$first" >first.txt
    remarks 'left out 1 missing value' -b 2 first.txt
done
for first in 0x10 '"1,234"' 12%; do
    printf '%s\n1\n2\n' "$first" >first.txt
    refuses 1 'first.txt, line 1' -b 2 first.txt
    remarks 'skipped 1 cell' -b 2 --skip-bad first.txt
done
for first in x _ value µ '"a b"'; do
    printf '%s\n1\n2\n' "$first" >first.txt
    prints 'lo\thi\tcount\n1\t1.5\t1\n1.5\t2\t1\n' -b 2 first.txt
done
printf '12%%\n1\n2\n' >first.txt
prints 'lo\thi\tcount\n1\t1.5\t1\n1.5\t2\t1\n' -b 2 --header yes first.txt

# Histograms with different names cannot be added.
"$histo" -c r -b 1 -o r.json alpha.pam
"$histo" -c g -b 1 -o g.json alpha.pam
"$histo" -b 1 -r 0:256 -o none.json n.txt
refuses 1 "g.json has no histogram 'r', which r.json has" merge r.json g.json
prints 'lo\thi\tcount\n0\t256\t2\n' merge r.json r.json

# Pages that the command line neither selected nor excluded.
remarks 'pages.tif: page 0 of 3: --page all counts every page' -b 1 "$images/pages.tif"
prints 'lo\thi\tcount\n0\t256\t1\n' -q -b 1 "$images/pages.tif"
prints 'lo\thi\tcount\n0\t256\t1\n' --page 0 -b 1 "$images/pages.tif"
prints 'lo\thi\tcount\n0\t256\t3\n' --page all -b 1 "$images/pages.tif"
refuses 2 'pages.tif has no page 5: its last page is 2' --page 5 "$images/pages.tif"
printf 'P5 1 1 255\n\001P5 1 1 255\n\002' >two.pgm
remarks 'two.pgm: page 0 of several: --page all' -b 1 two.pgm

# Messages.
refuses 2 '\-\-edges: edges must increase, and 1 follows 1' --edges 1,1 n.txt
printf 'p,q\n1,2\n' >table.csv
"$histo" --column all -b 1 -r 0:4 -o two.json table.csv
refuses 1 'sum.json holds 1 histogram and two.json 2' merge two.json sum.json
refuses 2 'names 1 column of table.csv' --joint p table.csv

# Drawings: enough digits to tell values apart.
printf '1000000000.25\n1000000000.5\n1000000000.75\n' >far.txt
shows '1000000000.25  .*1000000000.5 .* 1000000000.75 ' --to text -b 2 far.txt
shows '^ *0.0 …  *26.9 ' --to text -b 8 -r 0:215 n.txt
shows '^ *100000 …    1 M ' --to text --log -b 6 -r 1:1000000 n.txt
shows 'logarithmic bars' --to text --logy -b 2 n.txt
printf 'x,y\n1,1\n' >xy.csv
yes 1,1 | head -n 12345 >>xy.csv
shows '^count .* up to 12 346$' --to text --joint x,y -b 2 -r 0:2 xy.csv

# A quit signal leaves no files behind, like a termination signal.
mkfifo pipe
ulimit -c 0
before=$(ls -A)
env --default-signal=QUIT "$histo" -o out.json -b 1 -r 0:1 pipe &
exec 9>pipe
i=0
while [ "$(ls -A)" = "$before" ] && [ $i -lt 200 ]; do
    i=$((i + 1))
    sleep 0.05
done
[ "$(ls -A)" != "$before" ] || fail "no file is being written"
kill -QUIT $!
wait $! 2>/dev/null
exec 9>&-
checks=$((checks + 1))
[ "$(ls -A)" = "$before" ] || fail "SIGQUIT leaves $(ls -A)"
finish
