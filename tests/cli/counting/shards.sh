# Shards: divided, merged, refused, and continued after kills.
. "$(dirname "$0")/../support/check.sh"
corpus=$support/../../fuzz/corpus

# Files of every kind: arrays, text whose newlines are in quotes, pages, chunks, and what is whole.
seq 1 4000 | "$histo" -b 3000 -r 0:4500 -o counts.npy
seq 1 3000 >numbers.txt
awk 'BEGIN { for (i = 0; i < 900; i++) printf "%*s%d\t%d\n%s", i % 3, "", i % 89, i % 97, i % 50 ? "" : "\n" }' >blanks.txt
awk 'BEGIN { print "name,x,w"; for (i = 0; i < 2000; i++) printf "n,%d.5,0.%d\n", i % 97, i % 89 }' >plain.csv
awk 'BEGIN { print "name,x,w"; for (i = 0; i < 500; i++)
    printf "\"a\n7,8,9\n\"\"b\"\"\",%d,0.%d\n%s", i % 97, i % 89, i % 9 ? "" : "\n" }' >quoted.csv
gzip -c plain.csv >plain.csv.gz
awk 'BEGIN { print "x,y,x,x"; for (i = 0; i < 900; i++) print i % 7 "," i % 5 "," i % 11 "," i % 13 }' >twins.csv
{ printf 'P5 40 30 255\n' && head -c 1200 plain.csv; } >image.pgm
awk 'BEGIN { print "tag,x,w"; for (i = 0; i < 2000; i++) printf "t%d,%d,0.%d\n", i * i * (1 + i / 1000) % 53, i % 97, i % 89 }' >tags.csv

# equals N ARGUMENTS…: N shards, merged in any order, are what one process counts, to the byte.
equals() {
    n=$1
    shift
    checks=$((checks + 1))
    rm -f s-*.histo
    "$histo" -q "$@" -o one.histo || fail "histo $*"
    for i in $(seq "$n"); do
        "$histo" -q --shard "$i/$n" "$@" -o "s-$i.histo" || fail "shard $i of $n of histo $*"
    done
    ls s-*.histo | sort -r | xargs "$histo" merge --complete -o all.histo && cmp one.histo all.histo ||
        fail "$n shards are not histo $*"
}
for n in 1 3 20; do
    equals $n -b 50 -r 0:9 counts.npy
    equals $n --dtype u16 --offset 3 -b 50 -r 0:65536 numbers.txt
    equals $n --dtype u8 --shape 33x421 --roi 7,5,400,20 -b 16 -r 0:256 numbers.txt
    equals $n --letters plain.csv
    equals $n -b 50 -r 0:3000 numbers.txt
    equals $n -b 50 -r 0:100 --column 0,1 blanks.txt
    equals $n -b 50 -r 0:100 --column x --weights w --reproducible plain.csv quoted.csv
    equals $n -b 50 -r 0:100 --joint x,w --sparse quoted.csv
    equals $n --page all "$corpus/image/pages.tif" "$corpus/image/pages.tif"
    equals $n -b 64 -r 0:256 "$support/chunks.h5"
    equals $n -b 9 -r 0:100 --column x plain.csv.gz plain.csv plain.csv.gz quoted.csv
    equals $n --mask image.pgm image.pgm image.pgm
    equals $n --column tag,x --top all -b 9 -r 0:100 --weights w --reproducible tags.csv
    equals $n -b 9 -r 0:9 --column 0-3 twins.csv
    equals $n --joint tag,x --top all -b 9 -r 0:100 tags.csv
done

# Messages have the line of the file, not of the shard.
sed '1500s/n,/n,x/' plain.csv >bad.csv
refuses 1 'bad.csv, line 1500, column 1 (x)' --shard 3/4 --column x -b 9 -r 0:9 -o s.histo bad.csv
sed '1500s/$/ x/' numbers.txt >bad.txt
refuses 1 'bad.txt, line 1500, word 2' --shard 2/4 -b 9 -r 0:9 -o s.histo bad.txt

# What a shard cannot know or be.
shard="-b 9 -r 0:100 --column x plain.csv"
refuses 2 'of which a shard has some' --shard 1/2 --column x -o s.histo plain.csv
refuses 2 'only .histo files say which shard they are' --shard 1/2 $shard -o s.json
refuses 2 'standard input cannot be read again' --shard 1/2 -b 9 -r 0:9 -o s.histo
refuses 2 'numbered from 1 to 2' --shard 0/2 $shard -o s.histo
refuses 2 'numbered from 1 to 2' --shard 3/2 $shard -o s.histo
refuses 2 "'1' is not a shard" --shard 1 $shard -o s.histo
refuses 2 "'1/x' is not a shard" --shard 1/x $shard -o s.histo
refuses 2 '--shard and --batch contradict' --shard 1/2 --batch $shard -o s.histo
refuses 2 'tags.csv has more than 20 values in this shard' --shard 1/2 --column tag -o s.histo tags.csv

# From the environment: Slurm arrays, srun, PMI, Open MPI, and ranks in an array.
rm -f s-*.histo
counts() {
    checks=$((checks + 1))
    env "$@" "$histo" --shard env $shard -o env.histo && cmp env.histo "s-$i.histo" || fail "$* is not shard $i"
}
for i in 1 2 3 4 5 6; do
    "$histo" --shard $i/6 $shard -o "s-$i.histo"
    counts SLURM_ARRAY_TASK_ID=$((5 + 2 * i)) SLURM_ARRAY_TASK_MIN=7 SLURM_ARRAY_TASK_MAX=17 \
        SLURM_ARRAY_TASK_COUNT=6 SLURM_ARRAY_TASK_STEP=2
    counts SLURM_PROCID=$((i - 1)) SLURM_STEP_NUM_TASKS=6
    counts PMI_RANK=$((i - 1)) PMI_SIZE=6
    counts OMPI_COMM_WORLD_RANK=$((i - 1)) OMPI_COMM_WORLD_SIZE=6
    counts OMPI_COMM_WORLD_RANK=$(((i - 1) % 3)) OMPI_COMM_WORLD_SIZE=3 SLURM_ARRAY_TASK_ID=$(((i - 1) / 3)) \
        SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1 SLURM_ARRAY_TASK_COUNT=2
done
refuses 2 'neither a Slurm array nor srun' --shard env $shard -o s.histo
export PMI_RANK=x PMI_SIZE=2
refuses 2 "PMI_RANK is 'x'" --shard env $shard -o s.histo
export PMI_RANK=2
refuses 2 'a process that cannot be' --shard env $shard -o s.histo
unset PMI_RANK PMI_SIZE
export SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=2
refuses 2 'have gaps' --shard env $shard -o s.histo
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX SLURM_ARRAY_TASK_COUNT

# Twice, overlapping, missing, foreign.
"$histo" $shard -o one.histo
remarks 'the sum: shards 1, 4-6 of 6 are missing' merge s-3.histo s-2.histo -o some.histo
remarks 'the sum: shard 6 of 6 is missing' merge s-4.histo s-5.histo some.histo s-1.histo -o most.histo
remarks 'most.histo: shard 6 of 6 is missing' show most.histo --to tsv
remarks 'most.histo: shard 6 of 6 is missing' quantile most.histo
remarks 'most.histo: shard 6 of 6 is missing' compare most.histo one.histo
"$histo" merge -q most.histo -o most.json && grep -q '"missing": "shard 6 of 6 is missing"' most.json &&
    "$histo" show most.json --to tsv >most.tsv || fail 'what is missing of a sum in JSON'
refuses 1 'shard 3 of 6 is in s-3.histo and in s-3.histo: leave one' merge s-3.histo s-3.histo -o x.histo
refuses 1 'shard 2 of 6 is in some.histo and in s-2.histo' merge s-1.histo some.histo s-2.histo -o x.histo
refuses 1 'shard 2 of 6 is in some.histo and in most.histo' merge some.histo most.histo -o x.json
refuses 1 'shard 6 of 6 is missing' merge --complete most.histo -o x.histo
refuses 2 'one.histo is not a shard' merge --complete one.histo -o x.histo
refuses 1 's-1.histo is a shard of a run, and one.histo is not' merge one.histo s-1.histo -o x.histo
"$histo" merge --complete most.histo s-6.histo -o all.histo && cmp all.histo one.histo || fail 'the sum of sums is not the whole'
"$histo" --shard 1/5 $shard -o five.histo
refuses 1 's-2.histo is of a run in 6 shards, and five.histo of one in 5' merge s-2.histo five.histo -o x.histo
"$histo" --shard 1/6 -b 9 -r 0:101 --column x plain.csv -o range.histo
refuses 1 's-2.histo is of another run than range.histo: it counted --range 0:100, and the other --range 0:101' \
    merge s-2.histo range.histo -o x.histo
"$histo" --shard 1/6 -b 9 -r 0:100 --column x bad.csv -o other.histo
refuses 1 'it counted plain.csv, and the other bad.csv' merge s-2.histo other.histo -o x.histo
touch -d '2001-02-03' plain.csv
"$histo" --shard 1/6 $shard -o later.histo
refuses 1 'plain.csv changed between s-2.histo and later.histo' merge s-2.histo later.histo -o x.histo
"$histo" -b 9 -r 0:9 --column 0,2 -o a.histo twins.csv
"$histo" -b 9 -r 0:9 --column 2,0 -o b.histo twins.csv
"$histo" merge a.histo b.histo -o ab.histo && "$histo" merge b.histo a.histo -o ba.histo && cmp ab.histo ba.histo ||
    fail 'columns with one name'
printf '0\n50\n100\n' >edges.txt
"$histo" --shard 1/2 --column x --edges @edges.txt -o first.histo plain.csv
printf '0\n60\n100\n' >edges.txt
"$histo" --shard 2/2 --column x --edges @edges.txt -o second.histo plain.csv
refuses 1 'edges.txt changed between first.histo and second.histo' merge first.histo second.histo -o x.histo
for damage in s/shards/shades/ 's/shards 2/shards 9/' 's/of 6/of x/' 's/^shards 2 of/shards 3 of/' 's/^shards 2/shards 2,2/'; do
    LC_ALL=C sed "1,3$damage" s-2.histo >damaged.histo
    refuses 1 'damaged.histo' show damaged.histo
done

# Bins that depend on the samples are agreed on, in one or more passes.
agrees() {
    checks=$((checks + 1))
    rm -f s-*.histo agreed*.survey
    "$histo" -q "$@" -o one.histo || fail "histo $*"
    pass=0
    agreed=
    : >"$err"
    while [ $pass -eq 0 ] || grep -q 'another pass is needed' "$err" && [ $pass -lt 6 ]; do
        pass=$((pass + 1))
        for i in 1 2 3; do
            "$histo" survey --shard $i/3 $agreed "$@" -o "$i.survey" || fail "survey $i of $*"
        done
        "$histo" survey --merge 3.survey 1.survey 2.survey -o "agreed$pass.survey" >bins 2>"$err" || fail "merge: $*"
        agreed="--survey agreed$pass.survey"
    done
    for i in 1 2 3; do
        "$histo" -q --shard $i/3 $agreed "$@" -o "s-$i.histo" || fail "shard $i on agreed bins: $*"
    done
    "$histo" merge --complete s-*.histo -o all.histo && cmp one.histo all.histo || fail "agreed bins are not those of $*"
}
agrees -b 100 counts.npy
agrees numbers.txt
agrees -b fd --column x,w plain.csv
agrees -b '9;8' -r 'p1:p99;minmax' --joint x,w quoted.csv
agrees --log -b 30 --column x plain.csv
agrees -b stone numbers.txt
# Only the second shard has fractions, which decide on the default bins of all.
{ seq 0 50; seq 0 0.25 50; } >fractions.txt
for i in 1 2; do "$histo" survey --shard $i/2 fractions.txt -o $i.survey; done
"$histo" survey --merge 1.survey 2.survey -o agreed.survey >bins
for i in 1 2; do "$histo" --shard $i/2 --survey agreed.survey fractions.txt -o s-$i.histo; done
"$histo" merge --complete s-1.histo s-2.histo -o sum.histo && "$histo" fractions.txt -o whole.histo
checks=$((checks + 1))
cmp -s sum.histo whole.histo || fail 'bins of shards with and without fractions'
rm -f ?.survey
for i in 1 2; do
    "$histo" survey --shard $i/2 -b 10 numbers.txt -o "$i.survey"
done
prints '10\t1\t3000\n' survey --merge 2.survey 1.survey -o agreed.survey
refuses 1 'shard 2 of 2 is missing' survey --merge 1.survey -o x.survey
refuses 1 'shard 1 is in 1.survey again' survey --merge 1.survey 1.survey -o x.survey
refuses 1 'it counted --bins 11, and the other --bins 10' --shard 1/2 -b 11 --survey agreed.survey numbers.txt -o x.histo
refuses 1 '1.survey is not a survey of all samples: shard 2 of 2 is missing' --survey 1.survey -b 10 numbers.txt -o x.histo
refuses 1 'agreed.survey needs no other pass' survey --shard 1/2 --survey agreed.survey -b 10 numbers.txt -o x.survey
refuses 1 'numbers.txt is not a survey, or is damaged' survey --merge numbers.txt -o x.survey
LC_ALL=C sed 's/shards 1-2/shards 1-3/' agreed.survey >cut.survey
refuses 1 'cut.survey is not a survey, or is damaged' --survey cut.survey -b 10 numbers.txt -o x.histo
LC_ALL=C sed 's/minmax/fixed\x00/' agreed.survey >cut.survey
refuses 1 'cut.survey is not a survey, or is damaged' --survey cut.survey -b 10 numbers.txt -o x.histo
head -c 200 agreed.survey >cut.survey
refuses 1 'cut.survey is not a survey, or is damaged' --survey cut.survey -b 10 numbers.txt -o x.histo
refuses 2 'would overwrite its survey' --survey agreed.survey -b 10 numbers.txt -o agreed.survey --to histo
refuses 2 'the bins do not depend on the samples' survey -b 10 -r 0:9 numbers.txt -o x.survey
refuses 2 'name a file for the survey' survey -b 10 numbers.txt

# Killed at any time, the same command goes on, and ends with the same bytes and without other files.
seq 1 3 400000 >long.txt
"$histo" -q -o counts-long.npy -b 500000 -r 0:400000 long.txt
mkdir kept && cd kept || exit 1
for what in '-b 500 ../long.txt' '-b 90 -r 0:9 ../counts-long.npy ../counts.npy' '-b 30 --column x ../plain.csv.gz' \
    '--shard 2/3 -b 64 -r 0:256 ../chunks.h5 ../long.txt' '--page all --batch ../pages.tif ../image.pgm' \
    '-b 50 -r 0:100 --column x --weights w --reproducible ../quoted.csv'; do
    checks=$((checks + 1))
    cp "$support/chunks.h5" "$corpus/image/pages.tif" ..
    "$histo" -q $what -o ../one.histo || fail "histo $what"
    for kill in KILL TERM; do
        for try in 1 2 3 4 5 6 7 8; do
            "$histo" -q $what --checkpoint ck --every 0 -o out.histo &
            process=$!
            awk "BEGIN { srand($$ * 17 + $try); exit rand() * 250 }"
            sleep "0.0$(printf %03d $?)"
            kill -$kill $process
            wait $process
        done 2>/dev/null
    done
    "$histo" -q $what --checkpoint ck --every 0 -o out.histo && cmp out.histo ../one.histo || fail "histo $what, killed"
    [ "$(ls -A)" = out.histo ] || fail "histo $what, killed, leaves $(ls -A)"
    rm out.histo
done
cd .. || exit 1

# Groups: each shard has those of its own samples, and merging any order of them gives those of one run.
LC_ALL=C awk 'BEGIN { print "x,g,w"
    for (i = 0; i < 30000; i++) printf "%d,g%d,%d\n", i * 7919 % 1000, int(i / 3000) + (i % 7 == 0), i % 5 }' >groups.csv
mkdir grouped && cd grouped || exit 1
for what in '--column x -b 10 -r 0:1000' '--sort name --column x -b 10 -r 0:1000' '--joint x,w -b 4;5 -r 0:1000;0:5' \
    '--column x --weights w --reproducible -b 4 -r 0:1000' '--column x --where w=1 -b 4 -r 0:1000' \
    '--column w --where g!=g3 -b 4 -r 0:5'; do
    checks=$((checks + 1))
    rm -f ./*.histo
    for i in 1 2 3 4 5 6 7; do
        # shellcheck disable=SC2086
        "$histo" --by g --top all $what --shard $i/7 -o $i.histo ../groups.csv 2>said || fail "--by $what: $(cat said)"
    done
    # shellcheck disable=SC2086
    "$histo" -q --by g --top all $what -o one.histo ../groups.csv
    "$histo" merge --quiet 3.histo 1.histo 7.histo 2.histo 4.histo 6.histo 5.histo -o merged.histo
    for file in one merged; do
        "$histo" show --quiet --to json $file.histo | grep -v '"title"' >$file
    done
    cmp -s one merged || fail "shards of --by g $what differ from one run: $(diff one merged)"
done
printf 'x,g\n1,a\n' >tiny.csv
for i in 1 2 3; do
    "$histo" --by g --shard $i/3 -b 2 -r 0:4 --column x -o $i.histo tiny.csv || fail "an empty shard of --by"
done
"$histo" merge --quiet 3.histo 2.histo 1.histo -o merged.histo
prints 'lo\thi\tcount\n0\t2\t1\n2\t4\t0\n' show --to tsv merged.histo
cd .. || exit 1
refuses 2 'takes one column at a time with --shard' --by g --shard 1/3 -b 3 -r 0:5 --column x,w groups.csv -o x.histo
refuses 2 'leave --top out, or take --top all' --by g --top 3 --shard 1/3 -b 3 -r 0:5 --column w groups.csv -o x.histo

# A checkpoint is of one command, and no result.
checkpointed() {
    rm -f ck
    (
        "$histo" "$@" --checkpoint ck --every 0 -o out.histo &
        while [ ! -e ck ]; do :; done
        kill -KILL $!
        wait $!
    ) >"$err" 2>&1
    rm -f .histo-* # it may have been killed while it wrote the next
}
LC_ALL=C awk 'BEGIN { print "x,g,w"
    for (i = 0; i < 1000000; i++) printf "%d,g%d,%d\n", i * 7919 % 1000, i * i % 13, i % 5 }' >more.csv
for what in '--by g --column x -b 10 -r 0:1000' '--by g --top 3 --column x,w -b 7' '--column g' '--joint x,g -b 5' \
    '--category w --top 3' '--by w --column g'; do
    checks=$((checks + 1))
    rm -f out.histo
    # shellcheck disable=SC2086
    "$histo" -q $what -o one.histo more.csv
    # shellcheck disable=SC2086
    checkpointed -q $what more.csv
    [ -e ck ] || fail "histo $what has no checkpoint"
    # shellcheck disable=SC2086
    "$histo" -q $what --checkpoint ck -o out.histo more.csv && cmp out.histo one.histo || fail "histo $what, continued"
done
rm -f more.csv ck
seq 1 1500000 >longer.txt
checkpointed -b 9 -r 0:100 longer.txt
remarks 'is a checkpoint: not all of its samples are counted' show --to tsv ck
LC_ALL=C sed 's/^at 0 ./at 0 8/' ck >elsewhere # another place in the file
refuses 1 'elsewhere is damaged' --checkpoint elsewhere -b 9 -r 0:100 longer.txt -o x.histo
refuses 1 'ck is a checkpoint: finish it first' merge ck ck -o x.histo
refuses 1 'this run is of another run than ck: it counted --range 0:99, and the other --range 0:100' \
    --checkpoint ck -b 9 -r 0:99 longer.txt -o x.histo
refuses 1 'one.histo is not a checkpoint' --checkpoint one.histo -b 9 -r 0:100 longer.txt -o x.histo
refuses 1 'is not a saved histogram' --checkpoint plain.csv -b 9 -r 0:100 longer.txt -o x.histo
refuses 2 '-o and --checkpoint are both' --checkpoint x.histo -b 9 -r 0:100 longer.txt -o x.histo
refuses 2 'is its checkpoint' --checkpoint ./ck -b 9 -r 0:100 longer.txt -o ck --to histo
refuses 2 'takes the name of a file' --checkpoint - -b 9 -r 0:100 longer.txt -o x.histo
refuses 2 'add --checkpoint' --every 3 longer.txt
refuses 2 'standard input cannot be read again' --checkpoint x -b 9 -r 0:9

# Edges of a file that changed are those of another command.
printf '0\n50\n100\n' >edges.txt
checkpointed --edges @edges.txt longer.txt
touch -d '2001-02-03' edges.txt
cp ck same
"$histo" --checkpoint same --edges @edges.txt longer.txt -o x.histo || fail 'edges of a file, continued'
printf '0\n60\n100\n' >edges.txt
refuses 1 'edges.txt changed between this run and ck' --checkpoint ck --edges @edges.txt longer.txt -o x.histo

# A link stays, and the file behind it goes.
ln -s behind link
checkpointed -b 9 -r 0:100 longer.txt
mv ck behind
"$histo" --checkpoint link -b 9 -r 0:100 longer.txt -o x.histo && [ -L link ] && [ ! -e link ] || fail 'a link to a checkpoint'

# A write that fails before the last one says why.
(trap '' XFSZ && ulimit -f 8 && "$histo" -b 100000 -r 0:1500000 longer.txt -o x.json) 2>"$err" && fail 'written beyond the limit'
grep -q 'x.json cannot be written (File too large)' "$err" || fail "a write that fails: $(cat "$err")"

finish
