include(${CMAKE_CURRENT_LIST_DIR}/host-headers.cmake)
ts_host_headers(tomlplusplus::tomlplusplus toml++)
target_compile_definitions(tomlplusplus::tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
