# Modules: loaded where they are needed, found beside the command, complete, and named where they are missing.
. "$(dirname "$0")/../support/check.sh"
corpus=$support/../../fuzz/corpus
modules=$(cd "$(dirname "$histo")/.." && find . -name tiff.so)
[ -n "$modules" ] || fail 'the modules are not beside the command'
modules=${modules%/tiff.so}
printf 'P5\n4 2\n255\n\001\002\003\004\001\002\003\004' >gray.pgm
printf '1\n2\n3\n' >numbers

# The command alone does not load their libraries.
checks=$((checks + 1))
LD_TRACE_LOADED_OBJECTS=1 "$histo" >"$out"
! grep -E 'hdf5|tiff|cairo|libzip|crypto|curl|zstd|lzma|bz2' "$out" || fail 'the command is linked with libraries of modules'

# use_all HISTO: each module does its work, and the command has every function that it calls.
use_all() {
    for arguments in 'equalize gray.pgm out.tif' 'equalize out.tif out.pgm' "$corpus/npz/one.npz" \
        "$corpus/hdf5/one.h5" '-o out.svg numbers' "-b 3 --column x $corpus/compressed/table.zst" \
        "-b 3 --column x $corpus/compressed/table.xz" "-b 3 --column x $corpus/compressed/table.bz2"; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086
        LD_BIND_NOW=1 "$1" $arguments >"$out" 2>"$err" || fail "$1 $arguments: exit status $?: $(cat "$err")"
    done
}
use_all "$histo"

# They are found from a link, and in a tree that was moved.
ln -s "$histo" link
use_all ./link
mkdir -p moved/bin "moved/$modules"
cp "$histo" moved/bin/histo
cp "$(dirname "$histo")/../$modules"/*.so "moved/$modules/"
use_all moved/bin/histo

# Where they are missing, what needs none works, and one sentence tells the rest, before anything is counted.
mv out.tif in.tif
rm "moved/$modules/"*.so out.*
histo=moved/bin/histo
prints 'lo\thi\tcount\n1\t3\t3\n' -b 1 numbers
gzip -k numbers
prints 'lo\thi\tcount\n1\t3\t3\n' -b 1 numbers.gz
refuses 1 "in.tif needs histo's module 'tiff', which cannot be loaded (.*/tiff.so: .*): install histo again$" in.tif
refuses 1 "out.tif needs histo's module 'tiff', which cannot be loaded" equalize gray.pgm out.tif
refuses 1 "needs histo's module 'npz', which cannot be loaded" "$corpus/npz/one.npz"
refuses 1 'table.xz is compressed by xz, which this build .* cannot read: build it with liblzma .* pipe .* through xz -dc' \
    "$corpus/compressed/table.xz"
refuses 1 "needs histo's module 'hdf5', which cannot be loaded" "$corpus/hdf5/one.h5"
refuses 1 "out.svg needs histo's module 'plot', which cannot be loaded" -o out.svg no-such-file
finish
