# Modules of the command for formats whose libraries few systems have (HISTO_FORMATS).

# add_module of a library that a system may lack: found or not, its target, and what to install.
function(add_module_if name found library needs)
  if(found)
    add_module(${name} ${library})
  elseif(HISTO_FORMATS STREQUAL "ON")
    message(FATAL_ERROR "The format ${name} needs ${needs}: install it, or set HISTO_FORMATS to AUTO")
  else()
    message(STATUS "Without the format ${name}, which needs ${needs}")
  endif()
endfunction()
# The same of pkg-config's packages.
function(add_format_module name)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${ARGN})
  add_module_if(${name} "${${name}_FOUND}" PkgConfig::${name} "${ARGN}")
endfunction()

# Compression.
find_package(BZip2 QUIET)
add_module_if(bzip2 "${BZIP2_FOUND}" BZip2::BZip2 libbz2)
add_format_module(isal libisal)
add_format_module(xz liblzma)
add_format_module(zstd libzstd)

# Images.
find_package(OpenEXR 3.1 CONFIG QUIET)
add_module_if(exr "${OpenEXR_FOUND}" OpenEXR::OpenEXR "OpenEXR 3.1")
find_package(GIF 5 QUIET)
add_module_if(gif "${GIF_FOUND}" GIF::GIF "giflib 5")
add_format_module(heif libheif)
add_format_module(jp2 libopenjp2)
add_format_module(jxl libjxl libjxl_threads)
add_format_module(webp libwebp libwebpdemux)
add_format_module(sixel libsixel)

# Scans, arrays and sound. GDCM's package for CMake wants more than the library.
find_path(GDCM_INCLUDE gdcmImageRegionReader.h PATH_SUFFIXES gdcm-3.0)
find_library(GDCM_MSFF gdcmMSFF)
find_library(GDCM_DSED gdcmDSED)
find_library(GDCM_COMMON gdcmCommon)
if(GDCM_INCLUDE AND GDCM_MSFF AND GDCM_DSED AND GDCM_COMMON)
  add_library(gdcm INTERFACE)
  target_include_directories(gdcm SYSTEM INTERFACE ${GDCM_INCLUDE})
  target_link_libraries(gdcm INTERFACE ${GDCM_MSFF} ${GDCM_DSED} ${GDCM_COMMON})
  set(GDCM_FOUND TRUE)
endif()
add_module_if(dicom "${GDCM_FOUND}" "gdcm;ZLIB::ZLIB" "GDCM 3")
add_format_module(fits cfitsio)
add_format_module(mat matio)
if(TARGET histo_mat)
  target_link_libraries(histo_mat PUBLIC ZLIB::ZLIB)
endif()
add_format_module(sound sndfile)
pkg_check_modules(zarr QUIET IMPORTED_TARGET RapidJSON blosc libzstd)
add_module_if(zarr "${zarr_FOUND}" "PkgConfig::zarr;PkgConfig::ZIP;ZLIB::ZLIB" "RapidJSON;blosc;libzstd")

# Tables.
add_format_module(json RapidJSON)
# RapidJSON adds to null pointers in an empty stack.
set_source_files_properties(modules/json/parse.cpp modules/zarr/metadata.cpp
                            PROPERTIES COMPILE_OPTIONS -fno-sanitize=pointer-overflow)
add_format_module(sqlite sqlite3)
# Arrow is in no Debian 12 package: it is found by its own CMake files, or in the directory of Python's pyarrow, of which
# two files are installed beside the module.
set(HISTO_ARROW "" CACHE PATH "A directory of pyarrow, which has Arrow's C++ library; empty: find it by CMake")
add_library(arrow_cpp INTERFACE)
target_compile_features(arrow_cpp INTERFACE cxx_std_20)
if(HISTO_ARROW)
  file(GLOB arrow_libraries ${HISTO_ARROW}/libarrow.so.* ${HISTO_ARROW}/libparquet.so.*)
  target_include_directories(arrow_cpp SYSTEM INTERFACE ${HISTO_ARROW}/include)
  target_link_libraries(arrow_cpp INTERFACE ${arrow_libraries})
else()
  find_package(Arrow QUIET)
  find_package(Parquet QUIET)
  target_link_libraries(arrow_cpp INTERFACE $<TARGET_NAME_IF_EXISTS:Arrow::arrow_shared>
                                            $<TARGET_NAME_IF_EXISTS:Parquet::parquet_shared>)
endif()
if(HISTO_ARROW OR (Arrow_FOUND AND Parquet_FOUND))
  add_module(arrow arrow_cpp)
  if(TARGET arrow AND HISTO_ARROW)
    set_target_properties(arrow PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(FILES ${arrow_libraries} DESTINATION ${modules_directory} COMPONENT histo)
  elseif(TARGET arrow)
    set_target_properties(arrow PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
else()
  message(STATUS "Without the formats parquet and arrow, which need Apache Arrow's C++ library")
endif()
