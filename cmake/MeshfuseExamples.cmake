# One program per examples/*.cpp, linked with libmeshfuse as a user's would be.
file(GLOB _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(_source IN LISTS _sources)
  cmake_path(GET _source STEM _name)
  add_executable(example_${_name} ${_source})
  target_compile_options(example_${_name} PRIVATE ${MESHFUSE_WARNINGS})
  target_link_libraries(example_${_name} PRIVATE meshfuse)
  meshfuse_use_torch(example_${_name} PRIVATE)
  set_target_properties(example_${_name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples
                                                    OUTPUT_NAME ${_name})
endforeach()
