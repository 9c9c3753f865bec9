# Tilesight for Windows, built on Debian with mingw-w64 (posix threads): `cmake --preset windows`.
# docs/windows.md says what is off there and why. Libraries that are headers only are used from this machine,
# through the *-config.cmake files of this folder; GoogleTest is built from Debian's source package.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(triple x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${triple}-gcc-posix)
set(CMAKE_CXX_COMPILER ${triple}-g++-posix)
set(CMAKE_RC_COMPILER ${triple}-windres)

set(CMAKE_FIND_ROOT_PATH /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# GCC aligns the stack of Win64 to 16 bytes and still spills 32- and 64-byte vectors with aligned moves (GCC bug
# 54412). The assembler makes unaligned moves of them, which cost nothing on aligned addresses.
set(CMAKE_CXX_FLAGS_INIT "-Wa,-muse-unaligned-vector-move")
# The C++ runtime and winpthread become a part of each program and DLL.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-static")
endforeach()

find_program(WINE wine NO_CMAKE_FIND_ROOT_PATH)
if(WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${WINE})
endif()

foreach(package fmt tl-expected nlohmann_json CLI11 tomlplusplus GTest)
  set(${package}_DIR ${CMAKE_CURRENT_LIST_DIR})
endforeach()
