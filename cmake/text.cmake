# Write a C file with the texts of files as arrays of characters, named as the files are: page.css is page_css.
#
#     cmake -D FILES=… -D OUTPUT=FILE -P text.cmake      FILES: separated by blanks
cmake_minimum_required(VERSION 3.25)

string(REPLACE " " ";" files "${FILES}")
set(texts "")
foreach(file IN LISTS files)
  file(READ ${file} text)
  cmake_path(GET file FILENAME name)
  string(MAKE_C_IDENTIFIER ${name} name)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND texts "extern const char ${name}[];\nconst char ${name}[] =\n    \"${text}\";\n")
endforeach()
file(WRITE ${OUTPUT} "${texts}")
