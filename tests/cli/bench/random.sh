# Random problems: what is printed, kept and refused.
. "$(dirname "$0")/../support/check.sh"

random="bench random --device cpu --samples 20000 --threads 2"
# shellcheck disable=SC2086
shows '^50 problems in .*; all counts exact$' $random --count 50 --quick -o random.json --image random.svg
checks=$((checks + 1))
python3 - <<'END' || fail "the JSON of bench random is not what it should be"
import json
kept = json.load(open("random.json"))
results = kept["results"]
assert kept["effort"] == "estimate"
assert len(results) == 50 == kept["summary"]["problems"] and kept["summary"]["wrong_or_failed"] == 0
exact = [r for r in results if r["outcome"] == "exact"]
assert len(exact) > 45
for r in exact:
    assert r["class"] == "CPU" and r["us"] > 0 and 0 < r["share_of_bound"] and r["strategy"].startswith("cpu/")
    assert any("plan" in e and abs(e["us"] / r["us"] - 1) < 1e-3 for e in r["entries"])
share = kept["summary"]["classes"][0]["share_of_bound"]
assert share["problems"] == len(exact) and share["worst"] <= share["percentile_5"] <= share["median"]
assert open("random.svg").read().count("</svg>") == 1
open("line", "w").write(next(r["problem"] for r in exact))
END
# The JSON of several runs becomes one table.
# shellcheck disable=SC2086
shows '^Plans wait for kernels' $random --count 20 --seed 2 --quick --effort compile -o random-2.json
checks=$((checks + 1))
"$(dirname "$0")/../../../script/documents/random-table" random.json random-2.json >"$out" || fail "random-table failed"
grep -q '^2 runs, 70 problems; all counts exact$' "$out" || fail "random-table does not count the problems"
[ "$(grep -c '^CPU  ' "$out")" = 2 ] || fail "random-table does not show the share and the peers of the CPU"
[ "$(grep -c 'seed=' "$out")" = 20 ] || fail "random-table does not list ten worst problems twice"
# A line measures its problem again, with all strategies.
shows 'the plan.s choice$' bench random --device cpu --problem "$(cat line)"
shows "$(cut -d' ' -f1-4 line | sed 's/[.]/[.]/g')" bench random --device cpu --problem "$(cat line)"
# The same seed draws the same problems; another one others.
for seed in 3 3 4; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    "$histo" $random --quick --count 5 --seed $seed >"$out" || fail "seed $seed failed"
    grep -o '  n=.* seed=.*' "$out" | head -5 >>drawn
done
[ "$(sed -n 1,5p drawn)" = "$(sed -n 6,10p drawn)" ] || fail "a seed does not draw the same problems again"
[ "$(sed -n 1,5p drawn)" != "$(sed -n 11,15p drawn)" ] || fail "another seed draws the same problems"
# shellcheck disable=SC2086
shows '^3 problems in .*; all counts exact$' $random --quick --count 3 --only 'layout=channels,type=u16|u8,n=..2^14'
# shellcheck disable=SC2086
shows '^0 problems in ' $random --budget 1e-9
# shellcheck disable=SC2086
shows 'no memory\|not measured' $random --problem 'n=256 type=u16 axes=3 axis=integer bins=8192 lo=0 layout=images batch=256'

refuses 2 "a random problem has no 'size'" bench random --device cpu --problem 'size=3'
refuses 2 'the random problem has no n=' bench random --device cpu --problem ''
refuses 2 'type=u9 is not a value of a random problem: it takes names: u8, i8' bench random --device cpu --only type=u9
refuses 2 'none of 200000 random problems is n=1: ask for less' bench random --device cpu --only n=1
refuses 2 'which is for a GPU' bench random --device cpu --problem 'n=9 type=u8 axis=integer bins=9 lo=0 on=pinned'
refuses 2 "not '0'" bench random --count 0
refuses 2 "effort is estimate, measure or compile, not 'much'" bench random --effort much
refuses 2 "not 'x'" bench random --seed x
finish
