# The engine's tests for aarch64 on another machine, under qemu-aarch64: needs Debian's g++-aarch64-linux-gnu. Of the
# libraries only headers are used, those of this machine; targets that link one (libzip: bundles) are not for it.
#   cmake -G Ninja -B build-aarch64 -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64/toolchain.cmake
#   cmake --build build-aarch64 --target run_launches
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(fmt_DIR ${CMAKE_CURRENT_LIST_DIR})
file(GLOB configurations /usr/lib/*-linux-gnu/cmake)
list(APPEND CMAKE_PREFIX_PATH ${configurations})
set(LIBZIP_INCLUDE /usr/include CACHE PATH "")
set(LIBZIP_LIBRARY ${CMAKE_DL_LIBS} CACHE STRING "")
