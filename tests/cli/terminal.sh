# Terminal drawings. COLUMNS and LINES give the size if there is no terminal.
. "$(dirname "$0")/support/check.sh"
COLUMNS=40
LINES=16
export COLUMNS LINES

# draws EXPECTED ARGUMENTS…: the drawing without its last line, which shows times.
draws() {
    expected=$(printf '%b' "$1")
    shift
    checks=$((checks + 1))
    "$histo" --to text "$@" >"$out" 2>"$err" || fail "histo $*: $(cat "$err")"
    actual=$(grep -v ' threads\?$\| in [0-9.]* [mu]*s, \|in all$' "$out" | sed 's/ *$//')
    [ "$actual" = "$expected" ] || fail "histo $*: draws
$actual
instead of
$expected"
}

printf '1 2 2 3 3 3 3\n' >n.txt
draws 'n.txt
1 … 2  ███████▌                       1
2 … 3  ███████████████                2
3 … 4  ██████████████████████████████ 4
samples  under  over  NaN  masked
      7      0     0    0       0
min  max     mean       std
  1    3  2.42857  0.728431' --width 1 -r 1:4 n.txt
draws 'a title
1 … 2  ████████████▉                  1
2 … 3  ████████████████████▌          2
3 … 4  ██████████████████████████████ 4
bars are logarithmic
samples  under  over  NaN  masked
      7      0     0    0       0
min  max     mean       std
  1    3  2.42857  0.728431' --width 1 -r 1:4 --logy --title 'a title' n.txt

# Several bins share a row; rows of integers are labelled from … to.
seq 0 99 >hundred.txt
draws 'hundred.txt
  0 …  20  █████████████████████████ 20
 20 …  40  █████████████████████████ 20
 40 …  60  █████████████████████████ 20
 60 …  80  █████████████████████████ 20
 80 … 100  █████████████████████████ 20
20 bins to a row (100 in all)
samples  under  over  NaN  masked
    100      0     0    0       0
min  max  mean      std
  0   99  49.5  28.8661' -b 100 -r 0:100 hundred.txt

# Channels are drawn in columns; integers are labelled first … last, bytes by characters; two axes as a map.
printf 'P6 2 1 255\n\000\200\377\000\200\000' >c.ppm
draws 'c.ppm
           r         g         b
  0 … 127  ████████            ████
128 … 255            ████████  ████
128 bins to a row (256 in all)
   samples  under  over  NaN  masked
r        2      0     0    0       0
g        2      0     0    0       0
b        2      0     0    0       0
   min  max   mean    std
r    0    0      0      0
g  128  128    128      0
b    0  255  127.5  127.5' c.ppm
printf 'hello\n' >text
draws 'text
   \\n ███████████████▌                1
    e ███████████████▌                1
    h ███████████████▌                1
    l ███████████████████████████████ 2
    o ███████████████▌                1
251 of the 256 bytes do not occur
samples  under  over  NaN  masked
      6      0     0    0       0
min  max     mean      std
 10  111  90.3333  36.0678' --bytes text
printf 'x,y\n0,0\n1,1\n1,1\n' >pairs.csv
draws 'pairs.csv
    y
            ████████
0.5         ████████
    ▓▓▓▓▓▓▓▓
0.0 ▓▓▓▓▓▓▓▓
    0      x       1
count ░▒▓█ up to 2
   samples  under  over  NaN  masked
x        3      0     0    0       0
y        3      0     0    0       0
   min  max      mean       std
x    0    1  0.666667  0.471405
y    0    1  0.666667  0.471405' --joint x,y -b 2 pairs.csv

# Colours only on a terminal, and only if wanted.
checks=$((checks + 1))
"$histo" --to text c.ppm | grep -q "$(printf '\033')" && fail "colours outside of a terminal"
if command -v script >/dev/null; then
    checks=$((checks + 3))
    TERM=xterm script -qec "$histo c.ppm" /dev/null </dev/null >"$out"
    grep -q "$(printf '\033\\[91m')" "$out" || fail "no red on a terminal"
    TERM=xterm NO_COLOR=1 script -qec "$histo c.ppm" /dev/null </dev/null >"$out"
    grep -q "$(printf '\033')" "$out" && fail "colours in spite of NO_COLOR"
    script -qec "$histo --to png c.ppm" /dev/null </dev/null >"$out"
    grep -q 'png cannot be written to a terminal' "$out" || fail "a picture goes to a terminal"
fi
finish
