# Dates as people and programs write them: with their time behind a blank, day or month first, of logs, in time zones.
. "$(dirname "$0")/../support/check.sh"

three='lo\thi\tcount\n2026-11-27T07:00\t2026-11-27T08:00\t1\n2026-11-27T08:00\t2026-11-27T09:00\t1\n2026-11-27T09:00\t2026-11-27T10:00\t1\n'

# A date and its time that blanks part are one value, in logs of all kinds, whatever the columns behind.
for sample in '2026-11-27 HOUR:06:01 INFO foo started' '2026-11-27 HOUR:06:01,123 INFO foo, bar' \
    '2026/11/27 HOUR:06:01 [error] 5' '[2026-11-27 HOUR:06:01] x 1' '2026-11-27 HOUR:06 5' '2026-11-27 HOUR:06:01.5 5 a' \
    '2026-11-27THOUR:06:01Z a b' '27/Nov/2026:HOUR:06:01 +0000 b' '2026-11-27 HOUR:06:01 +0000 x' '2026-11-27 HOUR:06:01' \
    '[27/Nov/2026:HOUR:06:01 +0000] "GET / a"' 'Fri Nov 27 HOUR:06:01 2026 x' 'Fri Nov 27 HOUR:06:01 UTC 2026' \
    'Fri, 27 Nov 2026 HOUR:06:01 +0000' 'Fri 27 Nov 2026 HOUR:06:01 AM UTC' '27.11.2026 HOUR:06:01 a 1' \
    '[Fri Nov 27 HOUR:06:01.123456 2026] [core:error] x'; do
    for hour in 07 08 09; do echo "$sample" | sed "s/HOUR/$hour/"; done >log
    prints "$three" --column 0 --width 1h log
    cp log many
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13; do cat many many >twice && mv twice many; done
    prints "$(printf '%s' "$three" | sed 's/\\t1\\n/\\t8192\\n/g')" --column 0 --width 1h many
done
for hour in 7 8 9; do echo "2026-11-27 0$hour:06:01"; done >stamps
prints "$three" --width 1h stamps
for hour in 7 8 9; do echo "2026-11-27 1$hour:06:01 +1000"; done | sed 's/1\([789]\):/1\1:/' >offsets # as git log --format=%ai
prints "$three" --width 1h offsets
prints "$three" --width 1h - <offsets

# The columns behind have the numbers that words have; a header names the date and its time, or both together.
printf '2026-11-27 07:06:01 5 a\n2026-11-27 08:06:01 6 b\n' >two
prints 'lo\thi\tcount\n5\t6\t1\n6\t7\t1\n' --column 2 two
prints 'value\tcount\n07:06:01\t1\n08:06:01\t1\n' --column 1 two
prints 'lo\thi\tcount\n5\t6\t1\n6\t7\t1\n' --column v - <<'END2'
date time v
2026-11-27 07:06:01 5
2026-11-27 08:06:01 6
END2
printf 'when v\n2026-11-27 07:06:01 5\n2026-11-27 08:06:01 6\n' >when
prints 'lo\thi\tcount\n5\t6\t1\n6\t7\t1\n' --column v when
shows '^2026-11-27T08:00	2026-11-27T09:00	1$' --column when --width 1h when
prints 'lo\thi\tcount\n5\t6\t2\n' --column v -b 1 --where when=2026-11-27 when

# Logs of syslog have no year: it is the last such day before the file was changed.
printf 'Nov 27 07:06:01 host a[1]: b c\nNov 28 08:06:01 host a: b\n' >syslog
touch -d 2020-11-29T00:00Z syslog
remarks 'dates without a year are the last such days before the file was changed' --column 0 --width 1d syslog
grep -q '^2020-11-27	2020-11-28	1$' "$out" || fail "the year of a log: $(cat "$out")"
touch -d 2020-11-01T00:00Z syslog
shows '^2019-11-28	2019-11-29	1$' -q --column 0 --width 1d syslog

# Day or month first: the values say so, or options; else it is asked for.
day='lo\thi\tcount\n2024-01-05\t2024-01-06\t1\n2024-01-06\t2024-01-07\t1\n'
for form in csv jsonl db; do
    rm -f d.*
    python3 - $form <<'END2'
import json, sqlite3, sys
form = sys.argv[1]
for name, values in {"mdy": ("1/5/2024", "1/6/2024", "1/31/2024"), "dmy": ("5/1/2024", "6/1/2024", "31/1/2024"), "either": ("5/1/2024", "6/1/2024"),
                     "both": ("5/13/2024", "13/5/2024", "1/1/2024"), "same": ("1/1/2024", "2/2/2024"), "short": ("5/1/24", "31/1/24", "6/1/24")}.items():
    if form == "csv":
        open(f"{name}.csv", "w").write("".join(f"{v}\n" for v in ("d,v", *(f"{x},1" for x in values))))
    elif form == "jsonl":
        open(f"{name}.jsonl", "w").write("".join(json.dumps({"d": x, "v": 1}) + "\n" for x in values))
    else:
        base = sqlite3.connect(f"{name}.db")
        base.execute("create table t (d, v integer)")
        base.executemany("insert into t values (?, 1)", [(x,) for x in values])
        base.commit()
END2
    for name in mdy dmy short; do
        shows '^2024-01-05	2024-01-06	1$' --column d --width 1d $name.$form
        shows '^2024-01-31	2024-02-01	1$' --column d --width 1d $name.$form
    done
    prints "$day" --column d --width 1d --date-format dmy either.$form
    shows '^2024-06-01	2024-07-01	1$' --column d --width 1mo --date-format mdy either.$form
    refuses 1 'begins with a day or .*a month.*--date-format' --column d either.$form
    prints 'value\tcount\n1/1/2024\t1\n13/5/2024\t1\n5/13/2024\t1\n' -q --column d both.$form
    shows '^2024-02-02	2024-02-03	1$' --column d --width 1d same.$form
    prints 'value\tcount\n5/1/2024\t1\n6/1/2024\t1\n' --category d either.$form
    prints 'lo\thi\tcount\n1\t2\t1\n' --column v -b 1 -r 1:2 --where d=6/1/2024 dmy.$form
done
refuses 1 "line 3, column 0 (d): the date '2/3/2024' begins with a day or with a month" --column d --skip-lines 1 - <<'END2'
title
d,v
2/3/2024,1
END2

# Halves of the day, parts of one digit, and formats of one's own.
printf 't\n1/5/2024 7:06 AM\n1/5/2024 12:06 pm\n1/5/2024, 7:06:30 PM\n1/5/2024 12:00 AM\n1/31/2024 1:00PM\n' | tr , ' ' >half
shows '^2024-01-05T00:00	2024-01-05T12:00	2$' --width 12h half
shows '^2024-01-05T12:00	2024-01-06T00:00	2$' --width 12h half
prints 'lo\thi\tcount\n2024-01-05\t2024-01-06\t2\n' --width 1d - <<'END2'
2024-1-5
2024/1/5
END2
prints 'lo\thi\tcount\n2024-01-05T07:00\t2024-01-05T08:00\t2\n' --column t --width 1h --date-format '%d|%m|%y at %I.%M.%S.%f %p' - <<'END2'
t,v
05|01|24 at 07.06.01.5 AM,1
05|01|24 at 07.59.59.25 AM,2
END2
prints 'lo\thi\tcount\n2024-01-05T07:00\t2024-01-05T08:00\t2\n' --column t --width 1h --date-format %Y%m%dT%H%M%z - <<'END2'
t,v
20240105T0806+0100,1
20240105T0736+0000,2
END2
refuses 2 "not 'ymd': it has no %" --date-format ymd half
refuses 2 'it needs a month' --date-format %Y half
refuses 2 'without %p' --date-format '%F %I:%M' half

# Time zones: what has no offset is of the zone, and all is shown in it.
printf 't\n2024-01-01T00:30:00Z\n2024-07-01T00:30:00+00:00\n2024-07-01 02:45\n' >zones
shows '^2024-07-01T02:00	2024-07-01T03:00	2$' --timezone Europe/Berlin --width 1h zones
shows '^2024-01-01T01:00	2024-01-01T02:00	1$' --timezone Europe/Berlin --width 1h zones
shows '^2023-12-31T19:00	2023-12-31T20:00	1$' --timezone -05:30 --width 1h zones
printf 't\n2024-01-01T00:30:00+09:00\n2024-01-01T00:45:00-09:00\n' >written
prints 'lo\thi\tcount\n2024-01-01T00:00\t2024-01-01T01:00\t2\n' --timezone written --width 1h written
printf 's\n1704069000\n' >epoch
prints 'lo\thi\tcount\n2024-01-01T01:00\t2024-01-01T02:00\t1\n' --timezone +01:00 --time s --width 1h epoch
refuses 2 "--timezone 'Mars/Base' is not a zone of this system" --timezone Mars/Base zones

# Hours of the day, days of the week, months of the year, all of which have a bin.
printf 't,v\n2024-01-01 07:06,1\n2024-01-02T07:30,2\n2025-12-31 23:59,3\n1969-07-20T20:17Z,4\n' >cycles.csv
shows '^07:00	2$' --column t --cycle day cycles.csv
shows '^00:00	0$' --column t --cycle day cycles.csv
shows '^07:00	2$' --column t --cycle day --timezone +01:00 cycles.csv
prints 'value\tcount\nMonday\t1\nTuesday\t1\nWednesday\t1\nThursday\t0\nFriday\t0\nSaturday\t0\nSunday\t1\n' --column t --cycle week cycles.csv
shows '^July	1$' --column t --cycle year cycles.csv
shows '^February	0$' --column t --cycle year cycles.csv
shows '^Tuesday	1	4	1$' --joint t,v --cycle week -b '7;1' cycles.csv
printf 's\n1704069000\n' >epoch.csv
shows '^Monday	1$' --time s --cycle week epoch.csv
shows '^01:00	1$' --time s --cycle day --timezone +01:00 epoch.csv
"$histo" --column t --cycle week --shard 1/2 -o w1.histo cycles.csv && "$histo" --column t --cycle week --shard 2/2 -o w2.histo cycles.csv || fail 'shards of a cycle'
prints 'value\tcount\nMonday\t1\nTuesday\t1\nWednesday\t1\nThursday\t0\nFriday\t0\nSaturday\t0\nSunday\t1\n' merge w1.histo w2.histo
refuses 2 'there are no dates in what is counted: leave --cycle out' --column v --cycle day cycles.csv
refuses 2 '--cycle has a bin for each hour' --column t --cycle day -b 5 cycles.csv

# A number before a month and its day is none of a date: sizes of ls -l, counts of uniq -c. Days in front of months are
# so in all rows; years of two digits are, besides, what no day is, or the same in all rows.
printf 'total 8\n-rw-r--r-- 1 a a 28 Mar 13 10:33 f\n-rw-r--r-- 1 a a 1290 Mar  4 10:34 g\n' >sizes
printf -- '-rw-r--r-- 1 a a 28 Mar 13 10:33 f\n-rw-r--r-- 1 a a 12 Mar 13 10:34 g\n' >small_sizes
for file in sizes small_sizes; do
    shows '^5	5	dates	2	0	20..-03-13T10:33, 20..-03-..T10:34' columns $file
    shows '^4	4	integers	2	0	28, ' columns $file
done
printf '      3 Nov 27\n     12 Nov 28\n' >counts
prints 'lo\thi\tcount\n3\t12\t2\n' -b 1 -r minmax --column 0 counts
printf '      3 Nov 2\n     45 Nov 28\n' >counts
prints 'lo\thi\tcount\n3\t45\t2\n' -b 1 -r minmax --column 0 counts
printf '28 Feb 2017 5\n1 Mar 2018 6\n' >years
printf '28 Feb 99 5\n1 Mar 17 6\n' >short_years
printf '28 Feb 17 5\n1 Mar 17 6\n' >same_years
printf '28 Feb 2017\n1 Mar 2018\n' >alone
prints 'lo\thi\tcount\n2017-02-28\t2018-03-01\t2\n' -b 1 alone
for file in years short_years same_years; do
    shows '^0	0	dates	2	0	' columns $file
    shows '^3	3	integers	2	0	5, 6	' columns $file
done
finish
