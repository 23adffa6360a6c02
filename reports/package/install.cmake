# What `cmake --install` puts in place: headers, libraries, the command, and the package that find_package(sextant) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)

# How the libraries compute and how the command is put together stays inside.
set(installed_headers ${PUBLIC_HEADERS} props/gtest.hpp)
list(FILTER installed_headers EXCLUDE REGEX "^fixtures/kernels/(cuda|simd)/|^fixtures/foreign/onnxruntime/(model|runtime)|^reports/verbs/")
foreach(header IN LISTS installed_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION include/sextant/${folder})
endforeach()

install(TARGETS sextant_flags sextant_reference sextant_fixtures sextant_props sextant_reports
  EXPORT sextantTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sextant RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT sextantTargets NAMESPACE sextant:: DESTINATION ${package_dir})
configure_package_config_file(reports/package/sextantConfig.cmake.in ${PROJECT_BINARY_DIR}/sextantConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sextantConfig.cmake ${PROJECT_BINARY_DIR}/sextantConfigVersion.cmake
  reports/package/FindMPFI.cmake DESTINATION ${package_dir})

# From outside: the installed package, a foreign kernel that keeps every law it offers, the same kernel off by one.
if(NOT SEXTANT_SANITIZE)
  add_test(NAME outside/install COMMAND ${PROJECT_SOURCE_DIR}/reports/package/outside_test.sh
    ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/fixtures/foreign/example ${CMAKE_CXX_COMPILER})
  set_tests_properties(outside/install PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE)
endif()
