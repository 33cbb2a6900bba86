# Statistics: --stats and --quantiles in drawings, tables and JSON; exact, or marked as those of bins.
. "$(dirname "$0")/../support/check.sh"

heads='samples\tunderflow\toverflow\tnan\tmasked\tmin\tq25\tq50\tq75\tmax\tmean\tstd\tmode\tentropy\tmoments\tquantiles\n'
printf '%s\n' 1 1 2 3 7 10 nan >x.txt
printf '0\n10\n' >two.txt
printf '5 5 5\n' >fives.txt
printf 'a,b,w\n1,2,3\n3,5,1\n' >t.csv

# Samples are read again for their quantiles, which are numpy.percentile's, whatever the bins; of a pipe only if it was
# copied, to find the range. An estimate has a mark, and is among the samples.
prints "$heads"'7\t0\t0\t1\t0\t1\t1.25\t2.5\t6\t10\t4\t3.366501646120693\t1.5\t2.2516291673878226\texact\texact\n' --stats -b 9 x.txt
prints "$heads"'7\t0\t2\t1\t0\t1\t1.25\t2.5\t6\t10\t4\t3.366501646120693\t1.5\t1.5\texact\texact\n' --stats -b 3 -r 1:4 x.txt
prints "$heads"'2\t0\t0\t0\t0\t0\t2.5\t5\t7.5\t10\t5\t5\t5\t0\texact\texact\n' --stats -b 1 <two.txt
prints "$heads"'2\t0\t0\t0\t0\t0\t≈3.75\t≈5\t≈6.25\t10\t5\t5\t5\t0\texact\tof bins\n' --stats -b 1 -r 0:10 <two.txt
prints "$heads"'2\t0\t0\t0\t0\t4\t≈4\t≈5\t≈5\t5\t4.5\t0.5\t5\t0\texact\tof bins\n' --stats -b 1 -r 0:10 <<END
4 5
END
prints "$heads"'1\t0\t0\t1\t0\tnan\tnan\tnan\tnan\tnan\tnan\tnan\tnan\tnan\texact\tof bins\n' --stats -b 1 -r 0:1 <<END
nan
END
prints 'samples,underflow,overflow,nan,masked,min,q0,q33.3,q100,max,mean,std,mode,entropy,moments,quantiles\n2,0,0,0,0,0,0,3.3299999999999996,10,10,5,5,5,0,exact,exact\n' \
    --quantiles 0,33.3,100 --to csv -b 1 two.txt

# However many samples there are: where the bins take a look at them, that look finds the quantiles, else counting does.
LC_ALL=C awk 'BEGIN { for (i = 0; i < 100000; i++) printf "%d.5\n", i * 7919 % 100003 }' >large.txt
for bins in '' '-b 7' '-b fd' '-r 1%:99%' '-b 3 -r 0:10' '--edges 0,5,1000' '-b 2 -r 0:10 --threads 1'; do
    # shellcheck disable=SC2086
    shows ' 25000.2  *50000  *74999.8 ' $bins --to text large.txt
done

LC_ALL=C sort -g large.txt >ordered.txt
shows ' 25000.2  *50000  *74999.8 ' --to text -b 3 -r 0:10 ordered.txt
shows ' 25000.2  *50000  *74999.8 ' --to text -b 3 -r 0:10 large.txt ordered.txt
for each in --compare --batch; do
    checks=$((checks + 1))
    [ "$("$histo" $each --to text -b 3 -r 0:10 large.txt ordered.txt | grep -c ' 0.5  *50000  *100002 ')" -eq 2 ] ||
        fail "large files, $each: $("$histo" $each --to text -b 3 -r 0:10 large.txt ordered.txt | tail -3)"
done
awk 'BEGIN { print "x,g" } { print $1 "," NR % 2; print $1 + 1e6 ",2" }' ordered.txt >groups-of-large.csv
shows '^2 .* 1 000 000  *1 050 000  *1 100 000 ' --to text --by g --column x -b 3 groups-of-large.csv

# So are those of each file, group, page and column; and those of files of different types, each.
printf '1 2 3 4\n' >whole.txt
printf '0.5 0.5 100\n' >parts.txt
of_both="whole.txt\\t4\\t0\\t0\\t0\\t0\\t1\\t2.5\\t3.9699999999999998\\t4\\t2.5\\nparts.txt\\t3\\t0\\t0\\t0\\t0\\t0.5\\t0.5\\t98.01\\t100\\t33.666666666666664\\n"
for each in --compare --batch; do
    checks=$((checks + 1))
    "$histo" $each --quantiles 50,99 -b 2 whole.txt parts.txt | cut -f -11 | tail -n +2 >got
    printf "$of_both" | cmp -s - got || fail "$each has other quantiles: $(cat got)"
done
{
    echo g,h,v
    i=0
    while [ $i -lt 700 ]; do
        i=$((i + 1))
        echo "g$((i % 70)),$i,$i.5"
    done
} >groups.csv
checks=$((checks + 1))
"$histo" --by g --top all --column v,h --quantiles 50 -b 3 groups.csv |
    awk -F '\t' 'NR > 1 && $8 != ($7 + $9) / 2 { bad = 1 }
                 END { exit bad || NR != 141 }' || fail "groups have other medians"

# Integers beyond 2^53: exact extremes, quantiles and deviations, in tables, drawings and the summary.
{
    echo n
    echo 1700000000000000010
    echo 1700000000000000001
    echo 1700000000000000005
} >ns.csv
shows '	1700000000000000001	1700000000000000003	1700000000000000005	1700000000000000010	1700000000000000005.333333	3.681787005729087	' \
    --quantiles 25,50 ns.csv
shows '1700000000000000007.5  1700000000000000010  1700000000000000005.333333  3.68179' \
    --quantiles 25,50,75 --to text ns.csv
shows '^3	1700000000000000005.333333	3.68178700572908' summary ns.csv
shows '	1700000000000000001	1700000000000000010	' summary ns.csv
printf -- '-9007199254740995\n-9007199254740992\n' >below.txt
shows '	-9007199254740995	-9007199254740993.5	-9007199254740992	' --quantiles 50 -b 2 below.txt

# Mean and deviation of integers are rounded once, and the same in the summary.
checks=$((checks + 1))
awk 'BEGIN { for (i = 0; i < 1001; i++) printf "%c", 33 + i * i * 7 % 90 }' >bytes
wanted=$(awk 'BEGIN { for (i = 0; i < 1001; i++) sum += 33 + i * i * 7 % 90; printf "%.17g", sum / 1001 }')
"$histo" --stats --bytes bytes | cut -f 11,12 | tail -n 1 >table
"$histo" summary --bytes bytes | cut -f 2,3 | tail -n 1 | cmp -s - table || fail "summary differs from --stats"
awk -v wanted="$wanted" '{ exit $1 + 0 != wanted + 0 }' table || fail "the mean is $(cat table), not $wanted"
printf -- '-9223372036854775807\n9223372036854775806\n3\n' >wide.txt
shows '	-9223372036854775807	3	9223372036854775806	0.6666666666666666	7.5308' --quantiles 50 -b 2 wide.txt

# Where a bin is a value.
printf 'abca' >letters
prints "$heads"'4\t0\t0\t0\t0\t97\t97\t97.5\t98.25\t99\t97.75\t0.82915619758885\t97\t1.5\texact\texact\n' --stats --dtype u8 letters
prints "$heads"'4\t0\t0\t0\t0\t97\t97\t97.5\t98.25\t99\t97.75\t0.82915619758885\t97\t1.5\texact\texact\n' --stats --bytes <letters

# A row for each series, or for each axis, with weights.
prints "name\t$heads"'a\t2\t0\t0\t0\t0\t1\t1.5\t2\t2.5\t3\t2\t1\t1.5\t1\texact\texact\nb\t2\t0\t0\t0\t0\t2\t2.75\t3.5\t4.25\t5\t3.5\t1.5\t2.75\t1\texact\texact\n' \
    --stats --column a,b -b 2 t.csv
prints 'name\tsamples\tunderflow\toverflow\tnan\tmasked\tsum_w\tmin\tq50\tmax\tmean\tstd\tmode\tentropy\tmoments\tquantiles\na\t2\t0\t0\t0\t0\t4\t1\t1\t3\t1.5\t0.8660254037844386\t1.5\t0.8112781244591328\texact\texact\nb\t2\t0\t0\t0\t0\t4\t2\t2\t5\t2.75\t1.299038105676658\t2.75\t0.8112781244591328\texact\texact\n' \
    --quantiles 50 --joint a,b -b 2 --weights w t.csv
prints "$heads"'2\t0\t0\t0\t1\t5\t5\t5\t5\t5\t5\t0\t5\t0\texact\texact\n' --stats --column b --where a=2: -b 1 t.csv

# Weights: of each group and file; a weight of 0 is that of no sample; of a pipe they are those of the bins.
printf 'x,w,g\n1,2,a\n5,1,b\n2.5,4,a\n-3,0.5,b\n7,0.25,a\n9,0,b\n' >weights.csv
with_weights='sum_w\tmin\tq0\tq25\tq50\tq100\tmax\tmean\tstd\tmode\tentropy\tmoments\tquantiles\n'
of_weights() {
    of_weights=$1
    shift
    checks=$((checks + 1))
    "$histo" --quantiles 0,25,50,100 --column x --weights w "$@" >got 2>said || fail "$*: $(cat said)"
    cut -f "$columns" got | tail -n +2 >cut
    printf "$of_weights" | cmp -s - cut || fail "histo $* gives $(cat cut)"
}
columns=6-16
of_weights '7.75\t-3\t-3\t1\t2.5\t7\t9\t2.225806451612903\t1.9790789226036087\t3\t0.965527262266083\n' -b 3 weights.csv
columns=1,9,11,14-15
of_weights 'a\t1\t2.5\t2.2\t1.2\nb\t-3\t5\t2.3333333333333335\t3.7712361663282534\n' --by g -b 3 weights.csv
columns=9,10,13-14,18
of_weights '≈1.9583333333333335\t≈3.25\t≈3.387096774193548\t≈1.860929690562059\tof bins\n' -b 3 -r -3:9 - <weights.csv
columns=9-10
printf 'x,w\n1,1\n2,-1\n3,4\n' >negative.csv
of_weights 'nan\tnan\n' -b 3 negative.csv
grep -q 'negative.csv: a weight is negative, so there are no quantiles$' said || fail "says $(cat said)"
# More samples than are kept.
LC_ALL=C awk 'BEGIN { print "x,w"; for (i = 0; i < 400000; i++) print (i * 7919 % 400009) ",0.5" }' >many.csv
columns=8-11
of_weights '0\t99999\t199999\t400008\n' -b 3 many.csv

# In a drawing: the median if there is room, all if asked for; a quantile beyond the axis is only known to be there.
COLUMNS=80
export COLUMNS
shows '^samples  .*  min  .*median .* mean  *std$' --to text -b 4 two.txt
shows '^ *3 .*  5  *5  *5  *5  *5  *5  *0$' --to text -b 4 fives.txt
shows 'std  *mode  entropy$' --stats --to text -b 4 two.txt
shows '  1%  median  99.9%  ' --quantiles 1,50,99.9 --to text -b 4 two.txt
shows '^ *6 .* < 1 ' --quantiles 0,50 --to text -b 2 -r 1:3 <<END
0 0 0 0 2 9
END

# Saved histograms have their bins, and the moments of their samples.
"$histo" -b 4 -o two.json two.txt
prints "$heads"'4\t0\t0\t0\t0\t0\t≈1.5625\t≈5\t≈8.4375\t10\t5\t5\t1.25\t1\texact\tof bins\n' merge --stats two.json two.json
sed 's/"metadata".*},$//' two.json >bare.json
prints "$heads"'4\t0\t0\t0\t0\t≈0\t≈1.5625\t≈5\t≈8.4375\t≈10\t≈5\t≈3.75\t1.25\t1\tof bins\tof bins\n' merge --stats bare.json bare.json
# Dates are dates; words have a mode and an entropy; so are those of groups and of mixed columns.
printf 'd,c,n\n2024-01-01,a,1.5\n2024-01-05,b,2\n2024-02-01,b,3\n' >mixed.csv
shows '^d	3	0	0	0	0	2024-01-01	2024-01-03	2024-01-05	2024-01-18T12:00	2024-02-01	2024-01-12T16:00	1189548082256' \
    --stats -b 2 --column d,n mixed.csv
shows '^c	3	.*	nan	b	0.918' --stats --column c,n -b 2 mixed.csv
shows '^n	3	.*	1.5	1.75	2	2.5	3	.*	exact	exact$' --stats --column c,n -b 2 mixed.csv
shows '^b	2	' --stats --by c --column n -b 2 mixed.csv

# Moments of the samples are saved; they are merged and kept. Bins that are values say the same.
for suffix in json histo; do
    "$histo" -b 4 -r 0:4 -o x.$suffix x.txt
    shows '^ *7 .* 10  *4  *3.3665$' show --to text x.$suffix
    "$histo" merge x.$suffix x.$suffix -o twice.$suffix
    shows '^ *14 .* 10  *4  *3.3665$' show --to text twice.$suffix
    "$histo" show twice.$suffix -o again.$suffix
    checks=$((checks + 1))
    cmp twice.$suffix again.$suffix || fail "show does not rewrite $suffix with moments the same"
    "$histo" --dtype u8 -r 98: -o from.$suffix letters
    shows '^ *4 .* 99  *97.75  *0.829156$' show --to text from.$suffix
    "$histo" -b 4 -r 0:4 -o without.$suffix x.txt
    sed 's/"metadata".*},$//' without.$suffix >cut.$suffix
done
shows '^ *14 .* ≈ ' merge --to text x.json cut.json

# The sums of shards are those of all samples, to the bit, whatever the threads; so are those of text and of groups.
python3 - <<'END'
import random, struct
r = random.Random(5)
x = [r.gauss(0, 1) * 10 ** r.uniform(-12, 3) for _ in range(400000)] + [float("nan"), float("inf")]
open("f64.raw", "wb").write(struct.pack(f"{len(x)}d", *x))
open("f32.raw", "wb").write(struct.pack(f"{len(x)}f", *x))
open("i16.raw", "wb").write(struct.pack(f"{len(x)}h", *(r.randrange(-32768, 32768) for _ in x)))
with open("g.csv", "w") as out:
    out.write("g,x\n")
    out.writelines(f"{'ab'[i % 3 > 0]},{v!r}\n" for i, v in enumerate(x[:30000]))
    out.write("a,\n")
END
alike_in_parts() {
    for i in 1 2 3; do
        "$histo" -q --shard $i/3 -b 50 -r -1:1 -o part-$i.histo "$@" || fail "shard $i of $*"
    done
    "$histo" merge --complete part-?.histo -o sum.histo || fail "merge of $*"
    "$histo" -q --threads 1 -b 50 -r -1:1 -o one.histo "$@"
    "$histo" -q --threads 2 --checkpoint c.ckpt --every 0 -b 50 -r -1:1 -o kept.histo "$@"
    checks=$((checks + 3))
    grep -q '^moments ' one.histo || fail "no moments of $*"
    cmp sum.histo one.histo || fail "the sum of shards of $* is not that of one process"
    cmp kept.histo one.histo || fail "with checkpoints, $* is not the same"
}
alike_in_parts --dtype f64 f64.raw
alike_in_parts --dtype f32 f32.raw
alike_in_parts --dtype i16 i16.raw
alike_in_parts --column x g.csv
alike_in_parts --column x --where x=-1: --weights x --reproducible g.csv
"$histo" -q --by g --column x -b 50 -r -1:1 -o groups.histo g.csv
for group in a b; do
    "$histo" -q --column x --where g=$group --to json -b 50 -r -1:1 g.csv >alone.json
    "$histo" -q --by g --column x --to json -b 50 -r -1:1 g.csv >groups.json
    checks=$((checks + 1))
    grep -qF "$(grep -o ' [-0-9a-fx.]*p[-+].*;' alone.json)" groups.json || fail "the moments of group $group"
done

# A survey finds them on the way: those of a range that is given are the same.
for dtype in f64 f32 i16; do
    "$histo" -q --dtype $dtype -b 50 -o found.json $dtype.raw
    "$histo" -q --dtype $dtype -b 50 -r -1:1 -o given.json $dtype.raw
    "$histo" -q --dtype $dtype -b fd -r 0.1%:99.9% -o rule.json $dtype.raw
    checks=$((checks + 2))
    [ "$(grep -o '"moments": "[^"]*' found.json)" = "$(grep -o '"moments": "[^"]*' given.json)" ] ||
        fail "a survey finds other moments of $dtype"
    [ "$(grep -o '"moments": "[^"]*' rule.json)" = "$(grep -o '"moments": "[^"]*' given.json)" ] ||
        fail "a rule finds other moments of $dtype"
done

sed 's/"moments": " 7/"moments": " 8/' x.json >bad.json
refuses 1 'the moments in the metadata are damaged' show bad.json
sed 's/^ 7 0 1/ 7 0 0/; s/moments \([0-9]*\)/moments 1/' x.histo >bad.histo
refuses 1 'is damaged' show bad.histo
"$histo" --stats --joint a,b -b 2 -o joint.json t.csv
shows '^b .* 2 .* 5  *3.5  *1.5$' show --to text joint.json
"$histo" --joint a,b -b 2 -o joint.histo t.csv
shows '^b .* 2 .* 5  *3.5  *1.5$' show --to text joint.histo

# Bins of an integer axis are values: all is exact again.
"$histo" --dtype u8 -o letters.histo letters
prints "$heads"'8\t0\t0\t0\t0\t97\t97\t97.5\t98.25\t99\t97.75\t0.82915619758885\t97\t1.5\texact\texact\n' \
    merge --stats letters.histo letters.histo
shows '"statistics":' --stats --to json -b 4 two.txt
checks=$((checks + 1))
"$histo" --stats --to json --column a,b -b 4 t.csv | python3 -c '
import json, sys
of = json.load(sys.stdin)
assert [of[n]["metadata"]["statistics"][0]["q50"] for n in "ab"] == [2, 3.5]
' || fail "the statistics in JSON"
refuses 2 'percentages from 0 to 100' --quantiles 101 -b 4 -o x.json two.txt
refuses 2 'percentages from 0 to 100' --quantiles '' -b 4 -o x.json two.txt
refuses 2 'png has no room for --stats: write text, tsv, csv or json' --stats -o x.png two.txt
refuses 2 'npy has no room for --quantiles' --quantiles 5 -o x.npy two.txt
# Quantiles of integers beyond 2^53 are exact, in one file and in two; a pipe says that they are not.
printf '9007199254740993\n9007199254740995\n' >far.txt
for files in far.txt 'far.txt far.txt'; do
    checks=$((checks + 1))
    [ "$("$histo" quantile -q 0,100 $files | cut -f 2 | tr '\n' ' ')" = 'value 9007199254740993 9007199254740995 ' ] || fail "quantiles of $files"
done
checks=$((checks + 1))
"$histo" quantile -q 0 <far.txt 2>&1 >/dev/null | grep -q 'quantiles beyond 2^53 are rounded to doubles' || fail 'a pipe says nothing'
finish
