# cpp-httplib, as Debian has it (libcpp-httplib-dev): a header and a library.
find_path(Httplib_INCLUDE_DIR httplib.h)
find_library(Httplib_LIBRARY cpp-httplib)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httplib REQUIRED_VARS Httplib_LIBRARY Httplib_INCLUDE_DIR)

if(Httplib_FOUND AND NOT TARGET Httplib::Httplib)
  add_library(Httplib::Httplib UNKNOWN IMPORTED)
  set_target_properties(Httplib::Httplib PROPERTIES
    IMPORTED_LOCATION "${Httplib_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Httplib_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT;CPPHTTPLIB_OPENSSL_SUPPORT")
endif()
mark_as_advanced(Httplib_INCLUDE_DIR Httplib_LIBRARY)
