/* The plugin interface: passes, clients and dialects in shared libraries. Plain C. A plugin exports one function,
 * tilesight_plugin_query, includes this header only, and links against nothing of Tilesight: what it calls comes to it
 * in a table.
 *
 * Compatibility. Within one major version tables only grow at their end. Every table begins with its size, and a
 * reader uses only the fields that the size covers; TS_HAS asks for it. A plugin says which minor version it needs at
 * least; a host with a smaller one refuses it by name, every other host takes it.
 *
 * Handles (ts_op, ts_value, ...) are numbers in disguise: they are never dereferenced, and equal exactly for equal things.
 * NULL is "none". They belong to one run of one pass. The host checks every handle: one that is NULL, erased, of another
 * kind or of another run makes the call do nothing and return zero, and fails the run. So calls need no checks of their
 * own: a run in which one went wrong is undone, whatever the pass returns.
 *
 * Memory. Who allocates frees. What the host returns stays readable until the run returns; what it is given it copies
 * before it returns. Tables that the plugin returns are never changed and live as long as the library, which is not
 * unloaded. Strings are pointer and length, UTF-8, except in tables, where they end with a zero byte.
 *
 * Threads. The host's functions are called by the thread that called `run`, and only until it returns. Different runs
 * may be on different threads. No C++ exception and no longjmp may leave a plugin's function. */
#ifndef TILESIGHT_PLUGIN_H
#define TILESIGHT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "client.h"

#define TS_PLUGIN_ABI_MAJOR 1
#define TS_PLUGIN_ABI_MINOR 1 /* 1: dialects */

#if defined(_WIN32)
#define TS_PLUGIN_EXPORT __declspec(dllexport)
#else
#define TS_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* True if the table that `table` points to has `field` (of the struct `type`). */
#define TS_HAS(table, type, field) ((table)->size >= offsetof(type, field) + sizeof((table)->field))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_context_* ts_context;    /* one run of a pass */
typedef struct ts_op_* ts_op;              /* operation */
typedef struct ts_region_* ts_region;
typedef struct ts_block_* ts_block;
typedef struct ts_value_* ts_value;        /* result of an operation, or argument of a block */
typedef struct ts_type_* ts_type;
typedef struct ts_attr_* ts_attr;          /* attribute */
typedef struct ts_location_* ts_location;  /* place in the user's source */

typedef struct ts_string {
  const char* data; /* no zero byte at the end */
  uint64_t size;
} ts_string;

/* Where a plugin says why it fails. The host owns `text`; write at most `capacity` bytes, the last one zero. */
typedef struct ts_error {
  uint32_t size;
  uint32_t capacity;
  char* text;
} ts_error;

enum ts_remark_kind { TS_REMARK_DONE = 0, TS_REMARK_REFUSED = 1, TS_REMARK_NOTE = 2 };

enum ts_type_kind {
  TS_TYPE_INTEGER = 0, TS_TYPE_FLOAT = 1, TS_TYPE_INDEX = 2, TS_TYPE_POINTER = 3, TS_TYPE_TENSOR = 4,
  TS_TYPE_DESCRIPTOR = 5, TS_TYPE_VIEW = 6, TS_TYPE_FUNCTION = 7, TS_TYPE_NONE = 8, TS_TYPE_OTHER = 9
};

enum ts_attr_kind {
  TS_ATTR_UNIT = 0, TS_ATTR_BOOL = 1, TS_ATTR_INTEGER = 2, TS_ATTR_FLOAT = 3, TS_ATTR_STRING = 4, TS_ATTR_ARRAY = 5,
  TS_ATTR_DICTIONARY = 6, TS_ATTR_DENSE_ELEMENTS = 7, TS_ATTR_DENSE_ARRAY = 8, TS_ATTR_SYMBOL = 9, TS_ATTR_TYPE = 10,
  TS_ATTR_KEYWORD = 11, /* an enumeration's case, bare in text: `zero` of padding */
  TS_ATTR_OTHER = 12    /* #dialect.attr<...> and the like: only its text is known */
};

/* What is known of an operation, as bits; 0 for operations that no table has. */
enum ts_op_facts {
  TS_OP_KNOWN = 1u << 0,
  TS_OP_PURE = 1u << 1,         /* no effect besides its results; what is in its regions, too */
  TS_OP_REMOVABLE = 1u << 2,    /* may go when nothing uses its results */
  TS_OP_SPECULATABLE = 1u << 3, /* pure, and may run where it did not run before */
  TS_OP_TERMINATOR = 1u << 4,
  TS_OP_READS = 1u << 5,
  TS_OP_WRITES = 1u << 6,
  TS_OP_FUNCTION = 1u << 7,
  TS_OP_CALL = 1u << 8,
  TS_OP_ELEMENTWISE = 1u << 9
};

/* Before an operation, or (before = NULL) at the end of a block. */
typedef struct ts_point {
  ts_block block;
  ts_op before;
} ts_point;

/* An operation to be made. */
typedef struct ts_op_description {
  uint32_t size;
  uint32_t operand_count;
  ts_string name;               /* "tt.load" */
  ts_point at;
  const ts_value* operands;
  uint32_t result_count;
  uint32_t attribute_count;
  const ts_type* results;
  const ts_string* attribute_keys;
  const ts_attr* attribute_values;
  const uint32_t* group_sizes;  /* how many operands each group has (ptr, mask, other); NULL: as their number says */
  uint32_t group_count;
  uint32_t region_count;        /* empty regions; see region_add_block */
  ts_location location;         /* NULL: none. Best that of the operation it takes the place of. */
} ts_op_description;

/* What the host offers a plugin. */
typedef struct ts_plugin_host {
  uint32_t size;
  uint32_t abi_major, abi_minor;
  uint32_t reserved;
  const char* version; /* of Tilesight */

  /* --- This run. Options are those of the pass's table, by their place in it; wrong kinds fail the run. */
  int64_t (*option_integer)(ts_context, uint32_t option);
  int32_t (*option_boolean)(ts_context, uint32_t option);
  ts_string (*option_string)(ts_context, uint32_t option); /* also of choices */
  /* Says what was done or refused at an operation (or, NULL, the module): `rule` is a short stable name, `message` one line. */
  void (*remark)(ts_context, ts_op at, uint32_t kind, ts_string rule, ts_string message);
  /* Fails the run; the first message counts. */
  void (*fail)(ts_context, ts_string message);
  /* 1 if the run has failed by now, by `fail` or a wrong call. */
  int32_t (*has_failed)(ts_context);

  /* --- Operations, regions, blocks */
  ts_op (*module)(ts_context);
  /* The operation after `after` in a walk over `root` and all in it, outer ones first; begin with NULL. NULL: the end. Ask
   * for the next one before you erase one. */
  ts_op (*walk)(ts_context, ts_op root, ts_op after);
  ts_string (*op_name)(ts_context, ts_op);
  uint32_t (*op_facts)(ts_context, ts_op); /* ts_op_facts */
  ts_op (*op_parent)(ts_context, ts_op);   /* NULL for the module */
  ts_block (*op_block)(ts_context, ts_op);
  ts_op (*op_next)(ts_context, ts_op);     /* in its block; NULL at the end */
  ts_op (*op_previous)(ts_context, ts_op);
  int32_t (*op_is_inside)(ts_context, ts_op, ts_op ancestor); /* also of itself */
  uint32_t (*op_operand_count)(ts_context, ts_op);
  ts_value (*op_operand)(ts_context, ts_op, uint32_t);
  /* The operands of a group of the operation's table ("mask"): their number, and in `first` the place of the first. */
  uint32_t (*op_operand_group)(ts_context, ts_op, ts_string group, uint32_t* first);
  uint32_t (*op_result_count)(ts_context, ts_op);
  ts_value (*op_result)(ts_context, ts_op, uint32_t);
  uint32_t (*op_attribute_count)(ts_context, ts_op);
  ts_string (*op_attribute_key)(ts_context, ts_op, uint32_t);
  ts_attr (*op_attribute)(ts_context, ts_op, ts_string key); /* NULL: not there; values equal to a default are not */
  uint32_t (*op_region_count)(ts_context, ts_op);
  ts_region (*op_region)(ts_context, ts_op, uint32_t);
  uint32_t (*op_successor_count)(ts_context, ts_op);
  ts_block (*op_successor)(ts_context, ts_op, uint32_t);
  ts_location (*op_location)(ts_context, ts_op);
  ts_op (*region_op)(ts_context, ts_region);
  uint32_t (*region_block_count)(ts_context, ts_region);
  ts_block (*region_block)(ts_context, ts_region, uint32_t);
  ts_region (*block_region)(ts_context, ts_block);
  uint32_t (*block_argument_count)(ts_context, ts_block);
  ts_value (*block_argument)(ts_context, ts_block, uint32_t);
  ts_op (*block_first)(ts_context, ts_block); /* NULL: it is empty */
  ts_op (*block_last)(ts_context, ts_block);

  /* --- Values */
  ts_type (*value_type)(ts_context, ts_value);   /* NULL: not known, of an operation that no table has */
  ts_op (*value_op)(ts_context, ts_value);       /* whose result it is; NULL for arguments */
  ts_block (*value_block)(ts_context, ts_value); /* whose argument it is; NULL for results */
  uint32_t (*value_index)(ts_context, ts_value); /* among the results or arguments */
  ts_string (*value_name)(ts_context, ts_value); /* without %; empty if it has a number */
  uint32_t (*value_use_count)(ts_context, ts_value);
  /* Who uses it: the operation, and the place among its operands; UINT32_MAX where it is passed on to a block. */
  ts_op (*value_use)(ts_context, ts_value, uint32_t use, uint32_t* operand);
  int32_t (*value_is_outside)(ts_context, ts_value, ts_op); /* defined neither by it nor in it */

  /* --- Types */
  ts_string (*type_text)(ts_context, ts_type);
  uint32_t (*type_kind)(ts_context, ts_type);       /* ts_type_kind */
  uint32_t (*type_width)(ts_context, ts_type);      /* bits of an integer or float; 0 for others */
  ts_type (*type_element)(ts_context, ts_type);     /* of a tensor, descriptor or view, or what a pointer points to; else NULL */
  uint32_t (*type_rank)(ts_context, ts_type);       /* of a tensor, descriptor or view; else 0 */
  int64_t (*type_extent)(ts_context, ts_type, uint32_t axis);
  ts_attr (*type_encoding)(ts_context, ts_type);    /* a tensor's or descriptor's layout; NULL: none */
  ts_type (*type_parse)(ts_context, ts_string text);
  ts_type (*type_tensor)(ts_context, const int64_t* shape, uint32_t rank, ts_type element, ts_attr encoding);

  /* --- Attributes */
  ts_string (*attr_text)(ts_context, ts_attr);
  uint32_t (*attr_kind)(ts_context, ts_attr);       /* ts_attr_kind */
  int32_t (*attr_integer)(ts_context, ts_attr, int64_t* out); /* of a bool or integer; 1 if it is one */
  ts_string (*attr_string)(ts_context, ts_attr);    /* of a string, symbol or keyword */
  uint32_t (*attr_count)(ts_context, ts_attr);      /* of an array, dense array or dictionary */
  ts_attr (*attr_element)(ts_context, ts_attr, uint32_t);     /* of an array or dictionary */
  int64_t (*attr_element_integer)(ts_context, ts_attr, uint32_t); /* of a dense array */
  ts_attr (*attr_entry)(ts_context, ts_attr, ts_string key);  /* of a dictionary; NULL: not there */
  ts_type (*attr_type)(ts_context, ts_attr);        /* that a type attribute holds, or that a number has; else NULL */
  ts_attr (*attr_parse)(ts_context, ts_string text);
  ts_attr (*attr_make_integer)(ts_context, int64_t value, ts_type);
  ts_attr (*attr_make_string)(ts_context, ts_string);
  ts_attr (*attr_make_keyword)(ts_context, ts_string);
  ts_attr (*attr_make_i32_array)(ts_context, const int64_t* values, uint32_t count);

  /* --- Places in the user's source */
  int32_t (*location_file)(ts_context, ts_location, ts_string* file, uint32_t* line, uint32_t* column); /* 1 if it has one */
  ts_string (*location_name)(ts_context, ts_location); /* the variable's name, or empty */

  /* --- Edits */
  ts_op (*op_create)(ts_context, const ts_op_description*);
  ts_op (*op_copy)(ts_context, ts_op, ts_point);    /* with all in it; operands stay */
  void (*op_move)(ts_context, ts_op, ts_point);
  void (*op_erase)(ts_context, ts_op);              /* its results must be unused; handles into it end */
  void (*op_set_operand)(ts_context, ts_op, uint32_t, ts_value);
  /* All operands anew; `group_sizes` as in ts_op_description. */
  void (*op_set_operands)(ts_context, ts_op, const ts_value*, uint32_t count, const uint32_t* group_sizes, uint32_t group_count);
  void (*op_set_attribute)(ts_context, ts_op, ts_string key, ts_attr); /* NULL: take it away */
  void (*op_set_location)(ts_context, ts_op, ts_location);
  void (*value_replace_uses)(ts_context, ts_value, ts_value with);
  void (*value_set_type)(ts_context, ts_value, ts_type);
  void (*value_set_name)(ts_context, ts_value, ts_string); /* a wish */
  ts_block (*region_add_block)(ts_context, ts_region);
  ts_value (*block_add_argument)(ts_context, ts_block, ts_type, ts_location);
  void (*block_erase_argument)(ts_context, ts_block, uint32_t); /* it must be unused */
  void (*block_move_body)(ts_context, ts_block from, ts_point to); /* all its operations */
  /* A constant integer or index, or a tensor of equal ones. */
  ts_value (*constant)(ts_context, ts_point, ts_type, int64_t value, ts_location);

  /* --- Analysis. Integers as mathematical ones, as signed; wrap-around is respected: where an operation may wrap, all
   * values are possible. Of tensors: what holds for all elements. */
  /* The value of a constant, or of all elements of one, also through splat and broadcast; 1 if it is one. */
  int32_t (*constant_integer)(ts_context, ts_value, int64_t* out);
  /* What the user promises: "grid.x=16 N=1024 M=1..4096 K%64=0". 1 if it can be read; else the run fails. */
  int32_t (*assume)(ts_context, ts_string);
  void (*range)(ts_context, ts_value, int64_t* low, int64_t* high); /* inclusive */
  int32_t (*is_multiple)(ts_context, ts_value, uint64_t divisor);   /* 1 if it always is */
  /* Bounds of a - b over all pairs of elements that meet. */
  void (*difference)(ts_context, ts_value a, ts_value b, int64_t* low, int64_t* high);
  /* 1: an i1 (or all of them) is always true, 0: always false, -1: not known. */
  int32_t (*truth)(ts_context, ts_value);
  /* How often the body of an scf.for runs, at most; -1: not known. */
  int64_t (*max_trips)(ts_context, ts_op);
} ts_plugin_host;

enum ts_option_kind { TS_OPTION_INTEGER = 0, TS_OPTION_BOOLEAN = 1, TS_OPTION_STRING = 2, TS_OPTION_CHOICE = 3 };

typedef struct ts_option {
  uint32_t size;
  uint32_t kind;        /* ts_option_kind */
  const char* name;     /* letters, digits, - */
  const char* help;     /* one line */
  const char* fallback; /* the default, as text; must be a value that the option takes */
  int64_t least, most;  /* of an integer, inclusive */
  const char* const* choices;
  uint32_t choice_count;
  uint32_t reserved;
} ts_option;

typedef struct ts_pass {
  uint32_t size;
  uint32_t option_count;
  const char* name;    /* letters, digits, -; of all passes that are loaded, only one has it */
  const char* summary; /* one line */
  const char* stage;   /* the IR it is for: "ttir", "ttgir", "tile", or NULL for any */
  const ts_option* const* options;
  /* Edits the module. 0: done; anything else: failed, with the reason in `error`, and the edits are undone. Also undone if
   * a call went wrong or the IR is not valid afterwards. Run again on its own output it must change nothing. */
  int32_t (*run)(void* data, const ts_plugin_host* host, ts_context context, ts_error* error);
  void* data; /* given to `run` */
} ts_pass;

/* An operation of a dialect, in the notation of the core's own tables: docs/write-a-plugin.md explains it. NULL is "". */
typedef struct ts_op_row {
  uint32_t size;
  uint32_t reserved;
  const char* name;       /* "blk.load": of the dialect `blk` */
  const char* operands;   /* "ptr: Ptr~, mask?: I1~" */
  const char* attributes; /* "axis: i32, order: enum:order = rows" */
  const char* results;    /* "result: Any~" */
  const char* format;     /* "$ptr (`,` $mask^)? attr-dict `:` type($ptr)"; or "generic": no form of its own */
  const char* rules;      /* "result = pointee(ptr); mask = i1(result)" */
  const char* traits;     /* "reads": what passes may rely on */
} ts_op_row;

/* An enumeration that attributes of the dialect have. */
typedef struct ts_enum_row {
  uint32_t size;
  uint32_t width;    /* bits of the integer in generic form: 8, 16, 32 or 64 */
  const char* name;  /* "order"; rows name it enum:order */
  const char* cases; /* "rows=0 columns=1" */
} ts_enum_row;

typedef struct ts_dialect {
  uint32_t size;
  uint32_t op_count;
  const char* name;    /* "blk": neither one of the core's nor one of another plugin */
  const char* summary; /* one line */
  const ts_op_row* const* ops;
  const ts_enum_row* const* enums;
  uint32_t enum_count;
  uint32_t reserved;
  /* Puts operations that the core runs (tt, arith, math, scf, tile, ...) in the place of `op`, which is one of this dialect, and
   * erases it. What it makes has the location of `op`, if it is given none, and what takes the place of a result has its
   * name. Anything but 0, and a call that goes wrong: `op` stays, and whoever would run it is told the reason. NULL: the
   * dialect's operations can be read and changed, not run. */
  int32_t (*lower)(void* data, const ts_plugin_host* host, ts_context context, ts_op op, ts_error* error);
  void* data; /* given to `lower` */
} ts_dialect;

typedef struct ts_plugin {
  uint32_t size;
  uint32_t abi_major, abi_minor; /* TS_PLUGIN_ABI_MAJOR, and the smallest minor version that will do */
  uint32_t pass_count;
  const char* id;      /* letters, digits, -, . */
  const char* version;
  const char* summary; /* one line */
  const ts_pass* const* passes;
  const ts_client* const* clients; /* see client.h */
  uint32_t client_count;
  uint32_t reserved;
  /* --- since 1.1 */
  const ts_dialect* const* dialects;
  uint32_t dialect_count;
  uint32_t reserved_too;
} ts_plugin;

/* The function that a plugin exports. 0: `*plugin` is its table; anything else: it does not want to run here, and says why. */
typedef int32_t (*ts_plugin_query_function)(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error);
#define TS_PLUGIN_QUERY tilesight_plugin_query

/* --- Helpers for plugins, inline so that nothing is linked. */

static inline ts_string ts_text(const char* text) {
  ts_string string;
  string.data = text;
  string.size = strlen(text);
  return string;
}

static inline int32_t ts_equal(ts_string a, const char* b) {
  return a.size == strlen(b) && memcmp(a.data, b, (size_t)a.size) == 0;
}

/* Says why, and returns what `run` should: `return ts_failure(error, "...")`. */
static inline int32_t ts_failure(ts_error* error, const char* text) {
  size_t size = strlen(text);
  if (error && error->text && error->capacity) {
    if (size >= error->capacity) size = error->capacity - 1;
    memcpy(error->text, text, size);
    error->text[size] = 0;
  }
  return 1;
}

#ifdef __cplusplus
}
#endif
#endif
