# Tables in files of arrays (structured arrays of NumPy, compounds of HDF5), links, and missing values.
. "$(dirname "$0")/../support/check.sh"

corpus=$support/../../fuzz/corpus

# Fields are columns: of every byte order, at odd offsets, nested, arrays, complex, of words, and padding. Written by
# NumPy: i is -2, 5, 256; at.x, at.y, v.0 and z.real are 1, 2, 3; v.1 is 7 and z.imag is -1; t is 1, NaT, 3.
cp "$corpus/npy/table.npy" t.npy
prints 'lo\thi\tcount\n-2\t84\t2\n84\t170\t0\n170\t256\t1\n' --column i -b 3 t.npy
for column in at.x at.y z.real; do
    prints 'lo\thi\tcount\n1\t2\t1\n2\t3\t2\n' --column $column -b 2 t.npy
done
prints 'lo\thi\tcount\n6.5\t7.5\t3\n' --column v.1 -b 1 -r minmax t.npy
prints 'lo\thi\tcount\n-1.5\t-0.5\t3\n' --column z.imag -b 1 - <t.npy
prints 'lo\thi\tcount\n1\t2\t0\n2\t3\t2\n' --column at.x --where i=5:300 -b 2 -r 1:3 t.npy
prints 'at.y_lo\tat.y_hi\tv.0_lo\tv.0_hi\tcount\n1\t3\t1\t3\t3\n' --joint at.y,v.0 -b 1 -r minmax t.npy
prints 'lo\thi\tcount\tsum_w\tsum_w2\n1\t2\t1\t1\t1\n2\t3\t2\t5\t13\n' --column at.y -w at.x -b 2 t.npy
refuses 2 't.npy has 7 columns of numbers: choose with --column among i, at.x, at.y, v.0, v.1, z.real, z.imag (or all)' t.npy
prints 'value\tcount\nA\t1\nB\t1\nC\t1\n' --column name t.npy
refuses 2 "t.npy has no column 'at': it has i, name, at.x" --column at t.npy
head -c 300 t.npy >short.npy
refuses 1 'short.npy holds 44 bytes of samples where its header describes 93' --column i short.npy
remarks 't.npy: left out 1 missing value$' --column t -b 2 t.npy
remarks 't.npy: left out 1 row with a missing value$' --joint t,i -b 2 t.npy

two2='lo\thi\tcount\n1\t2\t1\n2\t3\t2\n'
# Spans of time are integers, of which NaT is missing.
nat='\000\000\000\000\000\000\000\200'
printf "\\001\\000\\000\\000\\000\\000\\000\\000$nat\\003\\000\\000\\000\\000\\000\\000\\000" | npy time.npy '<m8[s]' '(3,)'
two='lo\thi\tcount\n1\t2\t1\n2\t3\t1\n'
remarks 'time.npy: left out 1 missing value$' -b 2 time.npy
[ "$(cat "$out")" = "$(printf "$two")" ] || fail "NaT is counted: $(cat "$out")"
prints 'lo\thi\tcount\n-1e+19\t0\t1\n0\t4\t2\n' --raw --edges -1e19,0,4 time.npy
printf '1\n' >rows
refuses 2 'rows was read as text, whose samples are read as they are stored: leave --raw out' --raw rows
# Parts that other threads have decoded say so, too.
tail -c 24 time.npy >many
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat many many >twice && mv twice many; done
npy many.npy '<m8[s]' '(196608,)' <many
remarks 'many.npy: left out 65536 missing values$' many.npy
shows '^1	2	65536$' --quiet many.npy
tail -c 24 time.npy | npy spans.npy '<m8[ns]' '(1, 3)'
printf '\001\000\001' | npy mask.npy '|u1' '(1, 3)'
remarks 'spans.npy: left out 1 row with a missing value$' -b 2 --mask mask.npy spans.npy
[ "$(cat "$out")" = "$(printf "$two")" ] || fail "--mask does not fit where values are missing: $(cat "$out")"
remarks 'spans.npy: left out 1 missing value$' --roi 1,0,2,1 -b 2 -r 1:3 spans.npy
refuses 1 'spans.npy has missing values, which cannot be left out here: count all with --raw' mi spans.npy spans.npy

# The same fields in HDF5, written by h5py; ok is true, false, true.
cp "$corpus/hdf5/table.h5" "$corpus/hdf5/links.h5" "$corpus/hdf5/"*.nc .
prints 'lo\thi\tcount\n-2\t84\t2\n84\t170\t0\n170\t256\t1\n' --column i -b 3 table.h5
prints "$two2" --column at.x -b 2 table.h5
prints "$two2" --column at.y -b 2 - <table.h5
prints "$two2" --column v.0 -b 2 -r minmax table.h5
prints 'lo\thi\tcount\n0\t128\t2\n' --column v.0 --where ok=1:1 --edges 0,128 table.h5
prints 'at.y_lo\tat.y_hi\tv.1_lo\tv.1_hi\tcount\n1\t3\t6.5\t7.5\t3\n' --joint at.y,v.1 -b 1 -r minmax table.h5
prints 'lo\thi\tcount\tsum_w\tsum_w2\n1\t2\t1\t1\t1\n2\t3\t2\t5\t13\n' --column at.y -w at.x -b 2 table.h5
prints 'value\tcount\nA\t1\nB\t1\nC\t1\n' --column name table.h5

# Compressed by h5py's own filter.
prints 'lo\thi\tcount\n1\t2\t200\n2\t3\t400\n' -b 2 "$corpus/hdf5/lzf.h5"

# A chunk that holds less than its shape, of which HDF5 would deliver what is in memory behind it.
refuses 1 'short_chunk.h5: a chunk is damaged' "$corpus/hdf5/short_chunk.h5"

# What MATLAB stores as the shape of an empty array, and as the codes of characters.
refuses 1 'matlab.h5: dataset em is empty: choose another with --dataset' --dataset em "$corpus/hdf5/matlab.h5"

refuses 1 'matlab.h5: dataset txt holds text, not plain numbers' --dataset txt "$corpus/hdf5/matlab.h5"
prints 'lo\thi\tcount\n-0.5\t5.5\t6\n' -b 1 -r -0.5:5.5 "$corpus/hdf5/matlab.h5"

# Links of all kinds are followed, and listed; those to nowhere are named.
prints "$two2" --dataset soft -b 2 links.h5
prints "$two2" --dataset circle/circle/g/x -b 2 links.h5
prints "$two2" --dataset table --column at.x -b 2 links.h5
refuses 1 'holds 2 datasets of numbers: choose one with --dataset: g/x (3 f32), table (3 rows of 7 columns)$' links.h5
refuses 1 'links.h5: broken is a link to /nowhere, which is not there' --dataset broken links.h5
refuses 1 'links.h5: gone is a link to /data in the file gone.h5, which cannot be opened: put' --dataset gone/x links.h5

# Packed integers become floats, and fill values and what the valid range excludes are left out: 10, 10.5, 11, 11.5, 60
# remain. Scales of dimensions are not data.
remarks 'packed.nc: left out 3 missing values$' --edges 10,11,12,100 packed.nc
[ "$(cat "$out")" = "$(printf 'lo\thi\tcount\n10\t11\t2\n11\t12\t2\n12\t100\t1\n')" ] || fail "packed: $(cat "$out")"
prints 'lo\thi\tcount\n-10\t0\t2\n0\t150\t5\n150\t300\t1\n' --raw --edges -10,0,150,300 packed.nc
remarks 'packed.nc: left out 1 missing value$' --roi 1,0,3,1 --edges 10,11,12,100 packed.nc
remarks 'unsigned.nc: left out 1 missing value$' --dataset b --edges 0,2,300 unsigned.nc
[ "$(cat "$out")" = "$(printf 'lo\thi\tcount\n0\t2\t2\n2\t300\t1\n')" ] || fail "_Unsigned: $(cat "$out")"
for dataset in s f t; do
    remarks 'unsigned.nc: left out 1 missing value$' --dataset $dataset --edges 1,4 unsigned.nc
done
refuses 1 'choose one with --dataset: b (4 i8), f (4 f32), s (4 i16), t (3 i64)$' unsigned.nc

# NetCDF-3 in its three forms: temp is 10, 10.5, 11, 60 and two missing values, with and without other variables in a
# record; b is 1, 2, 3 twice. The number of records may be unknown.
for form in classic offset64 cdf5; do
    file=$corpus/netcdf/$form.nc
    remarks "$form.nc: left out 2 missing values$" --dataset temp --edges 10,11,12,100 "$file"
    [ "$(cat "$out")" = "$(printf 'lo\thi\tcount\n10\t11\t2\n11\t12\t1\n12\t100\t1\n')" ] || fail "$form: $(cat "$out")"
    prints 'lo\thi\tcount\n-1\t150\t5\n150\t300\t1\n' --raw --dataset temp --edges -1,150,300 - <"$file"
    prints 'lo\thi\tcount\n1\t2\t2\n2\t3\t4\n' --dataset b -b 2 -r minmax "$file"
    refuses 1 'choose one with --dataset: temp (2 x 3 i16), b (2 x 3 i8)$' "$file"
    refuses 1 'variable name holds characters, not plain numbers' --dataset name "$file"
    refuses 1 "has no variable 'none': its variables of numbers are temp" --dataset none "$file"
done
prints "$two2" -b 2 "$corpus/netcdf/one.nc"
prints "$two2" -b 2 "$corpus/netcdf/streamed.nc"
gzip -c "$corpus/netcdf/one.nc" >one.nc.gz
prints "$two2" -b 2 one.nc.gz
refuses 1 'cut.nc is a damaged netCDF file: it ends within its header' "$corpus/netcdf/cut.nc"
head -c 85 "$corpus/netcdf/one.nc" >short.nc
refuses 1 'short.nc is truncated: variable y reaches to byte 86, and the file has 85' short.nc

# Images: missing floats are NaN and stay, missing integers are refused.

checks=$((checks + 1))
"$histo" stretch -r 10:60 packed.nc stretched.npy || fail 'packed.nc is not stretched'
remarks 'unsigned.nc: pixels without a value, which npy cannot say, keep what is stored: 1$' \
    equalize --dataset s unsigned.nc out.npy
refuses 1 'spectrum.npy is text or a table, not an image' equalize "$corpus/npy/spectrum.npy" out.npy
# Lines that begin with # are comments before the first row, and rows behind it, unless --comment says otherwise.
printf 'colour,n\n#ff0000,5\n#00ff00,6\nred,7\n#N/A,8\n' >hash.csv
prints 'value\tcount\n#00ff00\t1\n#N/A\t1\n#ff0000\t1\nred\t1\n' --column colour hash.csv
prints 'lo\thi\tcount\n4\t9\t4\n' --column n -b 1 -r 4:9 hash.csv
prints 'lo\thi\tcount\n4\t9\t1\n' --column n -b 1 -r 4:9 --comment '#' hash.csv
prints 'lo\thi\tcount\n4\t9\t3\n' --column n -b 1 -r 4:9 - <<'END'
#id,n
1,5
2,6
3,7
END
remarks 'left out 2 lines before the first row, with #: --comment none counts them$' --column n -b 1 - <<'END'
# made by hand
#    in two lines
id,n
1,5
END
refuses 1 'nothing but comments and blank lines; --comment none counts' - <<'END'
#a
#b
END
prints 'value\tcount\n#a\t1\n#b\t1\n' --comment none --header no - <<'END'
#a
#b
END
{ echo 'n,x' && for i in 1 2 3; do printf '%% "\n%d,"a\n%%b"\n' $i; done; } >percent.csv
prints 'lo\thi\tcount\n1\t3\t3\n' --column n -b 1 --comment % percent.csv
refuses 2 "--comment takes a character that no number or name begins with, or none, not 'x'" --comment x hash.csv
# Spreadsheets write the delimiter in front.
printf 'sep=;\na;b\n1;2\n3;4\n' >sep.csv
printf '\357\273\277SEP=|\r\na|b\r\n1|2\r\n3|4\r\n' >bar.csv
for file in sep.csv bar.csv '- <sep.csv'; do
    checks=$((checks + 2))
    [ "$(eval "\"\$histo\" --column b -b 1 $file")" = "$(printf 'lo\thi\tcount\n2\t4\t2')" ] || fail "$file"
    [ "$(eval "\"\$histo\" --column b -b 1 -r 2:4 $file")" = "$(printf 'lo\thi\tcount\n2\t4\t2')" ] || fail "$file, in one pass"
done
prints 'value\tcount\n1\t1\n' --column 0 --category 0 --header no --delimiter ';' - <<'END'
1;2
END
# Logs escape quotes in quotes.
cat >escaped.log <<'END'
10.0.0.1 - - [30/Mar/2024:22:00:20 +0100] "GET /a\"b HTTP/1.1" 200 35 "-" "evil \"quoted\" agent" 0.5
10.0.0.1 - - [30/Mar/2024:22:01:05 +0100] "GET / HTTP/1.1" 200 - "-" "evil" 0.25
10.0.0.1 - - [30/Mar/2024:23:01:05 +0100] "GET / HTTP/1.1" 404 9 "\"" "a ""b"" c\\" 0.75
END
prints 'value\tcount\n200\t2\n404\t1\n' --category 6 escaped.log
prints 'lo\thi\tcount\n0\t1\t3\n' --column 10 -b 1 -r 0:1 escaped.log
shows '^a "b" c.*	1$' --column 9 escaped.log


# Names of rows that the header has no name for, as R writes them, and quotes around the last name.
printf '"a" "b" "c"\n"1" 5 6 7\n"2" 50 60 70\n' >r1.txt
printf '"a","b","c"\n"1",5,6,7\n"2",50,60,70\n' >r2.txt
printf 'a b c\n1 5 6 7\n2 50 60 70\n' >r3.txt
printf '"a" "b" "c"\n"Mazda RX4" 5 6 7\n"Fiat 128" 50 60 70\n' >r4.txt
printf 'a\tb\tc\none\t5\t6\t7\ntwo\t50\t60\t70\n' >r5.txt
for file in r1.txt r2.txt r3.txt r4.txt r5.txt; do
    prints 'lo\thi\tcount\n5\t50\t2\n' --column a -b 1 $file
    prints 'lo\thi\tcount\n7\t70\t2\n' --column c -b 1 $file
done
shows '^Fiat 128	1$' --column 0 --category 0 r4.txt
printf '"x"\n"1" 5\n"2" 7\n' >r6.txt
prints 'lo\thi\tcount\n5\t7\t2\n' --column x -b 1 r6.txt
printf '"a" "b"\n1 2\n3 4\n' >quoted.txt
prints 'lo\thi\tcount\n2\t4\t2\n' --column b -b 1 quoted.txt
printf '"a" "b"\n1 "x y"\n3 "z"\n' >words.txt
prints 'value\tcount\nx y\t1\nz\t1\n' --column b words.txt

# The delimiter on which all rows agree goes before blanks and names of rows, and before the times of logs.
printf 'a:b\tna,me\t"a ""b"""\tn#\tT\n0\t506\t353\tsemi;colon\tS Paulo\n' >t.tsv
prints 'value\tcount\nsemi;colon\t1\n' --category 'n#' t.tsv
printf '2024-01-01 backup a\t5\n2024-01-02 backup\t6\n' >log.tsv
prints 'lo\thi\tcount\n5\t6\t2\n' --column 1 -b 1 log.tsv
printf '2024-01-01 backup,5\n2024-01-02 10:00 a,6\n' >log.csv
prints 'lo\thi\tcount\n5\t6\t2\n' --column 1 -b 1 log.csv

# A comma in a header, or in sentences, is not what separates columns.
printf 't=0   na,me #n  a:b\nfalse -inf 155 nm_\ntrue 5 1 x\n' >comma.txt
prints 'lo\thi\tcount\n1\t155\t2\n' --column '#n' -b 1 comma.txt

printf '_     na,me "Adj. Close*"\n2024-01-01T10:00 x,y   5\n2024-01-01T11:00 x,y   -6\n' >inside.txt
prints 'value\tcount\nx,y\t2\n' --column 1 inside.txt
printf 'name,genre\nTrack 1 live,rock\nTrack 2 live,pop\n' >tracks.csv
prints 'value\tcount\npop\t1\nrock\t1\n' --column genre tracks.csv

# Rows of another length are skipped by --skip-bad, in every place, and counted.
printf 'a,b,c\n1,2,3\n4,5\n6,7,8,9\n' >ragged.csv
remarks 'ragged.csv: skipped 2 rows with another number of cells than the first$' --skip-bad --column a -b 1 -r 0:10 ragged.csv
[ "$(cat "$out")" = "$(printf 'lo\thi\tcount\n0\t10\t1')" ] || fail "ragged rows: $(cat "$out")"
{ cat ragged.csv && seq -f '%g,x,y' 100000 && printf 'z,z\n7,,\n'; } >long.csv
remarks 'long.csv: skipped 3 rows with another number of cells than the first$' --skip-bad --column a -b 1 -r 0:1e6 long.csv
grep -q '	100002$' "$out" || fail "ragged rows in parts: $(cat "$out")"
shows '^y	100000$' --skip-bad -q --category c --top 3 long.csv
refuses 1 'ragged.csv, line 3: the row has 2 cells where the first has 3' --column a ragged.csv
remarks 'ragged.csv: skipped 2 rows with another number of cells than the first$' columns ragged.csv
prints 'column\tname\tkind\tcount\tmissing\tfirst\tmin\tmax\n0\ta\tintegers\t1\t0\t1\t1\t1\n1\tb\tintegers\t1\t0\t2\t2\t2\n2\tc\tintegers\t1\t0\t3\t3\t3\n' columns -q ragged.csv

# A column without a value in one of the files may be of any kind.
printf 'city,x\n,1\n' >e1.csv
printf 'city,x\nRome,1\n' >e2.csv
for first in e1.csv e2.csv; do
    for next in e1.csv e2.csv; do
        [ $first = $next ] || prints 'lo\thi\tcount\n0\t9\t1\n' -q --column x --where city=Rome -b 1 -r 0:9 $first $next
    done
done
prints 'value\tcount\nRome\t1\n' -q --column city e2.csv e1.csv
printf 'day,x\n2024-01-01,1\n' >e3.csv
printf 'day,x\nNA,1\n' >e4.csv
prints 'lo\thi\tcount\n2024-01-01\t2024-01-02\t1\n' -q --column day --width 1d e3.csv e4.csv
prints 'lo\thi\tcount\n0\t9\t1\n' -q --column x --where day=2024 -b 1 -r 0:9 e4.csv e3.csv

# Names and strings in Windows-1252.
printf 'Name;Gr\366\337e;\200\nA\3371;180;a\nA\3371;165;b\n' >windows.csv
remarks 'windows.csv: it is not UTF-8, and names are read as Windows-1252: convert others with iconv' --column Größe -b 1 windows.csv
grep -q '^165	180	2$' "$out" || fail "Windows-1252: $(cat "$out")"
shows '^Aß1	2$' --column Name windows.csv
shows '^a	1$' --column € windows.csv
shows '^165	180	2$' --column Größe --where Name=Aß1 -b 1 windows.csv

# The name above strings that are alike.
printf 'email\na@example.org\nb@example.org\n' >emails
prints 'value\tcount\na@example.org\t1\nb@example.org\t1\n' emails
prints 'value\tcount\na@example.org\t1\nb@example.org\t1\n' --column email emails
printf 'host\n10.0.0.1\n10.0.0.2\n10.0.0.1\n' >hosts
prints 'value\tcount\n10.0.0.1\t2\n10.0.0.2\t1\n' --column host hosts
printf 'Rome\nParis\nRome\n' >cities
prints 'value\tcount\nRome\t2\nParis\t1\n' cities
printf 'name,50 %%,2024-01-01\na,5 %%,2024-01-02\n' >names.csv
prints 'lo\thi\tcount\n4.5\t5.5\t1\n' --column '50 %' -b 1 -r 4.5:5.5 --header yes names.csv
printf '"50 %%"\n5\n6\n' >one
prints 'lo\thi\tcount\n5\t6\t2\n' -b 1 one
printf 'n,50 %%\n1,5 %%\n2,6 %%\n' >under.csv
prints 'lo\thi\tcount\n5\t6\t2\n' --column '50 %' -b 1 under.csv

# Titles.
printf 'Report\nof, two; "lines\na;b\n1;2\n' >title.csv
prints 'lo\thi\tcount\n1.5\t2.5\t1\n' --skip-lines 2 --column b -b 1 title.csv
refuses 1 'title.csv holds no numbers' --skip-lines 9 title.csv
finish
