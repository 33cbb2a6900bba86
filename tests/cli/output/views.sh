# What is shown of the bins instead of counts: densities, fractions, running sums; counts per unit of unequal bins.
. "$(dirname "$0")/../support/check.sh"

printf '%s\n' -9 0 1 1 2 3 3 3 7 >x.txt
set -- --edges 0,1,2,4,8 x.txt
prints 'lo\thi\tdensity\n0\t1\t0.125\n1\t2\t0.25\n2\t4\t0.25\n4\t8\t0.03125\n' --density "$@"
prints 'lo\thi\tfraction\n0\t1\t0.125\n1\t2\t0.25\n2\t4\t0.5\n4\t8\t0.125\n' --normalize "$@"
prints 'lo\thi\tcumulative\n0\t1\t1\n1\t2\t3\n2\t4\t7\n4\t8\t8\n' --cumulative "$@"
prints 'lo\thi\tcumulative\n0\t1\t8\n1\t2\t7\n2\t4\t5\n4\t8\t1\n' --cumulative --reverse "$@"
prints 'lo\thi\tcumulative_fraction\n0\t1\t0.125\n1\t2\t0.375\n2\t4\t0.875\n4\t8\t1\n' --cumulative --normalize "$@"
prints 'lo\thi\tcumulative_fraction\n0\t1\t0.125\n1\t2\t0.375\n2\t4\t0.875\n4\t8\t1\n' --cumulative --density "$@"

# Without samples in the bins, all is 0. Of weights, views are of their sums.
prints 'lo\thi\tdensity\n100\t200\t0\n' --density -b 1 -r 100:200 x.txt
printf 'a,b,w\n0,0,3\n1,1,1\n' >w.csv
prints 'lo\thi\tfraction\n0\t0.5\t0.75\n0.5\t1\t0.25\n' --normalize --column a --weights w -b 2 w.csv
prints 'a_lo\ta_hi\tb_lo\tb_hi\tdensity\n0\t0.5\t0\t0.5\t2\n0\t0.5\t0.5\t1\t0\n0.5\t1\t0\t0.5\t0\n0.5\t1\t0.5\t1\t2\n' \
    --density --joint a,b -b 2 w.csv
prints 'name\tlo\thi\tfraction\na\t0\t1\t1\nw\t1\t3\t1\n' --normalize --column a,w -b 1 w.csv

# Saved histograms have all views. JSON keeps counts.
"$histo" -o x.json "$@"
prints 'lo\thi\tdensity\n0\t1\t0.125\n1\t2\t0.25\n2\t4\t0.25\n4\t8\t0.03125\n' show --density x.json
prints 'lo\thi\tdensity\n0\t1\t0.125\n1\t2\t0.25\n2\t4\t0.25\n4\t8\t0.03125\n' merge --density x.json x.json
checks=$((checks + 1))
"$histo" --density --to json "$@" | python3 -c '
import json, sys
of = json.load(sys.stdin)["histogram"]
assert of["metadata"]["density"] == [0.125, 0.25, 0.25, 0.03125], of
assert of["storage"]["values"] == [1, 1, 2, 4, 1, 0], of
' || fail "densities in JSON"
"$histo" --density --to json "$@" | "$histo" show --to json - >plain.json
checks=$((checks + 1))
cmp x.json plain.json || fail "densities in JSON are not left out"

# Drawn: bins of different widths per unit, unless counts are asked for; numbers beside bars remain counts.
COLUMNS=60
export COLUMNS
shows '^bars: count per unit$' --to text "$@"
shows '^4 … 8  ██████▎  *1$' --to text "$@"
shows '^bars: density$' --to text --density "$@"
checks=$((checks + 1))
"$histo" --to text --counts "$@" | grep -q 'bars:' && fail "--counts draws no counts"
"$histo" --to text -b 4 x.txt | grep -q 'bars:' && fail "equal bins are not drawn as counts"
"$histo" --to text --log -b 4 -r 1:8 x.txt | grep -q 'bars:' && fail "logarithmic bins are not drawn as counts"
for option in --density --normalize --cumulative --counts; do
    checks=$((checks + 1))
    "$histo" $option -o x.svg "$@" 2>"$err" || fail "$option in a picture: $(cat "$err")"
    "$histo" $option -o x.html "$@" 2>"$err" || fail "$option in a page: $(cat "$err")"
done

shows '<tr><td>4<td>8<td>0.03125' --density --to html "$@"
shows '<tr><td>4<td>8<td>0.25' --to html "$@"

refuses 2 'contradict' --density --normalize "$@"
refuses 2 'add --cumulative' --reverse "$@"
refuses 2 'npy has counts' --density -o x.npy "$@"
refuses 2 'histo has counts' --density -o x.histo "$@"
refuses 2 'of one axis' --cumulative --joint a,b w.csv
"$histo" --joint a,b -b 2 -o joint.json w.csv
refuses 2 'of one axis' show --cumulative joint.json
finish
