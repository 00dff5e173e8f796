# What is installed: for C++ (component cpp) the headers, libmeshfuse.so and find_package(meshfuse); for Python (component
# python, what a wheel holds) the extension, its stubs and libmeshfuse.so beside it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(SKBUILD)
  # In site-packages, torch is the folder next to ours.
  set_target_properties(meshfuse PROPERTIES INSTALL_RPATH "$ORIGIN/../torch/lib")
else()
  set_target_properties(meshfuse PROPERTIES INSTALL_RPATH "${TORCH_ROOT}/lib")
endif()

install(TARGETS meshfuse LIBRARY DESTINATION meshfuse COMPONENT python EXCLUDE_FROM_ALL)
if(TARGET meshfuse_python)
  install(TARGETS meshfuse_python LIBRARY DESTINATION meshfuse COMPONENT python EXCLUDE_FROM_ALL)
  install(FILES ${MESHFUSE_PYTHON_STUB} ${MESHFUSE_PYTHON_OPS_STUB} ${MESHFUSE_PYTHON_OP_REFERENCE}
          DESTINATION meshfuse COMPONENT python EXCLUDE_FROM_ALL)
endif()

set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/meshfuse)
install(TARGETS meshfuse EXPORT meshfuseTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(
  DIRECTORY ${MESHFUSE_SOURCE_ROOT}/meshfuse ${MESHFUSE_GENERATED_ROOT}/meshfuse
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT cpp
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "*.def"
  PATTERN "*.inc"
  PATTERN "frontend/python" EXCLUDE)
install(EXPORT meshfuseTargets NAMESPACE meshfuse:: DESTINATION ${_package_dir} COMPONENT cpp)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/meshfuseConfig.cmake.in ${PROJECT_BINARY_DIR}/meshfuseConfig.cmake
                              INSTALL_DESTINATION ${_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/meshfuseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/meshfuseConfig.cmake ${PROJECT_BINARY_DIR}/meshfuseConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/FindTorchLibraries.cmake
  DESTINATION ${_package_dir}
  COMPONENT cpp)
