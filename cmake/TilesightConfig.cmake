# find_package(Tilesight): the headers of plugins and clients, and how a plugin is built.
#
#   find_package(Tilesight REQUIRED)
#   tilesight_add_plugin(my_pass my_pass.c)
#
# Tilesight::plugin is the headers alone; a plugin links against nothing of Tilesight.
get_filename_component(_tilesight_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${_tilesight_prefix}/include/tilesight/plugin.h")  # lib/<machine>/cmake/Tilesight
  get_filename_component(_tilesight_prefix "${_tilesight_prefix}/.." ABSOLUTE)
endif()
if(NOT EXISTS "${_tilesight_prefix}/include/tilesight/plugin.h")
  set(Tilesight_FOUND FALSE)
  set(Tilesight_NOT_FOUND_MESSAGE "include/tilesight/plugin.h is not beside this package")
  return()
endif()

if(NOT TARGET Tilesight::plugin)
  add_library(Tilesight::plugin INTERFACE IMPORTED)
  set_target_properties(Tilesight::plugin PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_tilesight_prefix}/include")
endif()
find_program(Tilesight_EXECUTABLE tilesight HINTS "${_tilesight_prefix}/bin")

# tilesight_add_plugin(NAME SOURCE ...): a shared library that exports what is annotated, and nothing else.
function(tilesight_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE Tilesight::plugin)
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
