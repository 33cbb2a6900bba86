#!/bin/sh
# Check that a folder of the library, of the command, or of the Python package's extension module, includes only its own
# headers and those of lower folders. Usage: layers.sh SOURCE_DIRECTORY
set -eu
failed=0

# check ROOT LAYER…: the layers from the lowest to the highest; folders of one layer do not include each other. The
# public header, <histo/…> or "histo/…", is below them all, and tables (.def) are data for all.
check() {
    cd "$1"
    shift
    before=histo
    for layer in "$@"; do
        for folder in $layer; do
            allowed=$(echo "$before $folder" | tr ' ' '|')
            if grep -rnE '^ *# *include "' "$folder" | grep -vE "include \"(($allowed)/|.*\.def\")"; then
                echo "^ $folder may include only: $before $folder" && failed=1
            fi
        done
        before="$before $layer"
    done
}

source=$(cd "$1" && pwd)
check "$source/src" base view axis sum table plan "cpu cuda" counts survey numbers map
check "$source/cli" base options shards input count output "apply modules" video commands
check "$source/python/src" state samples functions hist maps
exit $failed
