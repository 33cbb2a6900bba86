# Columns of a table have an axis each, in every output.
. "$(dirname "$0")/support/check.sh"

# Run in 8 GB of address space; sanitizers need more.
if (ulimit -v 8000000 && "$histo" version || exit 1) >"$out" 2>&1; then
    small() { ulimit -v 8000000; }
else
    small() { :; }
fi

# Columns of different magnitudes: on the axis of c, a rule would choose a million bins for b.
printf 'a,b,c\n1,0.25,1e7\n2,0.5,2e7\n2,0.75,9e7\n' >t.csv
table='name\tlo\thi\tcount\na\t1\t1.5\t1\na\t1.5\t2\t2\nb\t0.25\t0.5\t1\nb\t0.5\t0.75\t2\nc\t10000000\t50000000\t2\nc\t50000000\t90000000\t1\n'
prints "$table" -b 2 --column all t.csv
prints "$(printf "$table" | tr '\t' ,)\n" -b 2 --column all --to csv t.csv
prints 'name\tlo\thi\tcount\tsum_w\tsum_w2\na\t1\t2\t3\t1.5\t0.875\nc\t10000000\t90000000\t3\t1.5\t0.875\n' \
    -b 1 --column a,c --weights b t.csv
prints 'lo\thi\ta\tb\n0\t4\t3\t3\n' -b 1 -r 0:4 --column a,b t.csv
prints 'name\tlo\thi\tcount\na\t1\t2\t3\nb\t0.25\t0.5\t1\nb\t0.5\t0.75\t2\n' -b '1;2' --column a,b t.csv
refuses 2 'given for 2 axes, but there are 3' -b '1;2' --column all t.csv
for form in json histo; do
    "$histo" -b 2 --column all -o "t.$form" t.csv
    prints "$table" show --to tsv "t.$form"
    "$histo" merge "t.$form" "t.$form" | awk '{ n += $4 } END { exit n != 18 }' || fail "t.$form does not merge"
done

# A structured array of NumPy.
checks=$((checks + 1))
"$histo" -b 2 --column all -o t.npy t.csv
{
    printf '\223NUMPY\001\000v\000%-117s\n' \
        "{'descr': [('name', '|S1'), ('lo', '<f8'), ('hi', '<f8'), ('count', '<u8')], 'fortran_order': False, 'shape': (6,), }"
    for row in a:1:1.5:1 a:1.5:2:2; do
        printf '%s' "${row%%:*}"
        case $row in
        a:1:*) printf '\0\0\0\0\0\0\360\077\0\0\0\0\0\0\370\077\001\0\0\0\0\0\0\0' ;;
        *) printf '\0\0\0\0\0\0\370\077\0\0\0\0\0\0\0\100\002\0\0\0\0\0\0\0' ;;
        esac
    done
} >expected.npy
cmp -s -n "$(wc -c <expected.npy)" expected.npy t.npy || fail "t.npy is not a structured array"

# The terminal draws columns below each other, by name, with one table of statistics.
shows '^a$' -b 2 --column all --to text t.csv
shows '^c$' -b 2 --column all --to text t.csv
shows '^c   *3  *0  *0  *0  *0  *1e+07  *9e+07' -b 2 --column all --to text t.csv

# Pictures have one panel per column, and grow with their number.
awk 'BEGIN { for (row = 0; row < 3; row++) { for (i = 0; i < 40; i++) printf "%s%d", i ? "," : "", (i + 1) * row; print "" } }' >wide.csv
for format in png svg pdf; do
    prints '' -b 2 --column all -o "t.$format" t.csv
    prints '' -b 2 --header no --column all -o "wide.$format" wide.csv
done
refuses 2 '40 histograms on separate axes do not fit into a picture of 300 x 300 pixels' \
    -b 2 --header no --column all --size 300x300 -o small.png wide.csv

# Channels of an image share an axis, whatever their values.
printf 'P6\n2 1\n65535\n\000\001\000\012\001\000\000\003\000\024\010\000' >deep.ppm
prints 'lo\thi\tr\tg\tb\n1\t1025\t2\t2\t1\n1025\t2049\t0\t0\t1\n' -b 2 -r 1:2049 deep.ppm
shows '^lo	hi	r	g	b$' deep.ppm

# A rule misled by outliers stops at a million bins, and says so.
awk 'BEGIN { for (i = 0; i < 1000; i++) print i % 7 / 7; print 5e7 }' >outlier.txt
checks=$((checks + 1))
(small && "$histo" -b fd --to histo outlier.txt >outlier.histo 2>"$err") || fail "an outlier: $(cat "$err")"
grep -q '^histo: outlier.txt: the rule asks for [0-9 ]* bins, and 1 048 576 are used: choose a number with -b N$' "$err" ||
    fail "not told that a rule was not followed: $(cat "$err")"
awk 'BEGIN { for (i = 0; i < 1000; i++) print i % 7 / 7; print 5e12 }' >outlier.txt
remarks 'the rule asks for more than 1 073 741 824 bins, and 1 048 576 are used' -b fd -o outlier.histo outlier.txt
prints '' -q -b fd -o outlier.histo outlier.txt

# More memory than available is an error before it is allocated.
too_large() {
    (small && refuses "$@" && [ $failures -eq 0 ]) || fail "$*"
}
if [ "$( (small; ulimit -v) )" = 8000000 ]; then
    too_large 1 '1 073 741 827 bins: 17.2 GB of memory needed, .* GB available: use fewer' -b 1073741824 --column a t.csv
    too_large 1 '1 500 000 009 bins: 24 GB of memory' -b 500000000 --column all -o x.png t.csv
    too_large 1 '900 180 009 bins: .*--sparse, which keeps only' --joint a,b -b 30000 -o x.json t.csv
    # The edges of a sparse histogram are made only where samples are.
    checks=$((checks + 1))
    (small && "$histo" --joint a,b --sparse -b 1073741824 -o s.histo t.csv && "$histo" show s.histo >"$out" &&
        "$histo" show --to text s.histo >>"$out") 2>"$err" || fail "a sparse histogram of 2^60 bins: $(cat "$err")"
    too_large 1 'TB of memory needed' show -o s.png s.histo
fi

if [ -n "$data" ]; then
    checks=$((checks + 1))
    (small && "$histo" --column all -b fd -o msft.png "$data/msft.csv") || fail "columns of msft.csv with -b fd"
    shows '^Volume	' --column all -b fd "$data/msft.csv"
fi
finish
