include(${CMAKE_CURRENT_LIST_DIR}/host-headers.cmake)
ts_host_headers(nlohmann_json::nlohmann_json nlohmann)
