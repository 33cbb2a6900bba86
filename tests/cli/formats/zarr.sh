# Zarr: arrays and groups in directories, of both versions, with their codecs, shards, and what is missing.
. "$(dirname "$0")/../support/check.sh"
corpus=$support/../../fuzz/corpus/zarr
two='lo\thi\tcount\n1\t2\t1\n2\t3\t2\n'

# Arrays that zarr-python wrote: 0 to 11 in 3 rows of 4, metadata, a NUL, and the only file of samples.
for file in "$corpus"/*; do
    name=$(basename "$file")
    at=$(grep -abo -m 1 -P '\x00' "$file" | head -n 1 | cut -d: -f1)
    case $name in
    v2*) metadata=.zarray samples=0.0 ;;
    v3*) metadata=zarr.json samples=c/0/0 ;;
    *) continue ;;
    esac
    mkdir -p "$name/c/0"
    head -c "$at" "$file" >"$name/$metadata"
    tail -c +$((at + 2)) "$file" >"$name/$samples"
    prints 'lo\thi\tcount\n0\t4\t4\n4\t8\t4\n8\t12\t4\n' --edges 0,4,8,12 "$name"
    prints 'lo\thi\tcount\n5\t6\t1\n6\t9\t0\n9\t10\t1\n' --roi 1,1,1,2 --edges 5,6,9,10 "$name/$metadata"
    cp "$name/$samples" whole
    head -c 10 whole >"$name/$samples"
    refuses 1 "$name/$samples is damaged: .*; copy the array again" "$name"
    mv whole "$name/$samples"
done

# Without a file of samples, they are the fill value.
mkdir -p group/filled group/x group/deep/t2m
cat >group/.zgroup <<END
{"zarr_format": 2}
END
array() { # SHAPE CHUNKS TYPE FILL
    printf '{"zarr_format":2,"shape":%s,"chunks":%s,"dtype":"%s","fill_value":%s,"order":"C","filters":null,"compressor":null}' "$@"
}
array '[4,3]' '[2,3]' '>i2' 7 >group/filled/.zarray
printf '\000\001\000\002\000\003\000\001\000\002\000\003' >group/filled/1.0
prints 'lo\thi\tcount\n1\t2\t2\n2\t3\t2\n3\t4\t2\n4\t8\t6\n' --edges 1,2,3,4,8 group/filled

# Attributes as netCDF's: scaled by 0.5, and 10; 7 is missing. Scales of dimensions are not data.
mv group/filled group/deep/t2m/moved
cp group/deep/t2m/moved/* group/deep/t2m/ && cp group/deep/t2m/moved/.zarray group/deep/t2m/ && rm -r group/deep/t2m/moved
cp group/.zgroup group/deep/.zgroup
printf '{"scale_factor":0.5,"add_offset":10,"_FillValue":7}' >group/deep/t2m/.zattrs
array '[3]' '[3]' '|u1' null >group/x/.zarray
printf '{"_ARRAY_DIMENSIONS":["x"]}' >group/x/.zattrs
printf '\001\002\003' >group/x/0
remarks 'group: left out 6 missing values$' --edges 10.5,11,11.25,12 group
[ "$(cat "$out")" = "$(printf 'lo\thi\tcount\n10.5\t11\t2\n11\t11.25\t2\n11.25\t12\t2\n')" ] || fail "$(cat "$out")"
prints 'lo\thi\tcount\n1\t2\t2\n2\t3\t2\n3\t4\t2\n4\t8\t6\n' --raw --edges 1,2,3,4,8 group/
prints "$two" --dataset x -b 2 -r minmax group
cp -r group/x group/y && rm group/y/.zattrs
refuses 1 'group holds 2 arrays of numbers: choose one with --dataset: deep/t2m (4 x 3 i16), y (3 u8)$' group
refuses 1 "group has no array 'z': its arrays of numbers are deep/t2m" --dataset z group
refuses 1 "group/y/.zarray is damaged\|metadata are invalid JSON" --dataset w "$(mkdir group/w && printf '{' >group/w/.zarray && echo group)"

# Dates: by type in versions 2 and 3, and by the attributes that xarray writes.
mkdir -p dates/c named counted
array '[3]' '[3]' '<M8[D]' '"NaT"' >dates/.zarray
printf '\070\100\0\0\0\0\0\0\133\100\0\0\0\0\0\0\0\0\0\0\0\0\0\200' >dates/0
cp dates/0 named/0
printf '{"zarr_format":3,"node_type":"array","shape":[3],"data_type":{"name":"numpy.datetime64","configuration":{"unit":"D","scale_factor":1}},"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[3]}},"chunk_key_encoding":{"name":"v2"},"codecs":["bytes"],"fill_value":0}' >named/zarr.json
array '[2]' '[2]' '<i8' null >counted/.zarray
head -c 16 dates/0 >counted/0
printf '{"units":"days since 1970-01-01","calendar":"standard"}' >counted/.zattrs
for name in dates named counted; do
    prints 'lo\thi\tcount\n2015-01-01\t2015-02-01\t1\n2015-02-01\t2015-03-01\t1\n' -q --width 1mo $name
done
remarks 'dates: left out 1 missing value$' dates

# Chunks that several threads decode, and one that is damaged.
python3 - <<'END'
import os, random, struct, zlib

random.seed(2)
rows, columns, high, wide = 1000, 900, 130, 200
values = [[random.randrange(5000) for _ in range(columns)] for _ in range(rows)]
os.mkdir("many")
open("many/.zarray", "w").write('{"zarr_format":2,"shape":[%d,%d],"chunks":[%d,%d],"dtype":"<u2","fill_value":0,"order":"C",'
                                '"filters":null,"compressor":{"id":"zlib"}}' % (rows, columns, high, wide))
for i in range(0, rows, high):
    for j in range(0, columns, wide):
        chunk = [(row[j:j + wide] + wide * [0])[:wide] for row in values[i:i + high]]
        chunk += [wide * [0]] * (high - len(chunk))
        data = b"".join(struct.pack("<%dH" % wide, *row) for row in chunk)
        open("many/%d.%d" % (i / high, j / wide), "wb").write(zlib.compress(data, 1))
open("many.raw", "wb").write(b"".join(struct.pack("<%dH" % columns, *row) for row in values))
END
checks=$((checks + 2))
for threads in 1 3; do
    "$histo" --threads $threads many >of_zarr 2>&1
    "$histo" --dtype u16 --shape 1000,900 many.raw >of_raw
    cmp -s of_zarr of_raw || fail "many threads count chunks wrong: $(cat of_zarr)"
done
head -c 300 many/6.3 >short && mv short many/6.3
refuses 1 'many/6.3 is damaged: .*; copy the array again' --threads 3 many

# The same in zip archives, compressed again or not, also from a pipe, and in a directory of its own. Of keys that are
# there twice, the last counts.
python3 - <<'END'
import os, warnings, zipfile

warnings.simplefilter("ignore")


def pack(name, root, method=zipfile.ZIP_STORED, prefix="", first=b""):
    with zipfile.ZipFile(name, "w", method) as archive:
        if first:
            archive.writestr(".zattrs", first)
        for at, _, files in sorted(os.walk(root)):
            for file in sorted(files, key=lambda n: (n[0] != "." and n != "zarr.json", n)):
                path = os.path.join(at, file)
                archive.write(path, prefix + os.path.relpath(path, root))


for name in os.listdir():
    if name[:3] in ("v2_", "v3_"):
        pack(name + ".zip", name)
        pack(name + "-deflated.zip", name, zipfile.ZIP_DEFLATED)
pack("group.zip", "group", prefix="group/")
pack("late.zarr.zip", "group/x", zipfile.ZIP_DEFLATED, prefix="a/b/")
pack("twice.zip", "counted", first=b'{"units":"m"}')
open("cut.zip", "wb").write(open("group.zip", "rb").read()[:-30])
END
for name in v?_*.zip; do
    prints 'lo\thi\tcount\n0\t4\t4\n4\t8\t4\n8\t12\t4\n' --edges 0,4,8,12 "$name"
done
remarks 'group.zip: left out 6 missing values$' --edges 10.5,11,11.25,12 --dataset group/deep/t2m group.zip
refuses 1 'group.zip holds 2 arrays of numbers: choose one with --dataset: group/deep/t2m (4 x 3 i16), group/y (3 u8)$' group.zip
prints "$two" --dataset group/y -b 2 -r minmax group.zip
prints "$two" --dataset group/y -b 2 -r minmax - <group.zip
prints "$two" --dataset a/b -b 2 -r minmax late.zarr.zip
prints 'lo\thi\tcount\n2015-01-01\t2015-02-01\t1\n2015-02-01\t2015-03-01\t1\n' --width 1mo twice.zip
refuses 1 'late.zarr.zip is a Zarr group without arrays' late.zarr.zip
refuses 1 'cut.zip cannot be opened as a zip archive' cut.zip
mkdir -p lz4 empty
array '[3]' '[3]' '|u1' 0 | sed 's/null}/{"id":"lz4"}}/' >lz4/.zarray
refuses 1 'lz4 is not a readable Zarr array: its chunks are stored by a codec that is not read here: lz4$' lz4
array '[3]' '[3]' '<U3' 0 >lz4/.zarray
refuses 1 'it does not hold plain numbers, but <U3$' lz4
array '[4611686018427387904,4]' '[4611686018427387904,4]' '<f8' 0 >lz4/.zarray
refuses 1 'lz4' lz4
mkfifo lz4/0
array '[3]' '[3]' '|u1' 0 >lz4/.zarray
refuses 1 'lz4/0 cannot be read: it is not a file' lz4
refuses 1 'empty is a directory: name the files in it' empty
finish
