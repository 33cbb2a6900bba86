#!/bin/sh
# Check that a folder of the library includes only its own headers and those of lower folders. Usage: layers.sh
# SOURCE_DIRECTORY
set -eu
cd "$1/src"
before="histo" # the public header
failed=0
for layer in base view axis sum table plan "cpu cuda" counts survey numbers map; do
    for folder in $layer; do
        allowed=$(echo "$before $folder" | tr ' ' '|')
        if grep -rnE '^ *# *include "' "$folder" | grep -vE "include \"($allowed)/"; then
            echo "^ $folder may include only: $before $folder" && failed=1
        fi
    done
    before="$before $layer"
done
exit $failed
