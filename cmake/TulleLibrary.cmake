# One function per kind of target, so that flags are written once.

add_library(tulle_flags INTERFACE)
target_include_directories(tulle_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib
                                                 ${PROJECT_BINARY_DIR}/lib)
# -fPIC by flag, not by POSITION_INDEPENDENT_CODE, so that executables can share the precompiled header.
target_compile_options(tulle_flags INTERFACE -fPIC -Wall -Wextra -Wno-unused-parameter -Werror=return-type
                       # libstdc++ 12's own std::stable_sort calls what C++17 deprecates.
                       -Wno-deprecated-declarations)
if(TULLE_SANITIZE)
  target_compile_options(tulle_flags INTERFACE -fsanitize=${TULLE_SANITIZE} -fno-omit-frame-pointer
                                               -fno-sanitize-recover=undefined -fno-sanitize=vptr,function)
  target_link_options(tulle_flags INTERFACE -fsanitize=${TULLE_SANITIZE})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # ccache can only reuse a precompiled header whose bytes do not change with the clock.
  target_compile_options(tulle_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

add_library(tulle_mlir_flags INTERFACE)
target_include_directories(tulle_mlir_flags SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(tulle_mlir_flags INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(tulle_mlir_flags INTERFACE MLIR LLVM)

# tulle_add_pch(TARGET HEADER [libraries...]): HEADER.h, precompiled; HEADER.cpp carries it, and has nothing else.
function(tulle_add_pch target header)
  add_library(${target} STATIC ${header}.cpp)
  target_link_libraries(${target} PUBLIC tulle_flags fmt::fmt ${ARGN})
  target_precompile_headers(${target} PRIVATE ${header}.h)
endfunction()

# tulle_add_library(NAME [MLIR] [PCH TARGET] DEPENDS other...): every .cpp of the current folder (and of SUBDIRS) in one static library. TARGET has
# the precompiled header, where that is not the one of its kind (tulle_add_pch).
function(tulle_add_library name)
  cmake_parse_arguments(ARG "MLIR" "PCH" "DEPENDS;SUBDIRS" ${ARGN})
  set(globs ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(sub ${ARG_SUBDIRS})
    list(APPEND globs ${CMAKE_CURRENT_SOURCE_DIR}/${sub}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${globs})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC tulle_flags ${ARG_DEPENDS})
  if(ARG_MLIR)
    target_link_libraries(${name} PUBLIC tulle_mlir_flags)
    set(pch tulle_pch)
  else()
    set(pch tulle_plain_pch)
  endif()
  if(ARG_PCH)
    set(pch ${ARG_PCH})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${pch})
  set_property(GLOBAL APPEND PROPERTY TULLE_LIBRARIES ${name})
endfunction()
