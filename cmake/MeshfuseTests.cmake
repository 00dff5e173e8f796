# One GoogleTest binary per layer, meshfuse_<layer>_test, from tests/<layer>/*_test.cpp. It links that layer and what
# the layer may use, nothing else. tests/<layer>/<name>_driver.cpp is the program meshfuse_<name>_driver that a Python
# test talks to.
find_package(GTest)
if(NOT GTest_FOUND)
  message(WARNING "meshfuse: GoogleTest was not found, the C++ tests are left out (Debian: libgtest-dev)")
  return()
endif()

# Tests of the torch layers share a precompiled header that holds GoogleTest as well, compiled as tests are: less optimized.
set(_test_options ${MESHFUSE_WARNINGS} $<$<CONFIG:Release>:-O1>)
if(NOT MESHFUSE_STD_ONLY)
  set(_stub ${PROJECT_BINARY_DIR}/test_pch.cpp)
  file(CONFIGURE OUTPUT ${_stub} CONTENT "// Nothing: its target builds the precompiled header.\n")
  add_library(meshfuse_test_pch STATIC ${_stub})
  target_link_libraries(meshfuse_test_pch PUBLIC torch::cpu GTest::gtest)
  target_compile_options(meshfuse_test_pch PRIVATE -fopenmp ${_test_options})
  target_precompile_headers(meshfuse_test_pch PRIVATE ${MESHFUSE_TORCH_PCH_HEADERS} <gtest/gtest.h>)
endif()

foreach(_layer IN LISTS MESHFUSE_LAYERS)
  file(GLOB _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${_layer}/*_test.cpp)
  if(NOT _sources OR NOT TARGET meshfuse_${_layer})
    continue()
  endif()
  set(_target meshfuse_${_layer}_test)
  add_executable(${_target} ${_sources})
  target_compile_options(${_target} PRIVATE ${_test_options})
  target_include_directories(${_target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${_target} PRIVATE meshfuse_${_layer} GTest::gtest GTest::gtest_main)
  if(MESHFUSE_${_layer}_TORCH)
    meshfuse_use_torch(${_target} PRIVATE meshfuse_test_pch)
  endif()
  set_target_properties(${_target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${_target} COMMAND ${_target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(
    ${_target} PROPERTIES TIMEOUT 600 ENVIRONMENT "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/reports/${_target}.xml;MESHFUSE_COMPILE=0")
endforeach()

# The text of device/: tests/device/*_test.cpp. accuracy_test.cpp includes it, and is compiled as generated code is.
if(NOT MESHFUSE_STD_ONLY)
  file(GLOB _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/device/*_test.cpp)
  add_executable(meshfuse_device_test ${_sources})
  target_compile_options(meshfuse_device_test PRIVATE ${_test_options})
  target_include_directories(meshfuse_device_test PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR})
  target_link_libraries(meshfuse_device_test PRIVATE meshfuse_codegen meshfuse_evaluator GTest::gtest GTest::gtest_main)
  meshfuse_use_torch(meshfuse_device_test PRIVATE meshfuse_test_pch)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/device/accuracy_test.cpp
                              PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "${MESHFUSE_KERNEL_FLAGS}")
  set_target_properties(meshfuse_device_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME meshfuse_device_test COMMAND meshfuse_device_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(
    meshfuse_device_test
    PROPERTIES TIMEOUT 600 ENVIRONMENT GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/reports/meshfuse_device_test.xml)
endif()

foreach(_layer IN LISTS MESHFUSE_LAYERS)
  file(GLOB _drivers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${_layer}/*_driver.cpp)
  if(NOT TARGET meshfuse_${_layer})
    continue() # a layer that this build leaves out
  endif()
  foreach(_source IN LISTS _drivers)
    cmake_path(GET _source STEM _name)
    set(_target meshfuse_${_name})
    add_executable(${_target} ${_source})
    target_compile_options(${_target} PRIVATE ${MESHFUSE_WARNINGS})
    target_include_directories(${_target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${_target} PRIVATE meshfuse_${_layer})
    if(MESHFUSE_${_layer}_TORCH)
      meshfuse_use_torch(${_target} PRIVATE)
    endif()
    set_target_properties(${_target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endforeach()
endforeach()
