# Damaged files of every format: the command ends by itself, with little memory, and says nothing that steers a terminal.
. "$(dirname "$0")/../support/check.sh"

checks=1
python3 "$support/mutate.py" "$histo" "$support/../../fuzz/corpus" || fail 'mutations'
finish
