# Weights and joint histograms.
. "$(dirname "$0")/../support/check.sh"

printf 'a,w\n1,0.5\n2,1.5\n2,0.25\nnan,3\n7,1\n' >t.csv
prints 'lo\thi\tcount\tsum_w\tsum_w2\n0\t2\t1\t0.5\t0.25\n2\t4\t2\t1.75\t2.3125\n4\tinf\t1\t1\t1\nnan\tnan\t1\t3\t9\n' \
    --column a --weights w -b 2 -r 0:4 t.csv
prints 'lo\thi\tcount\tsum_w\tsum_w2\n0\t2\t1\t0.5\t0.25\n2\t4\t2\t1.75\t2.3125\n4\tinf\t1\t1\t1\nnan\tnan\t1\t3\t9\n' \
    --column a --weights w --reproducible -b 2 -r 0:4 t.csv
prints 'lo,hi,a_count,a_sum_w,a_sum_w2,w_count,w_sum_w,w_sum_w2\n0,4,3,2.25,2.5625,5,6.25,12.5625\n4,8,1,1,1,0,0,0\nnan,nan,1,3,9,0,0,0\n' \
    --column a,w --weights w --width 4 -r 0:8 --to csv t.csv

# The sums have the same bits for any order and number of threads.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%d %.17g\n", i % 7, (i * 7919 % 10007 - 5000) * exp(i % 50 - 25) }' >w.txt
sort -k2 w.txt >sorted.txt
"$histo" --delimiter space --header no --column 0 --weights 1 --reproducible -b 7 -r 0:7 w.txt >first
for threads in 1 2 3; do
    checks=$((checks + 1))
    "$histo" --delimiter space --header no --column 0 --weights 1 --reproducible -b 7 -r 0:7 --threads $threads sorted.txt |
        cmp - first || fail "reproducible sums depend on the order, or on threads ($threads)"
done

# Every sample is counted: in a bin, in the flow of an axis, or as masked.
prints 'a_lo\ta_hi\tw_lo\tw_hi\tcount
0\t2\t0\t1\t1\n0\t2\t1\t2\t0
2\t4\t0\t1\t1\n2\t4\t1\t2\t1
4\tinf\t1\t2\t1
nan\tnan\t2\tinf\t1\n' --joint a,w -b 2 -r '0:4;0:2' t.csv
prints 'a_lo\ta_hi\tw_lo\tw_hi\tcount\n0\t4\t0\t3.5\t3\n4\t8\t0\t3.5\t1\nnan\tnan\t0\t3.5\t1\n' \
    --joint a,w --edges '0,4,8;0,3.5' t.csv
prints 'a_lo\ta_hi\tw_lo\tw_hi\tcount\n0\t4\t0\t4\t3\n0\t4\t4\t8\t0\n4\t8\t0\t4\t1\n4\t8\t4\t8\t0\nnan\tnan\t0\t4\t1\n' \
    --joint a,w -b 2 -r 0:8 t.csv
shows '^a_lo	a_hi	w_lo	w_hi	a_lo	a_hi	count$' --joint a,w,a -b '2;1;1' -r '0:8;0:8;0:8' t.csv

if [ "$data" ]; then
    # As numpy.histogram2d, and the marginal counts of the photograph.
    shows '^25.26	27.61	27607900	54884533.33333333	31$' --joint Close,Volume -b '2;3' "$data/msft.csv"
    checks=$((checks + 1))
    "$histo" -b 4 "$data/grace_hopper.jpg" | awk 'NR > 1 { print $3 }' >red
    "$histo" -b 4 --joint r,g "$data/grace_hopper.jpg" | awk 'NR > 1 { n[$1] += $5 } END { for (i = 0; i < 256; i += 64) print n[i] }' |
        cmp - red || fail "the joint histogram of r and g, summed over g, is not that of r"
fi
# Names with commas and quotes stay those of the axes.
printf '"na,me","say ""x""",c d\n1,2,3\n' >names.csv
printf 'na,me_lo\tna,me_hi\tsay "x"_lo\tsay "x"_hi\tc d_lo\tc d_hi\tcount\n' >expected
"$histo" --joint '"na,me","say ""x""",c d' -b 1 -r 0:4 -o names.histo names.csv
for saved in names.histo names.json; do
    checks=$((checks + 1))
    [ $saved = names.histo ] || "$histo" show names.histo -o names.json
    "$histo" show $saved | head -n 1 | cmp -s - expected || fail "the names of axes in $saved: $("$histo" show $saved | head -n 1)"
done
finish
