# The C++ loop that bench/host compares calls with: a Python module of its own, <build>/bench/_floor.so.
if(TARGET meshfuse_torch_objects)
  add_library(meshfuse_bench_floor MODULE ${PROJECT_SOURCE_DIR}/bench/host/floor/floor.cpp)
  target_compile_options(meshfuse_bench_floor PRIVATE ${MESHFUSE_WARNINGS})
  target_link_libraries(meshfuse_bench_floor PRIVATE torch::python Python::Module)
  target_precompile_headers(meshfuse_bench_floor REUSE_FROM meshfuse_torch_objects)
  set_target_properties(meshfuse_bench_floor PROPERTIES PREFIX "" DEFINE_SYMBOL "" OUTPUT_NAME _floor
                                                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endif()

# The loop by hand that bench/kernels compares sums with, in the flags of kernels: <build>/bench/_loops.so.
add_library(meshfuse_bench_loops MODULE ${PROJECT_SOURCE_DIR}/bench/kernels/loops/loops.cpp)
target_compile_options(meshfuse_bench_loops PRIVATE ${MESHFUSE_WARNINGS} ${MESHFUSE_KERNEL_FLAGS} -fopenmp)
target_link_libraries(meshfuse_bench_loops PRIVATE torch::cpu)
set_target_properties(meshfuse_bench_loops PROPERTIES PREFIX "" DEFINE_SYMBOL "" OUTPUT_NAME _loops
                                                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)

# One Google Benchmark binary per folder of bench/ that holds .cpp files: bench_<folder>, linked with libmeshfuse.
find_package(benchmark)
if(NOT benchmark_FOUND)
  message(WARNING "meshfuse: Google Benchmark was not found, bench_* are left out (Debian: libbenchmark-dev)")
  return()
endif()

file(GLOB _sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR}/bench/*/*.cpp)
set(_names ${_sources})
list(TRANSFORM _names REPLACE "/.*" "")
list(REMOVE_DUPLICATES _names)
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/bench/device/loops.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS
                                                          "${MESHFUSE_KERNEL_FLAGS}")
foreach(_name IN LISTS _names)
  set(_files ${_sources})
  list(FILTER _files INCLUDE REGEX "^${_name}/")
  list(TRANSFORM _files PREPEND ${PROJECT_SOURCE_DIR}/bench/)
  add_executable(bench_${_name} ${_files})
  target_compile_options(bench_${_name} PRIVATE ${MESHFUSE_WARNINGS})
  target_include_directories(bench_${_name} PRIVATE ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR})
  target_link_libraries(bench_${_name} PRIVATE meshfuse benchmark::benchmark benchmark::benchmark_main)
  meshfuse_use_torch(bench_${_name} PRIVATE)
  set_target_properties(bench_${_name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()
