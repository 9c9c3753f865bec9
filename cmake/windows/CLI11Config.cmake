include(${CMAKE_CURRENT_LIST_DIR}/host-headers.cmake)
ts_host_headers(CLI11::CLI11 CLI)
