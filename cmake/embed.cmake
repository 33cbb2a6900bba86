# Write a C file with the texts of headers that kernels are made of, for src/cuda/jit/embedded_headers.h: the ROOTS, paths
# below the folder SOURCES separated by blanks, and all that they include, without comments.
#
#     cmake -D SOURCES=… -D ROOTS=… -D OUTPUT=FILE -D DEPFILE=FILE -P embed.cmake
cmake_minimum_required(VERSION 3.25)

string(REPLACE " " ";" queue "${ROOTS}")
set(names ${queue})
set(texts "")
set(inputs "")
while(queue)
  list(POP_FRONT queue name)
  file(READ ${SOURCES}/${name} text)
  string(APPEND inputs " \\\n  ${SOURCES}/${name}")
  string(REGEX MATCHALL "#include \"[^\"]*\"" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" include "${include}")
    if(NOT include IN_LIST names)
      list(APPEND names ${include})
      list(APPEND queue ${include})
    endif()
  endforeach()
  string(REGEX REPLACE "/[*][^*]*[*]+([^/*][^*]*[*]+)*/" " " text "${text}")
  string(REGEX REPLACE "[ \t]*\n[ \t\n]*" "\n" text "${text}")
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND texts "    {\"${name}\",\n     \"${text}\"},\n")
endwhile()
list(LENGTH names count)
string(SHA256 digest "${texts}")
file(WRITE ${OUTPUT} "#include \"cuda/jit/embedded_headers.h\"

const char histo_embedded_header_digest[] = \"${digest}\";
const int histo_embedded_header_count = ${count};
const histo_embedded_header histo_embedded_headers[] = {
${texts}};
")
file(WRITE ${DEPFILE} "${OUTPUT}:${inputs}\n")
