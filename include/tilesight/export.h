/* TILESIGHT_API marks what the shared library tilesight (libtilesight.so, tilesight.dll) exports; nothing else is
 * visible. TILESIGHT_STATIC: the library is a part of the program. TILESIGHT_BUILDING: the library itself is compiled. */
#ifndef TILESIGHT_EXPORT_H
#define TILESIGHT_EXPORT_H

#if defined(TILESIGHT_STATIC)
#define TILESIGHT_API
#elif !defined(_WIN32)
#define TILESIGHT_API __attribute__((visibility("default")))
#elif defined(TILESIGHT_BUILDING)
#define TILESIGHT_API __declspec(dllexport)
#else
#define TILESIGHT_API __declspec(dllimport)
#endif

#endif
