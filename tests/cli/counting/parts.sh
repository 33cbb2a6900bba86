# Large files are read in parts by several threads, with the counts and messages of one.
. "$(dirname "$0")/../support/check.sh"

seq 1 700000 >n.txt
awk 'BEGIN { print "x,w"; for (i = 0; i < 500000; i++) printf "%d.5,0.%d\n", i % 977, i % 89 }' >plain.csv
awk 'BEGIN { print "name,x"; for (i = 0; i < 200000; i++) printf "\"a\n\"\"7,8\n#9,\",%d\n%s", i % 97, i % 1000 ? "" : "\n" }' >quoted.csv
awk 'BEGIN { print "x,name"; for (i = 0; i < 300000; i++) printf "%d,\"a b, c%d\"\n", i % 97, i }' >quotes.csv
gzip -c plain.csv >plain.csv.gz
"$histo" -b 2000000 -r 0:700000 n.txt -o counts.npy
awk 'BEGIN { for (i = 0; i < 300000; i++) print i "," i % 97 }' >counts.csv
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%d,\"a\n7,\"\"8\n#9,\"\n", i % 97 }' >later.csv

# alike ARGUMENTS…: what several threads count, and remark, is what is counted in order, for a checkpoint.
alike() {
    checks=$((checks + 1))
    "$histo" "$@" --checkpoint ck --every 1000 -o one.histo 2>one.err || fail "histo $*: $(cat one.err)"
    for threads in 1 2 5; do
        HISTO_THREADS=$threads "$histo" "$@" -o parts.histo 2>parts.err
        cmp one.histo parts.histo || fail "histo $* with $threads threads counts something else"
        cmp one.err parts.err || fail "histo $* with $threads threads says something else"
    done
}
alike --bytes plain.csv
alike --letters plain.csv quoted.csv
alike --dtype u16 --offset 1 -b 300 -r 0:65536 n.txt
head -c 4400002 plain.csv >be.raw
alike --dtype '>i4' --offset 2 -b 300 -r 0:1e9 be.raw
alike -b 40 -r 0:9 counts.npy counts.npy n.txt
alike -b 40 -r 0:1000000 n.txt
alike -b 40 -r 0:1000 --column x,w plain.csv
alike -b 40 -r 0:1000 --column x --weights w --reproducible plain.csv
alike -b 40 -r 0:1000 --joint x,w plain.csv
alike -b 40 -r 0:1000 --column x --where 3:500 plain.csv quoted.csv quotes.csv plain.csv
alike -b 40 -r 0:1000 --column x quoted.csv
alike -b 40 --column x plain.csv.gz plain.csv.gz plain.csv.gz plain.csv
# Wherever parts begin: at rows, or behind newlines in quotes.
for pad in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    checks=$((checks + 1))
    { head -n 1 quoted.csv && printf '#%*s\n' $((pad * 7)) '' && tail -n +2 quoted.csv; } >padded.csv
    for threads in 2 3 7; do
        "$histo" -b 1 -r 0:1000 --column x --comment "#" --threads $threads --to tsv padded.csv >out.tsv
        grep -q '^0	1000	200000$' out.tsv || fail "with $threads threads, rows behind newlines in quotes: $(cat out.tsv)"
    done
done
# In shards, too, whatever the first file is.
for files in '1 quoted.csv quoted.csv' '1 counts.csv quoted.csv' '0 counts.npy later.csv later.csv later.csv later.csv later.csv later.csv'; do
    checks=$((checks + 1))
    for i in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        "$histo" -q --shard $i/5 -b 9 -r 0:1000 --threads 3 -o "shard-$i.histo" --column $files
    done
    # shellcheck disable=SC2086
    "$histo" -q -b 9 -r 0:1000 --checkpoint ck --every 1000 -o one.histo --column $files
    "$histo" merge --complete shard-?.histo -o all.histo && cmp one.histo all.histo || fail "shards of $files"
done
sed '300000s/.*/,0.5/; 444444s/.*/NA,0.5/' plain.csv >missing.csv
alike -b 40 -r 0:1000 --column x missing.csv
sed '300000s/^/a/; 444444s/^/b/' plain.csv >bad.csv
alike -b 40 -r 0:1000 --column x --skip-bad bad.csv plain.csv bad.csv
for threads in 1 2 5; do
    refuses 1 'bad.csv, line 300000, column 0 (x)' -b 40 -r 0:1000 --column x --threads $threads -o x.histo bad.csv
    refuses 1 'none.csv: there is no such file' -b 40 -r 0:1000 --column x --threads $threads -o x.histo plain.csv none.csv
done
finish
