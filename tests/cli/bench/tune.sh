# Tuning: what is measured, where it is saved, and that plans use it; not how fast anything is.
. "$(dirname "$0")/../support/check.sh"

tiny="tune --device cpu --quiet --types u8,f32 --bins 4,256,1024 --samples 500,2^12 --distributions uniform,distinct-3"
# shellcheck disable=SC2086
shows '^The fastest strategy for f32 samples$' $tiny --save kept.txt --json kept.json --image kept.png
grep -q '^ *4096  *[A-Z] [0-9.]* ' "$out" || fail "no row of 4096 samples: $(cat "$out")"
checks=$((checks + 1))
python3 - <<'END' || fail "what tune wrote is not what it should be"
import json
kept = json.load(open("kept.json"))
assert kept["command"].startswith("histo tune ") and kept["machine"]
times = {}
for r in kept["results"]:
    distribution, dtype, bins = r["input"].split("/")
    assert r["dtype"] == dtype and r["bins"] == int(bins) and not r["transfers"]
    for s in r["strategies"]:
        times.setdefault((dtype, r["bins"], r["samples"]), {}).setdefault(s["strategy"], {})[distribution] = s["us"]
cells = [(t, b, n) for t in ("u8", "f32") for b in (4, 256, 1024) for n in (500, 4096) if t != "u8" or b <= 256]
assert sorted(times) == sorted(cells)
best = {}
for m in kept["map"]:
    at = times[m["dtype"], m["bins"], m["samples"]]
    worst = {s: max(us.values()) for s, us in at.items() if len(us) == 2}
    assert m["best"] == min(worst, key=worst.get) and m["us"] == worst[m["best"]]
    assert at[m["best"]][m["worst_distribution"]] == m["us"]
    best[m["dtype"], m["bins"], m["samples"]] = m
assert sorted(best) == sorted(cells)
lines = open("kept.txt").read().splitlines()
assert lines[0] == "histo-wisdom 1" and len(lines) == 1 + len(cells)
for (dtype, bins, samples), m in best.items():
    signature = f"{dtype}/uniform/{bins};counts;batch=1;samples=2^{samples.bit_length() - 1};threads="
    found = [line.split() for line in lines if signature in line]
    assert len(found) == 1 and found[0][2] == m["best"] and abs(float(found[0][3]) / m["us"] - 1) < 1e-4
for name in ("kept-u8.png", "kept-f32.png"):
    assert open(name, "rb").read(4) == b"\x89PNG"
END
[ ! -e kept.png ] || fail "two maps went into one picture"

# Plans use the result, and another run adds to it. With a single type, the picture has the given name.
head -c 4096 /dev/zero >zeros
shows '^chosen: cpu/.*, by wisdom$' explain --bytes --wisdom kept.txt --device cpu -b 256 -r 0:256 zeros
shows '^chosen: cpu/.*, by the cost model$' explain --bytes --device cpu -b 256 -r 0:256 zeros
shows . tune --device cpu -q --types i32 --bins 1000 --samples 100 --distributions sorted --save kept.txt --image one.svg
[ "$(grep -c ' u8/' kept.txt)" -eq 4 ] && [ "$(grep -c ' i32/uniform/1024;' kept.txt)" -eq 1 ] ||
    fail "wisdom was not added up: $(cat kept.txt)"
grep -q '<svg' one.svg || fail "no picture"

# Parameters, too; of the strategy that is asked for, or of the fastest.
shows '^chosen: cpu/privatized .*by name$' explain --bytes --strategy privatized --vary zeros
shows '^chosen: cpu/.*, by measurement$' explain --bytes --device cpu --vary --wisdom varied.txt zeros
shows . tune --device cpu -q --vary --types u32 --bins 4096 --samples 2^16 --distributions uniform,zipf --save varied.txt
[ "$(grep -c ' cpu/' varied.txt)" -ge 1 ] || fail "nothing was remembered: $(cat varied.txt)"

# The file used by default.
XDG_CONFIG_HOME=$PWD/config
export XDG_CONFIG_HOME
# shellcheck disable=SC2086
shows . $tiny --save default
[ "$(grep -c . config/histo/wisdom)" -eq 11 ] || fail "no default wisdom"
shows '^chosen: cpu/.*, by wisdom$' explain --bytes --device cpu -b 256 -r 0:256 zeros
shows '^chosen: cpu/.*, by the cost model$' explain --bytes --device cpu -b 4096 -r 0:256 zeros
echo nonsense >config/histo/wisdom
refuses 1 'config/histo/wisdom is not a wisdom file .*: .*remove it' -b 4 -r 0:256 --bytes zeros
unset XDG_CONFIG_HOME

# The papers' distributions, on every type that is made; a wafer has whole rows of 256 bins.
shows '^ *nothing was measured$' tune --device cpu -q --types i16 --bins 300 --samples 100 --distributions wafer-a3
shows '^Gsamples/s on the worst of normal, sorted-chunks, middle-8 and wafer-a4; ' tune --device cpu -q --types i16,u64 \
    --bins 1024 --samples 100 --distributions normal,sorted-chunks,middle-8,wafer-a4

# The time budget.
remarks 'time is over after 0 of 70 measurements: --budget gives more' tune --device cpu --budget 1e-9 --types u32 --distributions zipf --save no.txt
grep -q '^ *nothing was measured$' "$out" || fail "an empty map is not said to be one: $(cat "$out")"
[ ! -e no.txt ] || fail "wisdom of nothing was saved"
remarks 'nothing was saved: --save default' tune --device cpu --types u8 --bins 4 --samples 10 --distributions zipf
checks=$((checks + 1))
"$histo" tune --device cpu --budget 600 --save stopped.txt >"$out" 2>"$err" &
sleep 2
kill -TERM $!
wait $!
[ $? -eq 143 ] || fail "a stopped tune ended otherwise: $(cat "$err")"
[ "$(grep -c ' cpu/' stopped.txt)" -gt 0 ] || fail "what was measured was not saved: $(cat "$err")"
grep -q 'interrupted after' "$err" || fail "it was not said that the map is part of one: $(cat "$err")"
[ "$(ls -A | grep -c tmp)" -eq 0 ] || fail "temporary files are left"

# Errors are reported before anything is measured.
refuses 2 "'f16' cannot be tuned for: --types takes u8" tune --types u8,f16
refuses 2 "names u8 twice" tune --types u8,u8
refuses 2 '\-\-save and --json are both x.json' tune --save x.json --json x.json
refuses 2 '\-\-types is empty' tune --types ''
refuses 2 "no distribution 'pareto'" tune --distributions pareto
refuses 2 "no distribution 'distinct-0'" tune --distributions distinct-0
refuses 2 'takes whole numbers from 1 to 1073741824, .* not .0.' tune --bins 0
refuses 2 "'2^31'" tune --bins 256,2^31
refuses 2 'must increase, and 16 follows' tune --bins 256,16
refuses 2 "'1.5'" tune --samples 1.5
refuses 2 "not ''" tune --samples 100,
refuses 2 "not '0'" tune --budget 0
refuses 2 'the suffix of a picture is .png, .svg or .pdf' tune --image map.gif
refuses 1 'nowhere/map.png cannot be written' tune --image nowhere/map.png
refuses 1 'nowhere/w.txt cannot be written' tune --save nowhere/w.txt
refuses 1 'nowhere/t.json cannot be written' tune --json nowhere/t.json
refuses 1 'is a directory' tune --save .
refuses 1 'kept.json is not a wisdom file .* --save' tune --save kept.json
refuses 2 'not standard output' tune --save -
refuses 2 "takes no names" tune zeros
refuses 1 'take --device cpu' tune --device cuda:1023
refuses 2 'has no option --save' zeros --save x
finish
