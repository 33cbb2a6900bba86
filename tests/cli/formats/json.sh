# JSON lines, and arrays of objects: rows, columns, what is missing, and what is wrong.
. "$(dirname "$0")/../support/check.sh"
command -v python3 >/dev/null || fail 'python3 is missing'

two='lo\thi\tcount\n1\t2\t1\n2\t3\t2\n'
printf '{"x":1}\n{"x":2}\n{"x":3}\n' >lines.jsonl
printf '[{"x":1}, {"x":2},\n {"x":3}]\n' >array.json
printf '\357\273\277 {"x" : 1}{"x":2} \r\n\n{\n  "y": {"x": [9, {"x": 9}]},\n  "x": 3.0e0\n}' >loose.json
printf '[{"x":1},{"x":2}]\n[{"x":3}]' >arrays.json
for file in lines.jsonl array.json loose.json arrays.json; do
    prints "$two" --column x -b 2 $file
    prints "$two" --column x -b 2 <$file
    gzip -c $file >packed
    prints "$two" --column x -b 2 packed
done
prints "$two" --format json lines.jsonl -b 2

# Nested keys, keys of a later row, and escapes.
printf '{"pos":{"x":1}}\n{"pos":{"x":2,"\\u00fc\\"":7},"s":"a"}\n{"pos":{"x":3}}\n' >nested
prints "$two" --column pos.x -b 2 nested
prints 'lo\thi\tcount\n7\t8\t1\n' --column 'pos.ü"' -b 1 -r 7:8 -q nested
shows '^pos.x	' nested
refuses 2 "nested has no column 'y': it has pos.x, pos.ü\", s (or their numbers, 0 to 2)" --column y nested

# What is missing is told; so are words only where they stand for it. Booleans are numbers.
printf '{"x":1,"y":1}\n{"y":1}\n{"x":null,"y":2}\n{"x":"N/A"}\n{"x":2,"y":true}\n{"x":3,"y":false}\n{}\n' >missing
remarks 'missing: left out 4 missing values$' --column x -b 2 missing
[ "$(cat "$out")" = "$(printf "$two")" ] || fail 'what is missing is counted'
remarks 'missing: left out 4 rows with a missing value$' --joint x,y -b 2 missing
prints 'lo\thi\tcount\n0\t1\t1\n1\t2\t3\n2\t3\t1\n' -q --column y --edges 0,1,2,3 missing
printf '{"x":NaN}\n{"x":-Infinity}\n{"x":1}\n' >python
prints 'lo\thi\tcount\n-inf\t0\t1\n0\t2\t1\nnan\tnan\t1\n' -b 1 -r 0:2 python

printf '{"x":1}\n\n{"x":2,\n "x":"twelve"}\n{"x":[3]}\n{"x":{"a":4}}\n{"x":2}\n{"x":3}\n' >words
refuses 1 "words, line 4, key x: 'twelve' is not a number; correct it, or leave such values out with --skip-bad" words --column x
remarks 'words: skipped 3 cells that are not numbers' --column x -b 2 --skip-bad words
[ "$(cat "$out")" = "$(printf "$two")" ] || fail '--skip-bad counts the rest wrong'
for bad in '{"x":2' '{"x":2,' '{"x":"2' '{"y":{"x":2}'; do
    printf '{"x":1}\n{"x":1}\n%s' "$bad" >cut
    refuses 1 'cut, line 3: what begins here has no end' --column x cut
done
printf '{"x":1}\n{"x":2.}\n' >point
refuses 1 'point, line 2: this is not JSON (Miss fraction part in number): correct it' point
printf '{"x":1,"y":"a\nb"}\n{"x":2}\n' >open
refuses 1 'open, line 1: this is not JSON (a line break or a control character in a string)' open
printf '{"x":1}\n1\n' >bare
refuses 1 'bare, line 2: this is not JSON (an object is expected here)' bare
printf '[{"x":1}\n{"x":1}]' >comma
refuses 1 'comma, line 2: this is not JSON (an object or the end of the array is expected here)' comma
printf '{"x":1}\n{"a":' >deep
head -c 100000 /dev/zero | tr '\000' '[' >>deep
refuses 1 'deep, line 2: objects and arrays lie in each other more than 64 deep' deep
printf '{"a":{}}' >empty
refuses 1 'empty holds no values: its objects are empty' empty
printf '[ ]' >nothing
refuses 1 'nothing holds no objects$' nothing

# Words are categories, and dates have bins of the calendar.
printf '{"t":"2024-01-05T10:00:00Z","s":"a"}\n{"t":"2024-01-06","s":"b"}\n{"t":null,"s":"a"}\n{"t":"2024-01-06 12:30"}\n' >dates
prints 'lo\thi\tcount\n2024-01-05\t2024-01-06\t1\n2024-01-06\t2024-01-07\t2\n' -q --column t --width 1d dates
prints 'value\tcount\na\t2\nb\t1\n' -q --column s dates
prints 'lo\thi\tcount\n2024-01-05\t2024-01-06\t1\n' -q --column t --where s=a --width 1d dates

# Integers beyond doubles are counted as they are.
printf '{"x":9007199254740993}\n{"x":9007199254740995}\n{"x":1.0}\n{"x":18446744073709551615}\n' >large
prints 'lo\thi\tcount\n-inf\t9007199254740992\t1\n9007199254740992\t9007199254740994\t1\n9007199254740994\t9007199254740996\t1\n9007199254740996\tinf\t1\n' \
    -r 9007199254740992:9007199254740996 -b 2 large

# Many rows: all threads count what one does, and Python; in lines, and in other forms, which threads cannot divide.
python3 -c 'import json, random
r = random.Random(1)
rows = [{"id": i, "a": {"b": r.gauss(0, 1)}, "s": "{" * r.randrange(3)} for i in range(60000)]
open("many.jsonl", "w").write("".join(json.dumps(x) + "\n" for x in rows))
json.dump(rows, open("many.json", "w"))
open("pretty.jsonl", "w").write("".join(json.dumps(x, indent=1) + "\n" for x in rows))
counts = [0] * 8
for x in rows: counts[int((x["a"]["b"] + 8) // 2)] += 1
print("lo\thi\tcount")
for i, n in enumerate(counts): print("%d\t%d\t%d" % (2 * i - 8, 2 * i - 6, n))' >expected
for file in many.jsonl many.json pretty.jsonl; do
    for threads in 1 3; do
        checks=$((checks + 2))
        "$histo" --threads $threads --column a.b -b 8 -r -8:8 $file | cmp -s - expected || fail "$file, $threads threads: counted wrong"
        cat $file | "$histo" --threads $threads --column a.b -b 8 -r -8:8 | cmp -s - expected || fail "$file in a pipe: counted wrong"
    done
    for shard in 1 2 3; do "$histo" --column a.b -b 8 -r -8:8 --shard $shard/3 -o $shard.histo $file || fail "$file: a shard fails"; done
    checks=$((checks + 1))
    "$histo" merge --complete --to tsv 1.histo 2.histo 3.histo | cmp -s - expected || fail "$file: the sum of shards is wrong"
done
sed -i '50001s/: [-0-9.]*}/: "word"}/' many.jsonl
refuses 1 "many.jsonl, line 50001, key a.b: 'word' is not a number" --threads 3 --column a.b -b 8 -r -8:8 many.jsonl
# A shard reads no values of another, which may not be of the type of its own.
printf '{"a":12020120943401027436}\n{"a":-6397557115324438448}\n' >types.jsonl
for shard in 1 2; do
    checks=$((checks + 1))
    "$histo" --column a --edges -9e18,0,2e19 --shard $shard/2 -o $shard.histo types.jsonl || fail "types.jsonl: shard $shard"
done
checks=$((checks + 1))
[ "$("$histo" merge --complete 1.histo 2.histo | tail -n 2 | cut -f 3 | tr '\n' ' ')" = '1 1 ' ] || fail 'types.jsonl: the sum of shards'
# Labels end at a NUL, so that strings with one would look like others.
printf '{"a":"x\\u0000y"}\n{"a":"x"}\n' >nul.jsonl
refuses 1 'nul.jsonl, a has a string with the character U+0000' --column a nul.jsonl
refuses 1 'nul.jsonl, a has a string with the character U+0000' --by a --column a nul.jsonl
# Keys that come after the first MiB are columns, too, in lines and arrays, divided or not.
awk 'BEGIN { for (i = 0; i < 150000; i++) print "{\"a\": " i % 7 "}"
             for (i = 0; i < 500; i++) print "{\"a\": 1, \"late\": " i % 5 ", \"word\": \"" (i % 2 ? "u" : "v") "\"}" }' >late
{ echo '[' && sed '$!s/$/,/' late && echo ']'; } >late_array
for file in late late_array; do
    prints 'lo\thi\tcount\n0\t2\t200\n2\t4\t200\n4\t6\t100\n' -q --column late -b 3 -r 0:6 $file
    prints 'value\tcount\nu\t250\nv\t250\n' -q --column word $file
    prints 'lo\thi\tu\tv\n0\t9\t250\t250\n' -q --column a --by word -b 1 -r 0:9 $file
    prints 'lo\thi\tcount\n0\t9\t100\n' -q --column a --where late=2 -b 1 -r 0:9 $file
done
prints 'lo\thi\tcount\n0\t2\t200\n2\t4\t300\n' -q --column late -b 2 - <late
shows '^1.late.integers.500.150000.0, 1, 2.0.4$' columns late
refuses 2 "no column 'none': it has a, late, word" --column none late

# Columns of true and false are booleans; beside numbers they are 1 and 0.
printf '{"a":true,"n":1}\n{"a":false,"n":2}\n{"a":null,"n":3}\n' >truth.jsonl
prints 'value\tcount\nfalse\t1\ntrue\t1\n' --quiet --column a truth.jsonl
prints 'lo\thi\tcount\n0\t4\t1\n' --quiet --column n --where a=true -b 1 -r 0:4 truth.jsonl
prints 'lo\thi\tcount\n0\t1\t1\n1\t2\t1\n' --quiet --column a -b 2 -r 0:2 truth.jsonl
shows '^0	a	booleans	2	1	true, false	false	true$' columns truth.jsonl
printf '{"a":true}\n{"a":3}\n' >mixed.jsonl
prints 'lo\thi\tcount\n0\t2\t1\n2\t4\t1\n' --column a -b 2 -r 0:4 mixed.jsonl

# An array of values is a column without a name, in one line or several, also beyond what is looked at first.
for values in '[1,2,3]' '[1, 2 ,3]\n' '[\n  1,\n  2,\n  3\n]\n' ' [ 1.0,2e0,3\n]'; do
    printf "$values" >values
    prints "$two" -b 2 values
    prints "$two" -b 2 <values
done
printf '[1.5,-2]' >reals
shows '^0		numbers	2	0	1.5, -2	-2	1.5$' columns reals
remarks 'gap: left out 1 missing value$' -b 2 $(printf '[null,1,2,3]' >gap && echo gap)
[ "$(cat "$out")" = "$(printf "$two")" ] || fail 'null in an array is counted'
printf '["b","a","b"]' >strings
prints 'value\tcount\nb\t2\na\t1\n' strings
printf '[9223372036854775807,-1]' >long
shows '	9223372036854775807$' columns long
seq -s, 0 299999 | sed 's/.*/[&]/' >many
prints 'lo\thi\tcount\n0\t150000\t150000\n150000\t300000\t150000\n' -b 2 -r 0:300000 many
printf '1\n2\n3\n' >plain.txt
prints 'lo\thi\tcount\n1\t2\t2\n2\t3\t4\n' -b 2 plain.txt values
for other in '[[1,2],[3,4]]' '[1,2]\n[3,4]\n' '[1,{"x":2}]' '[{"x":1},2]' '[1,[2]]'; do
    printf "$other" >other
    refuses 1 'other, line [12]: this JSON is neither objects, one a row and perhaps in an array, nor one array' other
done
printf '[1,2' >cut
refuses 1 'cut, line .*: what begins here has no end' cut
printf '[1,"x"]' >words
refuses 1 "words, line 1: 'x' is not a number; correct it, or leave" words
printf '{"x":[1,2,3]}' >within
refuses 1 'within, line 1, key x: an array or object is not a number' within
# Brackets around the first word of a line are not JSON.
for log in '[1.5] 5' '[2024-01-01] 5' '[1] 5'; do
    printf '%s\n' "$log" "$log" >log
    prints 'lo\thi\tcount\n5\t6\t2\n' -q log
done
finish
