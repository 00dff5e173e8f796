# Makes each layer of tools/layers.toml the static library meshfuse_<layer>, linked as the table permits.

set_property(
  DIRECTORY
  APPEND
  PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/layers.toml ${PROJECT_SOURCE_DIR}/tools/check_layers.py)
execute_process(
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_layers.py --cmake
  OUTPUT_VARIABLE _layer_settings
  ERROR_VARIABLE _layer_error
  RESULT_VARIABLE _layer_status)
if(NOT _layer_status EQUAL 0)
  message(FATAL_ERROR "meshfuse: cannot read tools/layers.toml\n${_layer_error}")
endif()
cmake_language(EVAL CODE "${_layer_settings}")

set(MESHFUSE_SOURCE_ROOT ${PROJECT_SOURCE_DIR}/src)
set(MESHFUSE_GENERATED_ROOT ${PROJECT_BINARY_DIR}/generated)

# Lists the structured ops (folders of src/meshfuse/ops) in OUT, after checking that each is complete.
function(meshfuse_structured_ops OUT)
  file(
    GLOB _entries
    CONFIGURE_DEPENDS
    LIST_DIRECTORIES true
    RELATIVE ${MESHFUSE_SOURCE_ROOT}/meshfuse/ops
    ${MESHFUSE_SOURCE_ROOT}/meshfuse/ops/*)
  # The files of the folders, so that a file added to one or removed from one runs CMake again.
  file(GLOB _op_files CONFIGURE_DEPENDS ${MESHFUSE_SOURCE_ROOT}/meshfuse/ops/*/*)
  set(_ops)
  foreach(_entry IN LISTS _entries)
    set(_folder ${MESHFUSE_SOURCE_ROOT}/meshfuse/ops/${_entry})
    if(IS_DIRECTORY ${_folder})
      foreach(_file IN LISTS MESHFUSE_OP_FILES)
        if(NOT EXISTS ${_folder}/${_file})
          list(JOIN MESHFUSE_OP_FILES ", " _needed)
          message(FATAL_ERROR "meshfuse: the structured op '${_entry}' lacks src/meshfuse/ops/${_entry}/${_file}; "
                              "a structured op's folder holds ${_needed}")
        endif()
      endforeach()
      list(APPEND _ops ${_entry})
    endif()
  endforeach()
  list(SORT _ops)
  set(${OUT} ${_ops} PARENT_SCOPE)
endfunction()

# Writes meshfuse/ops/structured_ops.{inc,h} from the list of op folders, touching them only when they change.
function(meshfuse_generate_op_list)
  set(_rows "// One row per folder of src/meshfuse/ops.\n")
  set(_includes "// The headers of all structured ops.\n#pragma once\n\n")
  foreach(_op IN LISTS ARGN)
    string(APPEND _rows "MESHFUSE_STRUCTURED_OP(${_op})\n")
    string(APPEND _includes "#include \"meshfuse/ops/${_op}/op.h\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${MESHFUSE_GENERATED_ROOT}/meshfuse/ops/structured_ops.inc CONTENT "${_rows}" @ONLY)
  file(CONFIGURE OUTPUT ${MESHFUSE_GENERATED_ROOT}/meshfuse/ops/structured_ops.h CONTENT "${_includes}" @ONLY)
endfunction()

# Adds what every target of a torch layer shares: torch, and a precompiled header: the one of the target named third, or else
# the layers'.
function(meshfuse_use_torch TARGET SCOPE)
  set(_pch meshfuse_torch_pch)
  if(ARGC GREATER 2)
    set(_pch ${ARGV2})
  endif()
  target_link_libraries(${TARGET} ${SCOPE} torch::cpu)
  # at::parallel_for is serial in a file compiled without OpenMP. The library itself is torch's, loaded with torch.
  target_compile_options(${TARGET} PRIVATE -fopenmp)
  target_precompile_headers(${TARGET} REUSE_FROM ${_pch})
endfunction()

set(MESHFUSE_TORCH_PCH_HEADERS
    <ATen/ATen.h>
    <algorithm>
    <array>
    <complex>
    <functional>
    <map>
    <memory>
    <mutex>
    <optional>
    <span>
    <sstream>
    <string>
    <string_view>
    <unordered_map>
    <utility>
    <variant>
    <vector>)

# The target that owns the precompiled header of the torch layers.
function(meshfuse_add_torch_pch)
  set(_stub ${PROJECT_BINARY_DIR}/torch_pch.cpp)
  file(CONFIGURE OUTPUT ${_stub} CONTENT "// Nothing: its target builds the precompiled header.\n")
  add_library(meshfuse_torch_pch STATIC ${_stub})
  target_link_libraries(meshfuse_torch_pch PUBLIC torch::cpu)
  target_compile_options(meshfuse_torch_pch PRIVATE -fopenmp ${MESHFUSE_WARNINGS})
  target_precompile_headers(meshfuse_torch_pch PRIVATE ${MESHFUSE_TORCH_PCH_HEADERS})
endfunction()

# Compiles small source files a few at a time: headers are most of what each costs. Those of ops have namespaces of their own.
function(meshfuse_compile_together)
  set(_index 0)
  foreach(_source IN LISTS ARGN)
    math(EXPR _group "${_index} / 6")
    set_source_files_properties(${_source} PROPERTIES UNITY_GROUP group${_group})
    math(EXPR _index "${_index} + 1")
  endforeach()
endfunction()

# Adds meshfuse_<LAYER> from SOURCES; a layer without sources is a library of headers.
function(meshfuse_add_layer LAYER)
  set(_target meshfuse_${LAYER})
  list(TRANSFORM MESHFUSE_${LAYER}_USES PREPEND meshfuse_ OUTPUT_VARIABLE _uses)
  if(NOT ARGN)
    add_library(${_target} INTERFACE)
    target_include_directories(${_target} INTERFACE ${MESHFUSE_SOURCE_ROOT} ${MESHFUSE_GENERATED_ROOT})
    target_link_libraries(${_target} INTERFACE ${_uses})
    return()
  endif()
  add_library(${_target} STATIC ${ARGN})
  set_target_properties(${_target} PROPERTIES UNITY_BUILD ${MESHFUSE_UNITY} UNITY_BUILD_MODE GROUP)
  target_include_directories(${_target} PUBLIC ${MESHFUSE_SOURCE_ROOT} ${MESHFUSE_GENERATED_ROOT})
  target_compile_options(${_target} PRIVATE ${MESHFUSE_WARNINGS})
  target_link_libraries(${_target} PUBLIC ${_uses})
  if(MESHFUSE_${LAYER}_TORCH)
    meshfuse_use_torch(${_target} PUBLIC)
  endif()
endfunction()
