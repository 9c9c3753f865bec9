/* The core as a library: IR text, and launches of kernels on this machine. Plain C; nothing of C++ crosses it, and no
 * exception leaves it. Functions may be called from any thread; one object is used by one thread at a time, but for
 * kernels, which any number of threads may run.
 *
 * Functions that can fail return a status, as the tool's exit statuses: 0 good, 1 there are findings, 2 wrong input,
 * 3 incomplete, 4 an internal error. With 2 and 4 `out` or `error` is one line that says what is wrong. Texts come
 * from the library and go back to it: tilesight_text_free. */
#ifndef TILESIGHT_TILESIGHT_H
#define TILESIGHT_TILESIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "tilesight/client.h"
#include "tilesight/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
TILESIGHT_API const char* tilesight_version(void);

/* The command line: runs `tilesight ARGUMENTS...` (arguments[0] is the program's name) and returns its exit status. */
TILESIGHT_API int tilesight_main(int count, char** arguments);

/* A text of the library's: bytes, UTF-8, with a 0 after the last. */
typedef struct tilesight_text tilesight_text;
TILESIGHT_API const char* tilesight_text_bytes(const tilesight_text* text);
TILESIGHT_API size_t tilesight_text_size(const tilesight_text* text);
TILESIGHT_API void tilesight_text_free(tilesight_text* text); /* NULL is fine */

enum tilesight_print_flags {
  TILESIGHT_GENERIC = 1u << 0,     /* every operation in MLIR's generic form */
  TILESIGHT_NO_LOCATIONS = 1u << 1
};

/* Parses, verifies and prints MLIR text. `name` is the file in messages. `out` gets the text, or the error. */
TILESIGHT_API int tilesight_print(const char* ir, size_t bytes, const char* name, uint32_t flags, tilesight_text** out);

/* A kernel: parsed, lowered and planned once. */
typedef struct tilesight_kernel tilesight_kernel;
/* On failure `*kernel` is NULL and `*error` says why; else `*error` is NULL. */
TILESIGHT_API int tilesight_compile(const char* ir, size_t bytes, const char* name, tilesight_kernel** kernel,
                                    tilesight_text** error);
TILESIGHT_API void tilesight_kernel_free(tilesight_kernel* kernel);

/* A launch: a grid and arguments, in the order of the kernel's parameters. */
typedef struct tilesight_launch tilesight_launch;
TILESIGHT_API tilesight_launch* tilesight_launch_new(const char* kernel, int64_t x, int64_t y, int64_t z);
/* A tensor: `bytes` bytes at `data`, which outlive the launch; the kernel reads and writes them. `element` is "f32",
 * "i64", "bf16"...; strides are in elements. Status 2: no such element; the error comes when it is run. */
TILESIGHT_API int tilesight_launch_tensor(tilesight_launch* launch, const char* name, const char* element, void* data,
                                          uint64_t bytes, uint32_t rank, const int64_t* shape, const int64_t* strides);
/* A number: its bit pattern, sign-extended for integers. */
TILESIGHT_API int tilesight_launch_scalar(tilesight_launch* launch, const char* name, const char* element,
                                          uint64_t bits);
TILESIGHT_API void tilesight_launch_free(tilesight_launch* launch);

/* Runs all programs, on `threads` threads (0: all cores). `client` is who looks on; NULL is the sanitizer. `out` gets
 * the report, as `tilesight check --json` writes it (docs/findings.md), or the error. */
TILESIGHT_API int tilesight_run(const tilesight_kernel* kernel, const tilesight_launch* launch, const ts_client* client,
                                uint32_t threads, tilesight_text** out);

#ifdef __cplusplus
}
#endif
#endif
