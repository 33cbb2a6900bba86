# Write a header that defines HISTO_BUILD: the version, and a digest of all headers. Objects that were compiled from the
# same headers fit together.
#
#     cmake -D VERSION=… -D "HEADERS=paths separated by blanks" -D OUTPUT=FILE -P build_id.cmake
string(REPLACE " " ";" headers "${HEADERS}")
set(digests "")
foreach(header IN LISTS headers)
  file(SHA256 ${header} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT} "#define HISTO_BUILD \"${VERSION} (build ${digest})\"\n")
