# histo --live, on pseudo-terminals.
. "$(dirname "$0")/../support/check.sh"
printf '1\n' >one.txt
refuses 2 'which standard output is not' --live one.txt
refuses 2 'contradict each other' --live --batch -
checks=$((checks + 1))
python3 "$support/live.py" "$histo" || failures=$((failures + 1))
finish
