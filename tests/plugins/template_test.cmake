# The template project, built from the installed package: cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -DGENERATOR=... -P this
file(REMOVE_RECURSE ${SCRATCH})
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}")
  endif()
endfunction()
step(${CMAKE_COMMAND} --install ${BUILD} --component native --prefix ${SCRATCH}/installed)
# With the generator that built the core: on a bare machine the default one, make, may be missing.
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${SCRATCH}/installed)
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
step(${CMAKE_CTEST_COMMAND} --test-dir ${SCRATCH}/build --no-tests=error --output-on-failure)
