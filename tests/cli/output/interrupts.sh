# What SIGINT and SIGTERM leave: one sentence, the status that says which it was, and no file but a checkpoint.
. "$(dirname "$0")/../support/check.sh"

# starts COMMAND…: it has opened the pipe, which nobody writes, so that it runs when the signal comes. The shell opens it
# by another name.
mkfifo "$place/held"
ln "$place/held" pipe
starts() {
    exec 9<>"$place/held"
    "$@" >"$out" 2>"$err" 9>&- &
    process=$!
    # shellcheck disable=SC2010
    until ls -l "/proc/$process/fd" 2>/dev/null | grep -q '/pipe$'; do
        readlink "/proc/$process/exe" >"$place/null" || break # it has ended
    done
}

# A shell's children in the background ignore SIGINT; a command of its own does not.
begin() {
    checks=$((checks + 1))
    before=$(ls -A)
    starts env --default-signal=INT "$histo" "$@"
}

# ends SIGNAL STATUS SENTENCE WHAT
ends() {
    kill "-$1" "$process"
    wait "$process" 2>/dev/null
    status=$?
    exec 9>&-
    [ $status -eq "$2" ] || fail "$4 after SIG$1: exit status $status, not $2: $(cat "$err")"
    [ "$(cat "$err")" = "histo: $3" ] || fail "$4 after SIG$1 says: $(cat "$err")"
    [ ! -s "$out" ] || fail "$4 after SIG$1 printed: $(cat "$out")"
    [ "$(ls -A)" = "$before" ] || fail "$4 after SIG$1 leaves: $(ls -A)"
}

removed=': the unfinished output file was removed'
for what in '-b 1 -r 0:1 pipe' 'quantile pipe' 'pipe --to json' 'explain pipe' 'equalize pipe out.pgm'; do
    # shellcheck disable=SC2086
    begin $what
    ends INT 130 interrupted "histo $what"
    # shellcheck disable=SC2086
    begin $what
    ends TERM 143 terminated "histo $what"
done
for what in '-o out.json -b 1 -r 0:1 pipe' '-o out.png pipe' 'pipe -o out.histo --top 3'; do
    # shellcheck disable=SC2086
    begin $what
    ends INT 130 "interrupted$removed" "histo $what"
    # shellcheck disable=SC2086
    begin $what
    ends TERM 143 "terminated$removed" "histo $what"
done

# What was there before stays as it was.
echo before >out.json
begin -o out.json -b 1 -r 0:1 pipe
ends INT 130 "interrupted$removed" 'histo -o of a file'
[ "$(cat out.json)" = before ] || fail 'an interrupted command changed its output file'
rm out.json

# Who ignores SIGINT goes on.
checks=$((checks + 1))
starts "$histo" -b 1 -r 0:4 pipe
kill -INT $process
echo 1 2 3 >&9
exec 9>&-
wait $process || fail "a command that ignores SIGINT: $(cat "$err")"
[ "$(tail -n 1 "$out")" = "$(printf '0\t4\t3')" ] || fail "a command that ignores SIGINT printed: $(cat "$out")"
rm pipe

# With a checkpoint, the same command goes on, and its result is that of one that was never stopped. There are so many
# files that most are left when the first checkpoint is seen.
mkdir files
for i in $(seq 2000); do
    echo "$i $((i * 7 % 1000)) $((i * i % 1000))" >"files/$i.txt"
done
"$histo" -q -b 50 -r 0:1000 -o whole.histo files/*.txt || fail 'many files'
for signal in INT:130:interrupted TERM:143:terminated; do
    checks=$((checks + 1))
    name=${signal%%:*} said=${signal##*:} wanted=${signal#*:}
    env --default-signal=INT "$histo" -q -b 50 -r 0:1000 --checkpoint ck --every 0 -o out.histo files/*.txt >"$out" 2>"$err" &
    while [ ! -e ck ] && readlink "/proc/$!/exe" >"$place/null"; do :; done
    kill "-$name" $!
    wait $! 2>/dev/null
    status=$?
    [ $status -eq "${wanted%:*}" ] || fail "a checkpoint after SIG$name: exit status $status: $(cat "$err")"
    [ "$(cat "$err")" = "histo: $said: the same command goes on from ck" ] || fail "a checkpoint after SIG$name says: $(cat "$err")"
    [ "$(ls -A)" = "$(printf 'ck\nfiles\nwhole.histo')" ] || fail "a checkpoint after SIG$name leaves: $(ls -A)"
    remarks 'ck is a checkpoint: not all of its samples are counted' show ck --to tsv
    "$histo" -q -b 50 -r 0:1000 --checkpoint ck -o out.histo files/*.txt && cmp out.histo whole.histo ||
        fail "going on after SIG$name gives another result"
    [ "$(ls -A)" = "$(printf 'files\nout.histo\nwhole.histo')" ] || fail "going on after SIG$name leaves: $(ls -A)"
    rm out.histo
done
finish
