# Parquet and Arrow files: types, missing values, nested columns, and what is said of those that cannot be read. Where
# Python has pyarrow, also large files of all types, compared with NumPy.
. "$(dirname "$0")/../support/check.sh"
corpus=$support/../../fuzz/corpus

if ! "$histo" info | tr -d '\n' | grep -q 'parquet *Parquet: [^;]*; *not *in *this *build'; then :; else
    refuses 1 'one is in the format parquet, which this build of histo cannot read: build it with Apache Arrow.*duckdb' \
        "$corpus/parquet/one"
    refuses 1 'one is in the format arrow, which this build of histo cannot read: build it with Apache Arrow.*pyarrow' \
        "$corpus/arrow/one"
    echo 'this build is without Arrow: only its sentences were checked'
    finish
fi

three='lo\thi\tcount\n1\t2\t1\n2\t3\t2\n'
for file in parquet/one parquet/x arrow/one arrow/two arrow/stream; do
    file=$corpus/$file
    gzip -c "$file" >packed
    for way in '"$file"' '- <"$file"' packed '- <packed'; do
        checks=$((checks + 2))
        eval "\"\$histo\" -q --column x -b 2 -r 1:3 $way" >got && printf "$three" | cmp -s - got || fail "$file, $way is counted wrong"
        eval "\"\$histo\" -q --column x -b 2 $way" >got && printf "$three" | cmp -s - got || fail "$file, $way is counted wrong in two passes"
    done
    checks=$((checks + 1))
    cat "$file" | "$histo" -q --column x -b 2 >got && printf "$three" | cmp -s - got || fail "$file in a pipe is counted wrong"
    remarks 'left out 1 missing value$' --column x -b 2 "$file"
    [ "$file" != "$corpus/parquet/x" ] || continue
    prints 'value\tcount\na\t2\nb\t1\n' -q --column s "$file"
    prints 'lo\thi\tcount\n-2.25\t-0.375\t1\n-0.375\t1.5\t1\n' -q --column n.d -b 2 "$file"
    prints 'lo\thi\tcount\n1\t2\t1\n2\t3\t1\n' -q --column x --where s=a -b 2 -r 1:3 "$file"
    remarks 'left out 2 rows with a missing value$' --joint x,n.d -b 1 -r '0:9;-9:9' "$file"
done
prints 'value\tcount\na\t2\nb\t1\n' -q --column c "$corpus/arrow/two"
prints 'value\tcount\na\t2\nb\t1\n' -q --column v "$corpus/arrow/two"
prints 'lo\thi\tcount\n0\t1\t1\n1\t2\t2\n' -q --column b -r 0:2 -b 2 "$corpus/parquet/one"
refuses 1 'parquet/one, column l: lists are not numbers: choose another --column' --column l "$corpus/parquet/one"
shows '^n.d	' "$corpus/parquet/one"
prints 'value\tcount\ntrue\t2\nfalse\t1\n' -q --column b "$corpus/parquet/one"
prints 'lo\thi\tcount\n0\t0.5\t1\n0.5\t1\t2\n' -q --column b -b 2 "$corpus/parquet/one"
head -c 600 "$corpus/parquet/one" >cut
refuses 1 'cut cannot be read as Parquet: ' --column x cut
head -c 900 "$corpus/arrow/stream" >cut
refuses 1 'cut cannot be read as an Arrow file: ' --column x cut

python=${HISTO_BENCH_PYTHON:-python3}
"$python" -c 'import numpy, pyarrow' 2>/dev/null || {
    echo 'Python is without pyarrow: large files were not written'
    finish
}
cat >check.py <<'END'
import subprocess, sys
import numpy as np, pyarrow as pa, pyarrow.feather as feather, pyarrow.parquet as parquet

rng = np.random.default_rng(1)
n = 150000
values, missing, group = rng.normal(size=n), rng.random(n) < 0.1, rng.integers(0, 7, n)
columns = {"real": pa.array(values), "some": pa.array(values, mask=missing), "gone": pa.array(group, mask=group == 3)}
for kind in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4".split():
    columns[kind] = pa.array(group.astype(kind))
columns["large"] = pa.array(group.astype("u8") + np.uint64(2**64 - 8))
columns["decimal"] = pa.array(group).cast(pa.decimal128(25, 3))
columns["wide"] = pa.array(-group).cast(pa.decimal256(60, 3))
columns["words"] = pa.array(np.array(["red", "green", "blue", None, "", "x" * 20, "NA"], dtype=object)[group])
for unit in "s ms us ns".split():
    columns["t" + unit] = pa.array(np.datetime64("1969-12-30", unit) + np.timedelta64(12, "h") + group * np.timedelta64(1, "D"))
columns["day"] = pa.array(np.datetime64("1969-12-30") + group)
columns["inner"] = pa.StructArray.from_arrays([columns["some"], pa.StructArray.from_arrays([columns["i2"]], ["z"])],
                                              ["y", "deep"], mask=pa.array(group == 5))
table = pa.table(columns)
parquet.write_table(table, "many.parquet", row_group_size=20000)
parquet.write_table(table, "plain.parquet", use_dictionary=False, compression="gzip", data_page_version="2.0")
feather.write_feather(table, "many.feather", chunksize=20000)
feather.write_feather(table, "whole.feather", compression="uncompressed")
feather.write_feather(pa.table({"x": pa.array([1, 2**62], pa.timestamp("s"))}), "far.feather")
feather.write_feather(pa.table({"x": pa.array([2**31 - 1], pa.int32()).cast(pa.date32())}), "late.feather")
with pa.ipc.new_stream("many.arrows", table.schema) as out:
    out.write_table(table, max_chunksize=20000)


def counts(*arguments):
    done = subprocess.run([sys.argv[1], "-q", "--to", "tsv", *arguments], capture_output=True, text=True)
    if done.returncode: print(done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()[1:]]


bad = 0
for file in "many.parquet plain.parquet many.feather whole.feather many.arrows".split():
    for threads in "13" if file == "many.parquet" else "2":
        names = [*columns] if file == "many.parquet" else ["some", "gone", "u1", "f2", "large", "wide", "tns", "day"]
        for name in [*names, "inner.y", "inner.deep.z"]:
            if name in ("words", "inner"): continue
            data = table["inner"].combine_chunks() if "." in name else table[name].combine_chunks()
            if "." in name: data = pa.compute.struct_field(data, name.split(".")[1:])
            data = data.drop_null()
            if name in ("decimal", "wide"): data = data.cast(pa.float64())
            if name in ("ts", "tms", "tus", "tns", "day"):
                got = [row[0] + " " + row[2] for row in counts("--column", name, "--width", "1d", file)]
                expected = [f"{np.datetime64('1969-12-30') + at} {int((group == at).sum())}" for at in range(7)]
            elif name == "large": # beyond doubles
                got, expected = [sum(int(row[2]) for row in counts("--column", name, file))], [n]
            else:
                expected = np.histogram(data.to_numpy().astype(float), 4, (-8.0, 8.0))[0]
                got = [int(row[2]) for row in counts("--threads", threads, "--column", name, "-b", "4", "-r", "-8:8", file)]
            if list(got) != list(expected):
                print(file, threads, name, got, expected)
                bad += 1
        words = dict((row[0], int(row[1])) for row in counts("--threads", threads, "--column", "words", file))
        expected = {word: int((group == at).sum()) for at, word in {0: "red", 1: "green", 2: "blue", 4: "", 5: "x" * 20, 6: "NA"}.items()}
        if words != expected:
            print(file, threads, words, expected)
            bad += 1
        both = counts("--threads", threads, "--joint", "some,gone", "-b", "2;7", "-r", "-8:8;0:7", "--dense", file)
        whole = ~missing & (group != 3)
        expected = np.histogram2d(values[whole], group[whole], (2, 7), ((-8, 8), (0, 7)))[0]
        if [int(row[-1]) for row in both] != [int(x) for x in expected.ravel()]:
            print(file, threads, both, expected)
            bad += 1
sys.exit(bad > 0)
END
checks=$((checks + 1))
"$python" check.py "$histo" || fail 'large files are counted wrong'
refuses 1 'far.feather, column x: a time is not in the years 0 to 9999' far.feather
refuses 1 'late.feather, column x: a time is not in the years 0 to 9999' late.feather
finish
