# The papers' inputs as files, which histo counts as the names say.
. "$(dirname "$0")/../support/check.sh"

shows '^  wafer-a1 … wafer-a6  ' generate
shows '^  fractal random degenerate moon ' generate

shows '^moon/64x48: 3072 samples\. Count them with: histo moon.png$' generate moon/64x48 -o moon.png
shows '^moon/64x48: .* with: histo --dtype u8 --shape 48x64 moon.raw$' generate moon/64x48 -o moon.raw
checks=$((checks + 1))
"$histo" moon.png >png.tsv && "$histo" --dtype u8 --shape 48x64 moon.raw | cmp - png.tsv || fail "the images differ"

# The same samples in any format, on any number of threads, all of them in the bins.
prints '' generate --quiet clustered/f32/4096 --samples 5000 -o once.npy
HISTO_THREADS=3 "$histo" generate -q clustered/f32/4096 --samples 5000 -o again.npy
"$histo" generate -q uniform/i16/300 --samples 3KiB -o - --to raw >raw
"$histo" generate wafer-a1/u16/256x4096 --samples 2000 -o wafer.npy >"$out"
"$histo" generate -q wafer-a1/u32/1048576 --samples 2000 -o flat.npy
checks=$((checks + 1))
cmp once.npy again.npy || fail "threads change the samples"
python3 - <<'END' || fail "the files do not hold the samples"
import ast, struct
def load(name):
    data = open(name, "rb").read()
    size = data[8] + 256 * data[9]
    return ast.literal_eval(data[10:10 + size].decode()), data[10 + size:]
head, data = load("once.npy")
assert head["descr"] == "<f4" and head["shape"] == (5000,) and len(data) == 20000
assert all(0 <= x < 1 for x in struct.unpack("<5000f", data))
raw = open("raw", "rb").read()
assert len(raw) == 3072 and all(-150 <= x < 150 for x in struct.unpack("<1536h", raw))
columns, data = load("wafer.npy")
assert columns["descr"] == "<u2" and columns["shape"] == (2000, 1, 2)
pairs = list(zip(*[iter(struct.unpack("<4000H", data))] * 2))
flat = struct.unpack("<2000I", load("flat.npy")[1])
assert pairs == [(x % 256, x // 256) for x in flat]
END
# The command that was printed counts it.
checks=$((checks + 1))
command=$(sed -n 's/.*Count them with: histo //p' "$out")
eval "\"$histo\" --to json $command" >wafer.json || fail "what was printed does not count: $command"
python3 -c 'import json; v = json.load(open("wafer.json")); assert "2000" in str(v) or v' || fail "no joint histogram"

refuses 2 "no distribution 'wafer-a9'.*'histo generate' lists them" generate wafer-a9/u32/256 -o x.npy
refuses 2 'wafer-a3 cannot have 1000 bins of u32' generate wafer-a3/u32/1000 -o x.npy
refuses 2 'two columns are u16 or u32' generate wafer-a3/u8/256x16 -o x.npy
refuses 2 'is not an input: inputs are called as' generate uniform/f16/256 -o x.npy
refuses 2 "'moon' lacks a size, as in moon/4k" generate moon -o x.npy
refuses 2 "'uniform' lacks a type and bins, as in uniform/u32/4096" generate uniform -o x.npy
refuses 2 'say where to write' generate uniform/u32/256
refuses 2 'the suffix of an input is .npy, .png or .raw' generate moon/4k -o x.jpg
refuses 2 'written as npy, png or raw' generate moon/4k -o x --to csv
refuses 2 'is not an image: write it as .npy or .raw' generate zipf/u32/100 -o x.png
refuses 2 'leave --samples out' generate moon/4k --samples 5 -o x.png
refuses 1 'its directory does not exist' generate moon/4k -o nowhere/x.png
refuses 1 'of memory needed, .* available: ask for fewer' generate uniform/u64/256 --samples 1000000000000 -o x.npy
finish
