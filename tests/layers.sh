#!/bin/sh
# Check that a folder of the library, or of the Python package's extension module, includes only its own headers and
# those of lower folders. Usage: layers.sh SOURCE_DIRECTORY
set -eu
failed=0

# check ROOT LAYER…: the layers from the lowest to the highest; folders of one layer do not include each other. The
# public header, <histo/…> or "histo/…", is below them all.
check() {
    cd "$1"
    shift
    before=histo
    for layer in "$@"; do
        for folder in $layer; do
            allowed=$(echo "$before $folder" | tr ' ' '|')
            if grep -rnE '^ *# *include "' "$folder" | grep -vE "include \"($allowed)/"; then
                echo "^ $folder may include only: $before $folder" && failed=1
            fi
        done
        before="$before $layer"
    done
}

source=$(cd "$1" && pwd)
check "$source/src" base view axis sum table plan "cpu cuda" counts survey numbers map
check "$source/python/src" state samples functions hist maps
exit $failed
