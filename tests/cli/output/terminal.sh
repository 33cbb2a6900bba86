# Terminal drawings. COLUMNS and LINES give the size if there is no terminal.
. "$(dirname "$0")/../support/check.sh"
COLUMNS=40
LINES=16
export COLUMNS LINES

# draws EXPECTED ARGUMENTS…: the drawing.
draws() {
    expected=$(printf '%b' "$1")
    shift
    checks=$((checks + 1))
    "$histo" --to text "$@" >"$out" 2>"$err" || fail "histo $*: $(cat "$err")"
    actual=$(sed 's/ *$//' "$out")
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
samples  min  max     mean       std
      7    1    3  2.42857  0.728431' --width 1 -r 1:4 n.txt
draws 'a title
1 … 2  ████████████▉                  1
2 … 3  ████████████████████▌          2
3 … 4  ██████████████████████████████ 4
logarithmic bars
samples  min  max     mean       std
      7    1    3  2.42857  0.728431' --width 1 -r 1:4 --logy --title 'a title' n.txt

# Several bins share a row; rows of integers are labelled from … to.
seq 0 99 >hundred.txt
draws 'hundred.txt
  0 …  20  █████████████████████████ 20
 20 …  40  █████████████████████████ 20
 40 …  60  █████████████████████████ 20
 60 …  80  █████████████████████████ 20
 80 … 100  █████████████████████████ 20
20 bins to a row (100 in all)
samples  min  max  mean      std
    100    0   99  49.5  28.8661' -b 100 -r 0:100 hundred.txt

# Channels are drawn in columns; integers are labelled first … last, bytes by characters; two axes as a map.
printf 'P6 2 1 255\n\000\200\377\000\200\000' >c.ppm
draws 'c.ppm
           r         g         b
  0 …  99  ████████            ████
100 … 199            ████████
200 … 255                      ███████▏
100 bins to a row (256 in all)
the last bar is scaled up from 56
   samples  min  max   mean    std
r        2    0    0      0      0
g        2  128  128    128      0
b        2    0  255  127.5  127.5' c.ppm
printf 'hello\n' >text
draws 'text
   \\n ███████████████▌                1
    e ███████████████▌                1
    h ███████████████▌                1
    l ███████████████████████████████ 2
    o ███████████████▌                1
251 of the 256 bytes do not occur
samples  min  max     mean      std
      6   10  111  90.3333  36.0678' --bytes text
printf 'x,y\n0,0\n1,1\n1,1\n' >pairs.csv
statistics_of_pairs='   samples  under  over  NaN  masked
x        3      0     0    0       0
y        3      0     0    0       0
   min  median  max      mean       std
x    0       1    1  0.666667  0.471405
y    0       1    1  0.666667  0.471405'
draws 'pairs.csv
    y
            ████████
0.5         ████████
    ▓▓▓▓▓▓▓▓
0.0 ▓▓▓▓▓▓▓▓
    0      x       1
count ░▒▓█ up to 2
'"$statistics_of_pairs" --joint x,y -b 2 pairs.csv

# Where most cells hold far less than the fullest, the colours are not linear, and say so.
python3 - >skewed.csv <<'END'
print("x,y\n" + "0,0\n" * 1000 + "1,0\n0,1\n1,1\n" * 10)
END
draws_skewed() { # LEGEND ARGUMENTS…
    legend=$1
    shift
    draws "skewed.csv
    y
    ░░░░░░░░░░░░░░░░
0.5 ░░░░░░░░░░░░░░░░
    ████████░░░░░░░░
0.0 ████████░░░░░░░░
    0      x       1
count ░▒▓█ up to $legend
   samples  under  over  NaN  masked
x     1030      0     0    0       0
y     1030      0     0    0       0
   min  max       mean       std
x    0    1  0.0194175  0.137987
y    0    1  0.0194175  0.137987" --joint x,y -b 2 "$@" skewed.csv
}
draws_skewed '1000, logarithmic'
draws_skewed 1000 --scale linear

# Large edges have prefixes. Columns have an axis each, and are drawn next to each other where there is room.
printf 'a,b\n1,10000000\n2,20000000\n3,30000000\n3,50000000\n' >scales.csv
draws 'scales.csv · b
10 M … 30 M  ████████████████████████ 2
30 M … 50 M  ████████████████████████ 2
samples  under  over  NaN  masked
      4      0     0    0       0
       min         max        mean
10 000 000  50 000 000  27 500 000
       std
14 790 199' -b 2 scales.csv --column b
COLUMNS=80 draws 'scales.csv
a                                       b
1 … 2  █████████▋                    1  10 M … 30 M  ███████████████████████ 2
2 … 3  █████████████████████████████ 3  30 M … 50 M  ███████████████████████ 2
   samples         min      median         max        mean         std
a        4           1         2.5           3        2.25    0.829156
b        4  10 000 000  25 000 000  50 000 000  27 500 000  14 790 199' --column all -b 2 scales.csv

# --compare has one axis for columns, and for files of any types.
printf 'a,b\n1,2\n2,3.5\n3,4\n5,5\n' >close.csv
COLUMNS=80 draws 'close.csv
       a                                    b
1 … 2  ████████████████▌                 1                                    0
2 … 3  ████████████████▌                 1  ████████████████▌                 1
3 … 4  ████████████████▌                 1  ████████████████▌                 1
4 … 5  ████████████████▌                 1  █████████████████████████████████ 2
   samples  min    25%  median   75%  max   mean      std
a        4    1   1.75     2.5   3.5    5   2.75  1.47902
b        4    2  3.125    3.75  4.25    5  3.625  1.08253' --column a,b -b 4 --compare close.csv
printf '1\n2\n5\n' >whole.txt
printf '0.5\n2.25\n7\n' >broken.txt
mkdir -p other
printf '100\n' >other/whole.txt
draws 'whole.txt and 1 more
       whole.txt        broken.txt
0 … 2  █████████████ 1  █████████████ 1
2 … 4  █████████████ 1  █████████████ 1
4 … 6  █████████████ 1                0
6 … 8                0  █████████████ 1
2 bins to a row (8 in all)
            samples
whole.txt         3
broken.txt        3
            min  max     mean      std
whole.txt     1    5  2.66667  1.69967
broken.txt  0.5    7     3.25  2.74621' --compare --width 1 whole.txt broken.txt
COLUMNS=60 draws 'whole.txt and 1 more
           whole.txt                other/whole.txt
  0 …  50  █████████████████████ 3                        0
 50 … 100                        0                        0
100 … 150                        0  ███████               1
25 bins to a row (51 in all)
                 samples  min  max     mean      std
whole.txt              3    1    5  2.66667  1.69967
other/whole.txt        1  100  100      100        0' --compare whole.txt other/whole.txt
draws 'whole.txt
1  ██████████████████████████████████ 1
2  ██████████████████████████████████ 1
3                                     0
4                                     0
5  ██████████████████████████████████ 1
samples  min  max     mean      std
      3    1    5  2.66667  1.69967' --compare whole.txt

# Names are aligned whatever their characters; without UTF-8, or with --ascii, all is ASCII.
printf '値段,e\314\201te\314\201,z\n1,1,1\n2,1,2\n2,2,2\n' >names.csv
draws 'names.csv
           値段      été       z
1.0 … 1.5  ████      ████████  ████
1.5 … 2.0  ████████  ████      ████████
      samples  under  over  NaN  masked
値段        3      0     0    0       0
été         3      0     0    0       0
z           3      0     0    0       0
      min  max     mean       std
値段    1    2  1.66667  0.471405
été     1    2  1.33333  0.471405
z       1    2  1.66667  0.471405' --column all -b 2 names.csv
draws 'names.csv
           ????      ete       z
1.0 - 1.5  ####      ########  ####
1.5 - 2.0  ########  ####      ########
      samples  under  over  NaN  masked
????        3      0     0    0       0
ete         3      0     0    0       0
z           3      0     0    0       0
      min  max     mean       std
????    1    2  1.66667  0.471405
ete     1    2  1.33333  0.471405
z       1    2  1.66667  0.471405' --column all -b 2 --ascii names.csv
LC_ALL=C draws 'pairs.csv
    y
            ########
0.5         ########
    ********
0.0 ********
    0      x       1
count .:*# up to 2
'"$statistics_of_pairs" --joint x,y -b 2 pairs.csv

# Titles of axes.
draws 'n.txt · time (ms) · requests
1 … 2  ███████▌                       1
2 … 3  ███████████████                2
3 … 4  ██████████████████████████████ 4
samples  min  max     mean       std
      7    1    3  2.42857  0.728431' --width 1 -r 1:4 --xlabel time --unit ms --ylabel requests n.txt

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
# Rows of several bins begin at round edges. What all others together have does not dwarf the rest. Tables have no columns
# of dashes, and say how many samples were kept.
seq -44 47 | awk '{ print $1 / 10 }' >uneven.txt
draws 'uneven.txt
-4.4 … -4.0  ███████████████████████  4
-4.0 … -2.0  ███████████████████████ 20
-2.0 …  0.0  ███████████████████████ 20
 0.0 …  2.0  ███████████████████████ 20
 2.0 …  4.0  ███████████████████████ 20
 4.0 …  4.8  ███████████████████████  8
20 bins to a row (92 in all)
the first and last bar are scaled up
samples   min  max  mean      std
     92  -4.4  4.7  0.15  2.65565' --width 0.1 uneven.txt
draws 'uneven.txt
-6 … -4  █████▍                       4
-4 … -2  ███████████████████████████ 20
-2 …  0  ███████████████████████████ 20
 0 …  2  ███████████████████████████ 20
 2 …  4  ███████████████████████████ 20
 4 …  6  ██████████▊                  8
2 bins to a row (10 in all)
samples   min  max  mean      std
     92  -4.4  4.7  0.15  2.65565' uneven.txt
{
    echo g,v
    for i in 1 1 1 2 2 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "g$i,$i"; done
} >rest.csv
draws 'rest.csv · g
g1                ██████████████████  3
g2                ██████████████████  3
other (18 value…  █████████████████… 18
the bar of all others is cut
samples
     24' -q --column g --top 2 rest.csv
draws 'rest.csv · v
         g1        g2        other
 0 …  9  ████████  ████████  █████▋
10 … 19                      ████████
20 … 29                      ▊
10 bins to a row (20 in all)
all others are on a scale of their own
       samples  min  max  mean      std
g1           3    1    1     1        0
g2           3    2    2     2        0
other       18    3   20  11.5  5.18813' -q --column v --by g --top 2 rest.csv
draws 'rest.csv · v
 0 …  4  ███████████▎                 2
 5 …  9  ████████████████████████████ 5
10 … 14  ████████████████████████████ 5
15 … 19  ████████████████████████████ 5
20 … 24  █████▋                       1
5 bins to a row (18 in all)
 samples  under  over  NaN  masked
18 of 24      0     0    0       6
min  median  max  mean      std
  3    11.5   20  11.5  5.18813' --column v --where v=3: rest.csv
printf '%s\n' -1e6 1e13 >large.txt
checks=$((checks + 1))
"$histo" --to text large.txt | grep -q -e '-0' && fail "a large axis has a negative zero"
finish
