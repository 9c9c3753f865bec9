/* The client interface: an analysis that consumes what a launch does. Plain C, versioned; the C++
 * wrapper (client.hpp) and the Python class tilesight.Client have the same names.
 *
 * A client declares what it needs and gets one call per tile-level operation, never one per
 * element. Tables begin with their size: a reader uses only the fields that the size covers.
 *
 * Threads: programs run in contiguous ranges of program ids, possibly in parallel. `fork` makes the
 * state of one range, the hooks of that range get it, `merge` brings it back, in program order.
 * A client without `fork` that needs events makes all programs run on one thread.
 * A range may run again (a conflict between ranges was repaired): then its forked state is dropped
 * with `discard` and a new one is forked. */
#ifndef TILESIGHT_CLIENT_H
#define TILESIGHT_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_CLIENT_ABI 1

/* What this client wants to be told. Hooks for clean accesses, computations, programs and loops are called
 * only if some client needs them, and only what is needed is computed: a load whose result nothing uses is
 * judged and not made, unless a client needs values; where outputs are not computed (--address-only),
 * nothing is but addresses, masks and control flow, and what the needs of the clients add to them. */
enum ts_need {
  TS_NEED_ADDRESSES = 1u << 0, /* pointers and masks of accesses */
  TS_NEED_VALUES = 1u << 1,    /* loaded and stored values: ts_host.values */
  TS_NEED_ORDER = 1u << 2,     /* hooks of one range come in program order (always true for now) */
  TS_NEED_COMPUTE = 1u << 3,   /* on_dot, on_reduce */
  TS_NEED_PROGRAMS = 1u << 4,  /* program_begin/program_end */
  TS_NEED_LOOPS = 1u << 5,     /* loop_iteration */
  TS_NEED_PROMISES = 1u << 6   /* hints of the program are checked, and broken ones reported in the client's name */
};

/* Of an access. TS_COPY is for source languages with copies from memory to memory: no operation of a Triton
 * kernel is one. */
enum ts_access_kind { TS_LOAD = 0, TS_STORE = 1, TS_ATOMIC_RMW = 2, TS_ATOMIC_CAS = 3, TS_COPY = 4 };

/* Order of an atomic access: the numbers of Triton's enums. Loads and stores may be atomic, too. */
enum ts_sem { TS_NOT_ATOMIC = 0, TS_RELAXED = 1, TS_ACQUIRE = 2, TS_RELEASE = 3, TS_ACQ_REL = 4 };
enum ts_scope { TS_SCOPE_GPU = 1, TS_SCOPE_CTA = 2, TS_SCOPE_SYSTEM = 3 };

/* Which values of an access. */
enum ts_which {
  TS_VALUE = 0,    /* loaded or stored; of an atomic operation, its operand */
  TS_BEFORE = 1,   /* atomic operations: what memory held */
  TS_COMPARED = 2  /* compare-and-swap: what it was compared with */
};

/* How a tile of addresses or a mask is held. Affine and separable forms cost nothing to carry. */
enum ts_form {
  TS_FORM_SPLAT = 0,     /* one value: `base` */
  TS_FORM_AFFINE = 1,    /* base + sum over axes of strides[d] * i[d] */
  TS_FORM_SEPARABLE = 2, /* base + sum over axes of (axis[d] ? axis[d][i[d]] : strides[d] * i[d]) */
  TS_FORM_DENSE = 3      /* one value per element, row-major; ask the host for them */
};

/* What the core saw when it resolved the access, as bits; 0 is a clean access. */
enum ts_fault {
  TS_FAULT_OUT_OF_VIEW = 1u << 0,   /* inside the allocation, outside the view */
  TS_FAULT_OUT_OF_BOUNDS = 1u << 1, /* outside the allocation */
  TS_FAULT_NULL = 1u << 2,          /* address within 4096 bytes of 0 */
  TS_FAULT_FOREIGN = 1u << 3,       /* an address that belongs to no known allocation */
  TS_FAULT_MISALIGNED = 1u << 4,    /* not a multiple of the element's size */
  TS_FAULT_READ_ONLY = 1u << 5      /* a store or atomic to memory that was passed as read-only */
};

typedef struct ts_program {
  uint32_t size;
  int64_t id[3];
  int64_t linear; /* x + grid.x * (y + grid.y * z) */
} ts_program;

typedef struct ts_argument {
  uint32_t size;
  uint32_t index;       /* in the Python signature */
  const char* name;
  uint32_t element;     /* ElementKind; 0 for what is not in the IR */
  int32_t is_tensor;
  uint64_t bits;        /* scalars */
  uint32_t rank;        /* tensors */
  const int64_t* shape;
  const int64_t* strides; /* in elements */
  uint64_t address;     /* virtual address of element [0,..,0] */
  uint64_t allocation;  /* virtual address of the allocation's first byte */
  uint64_t allocation_bytes;
} ts_argument;

typedef struct ts_launch {
  uint32_t size;
  const char* kernel;
  int64_t grid[3];
  uint32_t argument_count;
} ts_launch;

typedef struct ts_mask {
  uint32_t form;             /* SPLAT: `all`; AFFINE: the box lo..hi; SEPARABLE: box and axis; DENSE */
  int32_t all;               /* SPLAT: 1 all active, 0 none */
  const int64_t* lo;         /* per axis, inclusive */
  const int64_t* hi;         /* per axis, exclusive */
  const uint8_t* const* axis; /* per axis bytes, or NULL for that axis */
} ts_mask;

typedef struct ts_access {
  uint32_t size;
  uint32_t op;            /* number of the operation: pre-order in the bundle's IR */
  uint32_t kind;          /* ts_access_kind */
  uint32_t faults;        /* ts_fault bits, 0 = clean */
  int32_t argument;       /* index of the tensor argument the pointer comes from, -1 if mixed or unknown */
  uint32_t element_bytes;
  uint32_t rank;
  const int64_t* shape;   /* of the tile */
  uint32_t form;          /* of the addresses: ts_form */
  int64_t base;           /* virtual byte address */
  const int64_t* strides; /* bytes, per axis */
  const int64_t* const* axis; /* SEPARABLE: per-axis byte offsets, or NULL for that axis */
  ts_mask mask;
  int64_t elements;       /* of the tile */
  int64_t active;         /* elements the mask lets through */
  const ts_program* program;
  const void* core;       /* for the host's functions, during the hook only */
  uint32_t element;       /* ElementKind of what is accessed */
  uint32_t sem, scope;    /* ts_sem, ts_scope; 0 if it is not atomic */
} ts_access;

typedef struct ts_compute {
  uint32_t size;
  uint32_t op;
  uint32_t element;       /* ElementKind of the result */
  int64_t m, n, k;        /* dot; reduce: m = kept elements, k = reduced length, n = 1 */
  const ts_program* program;
  const void* core;
} ts_compute;

typedef struct ts_iteration {
  uint32_t size;
  uint32_t op;            /* the loop */
  int64_t value;          /* of the induction variable */
  int64_t trip;           /* from 0 */
  const ts_program* program;
} ts_iteration;

typedef struct ts_summary {
  uint32_t size;
  int64_t programs;
  double seconds;
} ts_summary;

/* What the host offers. All functions may be called from any hook of the same launch. */
typedef struct ts_host {
  uint32_t size;
  uint32_t abi;
  /* All addresses of the tile, row-major, `elements` of them. */
  void (*addresses)(const ts_access* access, int64_t* out);
  /* All mask bytes (0 or 1), row-major. */
  void (*mask_bytes)(const ts_access* access, uint8_t* out);
  /* Per element ts_fault bits of the active elements (0 for inactive ones). */
  void (*fault_bits)(const ts_access* access, uint8_t* out);
  /* Reports a finding at this access. `element` is the row-major index of the witness in the tile,
   * `count` the number of elements concerned, all of the witness's argument. The core adds place, names, program, iterations, the
   * chain behind the address, and merges equal ones (kind, call chain, op, argument). `severity`:
   * 0 note, 1 warning, 2 error. `message` may be NULL: then the kind's standard sentence. */
  void (*report)(const ts_access* access, const char* kind, int severity, int64_t element,
                 int64_t count, const char* message);
  /* Source place of an operation; NULL file if it has none. Valid until launch_end returns. */
  void (*op_place)(const void* core, uint32_t op, const char** file, uint32_t* line, uint32_t* column);
  /* Name of an operation ("tile.load"). */
  const char* (*op_name)(const void* core, uint32_t op);
  /* The values of all elements of the tile, row-major, `elements` times `element_bytes` bytes: ts_which says
   * which. Loads come with what was loaded (`other`, or 0, where the mask is off or the address is wrong),
   * stores with what is about to be stored, masked elements included. Pointers are virtual addresses.
   * Returns 1, or 0 and leaves `out` as it is: there is no such value, or no client has TS_NEED_VALUES. */
  int (*values)(const ts_access* access, uint32_t which, void* out);
  /* The tensor argument that each element's pointer comes from, row-major; -1: unknown. */
  void (*arguments)(const ts_access* access, int32_t* out);
} ts_host;

/* A client. Any hook may be NULL. */
typedef struct ts_client {
  uint32_t size; /* sizeof(ts_client) */
  uint32_t abi;  /* TS_CLIENT_ABI */
  const char* name;
  uint32_t needs; /* ts_need bits */

  void* (*create)(const ts_host* host, const char* options);
  void (*destroy)(void* self);
  void (*launch_begin)(void* self, const ts_launch* launch);
  void (*argument)(void* self, const ts_argument* argument);
  void* (*fork)(void* self);
  void (*merge)(void* self, void* state); /* takes the state back, in program order */
  void (*discard)(void* self, void* state);
  void (*launch_end)(void* self, const ts_summary* summary);

  void (*program_begin)(void* state, const ts_program* program);
  void (*program_end)(void* state, const ts_program* program);
  void (*loop_iteration)(void* state, const ts_iteration* iteration);
  void (*on_load)(void* state, const ts_access* access);
  void (*on_store)(void* state, const ts_access* access);
  void (*on_atomic)(void* state, const ts_access* access);
  void (*on_copy)(void* state, const ts_access* access); /* never for Triton: see ts_access_kind */
  void (*on_dot)(void* state, const ts_compute* compute);
  void (*on_reduce)(void* state, const ts_compute* compute);
} ts_client;

#ifdef __cplusplus
}
#endif
#endif
