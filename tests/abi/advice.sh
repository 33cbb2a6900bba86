#!/bin/sh
# Say what to do where programs that were built with the headers in abi/ would not run with today's library.
set -eu
cd "$(dirname "$0")/../.."
version=$(basename abi/histo-*.tar.xz .tar.xz)
cat <<END
The ABI is not that in abi/$version.tar.xz.
- As long as nobody has $version: keep the new ABI by script/abi --update, and commit what that changes.
- Otherwise take the change back, or let what is new take the place of reserved fields (see the head of histo.h).
- If old programs must break: add one to HISTO_SOVERSION in CMakeLists.txt, and rename the package
  $(sed -n 's/^Package: \(libhisto[0-9]*\)$/\1/p' debian/control) in debian/.
END
