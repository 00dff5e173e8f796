# Compiler settings shared by all our targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# -fPIC for executables as well (instead of CMake's -fPIE): one precompiled header serves libraries and tests.
add_compile_options(-fPIC -fno-semantic-interposition)
if(MESHFUSE_SANITIZE)
  add_compile_options(-fsanitize=${MESHFUSE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MESHFUSE_SANITIZE})
endif()

set(MESHFUSE_WARNINGS -Wall -Wextra)
# Errors with the compiler that we develop with; others warn of other things, some of them wrongly.
if(MESHFUSE_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND MESHFUSE_WARNINGS -Werror)
endif()

# What generated code is compiled with, for tests and benchmarks that include the text of device/.
set(MESHFUSE_KERNEL_FLAGS -O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd -fwrapv)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND MESHFUSE_KERNEL_FLAGS -O2 -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops -funswitch-loops
       -floop-unroll-and-jam -fno-tree-pre -fno-thread-jumps -fno-tree-slp-vectorize)
endif()
