# MPFI::mpfi: interval arithmetic over MPFR; Debian ships neither a CMake config nor a pkg-config file for it.
find_library(MPFI_LIBRARY mpfi)
find_path(MPFI_INCLUDE_DIR mpfi.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPFI REQUIRED_VARS MPFI_LIBRARY MPFI_INCLUDE_DIR)
if(MPFI_FOUND AND NOT TARGET MPFI::mpfi)
  add_library(MPFI::mpfi UNKNOWN IMPORTED)
  set_target_properties(MPFI::mpfi PROPERTIES
    IMPORTED_LOCATION ${MPFI_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${MPFI_INCLUDE_DIR})
endif()
mark_as_advanced(MPFI_LIBRARY MPFI_INCLUDE_DIR)
