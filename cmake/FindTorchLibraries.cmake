# Imported targets for the parts of an installed PyTorch that meshfuse links.
#
# find_package(Torch) is not used: on a CUDA build of torch it demands a CUDA toolkit, and it adds flags we do not want.
# Linking torch_cpu, c10 and torch_python is enough on every build of torch.
#
#   torch::cpu     torch_cpu + c10, headers and ABI flag
#   torch::python  torch_python (only for the Python extension)
if(TARGET torch::cpu)
  return()
endif()
execute_process(
  COMMAND
    ${Python_EXECUTABLE} -c
    "import torch, os; print(os.path.dirname(torch.__file__)); print(torch.__version__); print(int(torch.compiled_with_cxx11_abi()))"
  OUTPUT_VARIABLE _torch_facts
  ERROR_VARIABLE _torch_error
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE _torch_status)
if(NOT _torch_status EQUAL 0)
  set(_way_out "Run 'make build', which sets up a .venv with torch, or name a Python that has torch with -DPython_EXECUTABLE=...")
  if(SKBUILD)
    set(_way_out "Install torch first, then run 'pip install --no-build-isolation .' with scikit-build-core and nanobind "
                 "installed: an isolated build does not see the installed torch, and naming torch as a build requirement "
                 "would download gigabytes")
    list(JOIN _way_out "" _way_out)
  endif()
  message(FATAL_ERROR "meshfuse: ${Python_EXECUTABLE} cannot import torch, which the build needs. ${_way_out}.\n${_torch_error}")
endif()
string(REPLACE "\n" ";" _torch_facts "${_torch_facts}")
list(GET _torch_facts 0 TORCH_ROOT)
list(GET _torch_facts 1 TORCH_VERSION)
list(GET _torch_facts 2 TORCH_CXX11_ABI)
message(STATUS "torch ${TORCH_VERSION} at ${TORCH_ROOT}")

add_library(torch::c10 SHARED IMPORTED)
set_target_properties(torch::c10 PROPERTIES IMPORTED_LOCATION ${TORCH_ROOT}/lib/libc10.so)
target_include_directories(torch::c10 SYSTEM INTERFACE ${TORCH_ROOT}/include
                                                       ${TORCH_ROOT}/include/torch/csrc/api/include)
target_compile_definitions(torch::c10 INTERFACE _GLIBCXX_USE_CXX11_ABI=${TORCH_CXX11_ABI})

add_library(torch::cpu SHARED IMPORTED)
set_target_properties(torch::cpu PROPERTIES IMPORTED_LOCATION ${TORCH_ROOT}/lib/libtorch_cpu.so)
target_link_libraries(torch::cpu INTERFACE torch::c10)
target_compile_definitions(torch::cpu INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
# at::parallel_for's code in our files calls OpenMP. It must be the copy torch loads: two copies are two thread pools.
file(GLOB _torch_openmp ${TORCH_ROOT}/lib/libgomp*.so*)
if(_torch_openmp)
  list(GET _torch_openmp 0 _torch_openmp)
  target_link_libraries(torch::cpu INTERFACE ${_torch_openmp})
else()
  target_link_options(torch::cpu INTERFACE -fopenmp)
endif()

add_library(torch::python SHARED IMPORTED)
set_target_properties(torch::python PROPERTIES IMPORTED_LOCATION ${TORCH_ROOT}/lib/libtorch_python.so)
target_link_libraries(torch::python INTERFACE torch::cpu)
