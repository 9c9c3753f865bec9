# ts_library(NAME [SOURCES ...] [USES lib ...]): one static library per folder. The USES edges are
# the architecture: a folder includes only what it uses.
function(ts_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_library(ts_${name} STATIC ${arg_SOURCES})
  target_include_directories(ts_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(ts_${name} PUBLIC ${arg_USES})
endfunction()

# ts_test(NAME SOURCES ... USES ...): a GoogleTest program registered with ctest.
function(ts_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_USES} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TILESIGHT_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
