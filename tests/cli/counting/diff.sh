# Differences of saved histograms, and the exit status of diff.
. "$(dirname "$0")/../support/check.sh"

printf '%s\n' 0 1 1 2 3 9 nan >a.txt
printf '%s\n' 0 1 2 2 3 12 >b.txt
for x in a b; do
    "$histo" -b 4 -r 0:4 -o $x.json $x.txt
    "$histo" -b 2 -r 0:4 -o ${x}2.histo $x.txt
    "$histo" -b 4 -r 0:5 -o ${x}5.histo $x.txt
    "$histo" -b 3 -r 0:5 -o ${x}3.histo $x.txt
done

# differs TABLE ARGUMENTS…: status 1, and this table.
differs() {
    expected=$(printf '%b.' "$1")
    shift
    checks=$((checks + 1))
    "$histo" diff "$@" >"$out" 2>"$err"
    status=$?
    actual=$(cat "$out" && echo .)
    [ $status -eq 1 ] && [ "$actual" = "$expected" ] || fail "histo diff $*: exit status $status, $actual, $(cat "$err")"
}

prints '' diff a.json a.json
prints '' diff -q a.json a.json
prints '' diff --rebin a.json a2.histo
differs 'lo\thi\tfirst\tsecond\tdifference\n1\t2\t2\t1\t-1\n2\t3\t1\t2\t1\nnan\tnan\t1\t0\t-1\n' a.json b.json
differs 'lo\thi\tfirst\tsecond\tdifference\n0\t2\t3\t2\t-1\n2\t4\t2\t3\t1\nnan\tnan\t1\t0\t-1\n' --rebin a2.histo b.json
differs '' -q a.json b.json
refuses 2 'a.json and a2.histo have other bins: there are 4 in the first, 2 in the second: --rebin' diff a.json a2.histo
refuses 2 'have other bins: edge 1 is 1 in the first, 1.25 in the second' diff a.json a5.histo
refuses 2 'there are 4 in the first, 3 in the second' diff --rebin a.json a3.histo
refuses 2 'is not a saved histogram' diff a.json a.txt
refuses 2 'there is no such file' diff a.json none.json
refuses 2 'takes two saved histograms' diff a.json
refuses 2 'one too many' diff a.json b.json a.json

# Several series, axes and weights; masked samples; sparse ones.
printf 'x,y\n0,0\n1,1\n0,1\n' >p.csv
printf 'x,y\n0,0\n1,0\n0,1\n' >q.csv
for x in p q; do
    "$histo" --column x,y -b 2 -r 0:1 -o $x.json $x.csv
    "$histo" --joint x,y -b 2 -r 0:1 -o $x-joint.json $x.csv
    "$histo" --joint x,y --sparse -b 2 -r 0:1 -o $x-sparse.json $x.csv
    "$histo" --column x --weights y -b 2 -r 0:1 -o $x-weights.json $x.csv
done
differs 'name\tlo\thi\tfirst\tsecond\tdifference\ny\t0\t0.5\t1\t2\t1\ny\t0.5\t1\t2\t1\t-1\n' p.json q.json
cells='axis0_lo\taxis0_hi\taxis1_lo\taxis1_hi\tfirst\tsecond\tdifference\n0.5\t1\t0\t0.5\t0\t1\t1\n0.5\t1\t0.5\t1\t1\t0\t-1\n'
differs "$cells" p-joint.json q-joint.json
differs "$cells" p-sparse.json q-sparse.json
differs 'lo\thi\tfirst\tsecond\tdifference\n0.5\t1\t1\t0\t-1\n' p-weights.json q-weights.json
"$histo" -b 4 -r 0:4 --where 0:3 -o masked.json a.txt
differs 'lo\thi\tfirst\tsecond\tdifference\n4\tinf\t1\t0\t-1\nnan\tnan\t1\t0\t-1\nmasked\tmasked\t0\t2\t2\n' a.json masked.json
refuses 2 'has a histogram of 1 axis and p-joint.json one of 2' diff a.json p-joint.json
refuses 2 'p.json holds 2 histograms and a.json 1' diff p.json a.json
refuses 2 'p-weights.json has weights, and a.json has none' diff p-weights.json a.json
checks=$((checks + 1))
"$histo" diff -o d.json a.json b.json
[ $? -eq 1 ] && grep -q '"difference": -1' d.json || fail "differences in JSON"
finish
