# Dates and times in text: how they are written, bins of the calendar, ranges, drawings.
. "$(dirname "$0")/../support/check.sh"

cat >t.csv <<'END'
when,day,v
2014-12-31 23:59:59.5,2014-12-31,1
2015-01-01T00:00:00Z,2015-01-01,2
2015-01-31 12:00,2015-01-31,3
2015-02-28T23:30:00-01:00,2015-02-28,4
2016-02-29,2016-02-29,5
,NA,6
END

# Bins begin where the calendar's steps do.
prints 'lo\thi\tcount\n2014-12-01\t2015-01-01\t1\n2015-01-01\t2015-02-01\t2\n2015-02-01\t2015-03-01\t1\n' \
    -q --column day --width 1mo --where day=:2015 t.csv
prints 'lo\thi\tcount\n2014-01-01\t2015-01-01\t1\n2015-01-01\t2016-01-01\t3\n2016-01-01\t2017-01-01\t1\n' \
    -q --column day --width 1y t.csv
prints 'lo\thi\tcount\n2014-12-29\t2015-01-05\t2\n' -q --column day --width 1w --where day=2014-12:2015-01-01 t.csv
prints 'lo\thi\tcount\n2015-03-01T00:00\t2015-03-01T06:00\t1\n' -q --column when --width 6h --where when=2015-03 t.csv
prints 'lo\thi\tcount\n-inf\t2015-01-01\t1\n2015-01-01\t2015-01-16\t1\n2015-01-16\t2015-01-31\t0\n2015-01-31\tinf\t3\n' \
    -q --column when --width 15d -r 2015-01-01:2015-01-31 t.csv
prints 'lo\thi\tcount\n2015-01-01\t2016-01-01\t4\n' -q --column day -b 1 -r 2015-01-01:2016-01-01 t.csv 2>/dev/null |
    grep -q . || prints 'lo\thi\tcount\n-inf\t2015-01-01\t1\n2015-01-01\t2016-01-01\t3\n2016-01-01\tinf\t1\n' \
    -q --column day -b 1 -r 2015-01-01:2016-01-01 t.csv
shows '^2014-10-01	2015-01-01	1$' -q --column day --width 3mo t.csv
remarks 'left out 1 missing value' --column when t.csv
prints 'day_lo\tday_hi\tv_lo\tv_hi\tcount\n2014-01-01\t2016-01-01\t0\t10\t4\n2016-01-01\t2018-01-01\t0\t10\t1\n' \
    -q --joint day,v --width '2y;10' t.csv

# Densities are per day, h, min or s, and months are drawn as counts per day.
printf 'd\n2015-01-05\n2015-01-06\n2015-02-01\n2015-02-02\n' >months.csv
prints 'lo\thi\tdensity\n2015-01-01\t2015-02-01\t0.016129032258064516\n2015-02-01\t2015-03-01\t0.017857142857142856\n' \
    --density --width 1mo months.csv
prints 'lo\thi\tdensity\n2015-01-05T00:00\t2015-01-05T12:00\t0.08333333333333333\n' \
    --density --width 12h -r 2015-01-05:2015-01-05T12:00 months.csv
shows '"density_per": \["day"\]' --density --width 1mo --to json months.csv
shows '^bars: count per day$' --to text --width 1mo months.csv
shows '^bars: density per day$' --to text --density --width 1mo months.csv
shows 'data-y="count per day"' --to html --width 1mo months.csv
shows '<td>0.0178571[0-9]*$' --to html --density --width 1mo months.csv
shows 'density per day per min' --to html --density --joint d,d --width '1mo;1min' -r '2015-01-01:2015-03-01;2015-01-05:2015-01-06' months.csv
shows '^density per day ' --to text --density --joint d,d --width '1d;1d' months.csv

# Numbers as times since 1970: seconds, or other units; of any format.
cat >e.csv <<'END'
t,m,v
1420416000,1420416000000,1
1420588800.5,1420588800500,2
NA,1423483200000,3
1423483200,1423483200000,4
END
months='lo\thi\tcount\n2015-01-01\t2015-02-01\t2\n2015-02-01\t2015-03-01\t'
prints "${months}1\n" -q --time t --width 1mo e.csv
prints "${months}2\n" --time m=ms --width 1mo e.csv
prints "${months}2\n" --time m=ms --width 1mo - <e.csv
prints "${months}1\n" --time m=ms --where v=:3 --width 1mo e.csv
shows '^2015-01-01	2016-01-01	' -q --time t --joint t,v --width '1y;5' e.csv
shows '^50	2015-01-07T00:00:00.5$' quantile --quiet --time t e.csv
shows '^4	2015-01-' summary --time m=ms e.csv
refuses 1 "e.csv, m: 1420416000000 s after 1970 is not in the years 0 to 9999: .* --time m=ms" --time m e.csv
refuses 2 'the unit is s, ms, us or ns' --time t=h e.csv
printf '{"t":1420416000,"v":1}\n{"t":1423483200,"v":2}\n' >e.jsonl
prints 'lo\thi\tcount\n2015-01-01\t2015-02-01\t1\n2015-02-01\t2015-03-01\t1\n' --time t --width 1mo e.jsonl
python3 - <<'END'
import struct
header = b"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,), }".ljust(117) + b"\n"
times = [1420416000123456789, -2**63, 1423483200000000000]
open("e.npy", "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + struct.pack("<3q", *times))
END
prints 'lo\thi\tcount\n2015-01-01\t2015-02-01\t1\n2015-02-01\t2015-03-01\t1\n' -q --width 1mo e.npy
shows '^0	2015-01-05T00:00:00.123456$' quantile --quiet -q 0 e.npy

# Arrays whose type is a time, in any unit: NaT is missing, and spans are numbers. Units are each file's own.
python3 - <<'END'
import struct


def save(name, descr, shape, data):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header = header.ljust(117) + b"\n" if len(header) < 117 else header.ljust(245) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + data)


nat, days = -(2**63), [16440, 16475, 16476]  # 2015-01-05, 02-09, 02-10
units = {"Y": lambda d: 45, "M": lambda d: 540 + (d > 16440), "D": lambda d: d, "25s": lambda d: d * 3456}
units |= {u: lambda d, k=k: d * k for u, k in (("h", 24), ("m", 1440), ("s", 86400), ("ms", 86400000))}
units |= {u: lambda d, k=k: d * k for u, k in (("us", 86400 * 10**6), ("ns", 86400 * 10**9))}
for unit, of in units.items():
    for order in "<>":
        name = f"m8-{unit}{'-big' if order == '>' else ''}.npy"
        save(name, f"'{order}M8[{unit}]'", (4,), struct.pack(order + "4q", *map(of, days), nat))
save("spans.npy", "'<m8[D]'", (3,), struct.pack("<3q", *days))
save("bare.npy", "'<M8'", (3,), struct.pack("<3q", *days))
save("far.npy", "'<M8[D]'", (1,), struct.pack("<q", 10**9))
records = b"".join(struct.pack("<qf", d, 0.5 + i) for i, d in enumerate(days))
save("t.npy", "[('when', '<M8[D]'), ('v', '<f4')]", (3,), records)
END
january='lo\thi\tcount\n2015-01-01\t2015-02-01\t1\n' february='2015-02-01\t2015-03-01\t2\n'
for unit in M D 25s h m s ms us ns; do
    prints "$january$february" -q --width 1mo "m8-$unit.npy"
    prints "$january$february" -q --width 1mo "m8-$unit-big.npy"
done
prints 'lo\thi\tcount\n2015-01-01\t2016-01-01\t3\n' -q --width 1y m8-Y.npy
prints 'lo\thi\tcount\n2015-01-01\t2015-02-01\t2\n2015-02-01\t2015-03-01\t4\n' -q --width 1mo m8-ns.npy m8-s-big.npy
remarks 'm8-ns.npy: left out 1 missing value$' --width 1d m8-ns.npy
shows '^2015-02-10	2015-02-11	1$' -q --width 1d m8-us.npy
prints 'lo\thi\tcount\n2015-02-01\t2015-03-01\t2\n' --column when --where when=2015-02 --width 1mo t.npy
prints 'lo\thi\tcount\n1.5\t2.5\t2\n' --where when=2015-02 -b 1 -r 1.5:2.5 t.npy
prints "lo\thi\tcount\n16440\t16476\t3\n" -b 1 -r minmax spans.npy
prints "lo\thi\tcount\n16440\t16476\t3\n" -b 1 -r minmax bare.npy
prints 'lo\thi\tcount\n-1e+19\t16440\t1\n16440\t16477\t3\n' --raw --edges -1e19,16440,16477 m8-D.npy
refuses 1 'far.npy: the time of number 1000000000 is not in the years 0 to 9999: count numbers with --raw' far.npy
refuses 1 'spans.npy has no dates in its samples, where other files have dates' m8-D.npy spans.npy
refuses 1 'm8-D.npy has no spans of time in its samples, where other files have them' -q spans.npy m8-D.npy

# Numbers that netCDF's attributes say are times; integers, floats and packed ones.
python3 - <<'END'
import struct


def text(s):
    return struct.pack(">i", len(s)) + s.encode().ljust((len(s) + 3) // 4 * 4, b"\0")


def save(name, attributes, code, size, data, count):
    listed = b"".join(text(k) + struct.pack(">i", 2) + text(v) for k, v in attributes.items())
    head = b"CDF\x01" + struct.pack(">i", 0) + struct.pack(">ii", 10, 1) + text("t") + struct.pack(">i", count)
    head += struct.pack(">ii", 0, 0) + struct.pack(">ii", 11, 1) + text("t") + struct.pack(">ii", 1, 0)
    head += struct.pack(">ii", 12, len(attributes)) + listed
    head += struct.pack(">iii", code, (size + 3) // 4 * 4, len(head) + 12)
    open(name, "wb").write(head + data)


three = struct.pack(">3i", 16440, 16475, 16476)
save("days.nc", {"units": "days since 1970-1-1 00:00:0.0"}, 4, 12, three, 3)
save("offset.nc", {"units": "Days Since 1969-12-31 24:00"}, 4, 12, three, 3)
save("shifted.nc", {"units": "hours since 2015-01-05T06:00:00Z", "calendar": "proleptic_gregorian"}, 6, 24,
     struct.pack(">3d", -6.25, 840, 858.5), 3)
save("model.nc", {"units": "days since 1970-01-01", "calendar": "360_day"}, 4, 12, three, 3)
save("ancient.nc", {"units": "days since 0001-01-01"}, 4, 12, three, 3)
save("metres.nc", {"units": "m"}, 4, 12, three, 3)
END
prints "$january$february" --width 1mo days.nc
shows '^2015-01-04T23:45	2015-01-05T00:00	1$' --width 15min shifted.nc
shows '^2015-02-10T00:30	2015-02-10T00:45	1$' --width 15min shifted.nc
for file in offset model ancient metres; do
    prints "lo\thi\tcount\n16440\t16476\t3\n" -b 1 -r minmax $file.nc
done
shows '^16440	16476	3$' --raw -b 1 -r minmax days.nc

# Conditions on dates.
prints 'lo\thi\tcount\n2\t4\t3\n' -q -b 1 --column v --where day=2015 t.csv
prints 'lo\thi\tcount\n2\t3\t2\n' -q -b 1 --column v --where day=2015-01 t.csv
prints 'lo\thi\tcount\n1\t5\t2\n' -q -b 1 --column v --where 'day!=2015' t.csv
prints 'lo\thi\tcount\n2\t4\t3\n' -q -b 1 --column v --where day=2015-01:2015-02 t.csv
prints 'lo\thi\tcount\n1\t2\t2\n' -q -b 1 --column v --where when=2014-12-31T23:59:2015-01-01T00:00 t.csv
refuses 2 "'soon' is not a date or a range such as 2015-01:2015-06" --column v --where day=soon t.csv

# The same day in many forms; a header is told from dates.
for text in 2015-01-05 2015/01/05 05.01.2015 'Jan 5 2015' 'January 5, 2015' '5 Jan 2015' 05-Jan-2015 05-Jan-15 \
    2015-01-05T12:00:00.123456789Z '2015-01-05 23:59:59+0000' '[05/Jan/2015:12:30:00 +0100]' \
    'Mon Jan  5 12:34:56 2015' 'Mon, 05 Jan 2015 12:34:56 GMT' 2015-01-06T00:30+01:00; do
    printf '"%s",1\n"%s",2\n' "$text" "$text" >form.csv
    prints 'lo\thi\tcount\n2015-01-05\t2015-01-06\t2\n' --column 0 --width 1d form.csv
    printf 'date\n"%s"\n' "$text" >form.csv
    prints 'lo\thi\tcount\n2015-01-05\t2015-01-06\t1\n' --delimiter ';' --width 1d form.csv
done
printf 'date,v\n2015-02-30,1\n2015-13-01,2\n' >none.csv # words
prints 'value\tcount\n2015-02-30\t1\n2015-13-01\t1\n' --column date none.csv
prints 'value\tcount\n2015\t2\n' --category 0 --header no --delimiter , <<'END'
2015
2015
END
(cat t.csv; echo 'x,soon,7') >bad.csv
refuses 1 "line 8, column 1 (day): 'soon' is not a date" --column day bad.csv
remarks 'bad.csv: skipped 1 cell' --skip-bad --column day bad.csv 2>/dev/null | grep -q . ||
    prints 'lo\thi\tcount\n2014-01-01\t2015-01-01\t1\n2015-01-01\t2016-01-01\t3\n2016-01-01\t2017-01-01\t1\n' \
    -q --skip-bad --width 1y --column day bad.csv

# Strings of JSON are dates, too.
printf '{"d": "2015-01-05", "s": "a"}\n{"d": null, "s": "b"}\n{"d": "2015-02-05T12:00:00Z", "s": "2015"}\n' >t.jsonl
prints 'lo\thi\tcount\n2015-01-01\t2015-02-01\t1\n2015-02-01\t2015-03-01\t1\n' -q --column d --width 1mo t.jsonl
prints 'value\tcount\na\t1\n' -q --column s --where d=2015-01 t.jsonl

# What is not a step or range of dates is refused, and so are steps of what is not a date.
refuses 2 'the bins of dates are steps of the calendar' --column day --width 5 t.csv
refuses 2 'the bins of dates are steps of the calendar' --column day -r 0:5 t.csv
refuses 2 'the bins of dates are steps of the calendar' --column day -b fd t.csv
refuses 2 'there are no dates in what is counted' --column v --width 1d t.csv
refuses 2 '\-\-width makes more than 524288 bins' --column when --width 1us t.csv

# Drawings and saved histograms have dates, too.
shows '^2015-01 … 2015-02  .* 2$' --column day --width 1mo --where day=:2015 --to text t.csv || true
shows '2015-04-13T04:48 .* d$' -q --column day --to text t.csv
for format in png svg pdf; do
    checks=$((checks + 1))
    "$histo" -q --column day -o "t.$format" t.csv && "$histo" -q --joint v,day -o "j.$format" t.csv || fail "t.$format"
done
for format in json histo; do
    "$histo" -q --column day --width 1y -o "t.$format" t.csv
    prints 'lo\thi\tcount\n2014-01-01\t2015-01-01\t2\n2015-01-01\t2016-01-01\t6\n2016-01-01\t2017-01-01\t2\n' merge "t.$format" "t.$format"
done

# Against Python's calendar, for many days and times.
checks=$((checks + 1))
python3 - "$histo" <<'END' || fail 'random times'
import collections, datetime, random, subprocess, sys
random.seed(5)
first = datetime.datetime(1700, 1, 1)
times = [first + datetime.timedelta(seconds=random.randrange(500 * 365 * 86400)) for _ in range(2000)]
with open("r.csv", "w") as out:
    out.write("t,u\n" + "".join(f"{t:%Y-%m-%d %H:%M:%S},{t.isoformat()}Z\n" for t in times))
def counted(*options):
    lines = subprocess.run([sys.argv[1], "-q", *options, "r.csv"], capture_output=True, text=True, check=True).stdout.split("\n")[1:-1]
    return {row.split("\t")[0]: int(row.split("\t")[2]) for row in lines if not row.endswith("\t0")}
steps = {
    "1mo": lambda t: f"{t:%Y-%m-01}",
    "1y": lambda t: f"{t.year}-01-01",
    "1q": lambda t: f"{t.year}-{(t.month - 1) // 3 * 3 + 1:02}-01",
    "1d": lambda t: f"{t:%Y-%m-%d}",
    "1w": lambda t: f"{t - datetime.timedelta(days=t.weekday()):%Y-%m-%d}",
}
for step, name in steps.items():
    for column in "tu":
        assert counted("--column", column, "--width", step) == dict(collections.Counter(map(name, times))), step
END
finish
