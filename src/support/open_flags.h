// The flags of open() that one of POSIX and Windows lacks.
#pragma once

#include <fcntl.h>

#if defined(_WIN32)
#define O_CLOEXEC O_NOINHERIT
#define O_NOFOLLOW 0
#else
#define O_BINARY 0
#endif
