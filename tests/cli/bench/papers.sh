# The papers' experiments: what is run and written, not how fast anything is.
. "$(dirname "$0")/../support/check.sh"

shows '^  figure  6\.3          Clustered samples$' bench paper
shows '^lecture: Hardavellas, Histograms$' bench paper

# Without measuring: bank conflicts and distributions, beside the published numbers.
shows '^random/1080p  *3\.532 (3\.53)  *0\.7448 (0\.74)$' bench paper ross --table 4.2 -o 4.2.tsv
shows '^wafer-a3/u32/1048576  .* 99\.[0-9]*$' bench paper --figure A.3 --quick --image a3.svg
grep -q '</svg>' a3.svg || fail "no picture of a wafer"

# Images are drawn above their histograms, and the lecture's kernels with marks for each input.
shows '^moon/4k  .* 78\.' bench paper ross --figure 4.1 --quick --image 4.1.svg
[ "$(grep -c '<image ' 4.1.svg)" = 7 ] || fail "not every histogram has its image: $(grep -c '<image ' 4.1.svg)"
shows '^degenerate/u8/256  ' bench paper lecture --section ladder --device cpu --quick --samples 1000 --image ladder.png
[ -s ladder.png ] || fail "no picture of the lecture's kernels"

# Measured: the speed-up of each series over the first, for each number of samples.
shows '^ *4096  *1 ' bench paper milic --figure 3 --device cpu --quick --samples 1000,2^12 -o 3.json --image 3.svg
grep -q '</svg>' 3.svg || fail "no picture of a figure"
shows '^not measured, as their device is missing or not selected: .*sort-search, resident' bench paper milic --figure 3 --device cpu --quick \
    --samples 1000
shows '^ *128  ' bench paper milic --figure 5 --device cpu --quick --samples 2^12 --bins 64,128 --image 5.png
shows '^64 bins, 4096  ' bench paper --figure 11 --device cpu --quick --samples 2^12,2^14 --bins 64,128 --image 11.svg
checks=$((checks + 1))
[ -s 5-milic-figure-5.png ] && [ -s 5-milic-figure-5b.png ] && [ -s 5-milic-figure-5c.png ] || fail "figure 5 has three parts: $(ls)"
shows '^Milic et al\. 2013, figures 5 and 6: Types: characters$' bench paper --figure 6 --device cpu --quick --samples 2^10 --bins 64
grep -q '</svg>' 11.svg || fail "no map of winners"
shows '^3 more points not measured$' bench paper lecture --device cpu --quick --budget 1e-9
checks=$((checks + 1))
python3 - <<'END' || fail "the files of bench paper are not what they should be"
import csv, json
rows = list(csv.DictReader(open("4.2.tsv"), delimiter="\t"))
assert {r["input"] for r in rows} >= {"fractal/1080p", "moon/1080p"} and all(r["number"] == "4.2" for r in rows)
kept = json.load(open("3.json"))
assert kept["command"].startswith("histo bench paper milic") and kept["machine"]
experiment, = kept["experiments"]
values = {(v["series"], v["samples"]): v for v in experiment["values"]}
for n in (1000, 4096):
    first, ours = values["sequential", n], values["privatized, CPU", n]
    assert first["value"] == 1 and abs(ours["value"] - ours["Gsamples_per_s"] / first["Gsamples_per_s"]) < 1e-3 * ours["value"]
    assert values["sort-search, resident", n]["value"] is None and values["sort-search", n]["place"] == "host"
    assert first["terms"] == "as published" and ours["terms"] == "equal terms" and first["timed_samples"] == n
END

# A race loses samples, of one value most; overflows are predicted without a GPU.
shows '^degenerate/u8/256  *[0-9.e-]*$' bench paper lecture --section race --device cpu --quick --threads 2
shows '^random/1080p  *488\.3  *2963  ' bench paper --section 5.3.3 --device cpu --quick

# docs/papers.md has a row for every item of the documents, and commands that work: here without a GPU, and only a moment.
checks=$((checks + 1))
python3 "$support/../../papers/audit.py" cpu "$histo" 2>"$err" || fail "docs/papers.md: $(cat "$err")"

# The page is made from the kept runs, the same everywhere, and what is out of date is found.
root=$support/../../..
mkdir -p tree/script/documents tree/papers tree/docs/log/results
cp "$root/script/documents/page.py" "$root/script/documents/results.py" tree/script/documents
cp -r "$root/papers/page" tree/papers
cp "$root/docs/log/results/h100-papers.json.xz" tree/docs/log/results
checks=$((checks + 3))
tree/papers/page/make && cmp tree/docs/papers.md "$root/docs/papers.md" && cmp tree/docs/images/papers/ross.svg "$root/docs/images/papers/ross.svg" ||
    fail "papers/page/make makes another page"
checks=$((checks + 1))
python3 - tree/docs/images/papers/*.svg <<'END' || fail "a picture is too large, or draws a curve more than once"
import re, sys
for path in sys.argv[1:]:
    picture = open(path).read()
    curves = [tag for tag in re.findall("<path [^>]*>", picture) if len(tag) > 200]
    assert len(picture) < 60000 and len(curves) == len(set(curves)), (path, len(picture))
END
sed -i 's/costs/pays/' tree/docs/papers.md
tree/papers/page/make --check 2>"$err" && fail "a page that was changed passes"
grep -q '^docs/papers.md: run papers/page/make' "$err" || fail "papers/page/make --check said: $(cat "$err")"
tree/papers/page/make --keep 4.2.tsv 2>"$err" && fail "a table was kept as a run"
grep -q '4.2.tsv: cannot be read as JSON' "$err" || fail "papers/page/make --keep said: $(cat "$err")"

nvidia-smi -L >/dev/null 2>&1 || refuses 1 'nothing can be measured on GPU 0: ' bench paper nvidia --device cuda
refuses 2 'there is no such experiment: ' bench paper knuth
refuses 2 'name a paper, a --figure, a --table or a --section' bench paper -o x.json
refuses 2 'there is no such experiment: ' bench paper milic --table 4.2
refuses 2 'takes one name, and .milic. is one too many' bench paper ross milic
refuses 2 'there is no such experiment: ' bench paper milic --figure 1
refuses 2 "'histo bench map' has no option --figure: leave it out" bench map --figure 6.3
refuses 2 "'histo bench paper' has no option --param: leave it out" bench paper --figure 6.3 --param copies=1
refuses 2 'the suffix of a picture' bench paper ross --table 4.2 --image x.gif
finish
