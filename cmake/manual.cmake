# Manual pages of the library, made from its headers.
if(HISTO_MANUAL STREQUAL ON)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
elseif(HISTO_MANUAL STREQUAL AUTO)
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(STATUS "Python 3.9 was not found: there will be no manual pages of the library")
  endif()
endif()
if(HISTO_MANUAL AND Python3_FOUND)
  set(scripts ${PROJECT_SOURCE_DIR}/script/documents)
  set(manual ${PROJECT_BINARY_DIR}/manual)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/histo/*)
  add_custom_command(OUTPUT ${manual}/made DEPENDS ${scripts}/manual.py ${scripts}/header.py ${headers}
    COMMAND ${Python3_EXECUTABLE} -B ${scripts}/manual.py ${PROJECT_VERSION} ${manual}/man3
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}/made
    VERBATIM)
  add_custom_target(histo_manual ALL DEPENDS ${manual}/made)
  set_target_properties(histo_manual PROPERTIES INSTALLED ${manual}/made)
  install(DIRECTORY ${manual}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN *.3)
endif()
