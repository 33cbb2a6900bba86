# Pictures in terminals, by kitty's protocol and as sixels.
. "$(dirname "$0")/../support/check.sh"
printf '1\n2\n2\n3\n' >n.txt
sixel=sixel
if ! "$histo" --to sixel n.txt >"$out" 2>"$err"; then
    sixel=
    grep -q 'libsixel (Debian: libsixel-dev), which this build lacks' "$err" || fail "no sixels: $(cat "$err")"
fi
checks=$((checks + 1))
python3 "$support/inline.py" "$histo" n.txt $sixel || failures=$((failures + 1))
finish
