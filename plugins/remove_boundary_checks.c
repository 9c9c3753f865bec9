/* remove-boundary-checks: checks of loads and stores that can be proved unnecessary go.
 *
 * Of block pointers (Triton up to 3.7): a dimension leaves `boundaryCheck` if 0 <= offset and offset + block <= shape for
 * every execution. boundaryCheck names dimensions of the shape directly; `order` has no part in it. Offsets are followed
 * through tt.advance, which adds without wrapping, and through loops that carry the pointer.
 *
 * Of pointers: a mask that is always true goes, with `other`; parts of an `and` that are always true go. A store whose
 * mask is always false goes, a load becomes its `other`.
 *
 * Nothing is assumed of the grid or of arguments but what the option `assume` says and the text promises. */
#include <tilesight/plugin.h>

#include <stdio.h>

typedef struct pass {
  const ts_plugin_host* host;
  ts_context context;
} pass;

/* An offset along one dimension: `value` (NULL: 0) plus low..high. */
typedef struct offset {
  ts_value value;
  int64_t low, high;
} offset;

/* Where a block pointer comes from, and its offset along the dimension that was asked for. */
typedef struct source {
  ts_op made; /* the tt.make_tensor_ptr; NULL: not known */
  const char* rule;
  const char* why;
  offset at;
} source;

static const int64_t kUnbounded = INT64_MAX / 4;

static int64_t clamped(int64_t value) { return value > kUnbounded ? kUnbounded : value < -kUnbounded ? -kUnbounded : value; }

static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? -kUnbounded : kUnbounded;
  return clamped(product);
}

static int is_named(const pass* p, ts_op op, const char* name) { return op && ts_equal(p->host->op_name(p->context, op), name); }

static void say(const pass* p, ts_op op, uint32_t kind, const char* rule, const char* message) {
  p->host->remark(p->context, op, kind, ts_text(rule), ts_text(message));
}

static source unknown(const char* rule, const char* why) {
  source s = {0};
  s.rule = rule;
  s.why = why;
  return s;
}

/* The operand of a group along a dimension. */
static ts_value along(const pass* p, ts_op op, const char* group, uint32_t dimension) {
  uint32_t first = 0;
  const uint32_t count = p->host->op_operand_group(p->context, op, ts_text(group), &first);
  return dimension < count ? p->host->op_operand(p->context, op, first + dimension) : NULL;
}

static void add_range(const pass* p, offset* at, ts_value value) {
  int64_t low, high;
  p->host->range(p->context, value, &low, &high);
  at->low = clamped(at->low + clamped(low));
  at->high = clamped(at->high + clamped(high));
}

/* Steps that lead from `argument`, which a loop carries, to `next`, which it passes on: 1, and the sum of the advances. */
static int steps_between(const pass* p, ts_value argument, ts_value next, uint32_t dimension, offset* by) {
  by->value = NULL;
  by->low = by->high = 0;
  for (int depth = 0; depth < 100; ++depth) {
    if (next == argument) return 1;
    ts_op op = p->host->value_op(p->context, next);
    if (!is_named(p, op, "tt.advance")) return 0;
    ts_value step = along(p, op, "offsets", dimension);
    if (!step) return 0;
    add_range(p, by, step);
    next = p->host->op_operand(p->context, op, 0);
  }
  return 0;
}

static source source_of(const pass* p, ts_value pointer, uint32_t dimension, int depth);

/* A pointer that a loop carries: as its body sees it, or (after = 1) as it leaves the loop. */
static source carried(const pass* p, ts_op loop, uint32_t number, uint32_t dimension, int after, int depth) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  ts_block body = h->region_block(c, h->op_region(c, loop, 0), 0);
  ts_op yield = h->block_last(c, body);
  if (!is_named(p, yield, "scf.yield") || h->op_operand_count(c, yield) <= number) return unknown("not-followed", "the loop that carries the pointer has no plain yield");
  offset by;
  if (!steps_between(p, h->block_argument(c, body, number + 1), h->op_operand(c, yield, number), dimension, &by))
    return unknown("not-followed", "the loop changes the pointer by more than tt.advance");
  source s = source_of(p, h->op_operand(c, loop, number + 3), dimension, depth + 1);
  if (!s.made || (by.low == 0 && by.high == 0)) return s;

  /* A pointer that goes in step with the loop's variable is at the variable. */
  int64_t step_low, step_high, apart_low, apart_high;
  h->range(c, h->op_operand(c, loop, 2), &step_low, &step_high);
  if (!after && by.low == by.high && step_low == step_high && step_low == by.low && step_low > 0 && !h->op_attribute(c, loop, ts_text("unsignedCmp"))) {
    ts_value lower = h->op_operand(c, loop, 0);
    if (s.at.value) h->difference(c, s.at.value, lower, &apart_low, &apart_high);
    else {
      h->range(c, lower, &apart_low, &apart_high);
      const int64_t low = apart_low;
      apart_low = -apart_high;
      apart_high = -low;
    }
    apart_low = clamped(apart_low) + s.at.low;
    apart_high = clamped(apart_high) + s.at.high;
    if (apart_low == apart_high) {
      s.at.value = h->block_argument(c, body, 0);
      s.at.low = s.at.high = apart_low;
      return s;
    }
  }
  const int64_t trips = h->max_trips(c, loop);
  const int64_t most = trips < 0 ? kUnbounded : after ? trips : trips > 0 ? trips - 1 : 0;
  const int64_t down = times(most, by.low), up = times(most, by.high);
  if (down < 0) s.at.low = clamped(s.at.low + down);
  if (up > 0) s.at.high = clamped(s.at.high + up);
  return s;
}

static source source_of(const pass* p, ts_value pointer, uint32_t dimension, int depth) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  if (depth > 50) return unknown("not-followed", "the pointer comes from too far");
  ts_op op = h->value_op(c, pointer);
  if (!op) {
    ts_op owner = h->region_op(c, h->block_region(c, h->value_block(c, pointer)));
    const uint32_t index = h->value_index(c, pointer);
    if (is_named(p, owner, "scf.for") && index > 0) return carried(p, owner, index - 1, dimension, 0, depth);
    return unknown("not-followed", "the pointer is an argument");
  }
  if (is_named(p, op, "tt.make_tensor_ptr")) {
    source s = {0};
    s.made = op;
    s.at.value = along(p, op, "offsets", dimension);
    if (!s.at.value) return unknown("not-followed", "the pointer has fewer dimensions than are checked");
    return s;
  }
  if (is_named(p, op, "tt.advance")) {
    source s = source_of(p, h->op_operand(c, op, 0), dimension, depth + 1);
    ts_value step = along(p, op, "offsets", dimension);
    if (s.made && step) add_range(p, &s.at, step);
    return s;
  }
  if (is_named(p, op, "scf.for")) return carried(p, op, h->value_index(c, pointer), dimension, 1, depth);
  return unknown("not-followed", "the pointer does not come from tt.make_tensor_ptr by tt.advance and loops alone");
}

/* Why the check of a dimension has to stay; NULL if it may go. */
static const char* reason_to_check(const pass* p, ts_value pointer, uint32_t dimension, int64_t block, char* message, size_t size) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  const source s = source_of(p, pointer, dimension, 0);
  if (!s.made) {
    snprintf(message, size, "dimension %u stays checked: %s", dimension, s.why);
    return s.rule;
  }
  int64_t low = 0, high = 0, past_low, past_high;
  ts_value shape = along(p, s.made, "shape", dimension);
  if (!shape) {
    snprintf(message, size, "dimension %u stays checked: the pointer has no such dimension", dimension);
    return "no-dimension";
  }
  if (s.at.value) h->range(c, s.at.value, &low, &high);
  low = clamped(clamped(low) + s.at.low);
  if (low < 0) {
    snprintf(message, size, "dimension %u stays checked: its offset may be below 0", dimension);
    return "lower-bound";
  }
  if (s.at.value) h->difference(c, s.at.value, shape, &past_low, &past_high);
  else {
    h->range(c, shape, &past_low, &past_high);
    past_high = -clamped(past_low);
  }
  past_high = clamped(clamped(past_high) + s.at.high) + block;
  if (past_high > 0) {
    snprintf(message, size, "dimension %u stays checked: its offset plus %lld may pass the shape; if sizes or the grid are known, say so with assume", dimension, (long long)block);
    return "upper-bound";
  }
  return NULL;
}

static void check_block_pointer(const pass* p, ts_op op, ts_type block) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  ts_attr checked = h->op_attribute(c, op, ts_text("boundaryCheck"));
  if (!checked) return;
  const uint32_t count = h->attr_count(c, checked);
  int64_t kept[64];
  uint32_t keep = 0;
  char message[300];
  for (uint32_t i = 0; i < count && i < 64; ++i) {
    const int64_t dimension = h->attr_element_integer(c, checked, i);
    const char* rule = "no-dimension";
    if (dimension < 0 || dimension >= h->type_rank(c, block)) snprintf(message, sizeof message, "there is no dimension %lld", (long long)dimension);
    else rule = reason_to_check(p, h->op_operand(c, op, 0), (uint32_t)dimension, h->type_extent(c, block, (uint32_t)dimension), message, sizeof message);
    if (rule) {
      kept[keep++] = dimension;
      say(p, op, TS_REMARK_REFUSED, rule, message);
    } else {
      snprintf(message, sizeof message, "dimension %lld is never passed: it is no longer checked", (long long)dimension);
      say(p, op, TS_REMARK_DONE, "both-bounds", message);
    }
  }
  if (keep == count || count > 64) return;
  h->op_set_attribute(c, op, ts_text("boundaryCheck"), keep ? h->attr_make_i32_array(c, kept, keep) : NULL);
  /* What is never padded needs no padding; Triton would make an `other` without a mask of it. */
  if (!keep) h->op_set_attribute(c, op, ts_text("padding"), NULL);
}

/* The mask without parts that are always true; NULL: all of it is. */
static ts_value needed(const pass* p, ts_value mask, ts_op before, int* changed) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  if (h->truth(c, mask) == 1) {
    *changed = 1;
    return NULL;
  }
  ts_op op = h->value_op(c, mask);
  if (!is_named(p, op, "arith.andi")) return mask;
  int inner = 0;
  ts_value left = needed(p, h->op_operand(c, op, 0), before, &inner), right = needed(p, h->op_operand(c, op, 1), before, &inner);
  if (!inner) return mask;
  *changed = 1;
  if (!left || !right) return left ? left : right;
  const ts_value operands[] = {left, right};
  const ts_type type = h->value_type(c, mask);
  ts_op_description both = {0};
  both.size = sizeof both;
  both.name = ts_text("arith.andi");
  both.at.before = before;
  both.operands = operands;
  both.operand_count = 2;
  both.results = &type;
  both.result_count = 1;
  both.location = h->op_location(c, op);
  ts_op made = h->op_create(c, &both);
  return made ? h->op_result(c, made, 0) : mask;
}

/* All operands but the mask (and `other`), or with another mask. */
static void set_mask(const pass* p, ts_op op, ts_value mask, int is_load) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  ts_value operands[4];
  uint32_t groups[3] = {1, 0, 0}, count = 0, first = 0;
  operands[count++] = h->op_operand(c, op, 0);
  if (!is_load) {
    operands[count++] = h->op_operand(c, op, 1);
    groups[1] = 1;
  }
  if (mask) {
    operands[count++] = mask;
    groups[is_load ? 1 : 2] = 1;
    if (is_load && h->op_operand_group(c, op, ts_text("other"), &first)) {
      operands[count++] = h->op_operand(c, op, first);
      groups[2] = 1;
    }
  }
  h->op_set_operands(c, op, operands, count, groups, 3);
}

static void check_mask(const pass* p, ts_op op, int is_load) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  uint32_t first = 0;
  if (!h->op_operand_group(c, op, ts_text("mask"), &first)) return;
  ts_value mask = h->op_operand(c, op, first);
  if (h->truth(c, mask) == 0) {
    if (!is_load) {
      say(p, op, TS_REMARK_DONE, "never-stores", "the mask is always false: the store is gone");
      h->op_erase(c, op);
      return;
    }
    uint32_t other = 0;
    if (!h->op_operand_group(c, op, ts_text("other"), &other)) {
      say(p, op, TS_REMARK_REFUSED, "no-other", "the mask is always false, but the load has no other to give");
      return;
    }
    if (h->op_attribute(c, op, ts_text("isVolatile"))) {
      say(p, op, TS_REMARK_REFUSED, "volatile", "the mask is always false, but the load is volatile");
      return;
    }
    say(p, op, TS_REMARK_DONE, "never-loads", "the mask is always false: other takes the load's place");
    h->value_replace_uses(c, h->op_result(c, op, 0), h->op_operand(c, op, other));
    h->op_erase(c, op);
    return;
  }
  int changed = 0;
  ts_value rest = needed(p, mask, op, &changed);
  if (!changed) {
    say(p, op, TS_REMARK_REFUSED, "mask-not-proved", "the mask may be false for some element; if sizes or the grid are known, say so with assume");
    return;
  }
  set_mask(p, op, rest, is_load);
  if (rest) say(p, op, TS_REMARK_DONE, "mask-part", "a part of the mask is always true: it is gone");
  else say(p, op, TS_REMARK_DONE, "mask-always-true", "the mask is always true: it is gone");
}

static int32_t run(void* data, const ts_plugin_host* host, ts_context context, ts_error* error) {
  (void)data;
  (void)error;
  const pass p = {host, context};
  const ts_string assumed = host->option_string(context, 0);
  if (assumed.size && !host->assume(context, assumed)) return ts_failure(error, "the option assume cannot be read");
  ts_op module = host->module(context);
  for (ts_op op = host->walk(context, module, NULL), next; op; op = next) {
    next = host->walk(context, module, op);
    const int is_load = is_named(&p, op, "tt.load");
    if (!is_load && !is_named(&p, op, "tt.store")) continue;
    ts_type type = host->value_type(context, host->op_operand(context, op, 0));
    if (!type) continue;
    ts_type block = host->type_kind(context, type) == TS_TYPE_POINTER ? host->type_element(context, type) : NULL;
    if (block && host->type_kind(context, block) == TS_TYPE_TENSOR) check_block_pointer(&p, op, block);
    else check_mask(&p, op, is_load);
  }
  return 0;
}

static const ts_option kAssume = {
  .size = sizeof(ts_option), .kind = TS_OPTION_STRING, .name = "assume", .fallback = "",
  .help = "what is known of the grid and of arguments: \"grid.x=16 N=1024 M=1..4096 K%64=0\""};
static const ts_option* const kOptions[] = {&kAssume};

static const ts_pass kPass = {
  .size = sizeof(ts_pass), .name = "remove-boundary-checks", .summary = "drop boundary checks and masks that are proved unnecessary",
  .stage = "ttir", .options = kOptions, .option_count = 1, .run = run};
static const ts_pass* const kPasses[] = {&kPass};

static const ts_plugin kPlugin = {
  .size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = 0, .id = "tilesight.remove-boundary-checks",
  .version = "1.0", .summary = "boundary checks and masks that are proved unnecessary", .passes = kPasses, .pass_count = 1};

TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)host;
  (void)error;
  *plugin = &kPlugin;
  return 0;
}
