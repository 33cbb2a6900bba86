# Numbers as people write them: decimal commas, digits in groups, units, and numbers within lines.
. "$(dirname "$0")/../support/check.sh"

# all LO HI COUNT ARGUMENTS…: one bin from the smallest to the largest number.
all() {
    expected="lo\thi\tcount\n$1\t$2\t$3\n"
    shift 3
    prints "$expected" -b 1 -r minmax "$@"
}

# Groups that blanks part are one number where a group begins with 0; else a remark says how to read them.
printf '1 000\n2 000\n' >blanks
all 1000 2000 2 blanks
all 1000 2000 2 --column 0 blanks
all 1000 2000 2 - <blanks
printf '999\n1 000 000\n-12 345.5\n' >more
all -12345.5 1000000 3 more
printf '12 345\n1 234\n' >likely
remarks 'likely: numbers between blanks are counted each: --delimiter newline reads a row such as 1 234 as one' likely
all 1234 12345 2 --delimiter newline likely
# So they are below one name, where they are no names of rows, as R writes them; else the same remark is made.
printf 'x\n1 000\n2 000\n' >named
all 1000 2000 2 named
all 1000 2000 2 --column x named
printf '"x"\n12 345\n1 234 567\n' >named
all 12345 1234567 2 named
printf 'x\n1 234\n2 345\n' >row_names
remarks 'row_names: numbers between blanks are counted each: --delimiter newline' --column x row_names
all 1234 2345 2 --delimiter newline row_names
printf '123 456\n789 123\n' >image
all 123 789 4 image
printf 'n;m\n1\302\240234;1\n2\342\200\257345 678;1\n"3 456";1\n1'"'"'000;1\n' >marks
all 1000 2345678 4 --column n marks

# Commas: what they are follows from the values, or is asked for. Addresses are no numbers.
printf 'n;m\n1,234;1\n2,225,000;2\n' >groups
all 1234 2225000 2 --column n groups
printf 'n;m\n1,234;1\n12.5;2\n' >point
all 12.5 1234 2 --column n point
printf 'n;m\n1,234;1\n2,225;2\n' >either
refuses 1 "either, line 2, column 0 (n): '1,234' is not a number; say what its comma is: --decimal" --column n either
all 1234 2225 2 --column n --decimal . either
all 1.234 2.225 2 --column n --decimal , either
printf 'n;m\n1.234,5;1\n2,25;2\n-1.000.000;3\n1e3;4\n' >comma
all -1000000 1234.5 4 --column n --decimal , comma
refuses 1 "'1.234,5' is not a number; say what its comma is" --column n comma
printf '1,5\n2,5\n' >alone
all 1.5 2.5 2 --decimal , alone
printf '1 234,5\n12,25\n' >both
all 12.25 1234.5 2 --decimal , both
refuses 2 "--decimal takes , or ., not ';'" --decimal ';' both
printf 'a\n192.168.100.200\n192.168.100.201\n' >addresses
prints 'value\tcount\n192.168.100.200\t1\n192.168.100.201\t1\n' --header yes addresses
printf 'n\n9,007,199,254,740,993\n9,007,199,254,740,995\n' >large
shows '	9007199254740993	.*	9007199254740995	' --delimiter ';' --column n --stats large
prints 'value\tcount\nx\t1\n' --delimiter ';' --where n=9007199254740993 --column m - <<'END2'
n;m
9,007,199,254,740,993;x
9,007,199,254,740,992;y
END2

# Units: one of each column, which the axis shows.
printf 'n\n12ms\n5\302\265s\n1 min\n' >seconds
all 5e-06 60 3 seconds
shows '^seconds · n (s)$' --to text seconds
shows 'data-x="n (s)"' --to html seconds
printf 'n\n4.0K\n17M\n3GiB\n512\n1kB\n0\n' >bytes
remarks 'bytes: K, M, G, T and P are powers of 1024 bytes, as ls -h writes them, and kB, MB, GB of 1000' -b 1 -r minmax bytes
grep -q '^0	3221225472	6$' "$out" || fail "bytes: $(cat "$out")"
shows '^0	512$' quantile -q 0 --column n --quiet - <<'END2'
n
512
1K
END2
printf 'n,m\n"$1,234.50",1\n-$3,2\n$-4,3\n' >money
all -4 1234.5 3 --column n money
shows '^money · n (\$)$' --to text --column n money
printf 'n;m\n1.234,5 \342\202\254;1\n7 \342\202\254;2\n' >euros
all 7 1234.5 2 --column n --decimal , euros
printf 'p\n12%%\n5 %%\n' >percent
all 5 12 2 percent
prints 'value\tcount\n1\t1\n' --category m --where 'n=1234:' money
{ echo n && seq -f '%gms' 100000; } >many
all 0.001 100 100000 many
printf 'n\n12ms\n5\n' >bare
refuses 1 "bare, line 3, column 0 (n): '5' is not a number; others in its column have a unit" bare
remarks 'bare: skipped 1 cell that is not a number' --skip-bad bare
printf 'n\n12ms\n5K\n' >differ
remarks 'differ: numbers in different units are strings: write them in one unit$' differ
refuses 1 'bytes has numbers in bytes in n, and other files in s: count it separately' seconds bytes
printf 'n\n7\n' >plain
refuses 1 'plain has numbers without a unit in n, and other files in s' seconds plain
shows '^0	3221225472	7$' -q -b 1 bytes plain
printf 'total 324K\nd 1 u 4.0K Nov 27 07:06 a\nd 1 u 17M Nov 27  2024 b c\n' >ls
shows '^4096	17825792	2$' -q --column 3 -b 1 ls

# The number in each line that has one.
cat >ping <<'END2'
PING x (1.2.3.4) 56(84) bytes of data.
64 bytes from 1.2.3.4: icmp_seq=1 ttl=5 time=11.2 ms
64 bytes from 1.2.3.4: icmp_seq=2 ttl=5 time=900 us, late
END2
shows '^0.0009	0.0112	2$' -q --number time= -b 1 ping
remarks 'ping: left out 1 missing value$' --number time= -b 1 ping
shows '^1	2	2$' -q --number 'seq=([0-9]+)' -b 1 ping
shows '^1	2	1$' -q --number 'seq=([0-9]+) .*(ms)' -b 1 -r 1:2 ping
refuses 1 'ping holds no samples' --quiet --number 'bogus=' ping
refuses 2 "--number '(' is not an extended regular expression" --number '(' ping
printf 'a;b\nx time=5 ms;1\ny time=7 ms;2\nz;3\n' >cells
shows '^0.005	0.007	2$' -q --column a --number time= -b 1 cells
shows '^1	3	3$' -q --column b --number time= -b 1 cells
refuses 1 "cells has no cell with what --number 'none=' looks for in its first rows" --column a --number none= cells
finish
