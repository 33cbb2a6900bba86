# Numbers of samples and of saved histograms: quantile, summary, compare.
. "$(dirname "$0")/../support/check.sh"

printf 'P5\n4 2\n255\n\001\002\002\003\011\002\001\004' >a.pgm
printf 'P5\n4 2\n255\n\011\002\002\003\011\002\001\004' >b.pgm
printf 'P6\n2 1\n255\n\001\002\003\005\006\007' >rgb.ppm
printf 'price,n\n1.5,1\n2.5,2\n4,4\n' >t.csv
printf '1\n2\n3\n4\nnan\ninf\n' >inf.txt
printf 'nan\nnan\n' >nan.txt
printf 'P5\n4 2\n255\n\0\0\0\0\0\0\0\0' >none.pgm
printf 'P5\n4 2\n255\n\0\1\1\0\0\0\0\0' >some.pgm

# Quantiles, by NumPy's rules, in any order.
prints 'q\tvalue\n25\t1.75\n50\t2\n75\t3.25\n' quantile a.pgm
prints 'q\tvalue\n90\t5.499999999999999\n10\t1\n' quantile -q 90,10 a.pgm
prints 'q\tvalue\n90\t9\n' quantile -q 90 --rule higher a.pgm
prints 'q\tvalue\n90\t4\n' quantile -q 90 --rule lower a.pgm
prints 'name\tq\tvalue\nr\t50\t3\ng\t50\t4\nb\t50\t5\n' quantile -q 50 rgb.ppm
prints '[{"q": 50, "value": 2}]\n' quantile -q 50 --to json a.pgm b.pgm
prints 'q,value\n50,2\n' quantile -q 50 --to csv --mask some.pgm a.pgm
prints 'q\tvalue\n50\t4\n' quantile -q 50 --where 3: --roi 0,0,4,2 --threads 2 a.pgm --rule lower
prints 'q\tvalue\n0\t1.5\n50\t2.5\n100\t4\n' quantile --column price -q 0,50,100 t.csv
prints 'q\tvalue\n0\t1\n50\t3\n100\tinf\n' quantile --quiet -q 0,50,100 inf.txt
for to in tsv csv json; do
    remarks 'inf.txt: left out 1 NaN$' quantile --to $to inf.txt
    remarks 'inf.txt: left out 1 NaN and 1 infinite value$' summary --to $to inf.txt
    remarks 'inf.txt: min and max leave out 1 NaN and 1 infinite value$' columns --to $to inf.txt
done
remarks 'standard input: left out 1 NaN$' quantile <inf.txt
remarks 'standard input: left out 1 NaN and 1 infinite value$' summary <inf.txt
prints 'q\tvalue\n50\t2\n' quantile -q 50 - <a.pgm
prints 'q\tvalue\n100\t9\n' quantile -q 100 <a.pgm

printf '1\nx\n2.5\n4\n' >bad.txt
remarks 'bad.txt: skipped 1 cell that is not a number' quantile -q 50 --skip-bad bad.txt
refuses 1 "line 2.*'x' is not a number" quantile bad.txt

# Of saved histograms, added up.
"$histo" -r dtype -o a.json a.pgm && "$histo" -r dtype -o b.histo b.pgm
prints 'q\tvalue\n25\t2\n50\t2\n' quantile -q 25,50 a.json b.histo
"$histo" --to json --joint price,n -o joint.json t.csv 2>/dev/null
refuses 1 'must have 1 axis' quantile joint.json
refuses 2 'percentages from 0 to 100' quantile -q 50,101 a.pgm
refuses 2 'percentages from 0 to 100' quantile -q 50, a.pgm
refuses 2 'methods of numpy.quantile' quantile --rule best a.pgm
refuses 1 'holds no unmasked samples that are numbers' quantile nan.txt
refuses 1 'holds no unmasked samples that are numbers' quantile --mask none.pgm a.pgm
refuses 1 'there is no such file' quantile missing.pgm
refuses 1 'rgb.ppm has 3 channels to count where a.pgm has 1' quantile a.pgm rgb.ppm
refuses 2 'written as text, tsv, csv or json' quantile -o q.png a.pgm
refuses 2 'would overwrite its input' quantile -o a.json a.json
refuses 2 "has no option --logy" quantile --logy a.pgm

# Moments. Those of integers of 8 and 16 bits are of their values.
shows '^8	3	2.449489742783178	1.684024198[0-9]*	1.62[0-9]*	2.15563906222956[0-9]*	1	9	2$' summary a.pgm
shows '^3	2.6666666666666665	1.0274023338281628	0.23906[0-9]*	-1.5[0-9]*	1.58496[0-9]*	1.5	4	' summary --column price t.csv
shows '^4	2.5	1.118033988749895	0	-1.36	2	1	4	1' summary inf.txt
shows '"name": "g", "count": 2, "mean": 4, "std": 2, "skewness": 0, "kurtosis": -2, "entropy": 1,' summary --to json rgb.ppm
shows '"std": 0, "skewness": null, "kurtosis": null, "entropy": 0, "min": 0' summary --to json none.pgm
shows '^8	3	2.449489742783178	1.684' summary a.json
shows '^16	3.5	' summary a.json b.histo
printf '\001\000\001\000\377\377' >wide
for from in wide -; do
    shows '^3	21845.666666666668	3089[.0-9]*	0.7071[0-9]*	-1.5[0-9]*	0.91829[0-9]*	1	65535	1$' summary --dtype u16 $from <wide
done
refuses 1 'holds no unmasked finite samples' summary nan.txt
refuses 1 'holds no unmasked finite samples' summary --mask none.pgm a.pgm
refuses 1 'must have 1 axis' summary joint.json

# Distances, of files or saved histograms, on the same bins.
prints 'metric\tvalue\nearth-mover\t1\n' compare --metric earth-mover a.pgm b.pgm
prints 'metric\tvalue\nintersection\t0.875\n' compare --metric intersection a.pgm b.pgm
prints 'metric\tvalue\nintersection\t0.875\n' compare --metric intersection a.json b.histo
prints 'metric\tvalue\nintersection\t0.875\n' compare --metric intersection a.json b.pgm
prints 'metric\tvalue\nintersection\t0.875\n' compare --metric intersection a.pgm b.histo
prints 'name\tmetric\tvalue\nr\tchi-square\t0\ng\tchi-square\t0\nb\tchi-square\t0\n' compare --metric chi-square rgb.ppm rgb.ppm
[ "$("$histo" compare a.pgm b.pgm | wc -l)" -eq 10 ] || fail 'compare does not print nine metrics'
"$histo" -b 4 -r 0:8 -o other.json a.pgm
refuses 1 'cannot be compared' compare a.json other.json
refuses 2 'has its bins already' compare -b 4 a.json b.pgm
refuses 2 'takes two files' compare a.pgm
refuses 2 'is one too many' compare a.pgm b.pgm a.pgm
refuses 2 'there is no metric' compare --metric far a.pgm b.pgm
refuses 1 'has no samples in the bins' compare -b 4 -r 100:200 a.pgm b.pgm
printf '' | npy empty.npy '|u1' '(0, 4)'
refuses 1 'empty.npy has no samples in the bins' compare empty.npy a.pgm
refuses 1 'empty.npy has no samples in the bins' compare a.pgm empty.npy
refuses 1 'empty.npy holds no unmasked finite samples' summary empty.npy
refuses 1 'has 3 channels to count where' compare a.pgm rgb.ppm
refuses 1 'no finite sample' compare nan.txt nan.txt

# Dates and words.
cat >x.csv <<'END'
d,w,n
2015-01-05,a,1
2015-01-07,b,2
2015-02-09T12:00,b,3.5
END
sed 's/^2015-01-05,a/2015-03-05,c/' x.csv >y.csv
prints 'q\tvalue\n25\t2015-01-06\n50\t2015-01-07\n75\t2015-01-23T18:00\n' quantile --column d x.csv
prints 'name\tq\tvalue\nd\t0\t2015-01-05\nn\t0\t1\n' quantile -q 0 --column d,n x.csv
prints 'q\tvalue\n50\t2015-01-07\n' quantile -q 50 --column d - <x.csv
shows '^3	2015-01-17T12:00	1406932322466.1[0-9]*	0.699[0-9]*	-1.5	0.918[0-9]*	2015-01-05	2015-02-09T12:00	2015-01-08T12:00$' \
    summary --column d x.csv
shows '16.28 d' summary --to text --column d x.csv
prints 'count\tdistinct\tentropy\tmode\n3\t2\t0.9182958340544896\tb\n' summary --column w x.csv
prints 'count\tdistinct\tentropy\tmode\n3\t2\t0.9182958340544896\tb\n' summary --column w - <x.csv
shows '"name": "w", "count": 3, "distinct": 2, "mean": null,.* "mode": "b"}' summary --to json --column w,n x.csv
refuses 1 'x.csv, w holds words, which have no quantiles' quantile --column w x.csv
prints 'metric\tvalue\nearth-mover\t1612800000000\n' compare --metric earth-mover --width 28d --column d x.csv y.csv
prints 'metric\tvalue\nintersection\t0.6666666666666666\n' compare --metric intersection --column w x.csv y.csv
checks=$((checks + 1))
"$histo" compare --column w x.csv y.csv | grep -q earth && fail "words have an order"
"$histo" --column d --width 1mo -r 2015-01-01:2015-04-01 -o d.json x.csv
"$histo" --column w -o w.json x.csv
"$histo" --column w -o v.json y.csv
prints 'metric\tvalue\nintersection\t0.6666666666666666\n' compare --metric intersection --column d d.json y.csv
prints 'q\tvalue\n50\t2015-01-24T06:00\n' quantile -q 50 d.json
prints 'count\tdistinct\tentropy\tmode\n3\t2\t0.9182958340544896\tb\n' summary w.json
refuses 1 'w.json holds words, which have no quantiles\|, w holds words' quantile w.json
refuses 1 'have bins of different words' compare w.json v.json
refuses 1 'd.json has dates and w.json has words' compare d.json w.json
refuses 1 'd.json has dates and y.csv has numbers' compare --column n d.json y.csv
refuses 1 'y.csv holds words, whose bins are not those given' compare --column w w.json y.csv

# Groups, and weights: of the whole, of rows and of each group; a group that one file lacks is left out.
printf 'x,w,g\n1,2,a\n5,1,b\n2.5,4,a\n-3,0.5,b\n7,0.25,a\n' >g.csv
printf 'x,w,g\n1,4,a\n7,1,c\n2.5,8,a\n7,0.5,a\n' >h.csv
prints 'q\tvalue\n10\t1\n50\t2.5\n' quantile -q 10,50 --column x --weights w g.csv
prints 'q\tvalue\n50\t-3\n' quantile -q 50 --column x --weights w --where g=b --where x=:2 g.csv
prints 'name\tq\tvalue\na\t25\t1.375\nb\t25\t-3\n' quantile -q 25 --by g --column x --rule hazen g.csv
prints 'name\tq\tvalue\na\t50\t2.5\nb\t50\t5\n' quantile -q 50 --by g --column x --weights w - <g.csv
head='count\tsum_w\tmean\tstd\tskewness\tkurtosis\tentropy\tmin\tmax\tmode\n'
prints "$head"'5\t7.75\t2.225806451612903\t1.9790789226036087\t-0.43948983063345254\t1.7651524284541402\t1.79290598780623\t-3\t7\t3\n' \
    summary --column x --weights w g.csv
shows '^a	3	6.25	2.2	1.2	' summary --by g --column x --weights w - <g.csv
shows '^b	2	1	4	0	-2	' summary --by g --column x g.csv
# The percents are decimals: a share that the weights reach exactly is reached, also where doubles are a little above it.
{ echo x,w,t && seq 1000 | sed 's/.*/&,1,0.1/'; } >equal.csv
printf 'x,w\n1,9\n2,1\n' >nine.csv
equal='0.1\t1\n7\t70\n20\t200\n29\t290\n99.9\t999\n100\t1000\n'
for w in w t; do
    prints "q\tvalue\n$equal" quantile -q 0.1,7,20,29,99.9,100 --column x --weights $w equal.csv
    shows '	1	1	70	200	290	999	1000	500.5	' \
        --stats --quantiles 0.1,7,20,29,99.9 --column x --weights $w equal.csv
done
prints "q\tvalue\n$equal" quantile -q 0.1,7,20,29,99.9,100 --column x --weights w - <equal.csv
prints 'q\tvalue\n90\t1\n90.00000000001\t2\n' quantile -q 90,90.00000000001 --column x -w w nine.csv
{ echo x,g && seq 30 | sed 's/.*/&,g&/' && printf '7,g3\n'; } >groups.csv
for command in summary 'quantile -q 50'; do
    remarks 'groups.csv, g: 22 other values share a group: --top N gives more' $command --by g --column x groups.csv
    checks=$((checks + 1))
    [ "$(wc -l <"$out")" -eq 10 ] || fail "$command --by prints $(wc -l <"$out") lines"
    shows '^g30	' $command --by g --top all --column x groups.csv
done
printf 'x,w,g\n1,1,a\nnan,2,a\n3,4,b\n' >nans.csv
for command in summary quantile; do
    remarks 'nans.csv: left out 1 NaN$' $command --column x --weights w nans.csv
    remarks 'nans.csv: left out 1 NaN$' $command --column x --by g nans.csv
done
"$histo" --column x -o nans.json nans.csv
remarks 'nans.json: left out 1 NaN$' summary nans.json
printf 'n,w\n9007199254740993,1\n9007199254740995,3\n' >n.csv
shows '^2	4	9007199254740994.5	0.8660254037844386	' summary --column n --weights w n.csv
prints 'q\tvalue\n25\t9007199254740993\n50\t9007199254740995\n' quantile -q 25,50 --column n --weights w n.csv
prints 'metric\tvalue\nchi-square\t6.25\n' compare --metric chi-square --edges 0,4,8 --column x --weights w --where g=a g.csv h.csv
checks=$((checks + 1))
"$histo" compare --metric kolmogorov --edges 0,4,8 --column x --by g g.csv h.csv >got 2>said || fail "$(cat said)"
printf 'name\tmetric\tvalue\na\tkolmogorov\t0\n' | cmp -s - got || fail "compares groups as $(cat got)"
[ "$(grep -c 'has no samples of [bc] in the bins, which is left out$' said)" -eq 2 ] || fail "says $(cat said)"
refuses 2 'weighted quantiles are those of the rule inverted_cdf' quantile --column x --weights w --rule hazen g.csv
for command in hist summary; do
    refuses 1 'g.csv: --where leaves no row with a finite number$' $command --column x --where g=Osl g.csv
done
refuses 1 'g.csv: --where leaves no row with a number$' quantile --column x --where g=Osl g.csv
printf 'x,w\n1,-1\n2,3\n' >negative.csv
remarks 'negative.csv: a weight is negative, so there are no skewness, kurtosis and entropy$' \
    summary --column x -w w negative.csv
shows '^2	2	2.5	0	nan	nan	nan	1	2	2$' summary --quiet --column x -w w negative.csv
refuses 1 'negative.csv has no quantiles: no number has a weight above 0, or a weight is negative' \
    quantile -q 50 --quiet --column x --weights w negative.csv
for command in quantile summary; do
    refuses 2 'samples of a saved histogram are counted already: leave --by out' $command --by g d.json
done
refuses 2 'samples of a saved histogram are counted already: leave --weights out' compare --weights w d.json d.json

finish
