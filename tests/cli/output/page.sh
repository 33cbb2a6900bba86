# Pages, -o x.html: well-formed, of bounded size, with the counts in tables, and without the network.
. "$(dirname "$0")/../support/check.sh"

# page ARGUMENTS…: a page of what these count has the numbers of the table of it.
page() {
    checks=$((checks + 1))
    "$histo" -o page.html "$@" 2>"$err" && "$histo" --to tsv "$@" >table.tsv && python3 "$support/page.py" page.html table.tsv ||
        fail "histo -o page.html $*: $(cat "$err")"
}

printf 'P6 2 1 255\n\000\200\377\000\200\000' >c.ppm
printf 'x,"a<b & ""c"" </script>"\n1,1\n2,1.5\n2,4\n' >odd.csv
python3 -c 'for i in range(5000): print(i % 4999)' >many.txt
page c.ppm
page --compare --column all -b 3 odd.csv
page --joint 0,1 -b 4 odd.csv
page --log -b 8 -r 1:1000 --scale sqrt many.txt
page -b 5000 -r 0:5000 --theme dark many.txt
"$histo" -o big.html -b 1000000 -r 0:5000 many.txt
checks=$((checks + 3))
[ "$(wc -c <big.html)" -lt 200000 ] || fail "a page of a million bins has $(wc -c <big.html) bytes"
"$histo" --column all -o odd.html odd.csv
grep -q '<figcaption>a&lt;b &amp; &quot;c&quot; &lt;/script&gt;</figcaption>' odd.html || fail "odd names: $(grep figcaption odd.html)"
grep -q 'data-theme="dark"' page.html || fail "no dark theme"
refuses 1 'infinite edge' --edges=-inf,0,1 -o x.html many.txt
finish
