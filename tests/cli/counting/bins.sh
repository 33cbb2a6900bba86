# Bins: numbers, rules, ranges, widths, edges, logarithms, and the defaults.
. "$(dirname "$0")/../support/check.sh"

printf '0 1 1 2 3 3 3 4\n' >few.txt
prints 'lo\thi\tcount\n0\t2\t3\n2\t4\t5\n' -b 2 few.txt
prints 'lo\thi\tcount\n0\t1\t1\n1\t2\t2\n2\t3\t1\n3\t4\t4\n' -b 4 few.txt
prints 'lo\thi\tcount\n0\t2\t3\n2\t4\t4\n4\t6\t1\n' --width 2 few.txt
prints 'lo\thi\tcount\n0\t3\t4\n3\t6\t4\n' --width 3 few.txt
prints 'lo\thi\tcount\n-inf\t1\t1\n1\t2\t2\n2\t3\t4\n3\tinf\t1\n' -b 2 -r 1:3 few.txt
prints 'lo\thi\tcount\n-1\t4\t8\n' -b 1 -r -1:4 few.txt
prints 'lo\thi\tcount\n-inf\t1\t1\n1\t1.5\t2\n1.5\t4\t5\n' --edges 1,1.5,4 few.txt
prints 'lo\thi\tcount\n-inf\t1\t1\n1\t1.5\t2\n1.5\t4\t5\n' --edges '1 1.5 4' few.txt
prints 'lo\thi\tcount\n-inf\t1\t1\n1\tinf\t7\n' --edges=-inf,1,inf few.txt
printf '# edges\n1, 1.5\n4\n' >edges.txt
prints 'lo\thi\tcount\n-inf\t1\t1\n1\t1.5\t2\n1.5\t4\t5\n' -b @edges.txt few.txt

# A single value: half a unit on each side, as in NumPy.
printf '5\n5\n' >one.txt
prints 'lo\thi\tcount\n4.5\t5\t0\n5\t5.5\t2\n' -b 2 one.txt
prints 'lo\thi\tcount\n-inf\t2.5\t4\n2.5\t3.5\t3\n3.5\tinf\t1\n' -b 1 -r 3:3 few.txt

# Percentiles of 1 to 100: p10 is 10.9, p90 is 90.1.
prints 'lo\thi\tcount\n-inf\t10.9\t10\n10.9\t50.5\t40\n50.5\t90.10000000000001\t40\n90.10000000000001\tinf\t10\n' -b 2 -r p10:p90 <<END
$(seq 100)
END

# An end that is left out is that of the samples; percentiles and numbers mix.
printf '%s\n' -7 0 1 1 2 3 3 3 4 100 >ends.txt
prints 'lo\thi\tcount\n-inf\t0\t1\n0\t50\t8\n50\t100\t1\n' -b 2 -r 0: ends.txt
prints 'lo\thi\tcount\n-7\t-2\t1\n-2\t3\t7\n3\tinf\t2\n' -b 2 -r :3 ends.txt
prints 'lo\thi\tcount\n-7\t46.5\t9\n46.5\t100\t1\n' -b 2 -r : ends.txt
prints 'lo\thi\tcount\n-inf\t-3.85\t1\n-3.85\t100\t9\n' -b 1 -r 5%: ends.txt
prints 'lo\thi\tcount\n-inf\t-6.37\t1\n-6.37\t91.36000000000001\t8\n91.36000000000001\tinf\t1\n' -b 1 -r 1%:99% ends.txt
prints 'lo\thi\tcount\n-inf\t0\t1\n0\t3\t7\n3\tinf\t2\n' -b 1 -r 0:p75 ends.txt
prints 'lo\thi\tcount\n-inf\t0\t1\n0\t2\t3\n2\t4\t5\n4\tinf\t1\n' --width 2 -r 25%:4 ends.txt
prints 'lo\thi\tcount\n-inf\t0\t1\n0\t20\t8\n20\t40\t0\n40\t60\t0\n60\t80\t0\n80\t100\t0\n100\t120\t1\n' -r 0: ends.txt
prints 'lo\thi\tcount\n-inf\t1\t2\n1\t10\t7\n10\t100\t1\n' --log -b 2 -r 1: ends.txt
refuses 1 'no finite sample in .200, inf.' -b 2 -r 200: ends.txt
refuses 1 'the range from 50 to 3.*is empty' -b 2 -r 50:75% ends.txt
refuses 2 "'x' is not an end of a range" -r 0:x ends.txt
refuses 2 'the lower end comes first, as in -r 10%:90%' -r 90%:10% ends.txt
refuses 2 'percentiles run from 0% to 100%' -r 0:101% ends.txt
refuses 2 'leave one out' -r 0:inf ends.txt
refuses 2 "'p1%' is not an end" -r p1%: ends.txt

# Numbers of bins as people write them.
for bins in 4 2^2 4e0 4.0; do
    prints 'lo\thi\tcount\n0\t1\t1\n1\t2\t2\n2\t3\t1\n3\t4\t4\n' -b $bins few.txt
done
for bins in 1k 2^10 1e3 1000; do
    checks=$((checks + 1))
    [ "$("$histo" -b $bins -r 0:1000 few.txt | wc -l)" -ge 1001 ] || fail "-b $bins has too few bins"
done
refuses 2 'is not a number of bins' -b 1.5 few.txt
refuses 2 'is not a number of bins' -b 2^x few.txt
refuses 2 'is out of range' -b 2^40 few.txt

# Edges in steps are the decimal numbers.
printf '%s\n' 0.1 0.2 0.3 0.3 0.7 >tenths.txt
prints 'lo\thi\tcount\n0.1\t0.2\t1\n0.2\t0.3\t1\n0.3\t0.4\t2\n0.4\tinf\t1\n' --edges 0.1:0.4:0.1 tenths.txt
prints 'lo\thi\tcount\n-inf\t0\t0\n0\t0.5\t4\n0.5\t1\t1\n1\tinf\t0\n' --edges=-inf,0:1:5e-1,inf tenths.txt
prints 'lo\thi\tcount\n0\t0.5\t4\n0.5\t1\t1\n1\t11\t0\n' --edges 0:1:.5,1:11:10 tenths.txt
prints 'lo\thi\tcount\n-inf\t1\t1\n1\t1.5\t2\n1.5\t4\t5\n' --edges @edges.txt few.txt
refuses 2 '0:100:30: no whole number of steps ends there: end at 90 or 120' --edges 0:100:30 few.txt
refuses 2 'the step is larger than the range' --edges 0:1:2 few.txt
refuses 2 'the step must be above 0' --edges 0:1:-1 few.txt
refuses 2 'the step must be above 0' --edges 1:0:1 few.txt
refuses 2 "'0:1' is not first:last:step" --edges 0:1 few.txt
refuses 2 "the last 'a' is not a number" --edges 0:a:1 few.txt
refuses 2 'more than 16777216 bins' --edges 0:1e9:1 few.txt
refuses 2 'differ too much in magnitude' --edges 0:1e15:1e-15 few.txt

# Ranges of the sample type; one bin per value of 8-bit samples.
printf 'abca' >letters
prints 'lo\thi\tcount\n0\t128\t4\n128\t256\t0\n' --dtype u8 -b 2 letters
prints 'lo\thi\tcount\n-128\t0\t0\n0\t128\t4\n' --dtype i8 -b 2 letters
checks=$((checks + 1))
[ "$("$histo" --dtype u8 letters | awk 'NR > 1 && $3 { printf "%s:%s ", $1, $3 }')" = '97:2 98:1 99:1 ' ] ||
    fail "8-bit samples do not have one bin a value"
prints 'lo\thi\tcount\n97\t98\t2\n98\t99\t2\n' --dtype u8 -b 2 -r minmax letters
[ "$("$histo" --dtype u16 -r dtype letters | wc -l)" -eq 65537 ] || fail "u16 over its type has not 65536 bins"

# Integers get bins of integer width, one for each value if there are few.
printf '\001\000\002\000\003\000\004\000\005\000\006\000\007\000\011\000' >whole
prints 'lo\thi\tcount\n1\t2\t1\n2\t3\t1\n3\t4\t1\n4\t5\t1\n5\t6\t1\n6\t7\t1\n7\t8\t1\n8\t9\t0\n9\t10\t1\n' --dtype u16 whole
printf '\005\000\006\000\005\000' >whole
prints 'lo\thi\tcount\n5\t6\t2\n6\t7\t1\n' --dtype u16 whole

# Bins of a width begin at a multiple of it, or where the range does. Their edges are decimal numbers, as the samples.
seq 1 10 | awk '{ print $1 / 10 }' >parts.txt
prints 'lo\thi\tcount\n0\t0.3\t2\n0.3\t0.6\t3\n0.6\t0.9\t3\n0.9\t1.2\t2\n' --width 0.3 parts.txt
prints 'lo\thi\tcount\n0.1\t0.2\t1\n0.2\t0.3\t1\n0.3\t0.4\t2\n0.4\tinf\t6\n' --width 0.1 -r 0.1:0.4 parts.txt
prints 'lo\thi\tcount\n-10\t0\t1\n0\t10\t8\n10\t20\t0\n20\t30\t0\n30\t40\t0\n40\t50\t0\n50\t60\t0\n60\t70\t0\n70\t80\t0\n80\t90\t0\n90\t100\t0\n100\t110\t1\n' --width 10 ends.txt
prints 'lo\thi\tcount\n-7\t93\t9\n93\t193\t1\n' --width 100 -r -7: ends.txt
shows '^1000000.3	1000000.4	1$' --width 0.1 <<END
1000000.3
1000000.4
END
refuses 1 'would be more than .*: give a larger width' --width 1e-300 few.txt

# Bins that nobody asked for have round edges, and are few.
prints 'lo\thi\tcount\n0\t0.2\t1\n0.2\t0.4\t2\n0.4\t0.6\t2\n0.6\t0.8\t2\n0.8\t1\t3\n' parts.txt
prints 'lo\thi\tcount\n5\t6\t2\n' one.txt
printf '0.3\n0.3\n' >alike.txt
prints 'lo\thi\tcount\n0\t1\t2\n' alike.txt
checks=$((checks + 1))
seq 1000 | awk '{ print exp($1 / 150) }' | "$histo" | awk 'NR > 1 && $1 % 20 { exit 1 } END { exit NR < 20 || NR > 64 }' ||
    fail "the default bins of 1 … 785 are not some tens, from multiples of 20 on"
for seed in 1 2 3 4 5 6 7 8; do # steps of all magnitudes
    checks=$((checks + 1))
    awk -v seed=$seed 'BEGIN { srand(seed); m = 10 ^ int(26 * rand() - 20); c = rand()
        for (i = 0; i < 200; i++) printf "%.17g\n", (c + rand()) * m }' >any.txt
    "$histo" any.txt | awk 'NR > 1 { n += $3; if (length($1) > 9) exit 2 } END { exit n != 200 }' ||
        fail "the default bins of seed $seed have long edges, or not all samples"
done

# A few samples far from the others get no bins by default, which they would make useless, and it is said.
{ seq 1 500; echo 1000000; } >far.txt
remarks 'a few samples are far from the others' far.txt
shows '^450	500	50$' -q far.txt
shows '^650	inf	1$' -q far.txt
shows '^1000000	1000100	1$' --width 100 -q far.txt
remarks '^histo: far.txt: 99.8 % of the samples are in one bin: try --log or -r 1%:99%$' -b 20 far.txt
remarks '^histo: far.txt: 99.8 % of the samples are in one bin: try -r 1%:99% or --scale log$' --width 1000 far.txt
{ yes 0 | head -n 200; echo 3; } >zeros.txt
remarks '^histo: zeros.txt: 99.5 % of the samples are in one bin: try --scale log$' zeros.txt
prints 'lo\thi\tcount\n0\t1\t200\n' <<END
$(yes 0 | head -n 200)
END
shows '^0	20000	500$' -q -r minmax far.txt

# Bytes in tables and in arrays of one dimension are numbers. Those of images are brightness.
makes_files <<'END'
import struct
def npy(name, descr, shape, data):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + data)
npy("stars.npy", "|u1", "(3,)", bytes([1, 5, 4]))
npy("truths.npy", "|b1", "(3,)", bytes([1, 0, 1]))
npy("image.npy", "|u1", "(2, 2)", bytes([1, 5, 4, 4]))
END
stars='lo\thi\tcount\n1\t2\t1\n2\t3\t0\n3\t4\t0\n4\t5\t1\n5\t6\t1\n'
prints "$stars" stars.npy
prints 'lo\thi\tcount\n0\t1\t1\n1\t2\t2\n' truths.npy
prints 'lo\thi\tcount\n1\t3\t1\n3\t5\t2\n' -b 2 stars.npy
prints 'lo\thi\tcount\n0\t128\t4\n128\t256\t0\n' -b 2 image.npy

# Logarithms: the range of the positive values.
printf '1\n10\n100\n0\n-5\n1000\n' >decades.txt
prints 'lo\thi\tcount\n-inf\t1\t2\n1\t10\t1\n10\t100\t1\n100\t1000\t2\n' --log -b 3 decades.txt
prints 'lo\thi\tcount\n-inf\t1\t2\n1\t10\t1\n10\t100\t2\n100\tinf\t1\n' --log -b 2 -r 1:100 decades.txt

# A single number is widened, however small it is.
echo 1e-30 >small.txt
prints 'lo\thi\tcount\n5e-31\t1e-30\t0\n1e-30\t2e-30\t1\n' --log -b 2 small.txt

# A range with few doubles gets fewer bins by default: for integers and others, and for logarithms.
{
    printf '\000\000\000\000\000\000\040\000\001\000\000\000\000\000\040\000'
    printf '\002\000\000\000\000\000\040\000'
} >whole
prints 'lo\thi\tcount\n9007199254740992\t9007199254740994\t2\n9007199254740994\t9007199254740996\t1\n' --dtype i64 whole
printf '5e-324\n1e-323\n' >tiny.txt
tiny='lo\thi\tcount\n4.94065645841247e-324\t9.88131291682493e-324\t2\n'
prints "$tiny" tiny.txt
prints "$tiny" --log tiny.txt
large='lo\thi\tcount\n1.6999999999999997e+308\t1.7000000000000001e+308\t1\n'
echo 1.7e308 >large.txt
prints "$large" large.txt
prints "$large" --log large.txt

# NaN and infinities have lines of their own, and do not affect a range from the data.
printf 'nan\n1\ninf\n3\n-inf\n2\n' >special.txt
prints 'lo\thi\tcount\n-inf\t1\t1\n1\t2\t1\n2\t3\t2\n3\tinf\t1\nnan\tnan\t1\n' -b 2 special.txt

if [ "$data" ]; then
    set -- --dataset elevation "$data/jacksboro_fault_dem.npz"
    prints 'lo\thi\tcount\n236\t446\t48285\n446\t656\t61300\n656\t866\t23289\n866\t1076\t5758\n' -b 4 "$@"
    for rule in auto:93 fd:93 scott:77 sturges:19 doane:25 rice:104 sqrt:373 stone:354; do # numpy.histogram's numbers
        checks=$((checks + 1))
        bins=$("$histo" -b ${rule%:*} "$@" | tail -n +2 | wc -l)
        [ "$bins" -eq ${rule#*:} ] || fail "-b ${rule%:*} gives $bins bins, not ${rule#*:}"
    done
fi
finish
