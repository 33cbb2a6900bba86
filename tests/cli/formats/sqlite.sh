# SQLite databases: tables, views and queries, from files and pipes; integers to the bit; what is missing or wrong.
. "$(dirname "$0")/../support/check.sh"
command -v python3 >/dev/null || fail 'python3 is missing'

python3 - <<'END'
import random, sqlite3
r = random.Random(1)
db = sqlite3.connect("prices.db")
db.execute('CREATE TABLE prices(id INTEGER PRIMARY KEY, price REAL, "odd ""name" INT, tag TEXT, raw BLOB, large BIGINT, cost DECIMAL(10,2))')
rows = [(i, r.gauss(0, 1) if i % 10 else None, i % 7, "ab"[i % 2], b"x", 2**53 + (0, 1, 3)[i % 3], i % 4 / 2) for i in range(20000)]
db.executemany("INSERT INTO prices VALUES(?, ?, ?, ?, ?, ?, ?)", rows)
db.commit()
two = sqlite3.connect("two.db")
two.execute("CREATE TABLE a(x INT)")
two.execute("CREATE TABLE b(x INT, y)")
two.executemany("INSERT INTO a VALUES(?)", [(1,), (2,), (3,)])
two.executemany("INSERT INTO b VALUES(?, ?)", [(1, 1), (2, "word"), (None, b"blob"), (3, "N/A"), ("three", 2.5)])
two.execute("CREATE VIEW v AS SELECT x / 1.0 AS half FROM a")
two.commit()
wal = sqlite3.connect("wal.db")
wal.execute("PRAGMA journal_mode = wal")
wal.execute("CREATE TABLE t(x)")
wal.executemany("INSERT INTO t VALUES(?)", [(1,), (2,), (3,)])
wal.commit()
sqlite3.connect("empty.db").execute("VACUUM")
END
[ -f prices.db ] || fail 'the databases were not written'
python3 - >expected <<'END'
import sqlite3
counts = dict(sqlite3.connect("prices.db").execute("SELECT CAST((price + 8) / 2 AS INT), count(*) FROM prices WHERE price IS NOT NULL GROUP BY 1"))
print("lo\thi\tcount")
for i in range(8): print("%d\t%d\t%d" % (2 * i - 8, 2 * i - 6, counts.get(i, 0)))
END
gzip -c prices.db >prices.gz
for way in 'prices.db' 'prices.gz' '- <prices.db' '- <prices.gz'; do
    checks=$((checks + 1))
    eval "\"\$histo\" -q --column price -b 8 -r -8:8 $way" | cmp -s - expected || fail "$way is counted wrong"
done
checks=$((checks + 1))
cat prices.db | "$histo" -q --column price -b 8 -r -8:8 | cmp -s - expected || fail "a database in a pipe is counted wrong"
remarks 'prices.db: left out 2000 missing values$' --column price -b 8 -r -8:8 prices.db
prints 'value\tcount\na\t10000\nb\t10000\n' --column tag prices.db
shows '^9007199254740994	9007199254740996	6666$' --column large prices.db
shows '^6	7	2857$' --column 'odd "name' prices.db
prints 'lo\thi\tcount\n0\t0.75\t10000\n0.75\t1.5\t10000\n' --column cost -b 2 prices.db
prints 'lo\thi\tcount\n0\t0.75\t5000\n0.75\t1.5\t5000\n' -q --column cost --where tag=a -b 2 -r 0:1.5 prices.db
shows '^odd "name	' prices.db

three='lo\thi\tcount\n1\t2\t1\n2\t3\t2\n'
refuses 1 'two.db holds 3 tables: choose one with --dataset: a, b, v$' two.db
refuses 1 "two.db has no table 'c': its tables are a, b, v" --dataset c two.db
refuses 1 'empty.db holds no tables$' empty.db
prints "$three" --dataset a -b 2 two.db
prints "$three" --dataset v -b 2 two.db
prints "$three" --query 'SELECT x FROM a ORDER BY x DESC;' -b 2 two.db
prints 'lo\thi\tcount\n2\t3\t2\n' --query 'SELECT a.x + b.x AS sum FROM a JOIN b ON a.x = b.x WHERE a.x < 2 UNION ALL SELECT 3' -b 1 -r 2:3 two.db
refuses 2 "query takes one SELECT, and 'DELETE FROM a' is something else" --query 'DELETE FROM a' two.db
refuses 2 'query takes one SELECT' --query 'SELECT x FROM a; SELECT 1' two.db
refuses 1 'two.db cannot be read (SQLite: near "SELEKT": syntax error)' --query 'SELEKT' two.db
refuses 2 'query already says which table is read: leave --dataset out' --query 'SELECT 1' --dataset a two.db
refuses 2 'was read as text, and --query is for SQLite databases' --query 'SELECT 1' expected
refuses 1 "two.db, table b, row 5, column x: 'three' is not a number; correct it" --dataset b --column x two.db
refuses 1 "two.db, table b, row 2, column y: 'word' is not a number; correct it" --dataset b --column y two.db
refuses 1 'two.db, row 1, column y: a BLOB is not a number' --query "SELECT y FROM b WHERE y <> 'word' ORDER BY 1 DESC" two.db
"$histo" -q --dataset b --column x --skip-bad -b 2 two.db >got || fail '--skip-bad fails'
printf "$three" | cmp -s - got || fail '--skip-bad counts wrong'
prints "$three" -b 2 wal.db

# Dates are text.
python3 - <<'END'
import sqlite3
db = sqlite3.connect("dates.db")
db.execute("CREATE TABLE t(t DATETIME)")
db.executemany("INSERT INTO t VALUES(?)", [("2024-01-05 10:00:00",), ("2024-01-06",), (None,), ("2024-01-06 12:30",)])
db.commit()
END
prints 'lo\thi\tcount\n2024-01-05\t2024-01-06\t1\n2024-01-06\t2024-01-07\t2\n' -q --column t --width 1d dates.db

# Numbers as categories have all their digits.
python3 - <<'END'
import sqlite3
db = sqlite3.connect("reals.db")
db.execute("CREATE TABLE t(x REAL, n)")
db.executemany("INSERT INTO t VALUES(?, ?)", [(0.1 + 0.2, 2**62 + 1), (0.3, 2**62), (1.0, 2**62), (1.0, "a")])
db.commit()
END
prints 'value\tcount\n1\t2\n0.3\t1\n0.30000000000000004\t1\n' --category x reals.db
prints 'value\tcount\n4611686018427387904\t2\n4611686018427387905\t1\na\t1\n' --category n reals.db

# Damaged and cut.
head -c 20000 prices.db >cut.db
refuses 1 'cut.db.* cannot be read (SQLite: .*' --column price cut.db
checks=$((checks + 1))
[ -z "$(find . -name '*-journal' -o -name '*-wal' -size +0)" ] || fail 'something was written beside a database'
finish
