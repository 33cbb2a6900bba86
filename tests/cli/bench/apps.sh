# bench apps: what is measured and compared, not how fast anything is.
. "$(dirname "$0")/../support/check.sh"

quick="bench apps --device cpu --threads 1 --quick --repeat 1"

# shellcheck disable=SC2086
shows '^equalize/u8/4k  *[0-9.]*  *[0-9.]* ' $quick --cells u8 -o apps.json
# shellcheck disable=SC2086
shows '^1 not measured: the time is over$' $quick --cells lut --budget 1e-9
# shellcheck disable=SC2086
refuses 2 "no application is called 'sobel'" $quick --cells sobel
# shellcheck disable=SC2086
refuses 2 "'histo bench apps' has no option --image: leave it out" $quick --image apps.png
checks=$((checks + 1))
python3 - <<'END' || fail "the JSON of bench apps is not what it should be"
import json
kept = json.load(open("apps.json"))
assert kept["command"].startswith("histo bench apps") and kept["machine"]
rows = {row["name"]: row for row in kept["applications"]}
assert set(rows) == {f"{name}/u8/4k" for name in ("copy", "lut", "equalize", "clahe", "match", "otsu")}, set(rows)
for row in rows.values():
    assert row["us"] > 0 and (row["targets"] or row["name"] == "copy/u8/4k") and set(row["peers"]) >= {"OpenCV", "scikit-image", "NumPy"}
    assert not row["result"].startswith("WRONG"), row
END
if [ -n "$data" ]; then
    # shellcheck disable=SC2086
    shows '^lut/u8/4k ' $quick --cells lut "$data/grace_hopper.jpg"
    # shellcheck disable=SC2086
    refuses 2 "'bench apps' takes one image, not 2" $quick --cells lut "$data/grace_hopper.jpg" "$data/grace_hopper.jpg"
fi

# Beside OpenCV, scikit-image and NumPy all results are what they must be.
if [ -n "${HISTO_BENCH_PYTHON:-}" ]; then
    # shellcheck disable=SC2086
    shows '^clahe/u16/4096 ' $quick -o all.json
    python3 - <<'END' || fail "results are not those of the libraries"
import json
rows = json.load(open("all.json"))["applications"]
assert len(rows) > 10
for row in rows:
    assert row["result"] == "as it must be", row
END
fi
finish
