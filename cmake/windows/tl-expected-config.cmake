include(${CMAKE_CURRENT_LIST_DIR}/host-headers.cmake)
ts_host_headers(tl::expected tl)
