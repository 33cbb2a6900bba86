# Sparse histograms: the distinct rows of columns whose bins would not fit any array.
. "$(dirname "$0")/../support/check.sh"

# Every distinct row of seven columns has a line, with the count of sort | uniq -c.
awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) {
    row = int(rand() * 3000); for (a = 0; a < 7; a++) { row = (row * 16807 + 11) % 2147483647; printf "%s%d", a ? "," : "", row % 256 }
    print "" } }' >rows.csv
sort rows.csv | uniq -c | awk '{ n = $1; split($2, x, ","); for (a = 1; a <= 7; a++) printf "%d\t%d\t", x[a], x[a] + 1; print n }' |
    sort -n -k1,1 -k3,3 -k5,5 -k7,7 -k9,9 -k11,11 -k13,13 >expected
for threads in 1 3; do
    checks=$((checks + 1))
    "$histo" --header no --joint 0,1,2,3,4,5,6 --sparse -b 256 -r 0:256 --threads $threads rows.csv >whole || fail "--sparse fails"
    awk 'NR > 1' whole | cmp -s - expected || fail "--sparse --threads $threads counts other rows than sort and uniq"
done

# Saved, merged and shown again.
"$histo" --header no --joint 0,1,2,3,4,5,6 --sparse -b 256 -r 0:256 -o a.histo rows.csv
"$histo" merge a.histo a.histo -o twice.histo
checks=$((checks + 1))
"$histo" show twice.histo | awk 'NR > 1 { n += $15; m++ } END { print n, m }' >sums
echo 40000 "$(wc -l <expected)" | cmp -s - sums || fail "merged sparse histograms have $(cat sums)"
shows '^128 … 256 ' show --to text a.histo
checks=$((checks + 1))
"$histo" show a.histo -o a.json && "$histo" merge a.json a.histo -o again.histo && cmp -s twice.histo again.histo || fail "json and histo differ"

# Flow is kept; npy has only the bins, a row for each.
printf 'a,b,c,d\n1,2,3,4\n1,2,3,4\nnan,2,3,4\n1,2,-3,400\n' >few.csv
prints 'a_lo\ta_hi\tb_lo\tb_hi\tc_lo\tc_hi\td_lo\td_hi\tcount
1\t2\t2\t3\t-inf\t0\t256\tinf\t1\n1\t2\t2\t3\t3\t4\t4\t5\t2\nnan\tnan\t2\t3\t3\t4\t4\t5\t1\n' \
    --joint a,b,c,d --sparse -b 256 -r 0:256 few.csv
remarks '2 samples in underflow, overflow or NaN are not in few.npy' --joint a,b,c,d --sparse -b 256 -r 0:256 -o few.npy few.csv
checks=$((checks + 1))
{ tail -c 40 few.npy | od -An -v -t u8 | tr -s ' \n' ' '; head -c 128 few.npy | grep -c -a "'shape': (1, 5)"; } >npy
printf ' 1 2 3 4 2 1\n' | cmp -s - npy || fail "few.npy holds $(cat npy)"

refuses 2 'too many for a dense array: --sparse keeps only those' --joint a,b,c,d -b 256 -r 0:256 few.csv
refuses 2 'more than 2^63 - 1 bins and flow slots' --joint a,b,c,d --sparse -b 100000 -r 0:256 few.csv
refuses 2 'add --joint' --column a --sparse -b 256 few.csv
refuses 2 'contradict each other' --joint a,b --sparse --weights c few.csv
# Reported before any file is read.
refuses 2 '2 sparse histograms do not fit into one table' --batch --joint a,b --sparse -b 4 none.csv none.csv
"$histo" --batch --joint a,b --sparse -b 4 -o two.histo few.csv few.csv
refuses 2 '2 sparse histograms do not fit into one table' show two.histo
# A sparse batch, which the library can save: no advice leads in circles.
printf '%s' '{"uhi_schema": 1, "axes": [
    {"type": "category_int", "categories": [0, 1], "flow": false, "writer_info": {"histo": {"kind": "batch"}}},
    {"type": "boolean"}], "storage": {"type": "int", "index": [[0, 1], [1, 0]], "values": [5, 7]},
    "writer_info": {"histo": {"storage": "sparse"}}}' >batch.json
refuses 2 'draw them with --to text' show batch.json
refuses 1 'draw it with --to text' show --to json batch.json
"$histo" show --to text batch.json >"$out" 2>"$err" || fail "a sparse batch is not drawn: $(cat "$err")"

finish
