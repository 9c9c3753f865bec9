# A folder of src/ is named by its own name: `ir` means the library ts_ir.
function(ts_names out)
  set(names)
  foreach(name ${ARGN})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${name} OR name STREQUAL "kernels")
      list(APPEND names ts_${name})
    else()
      list(APPEND names ${name})
    endif()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# ts_library(NAME [SOURCES ...] [USES lib ...]): one static library per folder. The USES edges are
# the architecture: a folder includes only what it uses.
function(ts_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_library(ts_${name} STATIC ${arg_SOURCES})
  target_include_directories(ts_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  ts_names(uses ${arg_USES})
  target_link_libraries(ts_${name} PUBLIC ${uses})
endfunction()

# ts_test(NAME SOURCES ... USES ...): a GoogleTest program registered with ctest.
function(ts_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  ts_names(uses ${arg_USES})
  target_link_libraries(${name} PRIVATE ${uses} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TILESIGHT_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# ts_fuzz(NAME SOURCES ... USES ... SEEDS folder): a libFuzzer program, built with -DTILESIGHT_FUZZ=ON
# and clang. ctest runs it for TILESIGHT_FUZZ_SECONDS, a minute, from the seeds (label: slow).
function(ts_fuzz name)
  cmake_parse_arguments(arg "" "SEEDS" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  ts_names(uses ${arg_USES})
  target_link_libraries(${name} PRIVATE ${uses} -fsanitize=fuzzer)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}.corpus)
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${TILESIGHT_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=3000
    -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${CMAKE_CURRENT_BINARY_DIR}/${name}.corpus
    ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SEEDS})
  set_tests_properties(${name} PROPERTIES LABELS slow)
  math(EXPR limit "${TILESIGHT_FUZZ_SECONDS} + 120")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit})
endfunction()
