#!/bin/sh
# Check that the name of a type in a header means one thing in the whole tree: no other header defines a type of that
# name, and neither does a file for itself. Types in a C++ namespace have its name in front. Usage: names.sh
# SOURCE_DIRECTORY
set -eu
cd "$1"
# shellcheck disable=SC2016 # awk's, not the shell's
# host_device.h repeats types of histo.h for compilers of kernels that have no headers.
find include src cli bench papers python/src ! -path src/base/host_device.h \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) | sort |
    xargs awk '
# The name that a typedef of one or more lines, without its bodies and attributes, gives.
function name_of(text) {
    while (sub(/\{[^{}]*\}/, "", text)) { }
    gsub(/HISTO_ENUM\([a-z_]*\)/, "", text)
    gsub(/__attribute__ *\(\([^;]*\)\)/, "", text)
    gsub(/\[[^]]*\]/, "", text)
    sub(/ *;.*/, "", text)
    if (match(text, /\(\*[a-z_0-9A-Z]+\)/)) return substr(text, RSTART + 2, RLENGTH - 3)
    if (match(text, /[a-z_0-9A-Z]+\(/)) return substr(text, RSTART, RLENGTH - 1)
    match(text, /[a-z_0-9A-Z]+$/)
    return substr(text, RSTART)
}
function defined(name) {
    if (name == "") return
    name = space name
    if (FILENAME ~ /\.(h|cuh)$/) in_headers[name] = in_headers[name] " " FILENAME ":" line
    else in_files[name] = in_files[name] " " FILENAME ":" line
}
FNR == 1 { depth = 0; text = space = ""; comment = 0 }
/^} *\/\/ namespace/ { space = "" }
{
    gsub(/\/\*([^*]|\*[^\/])*\*\//, "")
    if (comment) { if (!sub(/.*\*\//, "")) next; comment = 0 }
    if (sub(/\/\*.*/, "")) comment = 1
    sub(/\/\/.*/, "")
}
/^namespace [a-z_0-9:]+/ { space = $2 "::" }
text == "" && /^typedef / { text = " "; line = FNR; depth = 0 }
text == "" && /^(struct|union|class|enum class) [A-Za-z_0-9]+( final)?( :.*)? *\{?$/ { line = FNR; defined($1 == "enum" ? $3 : $2); next }
text != "" {
    text = text " " $0
    depth += gsub(/\{/, "{") - gsub(/\}/, "}")
    if (depth > 0 || $0 !~ /;/) next
    opaque = text ~ /^ *typedef (struct|union) [a-z_0-9]+ [a-z_0-9]+;/
    if (!opaque && text !~ /NAME\(/) defined(name_of(text))
    text = ""
}
END {
    for (name in in_headers) {
        count = split(in_headers[name], places, " ")
        if (count > 1 || name in in_files) {
            print name ":" in_headers[name] in_files[name]
            failed = 1
        }
    }
    exit failed
}'
