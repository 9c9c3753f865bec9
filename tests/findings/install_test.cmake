# `cmake --install` gives a native tool that runs, and the public headers.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --component native
  RESULT_VARIABLE status OUTPUT_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cmake --install failed: ${status}")
endif()
execute_process(COMMAND ${PREFIX}/bin/tilesight --version RESULT_VARIABLE status OUTPUT_VARIABLE out)
if(NOT status EQUAL 0 OR NOT out MATCHES "^tilesight [0-9]")
  message(FATAL_ERROR "the installed tool does not run: ${status} ${out}")
endif()
if(NOT EXISTS ${PREFIX}/include/tilesight/client.h)
  message(FATAL_ERROR "include/tilesight/client.h is not installed")
endif()
