# Files of one run agree on what a column is: numbers, strings, dates or spans of time; else a sentence names the file
# that does not. Numbers are never codes of strings, nor times, nor of another unit.
. "$(dirname "$0")/../support/check.sh"

makes_files <<'END'
import json, sqlite3, struct

def npy(name, code, *values):
    head = repr({"descr": code, "fortran_order": False, "shape": (len(values),)}).encode().ljust(117) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}q", *values))

def table(name, *values):
    open(f"{name}.csv", "w").write("".join(f"{x}\n" for x in ("n,m", *(f"{v},1" for v in values))))
    open(f"{name}.jsonl", "w").write("".join(json.dumps({"n": v, "m": 1}) + "\n" for v in values))
    base = sqlite3.connect(f"{name}.db")
    base.execute("create table t (n, m integer)")
    base.executemany("insert into t values (?, 1)", [(v,) for v in values])
    base.commit()
    base.close()

table("words", "x", "y")
table("dates", "2024-01-01", "2024-01-02")
table("numbers", 5, 7)
for name, rows in {"words": "x y", "numbers": "5 7 7", "big": "50000000", "dates": "2024-01-01 2024-01-02", "gaps": "5 NA 7"}.items():
    open(name, "w").write(rows.replace(" ", "\n") + "\n")
npy("seconds.npy", "<m8[s]", 1, 2)
npy("milliseconds.npy", "<m8[ms]", 1000, 2000)
npy("dates.npy", "<M8[s]", 1704067200, 1704153600)
npy("numbers.npy", "<i8", 1, 2)
END

# Plain numbers are strings behind strings, whatever the route.
prints 'value\tcount\n7\t2\n5\t1\nx\t1\ny\t1\n' -b 9 words numbers
prints 'value\tcount\n50000000\t1\nx\t1\ny\t1\n' -b 9 words big
prints 'value\twords\tnumbers\n7\t0\t2\n5\t0\t1\nx\t1\t0\ny\t1\t0\n' -b 9 --compare words numbers
prints 'value\twords\tnumbers\n7\t0\t2\n5\t0\t1\nx\t1\t0\ny\t1\t0\n' -b 9 --batch words numbers
prints 'value\tcount\n7\t2\n5\t1\nx\t1\ny\t1\n' -b 9 words - <numbers
prints 'value\tcount\n5\t1\n7\t1\nx\t1\ny\t1\n' -q -b 9 words gaps
remarks 'gaps: left out 1 missing value$' -b 9 words gaps
"$histo" --top all --shard 1/2 -o 1.histo words numbers && "$histo" --top all --shard 2/2 -o 2.histo words numbers || fail 'shards of strings and numbers'
prints 'value\tcount\n7\t2\n5\t1\nx\t1\ny\t1\n' merge 1.histo 2.histo
refuses 1 "words, line 1, column 0: 'x' is not a number" -b 9 numbers words
refuses 1 "numbers, line 1, column 0: '5' is not a date" -b 9 dates numbers

# Columns, in each format and order.
for one in csv jsonl db; do
    for other in csv jsonl db; do
        prints 'value\tcount\n5\t1\n7\t1\nx\t1\ny\t1\n' --column n -b 9 words.$one numbers.$other
        prints 'value\tcount\n2024-01-01\t1\n2024-01-02\t1\nx\t1\ny\t1\n' --column n -b 9 words.$one dates.$other
        refuses 1 "words.$other, .*'x' is not a number" --column n -b 9 numbers.$one words.$other
        refuses 1 "dates.$other, .*'2024-01-01' is not a number" --column n -b 9 numbers.$one dates.$other
        refuses 1 "numbers.$other, .*5'* is not a date" --column n -b 9 dates.$one numbers.$other
        refuses 1 "words.$other, .*'x' is not a date" --column n -b 9 dates.$one words.$other
    done
    prints 'lo\thi\tcount\n2024-01-01\t2024-01-02\t2\n2024-01-02\t2024-01-03\t2\n' --column n --width 1d dates.$one dates.$one
    refuses 1 "numbers.npy has no strings in its samples, where other files have strings" --column 0 -b 9 words.$one numbers.npy
done

# Dates of arrays, which are numbers of a unit, and dates that are written; spans have one unit.
for other in csv jsonl db; do
    prints 'lo\thi\tcount\n2024-01-01\t2024-01-02\t2\n2024-01-02\t2024-01-03\t2\n' --column 0 --width 1d dates.npy dates.$other
    refuses 1 "numbers.$other has no dates in n, where other files have dates" --column 0 dates.npy numbers.$other
    refuses 1 'dates.npy stores the dates in its samples as numbers .*: name it first' --column 0 dates.$other dates.npy
done
refuses 1 'seconds.npy has spans of time in another unit in its samples' milliseconds.npy seconds.npy
refuses 1 'seconds.npy has spans of time in its samples, where other files have numbers' numbers.npy seconds.npy
refuses 1 'numbers.npy has no spans of time in its samples, where other files have them' seconds.npy numbers.npy
refuses 1 'dates.npy has no numbers in its samples, where other files have numbers' numbers.npy dates.npy
prints 'lo\thi\tcount\n1\t2\t4\n' -b 1 seconds.npy seconds.npy

# A condition is one of each file's own kind, and plans are made anew where it changes.
for other in csv jsonl db; do
    prints 'lo\thi\tcount\n0\t2\t1\n' --column m -b 1 -r 0:2 --where n=7 words.csv numbers.$other
    prints 'lo\thi\tcount\n0\t2\t1\n' --column m -b 1 -r 0:2 --where n=7 numbers.$other words.csv
    prints 'lo\thi\tcount\tsum_w\tsum_w2\n0\t2\t2\t2\t2\n' --column m -b 1 -r 0:2 --where n=7 --weights m numbers.csv words.csv numbers.$other
done
refuses 2 "'x' is not a number or a range LO:HI, and numbers.csv has numbers there" --column m --where n=x words.csv numbers.csv

python=${HISTO_BENCH_PYTHON:-python3}
"$histo" info | tr -d '\n' | grep -q 'parquet *Parquet: [^;]*; *not *in *this *build' || ! "$python" -c 'import pyarrow' 2>/dev/null && {
    echo 'without Arrow, or without pyarrow: its files were not written'
    finish
}
"$python" - <<'END' || fail 'the Parquet files cannot be made'
import datetime, pyarrow as pa, pyarrow.parquet as parquet
day = datetime.date
for name, values in {
    "words": pa.array(["x", "y"]),
    "numbers": pa.array([5, 7], pa.int16()),
    "large": pa.array([1e17, 2e17, 3e17]),
    "truths": pa.array([True, False, True]),
    "reals": pa.array([1.5, None, float("nan"), 1.5]),
    "dates": pa.array([day(2024, 1, 1), day(2024, 1, 2)]),
    "times": pa.array([datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2, 6)]),
    "us": pa.array([1000, 2000], pa.duration("us")),
    "ns": pa.array([1000, 2000], pa.duration("ns")),
    "nothing": pa.array([None, None]),
}.items():
    parquet.write_table(pa.table({"n": values, "m": pa.array([1] * len(values), pa.int16())}), name + ".parquet")
END
refuses 1 'numbers.parquet, column n: numbers are not dates' --column n times.parquet numbers.parquet
refuses 1 'times.parquet, column n: dates are not numbers' --column n numbers.parquet times.parquet
refuses 1 'words.parquet, column n: strings are not dates' --column n dates.csv words.parquet
refuses 1 'ns.parquet has spans of time in another unit in n' --column n us.parquet ns.parquet
refuses 1 'us.parquet has spans of time in n, where other files have numbers' --column n numbers.csv us.parquet
prints 'lo\thi\tcount\n1000\t2000\t2\n' -q --column n -b 1 -r 1000:2000 us.parquet nothing.parquet
prints 'lo\thi\tcount\n2024-01-01\t2024-01-02\t2\n2024-01-02\t2024-01-03\t2\n' --column n --width 1d dates.csv times.parquet
prints 'lo\thi\tcount\n2024-01-01\t2024-01-02\t2\n2024-01-02\t2024-01-03\t2\n' --column 0 --width 1d dates.npy times.parquet
prints 'value\tcount\n5\t2\n7\t2\n' --category n numbers.parquet numbers.csv
prints 'value\tcount\ntrue\t2\nfalse\t1\n' --category n truths.parquet
prints 'value\tcount\n1.5\t2\n' -q --category n reals.parquet
prints 'value\tcount\n2024-01-01\t1\n2024-01-02T06:00\t1\n' --category n times.parquet
prints 'lo\thi\t5\t7\n0\t2\t1\t1\n' --column m --by n -b 1 -r 0:2 numbers.parquet
prints 'lo\thi\tcount\n0\t2\t2\n' -q --column m --by n -b 1 -r 0:2 reals.parquet
prints 'lo\thi\tcount\n1e+17\t3e+17\t3\n' --column n -b 1 -r 100000000000000000:300000000000000000 large.parquet
checks=$((checks + 1))
"$histo" --column n -b 1 large.parquet | grep -q '^1e+17.*3e+17.*3$' || fail 'large reals are not what they are'
prints 'lo\thi\tcount\n0\t2\t2\n' --column m -b 1 -r 0:2 --where n=5 numbers.parquet numbers.csv
prints 'lo\thi\tcount\tsum_w\tsum_w2\n5\t7\t4\t4\t4\n' --column n -b 1 -r 5:7 --weights m numbers.csv numbers.parquet
prints 'lo\thi\tcount\n1e+17\t3e+17\t1\n' --column n -b 1 -r 1e17:3e17 --where n=200000000000000000 large.parquet
finish
