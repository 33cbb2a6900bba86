# Columns of words: bins that are strings, conditions on words, and how columns are named.
. "$(dirname "$0")/../support/check.sh"

cat >t.csv <<'END'
tag,Open,Other,"last, first",n
alpha,1,10,"Lee, A",00501
beta,2,20,"Lee, A",10001
alpha,3,30,"Kim ""K""",00501
,4,40,x,00501
grün,5,50,NA,90210
alpha,6,60,x,
beta,7,70,y,90210
END

printf 'x,1\na,1\nb,1\nb,1\nc,1\n' >other.csv

# The most frequent words have bins, by count or by name, and others share one.
remarks 't.csv: left out 1 missing value' --column tag t.csv
[ "$(cat "$out")" = "$(printf 'value\tcount\nalpha\t3\nbeta\t2\ngrün\t1')" ] || fail "words: $(cat "$out")"
remarks 'other.csv: 3 other values share a bin: --top N gives more of them a bin' --column 0 --top 1 other.csv
prints 'value\tcount\nalpha\t3\nother\t3\n' -q --column tag --top 1 t.csv
prints 'value\tcount\nalpha\t3\nother\t3\n' -q --column tag -b 1 t.csv
prints 'value\tcount\nalpha\t3\nbeta\t2\ngrün\t1\n' -q --column tag --sort name --top all t.csv
prints 'value,count\n"Lee, A",2\nx,2\n"Kim ""K""",1\ny,1\n' -q --column '"last, first"' --to csv t.csv
prints 'value,count\n"Lee, A",2\nx,2\n"Kim ""K""",1\ny,1\n' -q --column 'last, first' --to csv t.csv
printf 'b\na\nb\n' >one.txt # there is no telling whether the first one is a name
prints 'value\tcount\nb\t2\na\t1\n' one.txt
"$histo" <one.txt >"$out" || fail 'words from a pipe'
printf 'w\nother\nother\na\na\nb\n' >other.txt
prints 'value\tcount\na\t2\nother\t2\nall others\t2\n' -q --top 2 other.txt

# Options that nothing has a use for.
refuses 2 'strings are counted, which have a bin each, and -r is for numbers' --column tag -b 3 -r 0:1 t.csv
refuses 2 'strings are counted, .* and a rule is for numbers' --column tag -b fd t.csv
refuses 2 'strings are counted, .* and --edges is for numbers' --category n --edges 1,2 t.csv
refuses 2 'there are no strings in what is counted: leave --top out' --column Open --top 3 t.csv
refuses 2 'there are no strings in what is counted: leave --sort out' --column Open --sort name t.csv
refuses 2 '--compare counts columns on one common axis, and strings' --compare --column tag,Open t.csv
printf 'd,n\n2024-01-02,1\n2024-01-03,2\n' >dates.csv
refuses 2 '--compare counts columns on one common axis, and dates' --compare --column d,n dates.csv
printf '0\n7\n' >offsets.txt
refuses 2 '--segments is for numbers' --column tag --segments offsets.txt t.csv
refuses 1 't.csv: --where leaves no row with a finite number' --column Open --where tag=gamma t.csv
refuses 1 't.csv: --where leaves no row with a string' --column tag --where tag=gamma t.csv
refuses 2 'doubles, which do not hold .* --where NAME=9007199254740993:$' --column Open --where 9007199254740993: t.csv
refuses 2 '--dense is for joint histograms' --column Open --dense t.csv

# Beside numbers, and in joint histograms.
prints 'name\tlo\thi\tcount\ntag\talpha\t\t3\ntag\tother\t\t3\nOpen\t1\t7\t7\n' -q --column tag,Open -b '1;1' t.csv
prints 'tag\tOpen_lo\tOpen_hi\tcount\nalpha\t1\t4\t2\nalpha\t4\t7\t1\nother\t1\t4\t1\nother\t4\t7\t2\n' \
    -q --joint tag,Open --top 1 -b 2 t.csv
prints 'value\tcount\tsum_w\tsum_w2\nalpha\t3\t10\t46\nother\t3\t14\t78\n' \
    -q --column tag --weights Open --top 1 t.csv

# Saved histograms keep their words; merging goes by them.
for form in json histo; do
    "$histo" -q --column tag --top 2 -o "a.$form" t.csv
    "$histo" -q --joint tag,Open --top 1 -b 2 -o "j.$form" t.csv
    prints 'value\tcount\nalpha\t3\nbeta\t2\nother\t1\n' show "a.$form"
    prints 'tag\tOpen_lo\tOpen_hi\tcount\nalpha\t1\t4\t2\nalpha\t4\t7\t1\nother\t1\t4\t1\nother\t4\t7\t2\n' show "j.$form"
    printf 'tag\nb\nbeta\nalpha\n' >u.csv
    "$histo" -q --header yes --column tag -o "b.$form" u.csv
    prints 'value\tcount\nalpha\t4\nbeta\t3\nb\t1\nother\t1\n' merge "a.$form" "b.$form"
    prints 'value\tcount\nalpha\t4\nb\t1\nbeta\t3\nother\t1\n' merge "b.$form" "a.$form"
    prints 'value\tcount\nalpha\t6\nbeta\t4\nother\t2\n' merge "a.$form" "a.$form"
done
"$histo" -q --joint tag,Other --top 1 -b 1 -r 0:100 -o j1.json t.csv
"$histo" -q --joint tag,Other --top 2 -b 1 -r 0:100 -o j2.json t.csv
prints 'tag\tOther_lo\tOther_hi\tcount\nalpha\t0\t100\t6\nbeta\t0\t100\t2\nother\t0\t100\t4\n' merge j1.json j2.json
sed 's/"alpha",//' a.json >damaged.json
refuses 1 'damaged.json: the names of an axis are damaged' show damaged.json

# Shards count their own words, and their sum goes by words.
for shard in 1 2 3; do
    "$histo" -q --shard $shard/3 --column tag --top all -o "p$shard.histo" t.csv
done
prints 'value\tcount\nalpha\t3\nbeta\t2\ngrün\t1\n' merge --complete p1.histo p2.histo p3.histo
printf 'b\nb\nc\nc\nb\na\na\na\na\nc\nb\n' >tie.txt # ordered as one process orders them
for order in count name; do
    for shard in 1 2 3; do
        "$histo" --shard $shard/3 --column 0 --top all --sort $order -o "p$shard.histo" tie.txt
    done
    "$histo" merge --complete p1.histo p2.histo p3.histo -o sum.histo
    "$histo" --column 0 --top all --sort $order -o whole.histo tie.txt
    cmp sum.histo whole.histo || fail "the order of words of shards by $order"
done
printf 'tag\na\n' >short.csv # whose second shard has no words
for shard in 1 2; do
    "$histo" -q --header yes --shard $shard/2 --column tag --top all -o "p$shard.histo" short.csv || fail "shard $shard"
done
prints 'value\tcount\na\t1\n' merge --complete p1.histo p2.histo
refuses 2 'strings are not surveyed' survey --column tag --shard 1/2 -o s.survey t.csv

# Numbers as words, and one histogram a group, on a common axis.
prints 'value\tcount\n00501\t3\n90210\t2\n10001\t1\n' -q --category n t.csv
prints 'value\tcount\n00501\t3\n90210\t2\n10001\t1\n' -q --category n --column n t.csv
prints 'name\tlo\thi\tcount\nOpen\t1\t7\t7\nn\t00501\t\t3\nn\t90210\t\t2\nn\t10001\t\t1\n' -q --category n --column Open --edges 1,7 t.csv
prints 'lo\thi\talpha\tbeta\tgrün\n1\t4\t2\t1\t0\n4\t7\t1\t1\t1\n' -q -b 2 --column Open --by tag t.csv
prints 'lo\thi\talpha\tother\n1\t4\t2\t1\n4\t7\t1\t2\n' -q -b 2 -r 1:7 --column Open --by tag --top 1 t.csv
prints 'lo\thi\talpha\tother\n1\t4\t1\t1\n4\t7\t1\t2\n' -q -b 2 -r 1:7 --column Open --by tag --top 1 --where Open=2: t.csv
prints 'value\talpha\tbeta\n00501\t2\t0\n10001\t0\t1\n90210\t0\t1\n' -q --category n --by tag --where tag=alpha,beta t.csv
prints 'lo\thi\talpha_count\talpha_sum_w\talpha_sum_w2\tother_count\tother_sum_w\tother_sum_w2\n0\t9\t3\t100\t4600\t3\t140\t7800\n' \
    -q -b 1 -r 0:9 --column Open --by tag --top 1 --weights Other t.csv
"$histo" -q -b 2 -r 1:7 --column Open --by tag --top 1 -o by.json t.csv
prints 'lo\thi\talpha\tother\n1\t4\t2\t1\n4\t7\t1\t2\n' show by.json
shows 'alpha  *beta' --column Open --by tag --to text t.csv
printf '\001\002' >raw.bin
refuses 2 '--by takes a column of a table, and raw.bin has none' --dtype u8 --by x raw.bin
refuses 2 '--by and --batch contradict each other' --by tag --batch t.csv

# In drawings.
shows '^alpha *.* 3$' --column tag --to text t.csv
shows '^other (2 values) *.* 3$' --column tag --top 1 --to text t.csv
shows '^alpha *[^a-z]*$' --joint tag,Open -b 2 --to text t.csv
for format in png svg pdf; do
    checks=$((checks + 1))
    "$histo" -q --column tag -o "t.$format" t.csv || fail "t.$format"
done

# Conditions: on words, on numbers, all of several.
prints 'lo\thi\tcount\n1\t7\t3\n' -b 1 -r 1:7 -q --column Open --where tag=alpha t.csv
prints 'lo\thi\tcount\n1\t7\t4\n' -b 1 -r 1:7 -q --column Open --where tag=alpha,grün t.csv
prints 'lo\thi\tcount\n1\t7\t3\n' -b 1 -r 1:7 -q --column Open --where 'tag!=alpha' t.csv
prints 'lo\thi\tcount\n1\t7\t2\n' -b 1 -r 1:7 -q --column Open --where 'last, first="Lee, A"' t.csv
prints 'lo\thi\tcount\n1\t7\t2\n' -b 1 -r 1:7 -q --column Open --where tag=alpha --where Open=2: t.csv
prints 'lo\thi\tcount\n1\t7\t3\n' -b 1 -r 1:7 -q --column Open --where Open=2,4:5 t.csv
prints 'lo\thi\tcount\n1\t7\t4\n' -b 1 -r 1:7 -q --column Open --where 'Open!=2,4:5' t.csv
prints 'lo\thi\tcount\n1\t7\t2\n' -b 1 -r 1:7 -q --column Open --where 2: --where :3 t.csv
prints 'lo\thi\tcount\n1\t7\t1\n' -b 1 -r 1:7 -q --column Open --where 2: --where tag=alpha --where Other=60 t.csv
prints 'value\tcount\nalpha\t2\nbeta\t2\n' -q --column tag --where Open=2:4,6: t.csv
refuses 2 'the ranges of --where have nothing in common' --column Open --where 5: --where :3 t.csv
refuses 2 "'x' is not a number or a range LO:HI" --column Open --where Other=x t.csv
refuses 1 't.csv: --where leaves no row with a string' --column tag --where Open=100 t.csv

# Columns by pattern, by range, repeated; a typo is told with what was meant.
prints 'name\tlo\thi\tcount\nOpen\t1\t7\t7\nOther\t10\t70\t7\n' -b 1 --column 'O*' t.csv
prints 'name\tlo\thi\tcount\nOpen\t1\t7\t7\nOther\t10\t70\t7\n' -b 1 --column 1-2 t.csv
prints 'name\tlo\thi\tcount\nOpen\t1\t7\t7\nOther\t10\t70\t7\n' -b 1 --column open --column 2 t.csv
refuses 2 "has no column 'Opne': did you mean 'Open'? It has tag, Open, Other" -b 1 --column Opne t.csv
refuses 2 't.csv has no column 9: their numbers are 0 to 4' -b 1 --column 2-9 t.csv
refuses 2 "has no column 'Z\*'" -b 1 --column 'Z*' t.csv

# Weights rank what they weigh, also where a value is rare.
printf 'city,sales,n\nb,1,5\nb,1,6\na,100,7\nc,-3,8\n' >sales.csv
prints 'value\tcount\tsum_w\tsum_w2\na\t1\t100\t10000\nother\t3\t-1\t11\n' -q --column city --weights sales --top 1 sales.csv
prints 'lo\thi\ta_count\ta_sum_w\ta_sum_w2\tother_count\tother_sum_w\tother_sum_w2\n0\t9\t1\t100\t10000\t3\t-1\t11\n' \
    -q --column n --by city --weights sales --top 1 -b 1 -r 0:9 sales.csv

# More strings than can be counted: one sentence, in bounded memory.
awk 'BEGIN { print "w"; for (i = 0; i < 1100000; i++) print "w" i }' >many.csv
refuses 1 'many.csv, w has more than 1 048 576 different values, too many to count each' many.csv
# A column of strings under a name that does not look like them.
printf 'email\na@example.org\nb@example.org\n' >emails.csv
prints 'value\tcount\na@example.org\t1\nb@example.org\t1\n' --column email emails.csv
prints 'value\tcount\na@example.org\t1\nb@example.org\t1\n' --header yes --column email emails.csv
finish
