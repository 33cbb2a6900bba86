# Output formats and destinations.
. "$(dirname "$0")/../support/check.sh"

printf '1 2 2 3 9\n' >n.txt
table='lo\thi\tcount\n1\t2\t1\n2\t3\t3\n3\tinf\t1\n'
prints "$table" -b 2 -r 1:3 n.txt
prints '' -b 2 -r 1:3 -o n.tsv n.txt
printf "$table" | cmp - n.tsv || fail "n.tsv differs"
prints '' -b 2 -r 1:3 -o n.csv n.txt
printf "$table" | tr '\t' , | cmp - n.csv || fail "n.csv differs"
prints "$table" -b 2 -r 1:3 -o - n.txt
prints '' -b 2 -r 1:3 -o other --to tsv n.txt
cmp other n.tsv || fail "--to does not name the format"

# Numbers survive a round trip.
printf '0.1 0.30000000000000004 1e300 -1e-300\n' >hard.txt
prints 'lo\thi\tcount\n0.1\t0.30000000000000004\t1\n0.30000000000000004\t1e+300\t2\n' \
    --edges 0.1,0.30000000000000004,1e300 --where 0.1: hard.txt

# The counts alone, as a NumPy array: flow is reported.
remarks '1 sample in underflow, overflow or NaN is not in n.npy' -b 2 -r 1:3 -o n.npy n.txt
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }"
    printf '\001\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000'
} | cmp - n.npy || fail "n.npy differs"
prints '' -q -b 2 -r 1:3 -o n.npy n.txt

# Pictures have the right file signatures.
for format in png svg pdf; do
    prints '' -b 2 -o "n.$format" n.txt
    prints '' -b 2 --logy --title 'Ä title' --size 400x300 -o "n.$format" n.txt
done
checks=$((checks + 3))
[ "$(head -c 4 n.png | tail -c 3)" = PNG ] || fail "n.png is not a PNG"
[ "$(head -c 5 n.pdf)" = %PDF- ] || fail "n.pdf is not a PDF"
grep -q '<svg' n.svg || fail "n.svg is not an SVG"
printf '1,1\n2,3\n3,1\n' >pairs.txt
prints '' --joint 0,1 -b 3 -o heat.png --logy pairs.txt

# Standard output is appended to, pictures too.
printf before >added
for format in png svg pdf; do
    checks=$((checks + 2))
    "$histo" -b 2 -o "n.$format" n.txt
    "$histo" -b 2 --to $format n.txt >>added || fail "--to $format fails where standard output is a file"
    tail -c +7 added | cmp -n 8 - "n.$format" || fail "--to $format does not add to standard output"
    { printf A && "$histo" -b 2 --to $format n.txt && printf B; } >added
    [ "$(head -c 1 added)$(tail -c 1 added)" = AB ] || fail "--to $format takes the place of what was there"
    printf before >added
done
rm added

# Closed standard streams are not reused for files.
printf 'x\n1\nbad\n2\n3\n' >bad.csv
checks=$((checks + 4))
"$histo" --skip-bad -b 2 -o kept.tsv bad.csv 2>&- || fail "closed standard error makes it fail"
printf 'lo\thi\tcount\n1\t2\t1\n2\t3\t2\n' | cmp - kept.tsv || fail "a remark went into the output"
"$histo" -b 2 -r 1:3 -o kept.tsv n.txt <&- >&- || fail "closed standard streams make it fail"
printf "$table" | cmp - kept.tsv || fail "closed standard streams change the output"
rm bad.csv kept.tsv
checks=$((checks + 2))
"$histo" -b 2 n.txt 2>"$err" >&- && fail "closed standard output is not a failure"
grep -q 'standard output cannot be written (Bad file descriptor)' "$err" || fail "closed standard output: $(cat "$err")"
"$histo" -b 2 2>"$err" <&- && fail "closed standard input is not a failure"
grep -q 'standard input cannot be read' "$err" || fail "closed standard input: $(cat "$err")"

# No other files are left, and an existing file survives a failed command.
checks=$((checks + 2))
[ "$(ls -A | tr '\n' ' ')" = 'hard.txt heat.png n.csv n.npy n.pdf n.png n.svg n.tsv n.txt other pairs.txt ' ] ||
    fail "files are left: $(ls -A)"
cp n.tsv before
refuses 2 "'7'" -c 7 -o n.tsv n.txt
cmp n.tsv before || fail "a failed run touched its output"

# Remarks go to standard error. A pipe that needs several passes is copied, a file is not.
checks=$((checks + 1))
"$histo" -v -b 2 -r 1:3 --strategy sequential n.txt 2>"$err" >"$out"
printf "$table" | cmp - "$out" || fail "--verbose changes the table"
[ "$(sed -n 2p "$err" | tr -s ' ')" = ' 5 0 1 0 0 1 2 2 3 9 3.4 2.87054' ] || fail "--verbose tells no statistics: $(cat "$err")"
grep -q 'cpu/sequential, .* in all' "$err" || fail "--verbose does not tell what ran: $(cat "$err")"
checks=$((checks + 1))
cat n.txt | "$histo" -v -b 2 2>"$err" >"$out"
grep -q 'standard input .*copied to a temporary file' "$err" || fail "the copy of a pipe is not reported with --verbose"
[ "$(sed -n 2p "$out")" = '1	5	4' ] || fail "a pipe is counted wrong: $(cat "$out")"
finish
