# The host's fmt, headers only: its library is for the host.
add_library(fmt::fmt INTERFACE IMPORTED)
find_path(FMT_INCLUDE fmt/format.h PATHS /usr/include)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
set(fmt_FOUND TRUE)
