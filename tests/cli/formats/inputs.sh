# Input formats, detected by content, from files and pipes.
. "$(dirname "$0")/../support/check.sh"

two='lo\thi\tcount\n1\t2\t1\n2\t3\t2\n'
printf '1 2\n3\n' >plain.txt
prints "$two" -b 2 plain.txt
prints "$two" -b 2 <plain.txt
prints "$two" -b 2 - <plain.txt
gzip -c plain.txt >plain.gz
prints "$two" -b 2 plain.gz
prints "$two" -b 2 <plain.gz
checks=$((checks + 1))
[ "$(cat plain.gz | "$histo" -b 2)" = "$(printf "$two")" ] || fail "a pipe of gzip'd text is counted wrong"

printf 'x\ty\n1\t0\n2\t0\n3\t0\n' >table.tsv
prints "$two" -b 2 --column x table.tsv
printf '1;0\n2;0\n3;0\n' >table.csv
prints "$two" -b 2 --column 0 table.csv
printf '\357\273\277"x"\r\n"1"\r\n2\r\n3' >dos.csv
prints "$two" -b 2 dos.csv
printf 'x,y\r1,5\r2,5\r3,5' >macintosh.csv
prints "$two" -b 2 --column x macintosh.csv
"$histo" -b 2 --column x -o macintosh.JSON macintosh.csv && prints "$two" show --to tsv macintosh.JSON
# Form feeds and vertical tabs are blanks wherever they stand: pages of a printed report.
for feed in '\f' '\v'; do
    for rows in "1$feed\n2\n3\n" "1${feed}2\n3\n" "${feed}# x\n${feed}1 2\n3"; do
        printf "$rows" >feed
        prints "$two" -q -b 2 feed
    done
    for rows in "y x\n0 1\n$feed\n0 2\n0 3$feed\n" "y ${feed}x\n0${feed}1\n0 2\n0 3\n" \
        "y,${feed}x\n0,${feed}1\n0,2$feed\n0,3\n" "y\tx\n0\t1$feed\n0\t2\n${feed}0\t3\n" \
        "day x\n2015-01-02 10:00${feed}1\n2015-01-03 10:00 2\n2015-01-04 10:00 3$feed\n"; do
        printf "$rows" >feed
        prints "$two" -b 2 --column x feed
    done
    printf "at x=1$feed\nat x=2\nat ${feed}x=3\n" >feed
    prints "$two" -b 2 --number x= feed
done
# Other control characters are named.
printf '\033[32mat x=1\033[0m\nat x=2\n\033[32mat x=3\033[0m\n' >colors
refuses 1 'colors is text but for the control character ESC in line 1: take such characters out (colours: sed' \
    --number x= colors
prints "$two" -b 2 --format text --number x= colors
printf 'x,y\n1,2\n1,\0002\n' >nul.csv
refuses 1 'nul.csv is text but for the control character NUL in line 3: ' --column y nul.csv
refuses 1 "'?2' (? is NUL) is not a number" --column y --format text nul.csv
printf '1\n2\n\032' >substitute
refuses 1 'substitute is text but for the control character 0x1a in line 3' substitute
printf 'x,y\n1,a\n2,\n3,b\n' >words.csv
prints "$two" -b 2 words.csv
printf 'x\n1\nbad\n2\n\n3\n' >bad.csv
remarks 'bad.csv: skipped 1 cell that is not a number' -b 2 --skip-bad bad.csv
[ "$(cat "$out")" = "$(printf "$two")" ] || fail "--skip-bad counts the rest wrong"
prints "$two" -q -b 2 --skip-bad bad.csv

printf '\001\002\003' | npy u1.npy '|u1' '(3,)'
prints "$two" -b 2 -r minmax u1.npy
prints "$two" -b 2 -r minmax --format npy u1.npy
printf '\000\001\000\002\000\003' | npy u2.npy '>u2' '(3,)'
prints "$two" -b 2 u2.npy
printf '\000\000\200\077\000\000\000\100\000\000\100\100' | npy f4.npy '<f4' '(3, 1)'
prints "$two" -b 2 f4.npy
printf '\000\074\000\100\000\102' | npy f2.npy '<f2' '(3,)'
prints "$two" -b 2 f2.npy

# Default bins at the ends of 64 bits, where doubles are 1024 and 2048 apart.
largest='\377\377\377\377\377\377\377\177'
printf "$largest" | npy i8.npy '<i8' '(1,)'
shows '	1$' i8.npy
printf "$largest\\000\\000\\000\\000\\000\\000\\000\\200" | npy i8.npy '<i8' '(2,)'
shows '	1$' i8.npy
printf '\377\377\377\377\377\377\377\377' | npy u8.npy '<u8' '(1,)'
shows '	1$' u8.npy

printf 'xx\001\000\002\000\003\000' >raw.bin
prints "$two" --dtype u16 --offset 2 -b 2 raw.bin
prints "$two" --dtype '<u2' --offset 2 -b 2 raw.bin
prints 'lo\thi\tcount\n256\t512\t1\n512\t768\t2\n' --dtype u16 --endian big --offset 2 -b 2 raw.bin
prints 'lo\thi\tcount\n2\t2.5\t1\n2.5\t3\t1\n' --dtype u16 --offset 2 --shape 1x3 --roi 1,0,2,1 -b 2 raw.bin

# A file larger than a band, mapped into memory: from an odd byte on, and up to its last sample.
truncate -s 70000001 large.bin
printf '\001\000\002\000' >>large.bin
prints 'lo\thi\tcount\n0\t1\t35000000\n1\t2\t1\n2\t3\t1\n' --dtype u16 --offset 1 --edges 0,1,2,3 large.bin
prints 'lo\thi\tcount\n0\t1\t35000000\n1\t2\t1\n2\t3\t1\n' --dtype u16 --offset 1 --edges 0,1,2,3 - <large.bin
prints 'lo\thi\tcount\n0\t1\t35000000\n1\t2\t1\n2\t3\t1\n' -r 0:3 --dtype u16 --offset 1 -b 3 large.bin
rm large.bin

printf 'P2\n3 1\n9\n1 2 3\n' >ascii.pgm
prints "$two" -b 2 -r minmax ascii.pgm
printf 'Pf\n3 1\n-1.0\n\000\000\200\077\000\000\000\100\000\000\100\100' >float.pfm
prints "$two" -b 2 float.pfm

# Bytes shown as characters.
printf 'hello\n' >text
checks=$((checks + 1))
[ "$("$histo" --bytes text | awk -F'\t' '$3 > 0 { printf "%s=%s ", $4, $3 }')" = 'char=count \n=1 e=1 h=1 l=2 o=1 ' ] ||
    fail "--bytes names the bytes wrong"
printf '\000 ~\177\377\t' >odd
# What was saved is shown as characters, too; a column that is only called bytes is not.
for suffix in json histo; do
    "$histo" --bytes text -o "saved.$suffix"
    checks=$((checks + 1))
    [ "$("$histo" show --to tsv "saved.$suffix")" = "$("$histo" --bytes text)" ] || fail "bytes from saved.$suffix"
done
printf 'bytes\n104\n101\n108\n' >named.csv
checks=$((checks + 1))
! "$histo" -b 256 -r 0:256 named.csv | grep -q char || fail 'a column called bytes is shown as characters'
[ "$("$histo" --bytes odd | awk -F'\t' '$3 == 1 { printf "%s ", $4 }')" = '0x00 \t space ~ 0x7f 0xff ' ] ||
    fail "--bytes names odd bytes wrong"

# Letters, without regard to case; all other characters are masked.
printf 'Programming Massively Parallel Processors\n' >sentence
checks=$((checks + 1))
[ "$("$histo" --letters sentence | awk -F'\t' '$3 > 0 { printf "%s=%s ", $4, $3 }')" = \
    'char=count A=4 C=1 E=3 G=2 I=2 L=4 M=3 N=1 O=3 P=3 R=5 S=5 V=1 Y=1 ' ] || fail "--letters counts wrong"
shows '	1	Z$' --letters --to tsv - <<'END'
@[`{z0
END
checks=$((checks + 1))
tr a-z A-Z <sentence | "$histo" --letters -o letters.json && "$histo" --letters sentence -o again.json &&
    cmp letters.json again.json || fail "--letters regards case"
grep -q '"masked": "0:4"' letters.json || fail "--letters does not mask other characters"
shows '65	66	4	A' show --to tsv letters.json
shows '	65	71.5	77.5	82	89	.*	82	3.61[0-9]*	exact	exact$' --letters --stats sentence
checks=$((checks + 1))
"$histo" --letters --to text sentence | grep -q ≈ && fail "letters are not values"
"$histo" --letters -o letters.svg sentence || fail "no picture of letters"
refuses 2 'letters and --bins contradict' --letters -b 3 sentence
refuses 2 'letters and --bytes contradict' --letters --bytes sentence

if [ "$data" ]; then
    prints 'lo\thi\tr\tg\tb\n0\t128\t229681\t225441\t212994\n128\t256\t77519\t81759\t94206\n' -b 2 "$data/grace_hopper.jpg"
    prints 'lo\thi\tcount\n0\t64\t48082\n64\t128\t9295\n128\t192\t7993\n192\t256\t166\n' \
        --dtype '>u2' --shape 256x256 -b 4 -r 0:256 "$data/s1045.ima.gz"
    prints 'lo\thi\tcount\n27607900\t48065375\t21\n48065375\t68522850\t35\n68522850\t88980325\t6\n88980325\t109437800\t3\n' \
        --column Volume -b 4 "$data/msft.csv"
    remarks 'left out 133 missing values' --comment '#' --column IBM -b 2 "$data/Stocks.csv"
    prints 'lo\thi\tcount\n0\t128\t0\n128\t256\t67200\n' -b 2 -c a "$data/logo2.png"
fi
finish
