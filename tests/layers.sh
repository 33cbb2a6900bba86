#!/bin/sh
# Check that a folder of the library, of the command, or of the Python package's extension module, includes only its own
# headers and those of lower folders. Usage: layers.sh SOURCE_DIRECTORY
set -eu
failed=0

# allow FOLDER PREFIX NAME…: of the headers whose path begins with PREFIX, FOLDER includes only those that are in
# PREFIX/NAME. Tables (.def) are data for all.
allow() {
    folder=$1 prefix=$2
    shift 2
    names=$(echo "$@" | tr ' ' '|')
    if grep -rnE "^ *# *include \"$prefix" "$folder" | grep -vE "include \"($prefix($names)/|.*\.def\")"; then
        echo "^ $folder may include only: $*" && failed=1
    fi
}

# layers ROOT LAYER…: the layers from the lowest to the highest; folders of one layer do not include each other. The
# public header, <histo/…> or "histo/…", is below them all.
layers() {
    cd "$1"
    shift
    before=histo
    for layer in "$@"; do
        for folder in $layer; do
            # shellcheck disable=SC2086
            allow "$folder" "" $before "$folder"
        done
        before="$before $layer"
    done
}

# rooms ROOT FOLDER: each line of the input is a room of FOLDER and the rooms that it may include besides itself.
rooms() {
    cd "$1/$2"
    table=$(cat)
    for room in $(find . -name '*.[ch]*' -printf '%h\n' | sort -u | cut -c3-); do
        echo "$table" | grep -q "^$room:" || { echo "$2/$room has no row in $0" && failed=1; }
    done
    for row in $(echo "$table" | tr ' ' '|'); do
        # shellcheck disable=SC2046
        allow "${row%%:*}" "$2/" "${row%%:*}" $(echo "${row#*:}" | tr '|' ' ')
    done
}

source=$(cd "$1" && pwd)
layers "$source/src" base view axis sum table plan "cpu cuda" boosting counts survey numbers map
layers "$source/cli" base options shards input count output "apply modules" video commands
layers "$source/python/src" state samples "functions boosting" hist maps

# Device code knows no host code, and a strategy no other one.
below_strategies="device host memory launch jit few_samples"
rooms "$source/src" cuda <<END
device:
device/weights:device
host:
memory:device host
launch:device host memory
jit:device host memory launch
builtin:host jit
few_samples:device host memory launch jit
strategies/global_atomic:$below_strategies
strategies/lane_private:$below_strategies
strategies/packed_window:$below_strategies
strategies/partition:$below_strategies
strategies/sort_runs:$below_strategies
strategies/weighted_private:$below_strategies
strategies/weighted_partition:$below_strategies
transfer:device host memory launch
scan:device host memory launch
maps:device host memory launch
nodes:host memory
module:host memory launch jit transfer scan maps nodes
END
cd "$source"
allow papers/strategies cuda/ device host memory launch
exit $failed
