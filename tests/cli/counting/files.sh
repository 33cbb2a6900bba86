# Columns of several files: the first file says which are counted, and the others have them under the same names.
. "$(dirname "$0")/../support/check.sh"

printf 'x,y\n1,10\n2,20\n' >first.csv
printf 'y,x\n10,1\n20,2\n' >swapped.csv
printf 'word,y,x\nq,10,1\nr,20,2\n' >more.csv
printf '{"y":10,"x":1}\n{"y":20,"x":2}\n' >swapped.jsonl
printf '1,10\n2,20\n' >unnamed.csv
printf 'Y,X\n10,1\n20,2\n' >capitals.csv
printf 'y,z\n10,1\n' >without.csv
printf 'y,x,x\n10,1,1\n' >twice.csv

means='name\tcount\tmean\nx\t4\t1.5\ny\t4\t15\n'
has_means() {
    checks=$((checks + 1))
    "$histo" summary "$@" 2>"$err" | cut -f 1-3 >"$out"
    [ "$(cat "$out")" = "$(printf "$means")" ] || fail "summary $*: $(cat "$out" "$err")"
}
for other in swapped.csv more.csv swapped.jsonl capitals.csv; do
    has_means first.csv $other
    has_means --column all first.csv $other
    has_means --column '*' first.csv $other
    has_means --column 'x,[y]' first.csv $other
done
has_means first.csv unnamed.csv
for threads in 1 8; do
    prints 'name,lo,hi,count\nx,1,1.5,2\nx,1.5,2,2\ny,10,15,2\ny,15,20,2\n' \
        hist --threads $threads -b 2 --to csv first.csv swapped.csv
done
prints 'name\tq\tvalue\nx\t50\t1.5\ny\t50\t15\n' quantile -q 50 first.csv swapped.csv
prints 'name\tmetric\tvalue\nx\tkolmogorov\t0\ny\tkolmogorov\t0\n' compare --metric kolmogorov first.csv swapped.csv
prints 'x_lo,x_hi,y_lo,y_hi,count\n1,1.5,10,15,2\n1,1.5,15,20,0\n1.5,2,10,15,0\n1.5,2,15,20,2\n' \
    --joint all -b 2 --to csv first.csv swapped.csv
prints 'lo,hi,first.csv x,first.csv y,swapped.csv x,swapped.csv y\n0,15,2,1,2,1\n15,30,0,1,0,1\n' \
    --batch -b 2 -r 0:30 --to csv first.csv swapped.csv

# A number means the column at this place of each file.
prints 'lo,hi,count\n0,15,3\n15,30,1\n' --column 1 -b 2 -r 0:30 --to csv first.csv swapped.csv

refuses 1 "without.csv has no column 'x', which is counted in the first file: choose" summary first.csv without.csv
refuses 1 "twice.csv has more than one column 'x', which is counted in the first file" summary first.csv twice.csv

# With --batch, a file in which all values are missing has counts, too, in its place.
printf 'x,y\n1,\n2,\n' >missing.csv
prints 'lo,hi,missing.csv y,first.csv y,missing.csv y\n0,10,0,0,0\n10,20,0,2,0\n' \
    -q --batch --column y -b 2 -r 0:20 --to csv missing.csv first.csv missing.csv
prints 'lo,hi,missing.csv y,first.csv y\n10,15,0,1\n15,20,0,1\n' \
    -q --batch --column y -b 2 --to csv missing.csv first.csv
refuses 1 'missing.csv holds no samples to find a range in' -q --batch --column y missing.csv missing.csv
finish
