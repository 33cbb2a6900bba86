# histo columns: what a file holds.
. "$(dirname "$0")/../support/check.sh"
head='column\tname\tkind\tcount\tmissing\tfirst\tmin\tmax\n'

# Text: numbers, integers, strings and dates; missing values, also where all are.
printf 'id,x,who,day,none,,mixed\n1,0.5,a,2024-05-01,,1,1\n-3,,b,2024-05-02T10:00,,2,x\n20,nan,,,NA,3,3\n' >t.csv
printf '0\tid\tintegers\t3\t0\t1, -3, 20\t-3\t20\n1\tx\tnumbers\t2\t1\t0.5, nan\t0.5\t0.5\n2\twho\tstrings\t2\t1\ta, b\t\t
3\tday\tdates\t2\t1\t2024-05-01, 2024-05-02T10:00\t2024-05-01\t2024-05-02T10:00\n4\tnone\tmissing\t0\t3\t\t\t
5\t5\tintegers\t3\t0\t1, 2, 3\t1\t3\n6\tmixed\tintegers\t2\t1\t1, 3\t1\t3\n' >rows
checks=$((checks + 1))
"$histo" columns t.csv >"$out" 2>"$err" || fail "t.csv: $(cat "$err")"
{ printf "$head" && cat rows; } | cmp - "$out" || fail "t.csv is listed as $(cat "$out")"
grep -q '^histo: t.csv: 1 cell is not a number, and counts as missing$' "$err" || fail "note: $(cat "$err")"
prints "$(printf "$head" && cat rows)\n" columns -q t.csv
shows '"column": 3, "name": "day", "kind": "dates", "count": 2, "missing": 1' columns -q --to json t.csv

# Integers are exact as far as 64 bits go, and doubles beyond.
printf 'a,b,c\n9007199254740993,18446744073709551615,18446744073709551616\n-1,0,1\n' >far.csv
shows '^0.a.integers.2.0.9007199254740993, -1.-1.9007199254740993$' columns far.csv
printf 'a,b\n9007199254740993,18446744073709551615\n-1,0\n' >near.csv
shows '^1.b.integers.2.0.18446744073709551615, 0.0.18446744073709551615$' columns near.csv

# Other formats.
printf 'P6\n2 1\n255\n\001\002\003\004\005\006' >c.ppm
prints "${head}0\tr\tu8\t2\t0\t1, 4\t1\t4\n1\tg\tu8\t2\t0\t2, 5\t2\t5\n2\tb\tu8\t2\t0\t3, 6\t3\t6\n" columns c.ppm
corpus=$support/../../fuzz/corpus
shows '^8.t.dates.2.1.1970-01-01T00:00:01, 1970-01-01T00:00:03.1970' columns "$corpus/npy/table.npy"
shows '^6.ok.booleans.3.0.true, false, true.false.true$' columns "$corpus/hdf5/table.h5"
prints "${head}0\t\ti16\t60\t0\t0, 1, 2\t0\t59\n" columns "$corpus/hdf5/one.h5"
refuses 1 'holds 2 datasets of numbers: choose one with --dataset' columns "$corpus/hdf5/many.h5"
printf '1\n2\n' | prints "${head}0\t\tintegers\t2\t0\t1, 2\t1\t2\n" columns
refuses 1 'there is no such file' columns none.csv

# Messages that name columns: the one within another of this name is meant, and long lists are cut.
seq -s, 1 30 | sed 's/[0-9]*/c&/g' >wide.csv
seq -s, 1 30 >>wide.csv
refuses 2 "it has c1, .*, c12, … ('histo columns' lists all)" --column zzzzzz wide.csv
printf 'readings.temp_c,x\n1,2\n' >inner.csv
refuses 2 "no column 'temp_c': did you mean 'readings.temp_c'?" --column temp_c inner.csv

# Booleans of files that store them are true and false in conditions, and 1 and 0.
for truth in true 1 True; do
    prints 'lo\thi\tcount\n1\t3\t2\n' --column at.x -b 1 --where ok=$truth "$corpus/hdf5/table.h5"
done
prints 'lo\thi\tcount\n1.5\t2.5\t1\n' --column at.x -b 1 --where ok=false "$corpus/hdf5/table.h5"
finish
