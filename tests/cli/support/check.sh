# Shared by the tests of the command. A test begins with
#     . "$(dirname "$0")/../support/check.sh"
# and ends with `finish`. It runs in an empty directory, which is removed at the end. $histo is the command; $data is a
# directory of real files, or empty if they are not installed.
set -u
case $1 in
/*) histo=$1 ;;
*) histo=$PWD/$1 ;;
esac
support=$(cd "$(dirname "$0")/../support" && pwd)
LSAN_OPTIONS=suppressions=$support/../../lsan.supp:print_suppressions=0
export LSAN_OPTIONS
data=/usr/share/matplotlib/mpl-data/sample_data
[ -d "$data" ] || data=
LC_ALL=C.UTF-8
PYTHONDONTWRITEBYTECODE=1
export LC_ALL PYTHONDONTWRITEBYTECODE
unset HISTO_STRATEGY HISTO_THREADS COLUMNS LINES NO_COLOR XDG_CONFIG_HOME XDG_CACHE_HOME HISTO_KERNEL_CACHE
place=$(mktemp -d)
HOME=$place # no wisdom and no kernels of the user's
export HOME
err=$place/err
out=$place/out
mkdir "$place/work"
cd "$place/work" || exit 1
trap 'rm -rf "$place"' EXIT
checks=0
failures=0

# needs FORMAT LIBRARY: a build that cannot read the format has nothing to test.
needs() {
    "$histo" info | grep -q "$1 .*not in this build" || return 0
    echo "this build lacks $2"
    exit 0
}

# makes_files <<'END': a program in Python, which may import what is in support, makes the files of the test.
makes_files() {
    PYTHONPATH=$support python3 - || fail "the files cannot be made"
}

fail() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$*"
}

# prints EXPECTED ARGUMENTS…: the command succeeds, writes nothing to standard error, and prints EXPECTED (escapes as in
# printf %b; standard input is passed on).
prints() {
    expected=$(printf '%b.' "$1")
    shift
    checks=$((checks + 1))
    "$histo" "$@" >"$out" 2>"$err"
    status=$?
    actual=$(cat "$out" && echo .)
    [ $status -eq 0 ] || fail "histo $*: exit status $status: $(cat "$err")"
    [ ! -s "$err" ] || fail "histo $*: said on standard error: $(cat "$err")"
    [ "$actual" = "$expected" ] || fail "histo $*: printed
$actual
instead of
$expected"
}

# shows PATTERN ARGUMENTS…: the command succeeds, and a line of its output matches the basic regular expression.
shows() {
    pattern=$1
    shift
    checks=$((checks + 1))
    "$histo" "$@" >"$out" 2>"$err" || fail "histo $*: exit status $?: $(cat "$err")"
    grep -q -e "$pattern" "$out" || fail "histo $*: prints no line with '$pattern':
$(cat "$out")"
}

# remarks PATTERN ARGUMENTS…: the command succeeds, with one matching remark on standard error.
remarks() {
    pattern=$1
    shift
    checks=$((checks + 1))
    "$histo" "$@" >"$out" 2>"$err" || fail "histo $*: exit status $?: $(cat "$err")"
    [ "$(wc -l <"$err")" -eq 1 ] || fail "histo $*: not one remark: $(cat "$err")"
    grep -q -e "$pattern" "$err" || fail "histo $*: no remark has '$pattern': $(cat "$err")"
}

# like ARRAY ARGUMENTS…: prints the counts of ARRAY, a file, in 50 bins, and nothing on standard error.
like() {
    array=$1
    shift
    checks=$((checks + 1))
    "$histo" -b 50 -r minmax "$array" >"$place/expected" 2>"$err" || fail "histo $array: $(cat "$err")"
    "$histo" -b 50 -r minmax "$@" >"$out" 2>"$err" || fail "histo $*: exit status $?: $(cat "$err")"
    [ ! -s "$err" ] || fail "histo $*: said on standard error: $(cat "$err")"
    cmp -s "$place/expected" "$out" || fail "histo $*: not the counts of $array: $(diff "$place/expected" "$out")"
}

# refuses STATUS PATTERN ARGUMENTS…: the command exits with STATUS and one matching message, prints nothing, and neither
# creates a file nor leaves one behind.
refuses() {
    wanted=$1
    pattern=$2
    shift 2
    checks=$((checks + 1))
    before=$(ls -A)
    "$histo" "$@" >"$out" 2>"$err"
    status=$?
    [ $status -eq "$wanted" ] || fail "histo $*: exit status $status, not $wanted: $(cat "$err")"
    [ ! -s "$out" ] || fail "histo $*: printed something although it failed"
    [ "$(wc -l <"$err")" -eq 1 ] || fail "histo $*: not one line on standard error: $(cat "$err")"
    grep -q -e "^histo: .*$pattern" "$err" || fail "histo $*: the sentence has no '$pattern': $(cat "$err")"
    [ "$(ls -A)" = "$before" ] || fail "histo $*: left files behind: $(ls -A)"
}

# npy FILE DTYPE SHAPE: write an array in NumPy's format from the samples on standard input; SHAPE is a Python tuple.
npy() {
    {
        printf '\223NUMPY\001\000v\000'
        printf '%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
        cat
    } >"$1"
}

finish() {
    [ $failures -eq 0 ] || {
        echo "$failures of $checks checks failed"
        exit 1
    }
    echo "$checks checks passed"
    exit 0
}
