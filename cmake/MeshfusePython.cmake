# The Python extension meshfuse/_C, beside libmeshfuse.so and links to python/meshfuse/*.py in <build>/python/meshfuse,
# so that PYTHONPATH=<build>/python runs what was built.
set(MESHFUSE_PYTHON_DIR ${PROJECT_BINARY_DIR}/python/meshfuse)

file(
  GLOB_RECURSE _modules
  CONFIGURE_DEPENDS
  RELATIVE ${PROJECT_SOURCE_DIR}/python/meshfuse
  ${PROJECT_SOURCE_DIR}/python/meshfuse/*.py ${PROJECT_SOURCE_DIR}/python/meshfuse/*.pyi
  ${PROJECT_SOURCE_DIR}/python/meshfuse/py.typed)
foreach(_module IN LISTS _modules)
  cmake_path(GET _module PARENT_PATH _folder)
  file(MAKE_DIRECTORY ${MESHFUSE_PYTHON_DIR}/${_folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/meshfuse/${_module} ${MESHFUSE_PYTHON_DIR}/${_module} SYMBOLIC)
endforeach()

file(GLOB _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/meshfuse/${MESHFUSE_python_FOLDER}/*.cpp)
if(NOT _sources)
  return()
endif()
execute_process(
  COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE _nanobind_dir
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET
  RESULT_VARIABLE _nanobind_status)
if(NOT _nanobind_status EQUAL 0 OR NOT TARGET Python::Module)
  message(WARNING "meshfuse: nanobind or the Python headers were not found for ${Python_EXECUTABLE}, meshfuse._C is left "
                  "out ('pip install nanobind'; Debian: python3-dev)")
  return()
endif()
find_package(nanobind CONFIG REQUIRED PATHS ${_nanobind_dir} NO_DEFAULT_PATH)

# The files that include torch_python's headers, which cost ten seconds each even when precompiled: this one and bench/host's
# floor.
set(_torch_objects ${PROJECT_SOURCE_DIR}/src/meshfuse/${MESHFUSE_python_FOLDER}/torch_objects.cpp)
list(REMOVE_ITEM _sources ${_torch_objects})
add_library(meshfuse_torch_objects OBJECT ${_torch_objects})
target_compile_options(meshfuse_torch_objects PRIVATE ${MESHFUSE_WARNINGS})
target_include_directories(meshfuse_torch_objects PRIVATE ${MESHFUSE_SOURCE_ROOT})
target_link_libraries(meshfuse_torch_objects PRIVATE torch::python Python::Module)
target_precompile_headers(meshfuse_torch_objects PRIVATE <torch/csrc/autograd/python_variable.h>)

set_source_files_properties(${PROJECT_SOURCE_DIR}/src/meshfuse/${MESHFUSE_python_FOLDER}/module.cpp
                            PROPERTIES COMPILE_DEFINITIONS MESHFUSE_VERSION="${PROJECT_VERSION}")
nanobind_add_module(meshfuse_python NB_STATIC NOMINSIZE ${_sources} $<TARGET_OBJECTS:meshfuse_torch_objects>)
set_target_properties(
  meshfuse_python
  PROPERTIES OUTPUT_NAME _C
             LIBRARY_OUTPUT_DIRECTORY ${MESHFUSE_PYTHON_DIR}
             INSTALL_RPATH $ORIGIN)
target_compile_options(meshfuse_python PRIVATE ${MESHFUSE_WARNINGS})
target_link_libraries(meshfuse_python PRIVATE meshfuse torch::python)
target_precompile_headers(
  meshfuse_python
  PRIVATE
  <ATen/core/Tensor.h>
  <nanobind/nanobind.h>
  <nanobind/stl/function.h>
  <nanobind/stl/optional.h>
  <nanobind/stl/pair.h>
  <nanobind/stl/string.h>
  <nanobind/stl/string_view.h>
  <nanobind/stl/variant.h>
  <nanobind/stl/vector.h>
  <memory>
  <sstream>
  <unordered_map>
  <vector>)

# Types for editors and mypy, made by importing what was built.
set(MESHFUSE_PYTHON_STUB ${MESHFUSE_PYTHON_DIR}/_C.pyi)
nanobind_add_stub(
  meshfuse_stub
  MODULE meshfuse._C
  OUTPUT ${MESHFUSE_PYTHON_STUB}
  PYTHON_PATH ${PROJECT_BINARY_DIR}/python
  DEPENDS meshfuse_python meshfuse)

# From the op table: the same for fd.ops, and its reference page.
set(MESHFUSE_PYTHON_OPS_STUB ${MESHFUSE_PYTHON_DIR}/ops.pyi)
set(MESHFUSE_PYTHON_OP_REFERENCE ${MESHFUSE_PYTHON_DIR}/op_reference.md)
function(meshfuse_generate generator output)
  set(_generator ${PROJECT_SOURCE_DIR}/tools/${generator})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_BINARY_DIR}/python ${Python_EXECUTABLE} ${_generator}
            ${output}
    DEPENDS meshfuse_python meshfuse ${_generator}
    VERBATIM)
endfunction()
meshfuse_generate(generate_op_stubs.py ${MESHFUSE_PYTHON_OPS_STUB})
meshfuse_generate(generate_op_reference.py ${MESHFUSE_PYTHON_OP_REFERENCE})
add_custom_target(meshfuse_ops_stub ALL DEPENDS ${MESHFUSE_PYTHON_OPS_STUB} ${MESHFUSE_PYTHON_OP_REFERENCE})
