# Benchmarks: what they print and write, not how fast they are.
. "$(dirname "$0")/../support/check.sh"

# 32 gray pixels, a warp: 16 of value 0, and 16 with other counters, banks and words each.
{ printf 'P5 32 1 255\n'; head -c 16 /dev/zero; printf '\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037\020'; } >warp.pgm
shows '^warp.pgm  *16\.00  0\.00   0\.0   0\.0   0\.0 100\.0   0\.0  *16\.00 ' bench conflicts warp.pgm
shows '^random/1080p  *3\.53  0\.74 ' bench conflicts
shows '^degenerate/4k  *32\.00  0\.00 ' bench conflicts
printf 'P5 31 1 255\n' >short.pgm && head -c 31 /dev/zero >>short.pgm
refuses 1 'short.pgm: 31 samples are not a warp' bench conflicts short.pgm
refuses 1 'nothing.png' bench conflicts nothing.png

shows '^histo_count, weights  *100 samples ' bench calls --repeat 1 -o calls.json
checks=$((checks + 1))
grep -q '"call": "memcpy", "bins": 1048576, "ns": .*"right": true' calls.json || fail 'bench calls -o: no times'
refuses 2 "has no option --bins" bench calls --bins 10
refuses 2 "has no option --cells" bench several-gpus --cells u8

quick="bench gallery --quick --repeat 2 --samples 5000 --device cpu"
# shellcheck disable=SC2086
shows '^\* cpu/sequential ' $quick --input uniform/u8/64 --strategy sequential
# shellcheck disable=SC2086
shows '^2 inputs, .* measurements: all counts exact$' $quick --input warp.pgm --strategy cpu/privatized warp.pgm
# shellcheck disable=SC2086
shows '^zipf/u16/65536: 5000 samples, read roof ' $quick --input uniform/u8/64,zipf/u16 -o kept.json
checks=$((checks + 1))
python3 - <<'END' || fail "the JSON of bench gallery is not what it should be"
import json
kept = json.load(open("kept.json"))
assert [r["input"] for r in kept["results"]] == ["uniform/u8/64", "zipf/u16/65536"]
for r in kept["results"]:
    assert r["read_roof"]["GBps"] > 0 and r["samples"] == 5000
    exact = [s for s in r["strategies"] if s["outcome"] == "exact"]
    assert len(exact) >= 3 and sum(s["best"] for s in exact) == 1
    best = max(exact, key=lambda s: s["Gsamples_per_s"])
    assert best["best"] and best["min_us"] <= best["median_us"] <= best["max_us"]
END

# The map: parts of a name select its cells; the JSON has the same cells as the table.
map="bench map --device cpu --samples 64KiB --repeat 2"
# shellcheck disable=SC2086
shows '^i8/integer/256/zipf  *[0-9]' $map --cells i8/zipf
# shellcheck disable=SC2086
shows '^4 cells in .*; all counts exact$' $map --cells 'i8,f*/log/256/uniform,nothing' --threads 1
# shellcheck disable=SC2086
shows '^geometric mean: ' $map --cells f32/quadratic/256,u16/65536/uniform -o map.json --image map.png
checks=$((checks + 1))
python3 - <<'END' || fail "the JSON of bench map is not what it should be"
import json, math
kept = json.load(open("map.json"))
assert " --samples 64KiB --repeat 2 --cells f32/quadratic/256,u16/65536/uniform -o map.json" in kept["command"]
cells = kept["results"]
assert [c["input"] for c in cells if c["dtype"] == "u16"] == ["u16/integer/65536/uniform"]
assert {c["distribution"] for c in cells if c["dtype"] == "f32"} == {"uniform", "degenerate", "zipf"}
for c in cells:
    assert c["samples"] * {"u16": 2, "f32": 4}[c["dtype"]] == 65536 and c["placement"] == "device"
    plan, = [s for s in c["strategies"] if "plan" in s]
    best = max((s for s in c["strategies"] if "strategy" in s and s["outcome"] == "exact"), key=lambda s: s["Gsamples_per_s"])
    peers = [s for s in c["strategies"] if "peer" in s and s["outcome"] == "exact"]
    assert plan["plan"] == c["chosen"] and best["strategy"] == c["best_strategy"]
    assert math.isclose(plan["Gsamples_per_s"] / best["Gsamples_per_s"], c["over_best_strategy"], rel_tol=1e-3)
    assert math.isclose(plan["Gsamples_per_s"] / max(s["Gsamples_per_s"] for s in peers), c["over_best_peer"], rel_tol=1e-3)
    assert ("wrong choice" in c["faults"]) == (c["over_best_strategy"] < 0.9 and c["chosen"] != c["best_strategy"])
    assert ("below peer" in c["faults"]) == (c["over_best_peer"] < 1)
s = kept["summary"]
assert s["cells"] == len(cells) and s["wrong_or_failed_entries"] == 0
assert s["right_choices"] + s["wrong_choice"] == len(cells)
assert s["below_peer"] == sum("below peer" in c["faults"] for c in cells)
mean = math.exp(sum(math.log(c["over_best_peer"]) for c in cells) / len(cells))
assert math.isclose(mean, s["geometric_mean_over_best_peer"], rel_tol=1e-3)
picture = open("map.png", "rb").read()
assert picture[:8] == b"\x89PNG\r\n\x1a\n" and picture[-8:-4] == b"IEND"
END
# Python's libraries count all layouts and sum weights as we do.
if [ -n "${HISTO_BENCH_PYTHON:-}" ]; then
    # shellcheck disable=SC2086
    shows '^[0-9]* cells in .*; all counts exact$' $map -o peers.json --cells \
        'uniform/rgb-of-rgba,uniform/images,uniform/region,uniform/mask,joint/uniform,f32-fast/uniform,f64-fast-sum/uniform,i32/uniform'
    python3 - <<'END' || fail "Python's libraries do not count all that they can"
import json
cells = json.load(open("peers.json"))["results"]
sparse = [c for c in cells if "/sparse/" in c["input"]]
assert len(cells) == 12 and len(sparse) == 1
for c in sparse:
    boost, unique = [s for s in c["strategies"] if s.get("peer") in ("NumPy unique", "boost-histogram")]
    assert unique["outcome"] == "exact" and unique["misplaced"] == 0 and boost["outcome"] == "refused", (unique, boost)
for c in (c for c in cells if c not in sparse):
    numpy, boost = [s for s in c["strategies"] if s.get("peer") in ("NumPy", "boost-histogram")]
    assert numpy["outcome"] == boost["outcome"] == "exact" and boost["misplaced"] == 0, (c["input"], numpy, boost)
    if "/joint/" in c["input"] or "-fast" in c["input"]:
        assert c["target_peer"] == "boost-histogram" and c["target_over_peer"] == 3
        assert ("below target" in c["faults"]) == (c["Gsamples_per_s"] < 3 * boost["Gsamples_per_s"])
END
fi

# Time, and what stops it: what was measured is kept.
# shellcheck disable=SC2086
shows '^not measured (3): i8/integer/256: uniform, degenerate, zipf$' $map --cells i8 --budget 1e-9 -o late.json
# shellcheck disable=SC2086
shows '^0 inputs, 1 more not measured, 0 measurements: ' $quick --input uniform/u8/64 --budget 1e-9
checks=$((checks + 1))
"$histo" bench map --device cpu --samples 64KiB -o stopped.json --image stopped.svg >"$out" 2>"$err" &
sleep 2
kill -TERM $!
wait $!
[ $? -eq 143 ] || fail "a stopped map ended otherwise: $(cat "$err")"
grep -q '^not measured (' "$out" || fail "it was not said that the map is part of one: $(cat "$out")"
grep -q '</svg>' stopped.svg || fail "no picture of a stopped map"
python3 - <<'END' || fail "the JSON of a map that was stopped is not what it should be"
import json
late, stopped = (json.load(open(name)) for name in ("late.json", "stopped.json"))
assert late["results"] == [] and late["summary"]["not_measured"] == [f"i8/integer/256/{d}" for d in ("uniform", "degenerate", "zipf")]
measured = [c["input"] for c in stopped["results"]]
assert 0 < len(measured) == stopped["summary"]["cells"] and stopped["summary"]["not_measured"]
assert not set(measured) & set(stopped["summary"]["not_measured"])
END

refuses 2 'no cell of the map matches u9: cells are called as u32/integer/4096/zipf' bench map --device cpu --cells u9
refuses 2 'the suffix of a picture is .png, .svg or .pdf' bench map --device cpu --image map.jpg
refuses 2 'name another file' bench map --device cpu -o map.png --image map.png
refuses 1 'its directory does not exist' bench map --device cpu --image nowhere/map.png
nvidia-smi -L >/dev/null 2>&1 || refuses 1 'nothing can be measured on GPU 0: ' bench map --device cuda

# histo-bench is a separate program: in histo's directory, in libexec or in $PATH. Without it, only the help works.
mkdir -p prefix/bin prefix/libexec/histo
cp "$histo" prefix/bin/histo
whole=$histo
histo=$PWD/prefix/bin/histo
refuses 1 "histo-bench, which runs 'histo bench', 'histo generate' and 'histo tune', is neither next to histo nor in .PATH" bench map
refuses 1 "histo-bench, which runs" tune
shows 'bench map --device cuda' bench --help
ln -s "$whole-bench" prefix/libexec/histo/histo-bench
refuses 2 'say what to measure' bench
rm prefix/libexec/histo/histo-bench
echo 'no program' >prefix/bin/histo-bench
refuses 1 'histo-bench cannot be run: Permission denied' bench map
rm prefix/bin/histo-bench
PATH=$(dirname "$whole"):$PATH
refuses 2 'no cell of the map matches u9' bench map --device cpu --cells u9
histo=$whole-bench
refuses 2 'no cell of the map matches u9' map --device cpu --cells u9
shows '^Usage: histo tune' tune --help
histo=$whole

refuses 2 'say what to measure' bench
refuses 2 "'speed' cannot be measured" bench speed
refuses 2 'no input is called nothing: there are fractal' bench gallery --input nothing
refuses 2 'no input is called nothing: ' bench gallery --input uniform/u8/64,nothing
refuses 2 'global_atomic is a strategy of cuda, not of cpu: take --device cuda' \
    bench gallery --device cpu --strategy global_atomic,packed_window --input uniform/u8/64
# shellcheck disable=SC2086
shows '^clustered/i16/777: 5000 samples' $quick --input clustered/i16/777 --strategy sequential
refuses 2 "not '0'" bench gallery --samples 0

# Sweeps: each strategy with each combination of parameters, each input with each number of bins and of samples.
# shellcheck disable=SC2086
sweep="bench gallery --quick --repeat 1 --device cpu --strategy privatized,cpu/direct --input clustered,uniform/i32"
# shellcheck disable=SC2086
shows '^12 inputs, 24 measurements: all counts exact$' $sweep --bins 256..1024 --samples 1000,2^12 -o sweep.json
checks=$((checks + 1))
python3 - <<'END' || fail "the sweep is not what it should be"
import json
results = json.load(open("sweep.json"))["results"]
assert sorted({(r["input"], r["samples"]) for r in results}) == sorted(
    (f"{i}/{b}", n) for i in ("clustered/u32", "uniform/i32") for b in (256, 512, 1024) for n in (1000, 4096))
assert all([s["strategy"] for s in r["strategies"]] == ["cpu/direct", "cpu/privatized"] for r in results)
END
shows 'no parameter\|not for this: sequential$' bench gallery --quick --repeat 1 --device cpu --samples 100 \
    --strategy sequential --input uniform/u8/64 --param copies=1,2,4
refuses 2 'has no input of so many bins' bench gallery --device cpu --input uniform/u8 --bins 512
refuses 2 "'histo bench gallery' has no option --image: leave it out" bench gallery --image x.png
refuses 2 "'histo bench map' has no option --strategy: leave it out" bench map --strategy privatized
refuses 2 "'histo bench map' has no option --quick: leave it out" bench map --quick
refuses 2 "'histo bench random' has no option --cells: leave it out" bench random --cells u8
refuses 2 "'histo bench gallery' has no option --seed: leave it out" bench gallery --seed 2
refuses 2 "'histo bench map' takes no names, and 'photo.jpg' is one too many" bench map photo.jpg
refuses 2 '-o map.svg is for tables, JSON or .tsv: pictures go to --image' bench map -o map.svg
refuses 2 "'bench map' takes one number of --samples" bench map --samples 1,2
refuses 2 "'histo bench map' has no option --bins: leave it out" bench map --bins 2
refuses 2 "there is no strategy 'privat'" bench gallery --strategy cpu/direct,privat
refuses 2 'strategy is empty' bench gallery --strategy ''
refuses 2 "not '9..4'" bench gallery --bins 9..4
finish
