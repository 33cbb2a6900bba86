# Columns of a table have an axis each, in every output.
. "$(dirname "$0")/../support/check.sh"

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

# Without a choice, up to six columns of numbers are counted, but not those of other options.
prints "$table" -b 2 t.csv
prints 'name\tlo\thi\tcount\tsum_w\tsum_w2\na\t1\t2\t3\t1.5\t0.875\nc\t10000000\t90000000\t3\t1.5\t0.875\n' \
    -b 1 --weights b t.csv
printf 'a,b,s\n1,2,x\n' >pair.csv
prints 'lo\thi\tcount\tsum_w\tsum_w2\n1\t2\t1\t2\t4\n' -w b pair.csv
refuses 2 'has 2 columns of numbers: choose with --column among a, b (or all)' --by s pair.csv
printf '1,2,3,4,5,6,7\n' >seven.csv
refuses 2 'has 7 columns of numbers: choose with --column among 0, 1, 2, 3, 4, 5, 6 (or all)' seven.csv
for form in json histo; do
    "$histo" -b 2 --column all -o "t.$form" t.csv
    prints "$table" show --to tsv "t.$form"
    "$histo" merge "t.$form" "t.$form" | awk '{ n += $4 } END { exit n != 18 }' || fail "t.$form does not merge"
done

# Missing values are left out, alone or with their row, and reported; other words remain errors.
printf 'a,b\n1,\n2,NA\n3,7\nnull,5\n-,6\n' >missing.csv
remarks 'missing.csv: left out 2 missing values' -b 1 --column a missing.csv
[ "$(cat "$out")" = "$(printf 'lo\thi\tcount\n1\t3\t3')" ] || fail "missing values: $(cat "$out")"
remarks 'missing.csv: left out 4 missing values' -b 1 --column a,b missing.csv
remarks 'missing.csv: left out 4 rows with a missing value' -b 1 --joint a,b missing.csv
prints 'lo\thi\tcount\n5\t7\t3\n' -q -b 1 --column b missing.csv
printf '1\nn/a\n3 none\n' >missing.txt
remarks 'missing.txt: left out 2 missing values' -b 2 missing.txt
printf 'a\n1\nN.A.\n' >bad.csv
refuses 1 "'N.A.' is not a number" -b 2 bad.csv

# A second value adds to the first, or is refused.
prints 'lo\thi\tcount\n1\t3\t1\n' -b 1 -r 1:3 --column a --where b=0.5: --where c=:2e7 --where a=1: t.csv
prints 'name\tlo\thi\tcount\na\t1\t2\t3\nc\t10000000\t90000000\t3\nb\t0.25\t0.75\t3\n' -b 1 --column a,c --column b t.csv
refuses 2 '--mask is given twice: leave one out' --mask t.csv --mask t.csv t.csv

# Integers that doubles cannot hold are counted exactly, also where the bins are given and where text comes from a pipe.
printf '9007199254740993\n9007199254740992\n9007199254740993\n9007199254740994\n' >large.txt
prints 'lo\thi\tcount\n9007199254740992\t9007199254740994\t3\n9007199254740994\t9007199254740996\t1\n' large.txt
for range in 9007199254740992:9007199254740996 minmax; do
    [ $range = minmax ] && width=4 count=4 || width=2 count=3
    "$histo" --width $width -r $range large.txt | grep -q "	$count\$" || fail "large integers with -r $range"
    (echo id && cat large.txt) | "$histo" --width $width -r $range | grep -q "	$count\$" || fail "piped with -r $range"
done
for shard in 1 2 3 4 5 6; do # of which some have no samples
    "$histo" --shard $shard/6 -r 9007199254740992:9007199254740996 -b 2 -o "$shard.histo" large.txt || fail "shard $shard"
done
"$histo" -r 9007199254740992:9007199254740996 -b 2 -o whole.histo large.txt
"$histo" merge --complete 1.histo 2.histo 3.histo 4.histo 5.histo 6.histo -o sum.histo
cmp sum.histo whole.histo || fail 'shards of large integers'
# NaN among them is missing, but unlike any number that a condition names, and conditions compare them exactly.
printf 'id,v\n9007199254740993,1\n9007199254740992,2\nNaN,3\n-9223372036854775808,4\n' >ids.csv
prints 'lo\thi\tcount\n-inf\t9007199254740992\t1\n9007199254740992\t9007199254740994\t2\n' -q --column id \
    --edges 9007199254740992,9007199254740994 ids.csv
prints 'value\tcount\n1\t1\n' -q --category v --where id=9007199254740993 ids.csv
prints 'value\tcount\n2\t1\n' -q --category v --where id=1:9007199254740992 ids.csv
prints 'value\tcount\n4\t1\n' -q --category v --where id=-9223372036854775808 ids.csv
prints 'value\tcount\n2\t1\n3\t1\n4\t1\n' -q --category v --where 'id!=9007199254740993' ids.csv
prints 'value\tcount\n1\t1\n2\t1\n3\t1\n4\t1\n' -q --category v --where 'id!=5' ids.csv
printf 'a,b\n9007199254740993,1\n9007199254740995,2\n0.5,3\n' >mixed.csv # with a fraction they are doubles
prints 'lo\thi\tcount\n0\t9007199254740996\t2\n9007199254740996\t9007199254740998\t1\n' \
    --edges 0,9007199254740996,9007199254740998 --column a mixed.csv
sed '/0.5/d' mixed.csv >whole.csv
prints 'lo\thi\tcount\n0\t9007199254740996\t2\n9007199254740996\t9007199254740998\t0\n' \
    --edges 0,9007199254740996,9007199254740998 --column a whole.csv
# Integers beyond 64 bits make all doubles, however the bins are found; conditions are exact among them, and fractions.
{ echo n && seq 18446744073709550617 18446744073709551616; } >beyond.csv
sed '1d;s/.*/{"n":&}/' beyond.csv >beyond.jsonl
gzip -k beyond.csv
for file in beyond.csv beyond.jsonl beyond.csv.gz '- <beyond.csv' '--skip-bad beyond.csv' '--skip-bad beyond.jsonl'; do
    for bins in '-b 1' '-b 1 -r 0:1e20' '--edges 0,1e20' '--width 1e20'; do
        checks=$((checks + 1))
        [ "$(eval "\"\$histo\" -q $bins $file" | cut -f 3)" = "$(printf 'count\n1000')" ] || fail "$bins $file: $(cat "$err")"
    done
    checks=$((checks + 1))
    [ "$(eval "\"\$histo\" -q -b 1 -r 0:1e20 --where n=18446744073709551614: $file" | cut -f 3)" = "$(printf 'count\n3')" ] ||
        fail "a condition at 2^64 of $file"
done
printf 'n,v\n1,5\n1.5,6\n9007199254740993,7\n1e17,8\n' >mixed.csv
prints 'value\tcount\n7\t1\n' --category v --where n=9007199254740993 mixed.csv
prints 'value\tcount\n6\t1\n7\t1\n' --category v --where n=1.5:9007199254740993 mixed.csv
prints 'value\tcount\n5\t1\n6\t1\n8\t1\n' --category v --where n!=9007199254740993 mixed.csv
prints 'value\tcount\n8\t1\n' --category v --where n=100000000000000000 mixed.csv
prints 'value\tcount\n7\t1\n' --category v --where n=9007199254740993 --where n=9007199254740992: mixed.csv
refuses 1 'mixed.csv: --where leaves no row with a string' --category v --where n=9007199254740992 mixed.csv
printf '18446744073709551615\n18446744073709551614\n1\n' >unsigned.txt
prints 'lo\thi\tcount\n0\t9.223372036854776e+18\t1\n9.223372036854776e+18\t1.8446744073709552e+19\t2\n' -b 2 \
    -r 0:18446744073709551616 unsigned.txt

# Numbers that look like names of columns: the way out is told.
printf 'land,2013,2014,2015\nA,1.5,2.5,1.75\nB,2.5,3,4\n' >years.csv
remarks 'years.csv: the first row is counted: if it names the columns, add --header yes' -b 1 --column 1 years.csv
prints 'lo\thi\tcount\n1.5\t2.5\t2\n' -b 1 --header yes --column 2013 years.csv
prints 'lo\thi\tcount\n1.5\t2013\t3\n' -b 1 --header no --column 1 years.csv

# One word over others may be their name: it is over true and false, and else the way out is told.
printf 'flag\nTrue\nFalse\nTrue\n' >flags
prints 'value\tcount\nTrue\t2\nFalse\t1\n' flags
prints 'value\tcount\nTrue\t2\nFalse\t1\n' --column flag flags
printf 'kind\nyes\nno\nyes\n' >kinds
remarks 'kinds: the first row is counted: if it names the columns, add --header yes' kinds
prints 'value\tcount\nyes\t2\nno\t1\n' --header yes kinds
printf 'true\nfalse\n' >truths
prints 'value\tcount\nfalse\t1\ntrue\t1\n' truths
printf 'c\na\na\nb\nd\n' >words
prints 'value\tcount\na\t2\nb\t1\nc\t1\nd\t1\n' words
printf '1,2,3\n2,3,4\n5,6,7\n' >plain.csv
prints 'lo\thi\tcount\n1\t5\t3\n' -b 1 --column 0 plain.csv

printf '1 2 x\n1 2 3 x\n1 2 4 y\n' >first.txt # no title, though shorter
prints 'lo\thi\tcount\n1\t2\t3\n' --column 0 first.txt

# Logs begin with times, and their last columns have several words, or are quoted.
printf '2025-06-24 14:36:25 startup unpack\n2025-06-24 14:36:26 install a:b 1 2\n2025-06-25 14:36:26 install c\n' >dpkg.log
prints 'value\tcount\ninstall\t2\nstartup\t1\n' --column 2 dpkg.log
prints 'lo\thi\tcount\n2025-06-24\t2025-06-25\t2\n2025-06-25\t2025-06-26\t1\n' --column 0 --width 1d dpkg.log
for end in '(X11; Linux) A, B' '(X11; Linux)' 'Bot/1'; do
    printf '::1 - - [01/Mar/2024:04:36:07 +0100] "GET /a HTTP/1.1" 200 19 "-" "%s"\n' "$end"
done >access.log
prints 'lo\thi\tcount\n2024-03-01T03:00\t2024-03-01T04:00\t3\n' --column 3 --width 1h access.log
prints 'value\tcount\nGET /a HTTP/1.1\t3\n' --column 5 access.log

# Tables that blanks align: the last cell of a row, or of the header, may have several words.
printf 'PID  RSS COMMAND\n  1   10 init\n 20   30 sh -c "a b\n  3   20 x y\n' >ps.txt
prints 'lo\thi\tcount\n10\t20\t1\n20\t30\t2\n' -b 2 --column RSS ps.txt
prints 'value\tcount\ninit\t1\nsh -c "a b\t1\nx y\t1\n' --column COMMAND ps.txt
printf 'Filesystem Used Mounted on\n/dev/a 10 /\n/dev/b 30 /a b\n' >df.txt
prints 'lo\thi\tcount\n10\t20\t1\n20\t30\t1\n' -b 2 --column Used df.txt
prints 'value\tcount\n/\t1\n/a b\t1\n' --column 'Mounted on' df.txt
printf 'total 8\n-rw 1 root 30 a\n-rw 2 root 10 b c\n-rw 1 root 20 d -> e f\n' >ls.txt
prints 'lo\thi\tcount\n10\t20\t1\n20\t30\t2\n' -b 2 --column 3 ls.txt
"$histo" -b 2 --column 3 <ls.txt >"$out" || fail 'a table from a pipe'
prints 'value\tcount\na\t1\nb c\t1\nd -> e f\t1\n' --column 4 ls.txt

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
shows '^a  *b$' -b 2 --column all --to text t.csv
shows '^c$' -b 2 --column all --to text t.csv
shows '^c  *3  *10 000 000  *20 000 000  *90 000 000' -b 2 --column all --to text t.csv

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
    checks=$((checks + 1))
    seq 1000 | paste -sd, | sed 's/,/,c/g; s/^/c/' >wide.csv
    for i in 1 2 3; do seq "$i" "$((i + 999))" | paste -sd,; done >>wide.csv
    (small && "$histo" hist --column all wide.csv) >"$out" 2>"$err" || fail "a thousand columns: $(cat "$err")"
    [ "$(grep -c '^c1000' "$out")" -ge 2 ] || fail "not all of a thousand columns are counted"
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
