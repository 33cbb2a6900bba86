# Find nvcc, unless HISTO_CUDA is OFF, and set HISTO_WITH_CUDA. The runtime is linked statically and looks for the
# driver at run time, so a build with CUDA works on machines without it.
set(HISTO_WITH_CUDA FALSE)
if(NOT HISTO_CUDA)
  return()
endif()
include(CheckLanguage)
set(CMAKE_CUDA_ARCHITECTURES OFF) # ours are options, below
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(NOT HISTO_CUDA STREQUAL AUTO)
    message(FATAL_ERROR "HISTO_CUDA is ${HISTO_CUDA}, but nvcc was not found: put it into PATH or set CUDACXX")
  endif()
  message(STATUS "nvcc was not found: the CUDA backend is left out")
  return()
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(HISTO_WITH_CUDA TRUE)
set(HISTO_CUDA_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")

# Machine code for each architecture but those that are called 90-virtual, as CMake does, and PTX of the last for future
# ones. Code runs on all GPUs of its major version, from its minor version up. The release has code for each kind of GPU
# that many people have, as far as this nvcc knows it.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9]+" known "${known}")
list(FILTER known EXCLUDE REGEX "^([0-6].|7[0-4])$")
list(SORT known COMPARE NATURAL)
if(HISTO_CUDA_ARCHITECTURES STREQUAL "all")
  set(architectures ${known})
elseif(HISTO_CUDA_ARCHITECTURES STREQUAL "release" OR HISTO_CUDA_ARCHITECTURES STREQUAL "")
  set(architectures ${known})
  list(FILTER architectures INCLUDE REGEX "^(75|80|86|89|90|100|120)$")
else()
  set(architectures ${HISTO_CUDA_ARCHITECTURES})
endif()
set(gencode "")
foreach(architecture IN LISTS architectures)
  if(NOT architecture MATCHES "-virtual$")
    list(APPEND gencode "SHELL:-gencode arch=compute_${architecture},code=sm_${architecture}")
  endif()
endforeach()
list(GET architectures -1 last)
string(REPLACE "-virtual" "" last ${last})
list(APPEND gencode "SHELL:-gencode arch=compute_${last},code=compute_${last}")
string(REGEX MATCHALL "[0-9]+" HISTO_CUDA_BUILT_FOR "${architectures}") # numbers for device.cu: 90a is 90
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} for: ${architectures}")

# A quarter of nvcc's default size. Drivers since 550 (CUDA 12.4) can decompress it; CUDA 13 needs a later one anyway.
set(compression "")
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
  set(compression --compress-mode=size)
endif()
# For profilers. It would more than double the library's size.
set(line_information "")
if(HISTO_PROFILE)
  set(line_information -lineinfo)
endif()

# Contraction would make slots differ from the CPU's. No exceptions and no C++ library: the host code is C. Symbols that
# are unique in the process could not be made local. The disabled warnings come from code that nvcc generates.
target_compile_options(histo_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:${gencode};${compression};${line_information};-fmad=false;-Werror=all-warnings;SHELL:-Xcompiler=-Wall,-Wextra,-Wshadow,-Werror,-Wno-tautological-compare,-Wno-missing-field-initializers,-Wno-parentheses,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-fno-gnu-unique,-ffp-contract=off>")
