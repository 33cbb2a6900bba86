# Saving, showing and merging.
. "$(dirname "$0")/../support/check.sh"

printf 'a,w\n1,0.5\n2,1.5\n2,0.25\nnan,3\n7,1\n' >t.csv
for form in json histo; do
    # One histogram, several, weighted, joint: each loads as it was saved.
    for what in '--column a' '--column a,w' '--column a --weights w' '--column a,w --weights w --reproducible' '--joint a,w'; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086
        "$histo" $what -b 3 -r 0:4 -o "saved.$form" t.csv && "$histo" $what -b 3 -r 0:4 t.csv >direct
        "$histo" show "saved.$form" | cmp - direct || fail "$what does not come back from $form"
        # shellcheck disable=SC2086
        "$histo" $what -b 3 -r 0:4 t.csv t.csv >direct
        "$histo" merge "saved.$form" "saved.$form" | cmp - direct || fail "$what does not add up from $form"
    done
    "$histo" --column a -b 3 -r 0:4 -o "a.$form" t.csv
    "$histo" show -o "again.$form" "a.$form" && cmp "a.$form" "again.$form" || fail "show does not rewrite $form the same"
done

# Either format merges with the other, and masked samples are kept.
"$histo" --column a -b 1 -r 0:4 -o one.histo t.csv
prints 'lo\thi\tcount\n0\t4\t6\n4\tinf\t2\nnan\tnan\t2\n' merge --to tsv - one.histo <<END
$("$histo" --column a -b 1 -r 0:4 --to json t.csv)
END
"$histo" --column a --where 2: -b 1 -r 0:4 -o m.json t.csv
shows '"masked": "0:6"' merge --to json m.json m.json m.json

# Integer edges that doubles do not hold are shown as they are, and those of other histograms are different.
cat >whole.json <<'END'
{"h": {"uhi_schema": 1, "axes": [{"type": "variable", "edges": [1700000000000000001, 1700000000000000002, 1700000000000000500],
 "underflow": true, "overflow": true, "circular": false}], "storage": {"type": "int", "values": [1, 2, 3, 4]}}}
END
prints 'lo\thi\tcount\n-inf\t1700000000000000001\t1\n1700000000000000001\t1700000000000000002\t2\n1700000000000000002\t1700000000000000500\t3\n1700000000000000500\tinf\t4\n' show whole.json
sed 's/0002,/0003,/' whole.json >other.json
refuses 1 'other.json' merge -o sum.json whole.json other.json

# Names with characters that JSON escapes, and others.
printf '"a ""b""\\c","µ"\n1,2\n' >names.csv
"$histo" --column all -b 1 -r 0:4 -o names.json names.csv
prints 'lo,hi,"a ""b""\\c",\0302\0265\n0,4,1,1\n' show --to csv names.json
"$histo" --column all -b 1 -r 0:4 -o names.histo names.csv
prints 'lo,hi,"a ""b""\\c",\0302\0265\n0,4,1,1\n' show --to csv names.histo

# Histograms of other programs: escaped names, no flow.
cat >other.json <<'END'
{"\u0041\t\"": {"uhi_schema": 1, "axes": [{"type": "regular", "lower": 0, "upper": 2, "bins": 2, "underflow": false,
 "overflow": false, "circular": false}], "storage": {"type": "int", "values": [3, 4]}}}
END
prints 'lo\thi\tcount\n0\t1\t3\n1\t2\t4\n' show other.json
shows '^≈\|≈ 1' show --to text other.json

# Columns with duplicate, empty and reserved names.
printf 'a,a,a (1),uhi_schema,,a\n1,2,3,4,5,6\n' >same.csv
"$histo" --column 0,1,2,3,4,5 -b 1 -r 0:9 -o same.json same.csv
prints 'lo\thi\ta\ta (1)\ta (1) (2)\tuhi_schema (3)\t4\ta (5)\n0\t9\t1\t1\t1\t1\t1\t1\n' show same.json

# A histogram without a name; several as other programs write them, with brackets and quotes in names.
axis='{"type": "regular", "lower": 0, "upper": 2, "bins": 1, "underflow": false, "overflow": false, "circular": false}'
one="{\"axes\": [$axis], \"storage\": {\"type\": \"int\", \"values\": [3]}, \"uhi_schema\": 1}"
echo "$one" >alone.json
prints 'lo\thi\tcount\n0\t2\t3\n' show alone.json
printf '%s' " { \"}{\" :$one ,\"\\\"],\":$one,\"x\":
 $one}" >odd.json
prints 'lo\thi\t}{\t"],\tx\n0\t2\t3\t3\t3\n' show odd.json
prints 'lo\thi\t}{\t"],\tx\n0\t2\t6\t6\t6\n' merge --to tsv odd.json odd.json

# Histograms are not samples.
refuses 1 'alone.json holds histograms, not samples: draw them with histo show' alone.json
seq 5 >five.txt && "$histo" five.txt -o five.histo
refuses 1 'five.histo holds histograms' hist five.histo
seq 5 | "$histo" five.txt - -o both.histo
refuses 1 'both.histo holds histograms' hist both.histo
printf '"uhi_schema","n"\n1,2\n3,2\n' >named.csv
prints 'lo\thi\tcount\n1\t2\t1\n2\t3\t1\n' named.csv --column uhi_schema -b 2 --to tsv
gzip -c alone.json >alone.json.gz
refuses 1 'alone.json.gz is compressed by gzip: decompress it first, with gzip -dc' show alone.json.gz

# An error in one of several histograms is reported with its position in the file.
printf '%s' "{\"a\": $one,
\"b\": {\"c\": $one}}" >inner.json
refuses 1 'inner.json: line 2, byte' show inner.json
printf '%s' "{\"a\": $one,
\"b\": $one,
\"a\": $one}" >twice.json
refuses 1 'twice.json: line 3, byte .* twice' show twice.json
printf '%s' "{\"a\": $one, \"b\": $one} {}" >behind.json
refuses 1 'behind.json: line 1, byte' show behind.json

# Memory for a batch grows linearly with it, not quadratically.
entries=2000
awk -v n=$entries 'BEGIN {
    printf "{\"all\": {\"uhi_schema\": 1, \"storage\": {\"type\": \"int\"}, \"axes\": [{\"type\": \"category_int\", \"flow\": false,"
    printf " \"writer_info\": {\"histo\": {\"kind\": \"batch\"}}, \"categories\": [0"
    for (i = 1; i < n; i++) printf ", %d", i
    printf "]}, {\"type\": \"regular\", \"lower\": 0, \"upper\": 1, \"bins\": 100, \"underflow\": false,"
    printf " \"overflow\": false, \"circular\": false}]}}\n" }' >batch.json
if (ulimit -v 1000000 && "$histo" version || exit 1) >"$out" 2>&1; then # not with sanitizers
    checks=$((checks + 1))
    (ulimit -v 1000000 && "$histo" show batch.json) >"$out" 2>"$err" || fail "a batch takes too much memory: $(cat "$err")"
    [ "$(head -n 1 "$out" | wc -w)" -eq $((entries + 2)) ] || fail "a batch is not shown whole"
fi

# Metadata of others stay, also if they look like a histogram; those of the command follow what it shows.
"$histo" --column a -b 2 -r 0:4 --stats --density -o ours.json t.csv
python3 - <<'END'
import json
document = json.load(open("ours.json"))
document["a"]["metadata"].update({"run": 7, "axes": [{"writer_info": {"histo": {"kind": "x"}}}], "note": 'of "\\ \u00b5"'})
json.dump({"a": {**document["a"], "metadata": document["a"]["metadata"]}}, open("others.json", "w"))
END
"$histo" show others.json -o kept.json
"$histo" merge others.json ours.json -o kept.histo
"$histo" show --stats kept.histo -o again.json
checks=$((checks + 1))
python3 - <<'END' || fail "the metadata of others"
import json
kept, again = (json.load(open(name))["a"]["metadata"] for name in ("kept.json", "again.json"))
for metadata, ours in ((kept, {"moments"}), (again, {"moments", "statistics"})):
    assert metadata.keys() == {"run", "axes", "note"} | ours, metadata
    assert metadata["run"] == 7 and metadata["axes"] == [{"writer_info": {"histo": {"kind": "x"}}}], metadata
    assert metadata["note"] == 'of "\\ \u00b5"', metadata
END

# Histograms that cannot be combined.
"$histo" --column a -b 2 -r 0:4 -o two.json t.csv
"$histo" --column a,w -b 2 -r 0:4 -o both.json t.csv
"$histo" --column w -b 3 -r 0:4 -o w.json t.csv
"$histo" --column w -b 1 -r 0:4 -o single.json t.csv
"$histo" --joint a,w -b 1 -r 0:4 -o joint.json t.csv
refuses 1 'two.json cannot be added to a.json' merge -o sum.json a.json two.json
refuses 1 'both.json holds 2 histograms and a.json 1' merge -o sum.json a.json both.json
prints 'name,lo,hi,count\na,0,2,1\na,2,4,2\na,4,inf,1\na,nan,nan,1\nw,0,4,5\n' show --to csv two.json single.json
refuses 1 'joint.json differ in their axes or weighting' show --to csv joint.json two.json
refuses 1 'no such file' merge -o sum.json a.json none.json
refuses 2 'nothing to merge' merge -o sum.json
refuses 1 't.csv is not a saved histogram' show t.csv
: >empty.json
refuses 1 'empty.json is empty' show empty.json
printf '{"a": ' >cut.json
refuses 1 'cut.json: line 1, byte' show cut.json
printf '{"a": 1}' >wrong.json
refuses 1 'wrong.json: line 1, byte' show wrong.json
printf '{}' >none.json
refuses 1 'none.json' show none.json
head -c 60 a.histo >cut.histo
refuses 1 'cut.histo' show cut.histo
printf 'histo set 1\n3 999999999999\nabc' >cut.histo
refuses 1 'cut.histo is damaged' show cut.histo

# Histograms of other programs: sums of weights without those of their squares, and categories that are strings.
axis='{"type": "regular", "lower": 0, "upper": 2, "bins": 2, "underflow": true, "overflow": true, "circular": false}'
words='{"type": "category_str", "categories": ["b", "a c"], "flow": true}'
others() { # AXES STORAGE
    printf '{"uhi_schema": 1, "axes": [%s], "storage": {%s}}\n' "$1" "$2" >others.json
}
others "$axis" '"type": "double", "values": [0, 2.5, 0.5, 1e999]'
prints 'lo\thi\tcount\tsum_w\n0\t1\t0\t2.5\n1\t2\t0\t0.5\n2\tinf\t0\tinf\n' show others.json
others "$words" '"type": "int", "values": [7, 8, 9]'
prints 'value\tcount\nb\t7\na c\t8\n\t9\n' show others.json
others "$axis, $words" '"type": "int", "index": [[1, 2], [0, 1]], "values": [3, 4]'
prints 'axis 0_lo\taxis 0_hi\taxis 1\tcount\n0\t1\tb\t3\n0\t1\ta c\t0\n1\t2\tb\t0\n1\t2\ta c\t4\n' show others.json

finish
