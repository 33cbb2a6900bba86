# Measuring: what is printed and what is written, not how fast it was.
. "$(dirname "$0")/support/check.sh"

# 32 gray pixels, a warp: 16 of value 0, and 16 of 16 other counters, banks and words.
{ printf 'P5 32 1 255\n'; head -c 16 /dev/zero; printf '\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037\020'; } >warp.pgm
shows '^warp.pgm  *16\.00  0\.00   0\.0   0\.0   0\.0 100\.0   0\.0  *16\.00 ' bench conflicts warp.pgm
shows '^random/1080p  *3\.53  0\.74 ' bench conflicts
shows '^degenerate/4k  *32\.00  0\.00 ' bench conflicts
printf 'P5 31 1 255\n' >short.pgm && head -c 31 /dev/zero >>short.pgm
refuses 1 'short.pgm: 31 samples are no warp' bench conflicts short.pgm
refuses 1 'nothing.png' bench conflicts nothing.png

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
    assert best["best"] and best["least_us"] <= best["median_us"] <= best["most_us"]
END
refuses 2 'say what to measure' bench
refuses 2 "'speed' cannot be measured" bench speed
refuses 2 'no input is called nothing: there are fractal' bench gallery --input nothing
refuses 2 "0' is none" bench gallery --samples 0
refuses 2 'has no option --bins' bench gallery --bins 3
finish
