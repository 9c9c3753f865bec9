include(${CMAKE_CURRENT_LIST_DIR}/host-headers.cmake)
ts_host_headers(fmt::fmt fmt)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
