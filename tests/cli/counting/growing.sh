# Files that grow while they are read are counted as they were when they were opened, in all passes and threads.
. "$(dirname "$0")/../support/check.sh"
command -v python3 >/dev/null || fail 'python3 is missing'

# appends FILE KIND: write 0, 1, 2, … to the file, and go on until `stop` appears.
cat >appends.py <<'END'
import os, struct, sys, time
name, kind = sys.argv[1:]
out = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
encode = {
    "text": lambda i: b"%d\n" % i,
    "csv": lambda i: b'%d,"a\nb"\n' % i,
    "json": lambda i: b'{"x": %d}\n' % i,
    "raw": lambda i: struct.pack("<I", i),
}[kind]
n, step = 0, 100000
begin = b"x,y\n" if kind == "csv" else b""
while not os.path.exists("stop") and n < 400000:
    os.write(out, begin + b"".join(map(encode, range(n, n + step)))) # at once, so that no line is cut
    n, step, begin = n + step, 5000, b""
    time.sleep(0.0005)
END
for kind in text csv json raw; do
    rm -f stop grows
    python3 appends.py grows $kind &
    appender=$!
    while ! [ -s grows ]; do sleep 0.05; done
    sleep 0.1
    case $kind in
    text) set -- ;;
    raw) set -- --dtype u32 ;;
    *) set -- --column x ;;
    esac
    for way in '- <grows' grows '--threads 3 grows' '-b fd grows' '-b 7 -r p1:p99 grows'; do
        checks=$((checks + 1))
        eval "\"\$histo\" -q --stats --to tsv $* $way" >counted || fail "$kind, $way: exit status $?"
        # Samples are 0, 1, 2, … up to the last.
        awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            NR == 2 { exit $at["samples"] != $at["max"] + 1 || $at["min"] != 0 ||
                           ("'"$way"'" !~ /p1/ && $at["overflow"] + $at["underflow"] > 0) }' counted ||
            fail "$kind, $way: not the same rows in all passes: $(cat counted)"
    done
    touch stop
    wait $appender
done
finish
