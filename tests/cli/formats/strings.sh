# Strings in tables of binary files, and their numbers and truths as strings: counted, grouped and filtered by as those of
# the same table in text. The HDF5 files were written by h5py: strings of fixed and of variable length.
. "$(dirname "$0")/../support/check.sh"

makes_files <<'END'
import struct

city = ["Rome", "Zürich", "", "Łódź", "Rome", "a b", "Rome"]
n = [1, 2, 3, 2, 1, 2, 1]
ok = [1, 0, 1, 1, 0, 0, 1]
with open("t.csv", "w") as f:
    f.write("city,n,ok\n" + "".join("%s,%d,%s\n" % (c, i, ["false", "true"][t]) for c, i, t in zip(city, n, ok)))

def npy(path, descr, rows, shape):
    header = "{'descr': %s, 'fortran_order': False, 'shape': %r, }" % (descr, shape)
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 246) + header.ljust(245).encode() + b"\n" + b"".join(rows))

for order, code in (("<", "utf-32-le"), (">", "utf-32-be")):
    name = "little" if order == "<" else "big"
    wide = [c.encode(code).ljust(24, b"\0") for c in city]
    rows = [w + c.encode().ljust(8, b"\0") + struct.pack(order + "iB", i, t) for w, c, i, t in zip(wide, city, n, ok)]
    npy(name + ".npy", "[('city', '%sU6'), ('bytes', 'S8'), ('n', '%si4'), ('ok', '|b1')]" % (order, order), rows, (7,))
    npy("words_" + name + ".npy", "'%sU6'" % order, wide, (7,))
npy("words_bytes.npy", "'S8'", [c.encode().ljust(8, b"\0") for c in city], (7,))
npy("objects.npy", "'|O'", [bytes(8)] * 2, (2,))

# A FITS table: strings of 8 bytes, numbers, truths.
def block(cards):
    text = "".join(("%-8s= %20s" % c).ljust(80) for c in cards) + "END".ljust(80)
    return text.encode().ljust(-(-len(text) // 2880) * 2880)

rows = b"".join(c.encode().ljust(8, b" ") + struct.pack(">i", i) + b"FT"[t:t + 1] for c, i, t in zip(city, n, ok))
open("t.fits", "wb").write(
    block([("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", "T")]) +
    block([("XTENSION", "'BINTABLE'"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 13), ("NAXIS2", 7), ("PCOUNT", 0),
           ("GCOUNT", 1), ("TFIELDS", 3), ("TTYPE1", "'city'"), ("TFORM1", "'8A'"), ("TTYPE2", "'n'"),
           ("TFORM2", "'1J'"), ("TTYPE3", "'ok'"), ("TFORM3", "'1L'")]) + rows.ljust(2880, b"\0"))
END

# as_text TEXT FILE ARGUMENTS…: the file gives what the text gives.
as_text() {
    text=$1
    file=$2
    shift 2
    checks=$((checks + 1))
    "$histo" -q "$@" "$text" >"$place/expected" 2>"$err" || fail "histo $* $text: $(cat "$err")"
    "$histo" -q "$@" $file >"$out" 2>"$err" || fail "histo $* $file: exit status $?: $(cat "$err")"
    cmp -s "$place/expected" "$out" || fail "histo $* $file: $(diff "$place/expected" "$out")"
}

h5="--dataset t $support/strings.h5"
for pair in 't.csv little.npy' 't.csv big.npy' "t.csv $h5" 't.csv t.fits'; do
    text=${pair%% *}
    case $pair in
    *fits) "$histo" info | grep -q '^  fits .*not in this build' && continue ;;
    esac
    for arguments in '--column city' '--category n' '--category ok' '--column n --by city -b 3' '--column n --by ok -b 3' \
        '--column n --where city=Rome -b 1' '--column city --where n=1:2' '--column city --weights n' \
        '--column n --where ok=true -b 2 -r 0:4' '--column city --top 1' '--category n,city'; do
        # shellcheck disable=SC2086
        as_text "$text" "${pair#* }" $arguments
    done
done
as_text t.csv little.npy --column city --by ok
prints 'lo\thi\tRome\tZürich\ta b\tŁódź\n0\t4\t6\t2\t2\t2\n' -q --column n --by city -b 1 -r 0:4 t.csv little.npy
prints 'lo\thi\tRome\tZürich\ta b\tŁódź\n0\t4\t6\t2\t2\t2\n' -q --column n --by city -b 1 -r 0:4 big.npy t.csv
remarks 'little.npy: left out 1 missing value$' --column city little.npy

# Arrays of strings.
for file in words_little.npy words_big.npy words_bytes.npy "--dataset vlen $support/strings.h5" \
    "--dataset fixed $support/strings.h5"; do
    # shellcheck disable=SC2086
    prints 'value\tcount\nRome\t3\nZürich\t1\na b\t1\nŁódź\t1\n' -q $file
done
prints 'value\tcount\na\t2\nb\t1\n' --dataset name "$support/names.h5"
prints 'lo\thi\tcount\n0\t1\t1\n1\t2\t2\n' -b 2 "$support/names.h5" # the numbers, where nothing is named
refuses 1 'column city holds strings, not plain numbers' --column n --weights city little.npy
refuses 1 'holds Python objects' objects.npy
finish
