/* fuse-reshape: a load through a descriptor that is reshaped to drop axes of extent 1 becomes a load through a descriptor
 * without these axes. Also where the load itself drops them (the rank-reducing form).
 *
 * An axis goes in one of two ways, both exact for tiles within, across and outside of the bounds:
 *
 *   base    the base moves by index * stride. An index that is not proved to be inside is checked by hand: where it is
 *           outside, the base stays and the load is put behind the end of another axis, so that all of it is padding. The
 *           new descriptor depends on the index, so it stands where the index is known.
 *   merged  the axis becomes a part of another one: index * factor + index of the other, where the stride is factor times
 *           that of the other. Rows of the next slice are then inside of the bounds, so the tile must be proved to be
 *           inside of the old ones. One descriptor, beside the old one, serves all indices.
 *
 * Where a descriptor is an object of the device that takes time to make (NVIDIA from Hopper on), none is made in a loop
 * unless it takes the place of one in the same loop. Nothing is assumed of the grid or of arguments but what the option
 * `assume` says and the text promises. */
#include <tilesight/plugin.h>

#include <stdio.h>
#include <stdlib.h>

enum { kMost = 8 }; /* axes; Triton has up to 5 */

typedef struct pass {
  const ts_plugin_host* host;
  ts_context context;
  int on_device; /* descriptors take time to make */
  struct made* first;
} pass;

/* stride = number * value (NULL: 1) * stride of the other axis */
typedef struct factor {
  int64_t number;
  ts_value value;
  int64_t low, high; /* of all of it */
} factor;

/* What becomes of an axis. */
typedef enum fate { KEPT, TO_BASE, MERGED } fate;

typedef struct axis {
  fate fate;
  int64_t block;
  ts_value shape, stride, index;
  uint32_t into;  /* MERGED: the other axis */
  factor by;
  int guarded;    /* TO_BASE: the index may be outside */
  int takes;      /* KEPT: another axis is merged into it */
} axis;

/* A load, the reshapes that use it, and its descriptor. */
typedef struct candidate {
  ts_op load, old;
  uint32_t rank, kept;
  axis axes[kMost];
  ts_type result;
  ts_op point;    /* the new descriptor goes before it */
  int beside;     /* which is the one behind the old descriptor */
} candidate;

/* A descriptor that was made, for other loads from the same one. */
typedef struct made {
  struct made* next;
  candidate like;
  ts_value value;
} made;

static int is_named(const pass* p, ts_op op, const char* name) { return op && ts_equal(p->host->op_name(p->context, op), name); }

static void say(const pass* p, ts_op op, uint32_t kind, const char* rule, const char* message) {
  p->host->remark(p->context, op, kind, ts_text(rule), ts_text(message));
}

static void refuse(const pass* p, ts_op op, const char* rule, const char* message) { say(p, op, TS_REMARK_REFUSED, rule, message); }

/* --- What is known of values */

static int constant(const pass* p, ts_value value, int64_t* out) { return p->host->constant_integer(p->context, value, out); }

/* The value before it was made wider; the number is the same. */
static ts_value narrow(const pass* p, ts_value value) {
  for (;;) {
    ts_op op = p->host->value_op(p->context, value);
    if (!is_named(p, op, "arith.extsi")) return value;
    value = p->host->op_operand(p->context, op, 0);
  }
}

/* The same number, from the same place. */
static int same(const pass* p, ts_value a, ts_value b, int depth) {
  const ts_plugin_host* h = p->host;
  int64_t x, y;
  a = narrow(p, a), b = narrow(p, b);
  if (a == b) return 1;
  if (constant(p, a, &x) && constant(p, b, &y)) return x == y;
  ts_op first = h->value_op(p->context, a), second = h->value_op(p->context, b);
  if (depth > 6 || !first || !second || h->value_type(p->context, a) != h->value_type(p->context, b)) return 0;
  if (!is_named(p, first, "arith.muli") && !is_named(p, first, "arith.addi")) return 0;
  if (!ts_equal(h->op_name(p->context, first), is_named(p, second, "arith.muli") ? "arith.muli" : is_named(p, second, "arith.addi") ? "arith.addi" : "")) return 0;
  return same(p, h->op_operand(p->context, first, 0), h->op_operand(p->context, second, 0), depth + 1) &&
         same(p, h->op_operand(p->context, first, 1), h->op_operand(p->context, second, 1), depth + 1);
}

static int64_t least(const pass* p, ts_value value) {
  int64_t low, high;
  p->host->range(p->context, value, &low, &high);
  return low;
}

static int64_t most(const pass* p, ts_value value) {
  int64_t low, high;
  p->host->range(p->context, value, &low, &high);
  return high;
}

/* value + width <= bound, always. */
static int ends_before(const pass* p, ts_value value, int64_t width, ts_value bound) {
  int64_t low, high;
  p->host->difference(p->context, value, bound, &low, &high);
  return high <= -width;
}

/* a * b as it is computed is the product of the numbers. */
static int cannot_wrap(const pass* p, ts_value product, ts_value a, ts_value b) {
  const uint32_t width = p->host->type_width(p->context, p->host->value_type(p->context, product));
  if (width < 8 || width > 64) return 0;
  const __int128 bound = (__int128)1 << (width - 1);
  const __int128 factors[] = {least(p, a), most(p, a), least(p, b), most(p, b)};
  for (int i = 0; i < 2; ++i)
    for (int j = 2; j < 4; ++j)
      if (factors[i] * factors[j] < -bound || factors[i] * factors[j] >= bound) return 0;
  return 1;
}

/* stride = factor * other, proved. */
static int is_factor(const pass* p, ts_value stride, ts_value other, factor* out) {
  const ts_plugin_host* h = p->host;
  int64_t a, b;
  const int other_known = constant(p, other, &b);
  if (constant(p, stride, &a) && other_known) {
    if (b == 0 || (b == -1 && a == INT64_MIN) || a % b) return 0;
    *out = (factor){a / b, NULL, a / b, a / b};
    return 1;
  }
  if (same(p, stride, other, 0)) {
    *out = (factor){1, NULL, 1, 1};
    return 1;
  }
  ts_value value = narrow(p, stride);
  if (other_known && b == 1) {
    *out = (factor){1, value, least(p, value), most(p, value)};
    return 1;
  }
  ts_op op = h->value_op(p->context, value);
  if (!is_named(p, op, "arith.muli")) return 0;
  ts_value left = h->op_operand(p->context, op, 0), right = h->op_operand(p->context, op, 1);
  if (!cannot_wrap(p, value, left, right)) return 0;
  for (int i = 0; i < 2; ++i) {
    ts_value one = i ? right : left, rest = narrow(p, i ? left : right);
    if (same(p, one, other, 0)) {
      *out = constant(p, rest, &a) ? (factor){a, NULL, a, a} : (factor){1, rest, least(p, rest), most(p, rest)};
      return 1;
    }
    if (other_known && b > 0 && constant(p, one, &a) && a % b == 0) {
      const int64_t number = a / b;
      *out = (factor){number, rest, 0, 0};
      if (__builtin_mul_overflow(number, number < 0 ? most(p, rest) : least(p, rest), &out->low) ||
          __builtin_mul_overflow(number, number < 0 ? least(p, rest) : most(p, rest), &out->high))
        return 0;
      return 1;
    }
  }
  return 0;
}

/* Why axis `u` cannot become a part of axis `k`; NULL: it can. */
static const char* reason_not_to_merge(const pass* p, const candidate* c, uint32_t u, uint32_t k, factor* by, const char** why) {
  const axis *from = &c->axes[u], *to = &c->axes[k];
  if (!is_factor(p, from->stride, to->stride, by)) return *why = "its stride is not proved to be a multiple of the next one", "stride-not-a-multiple";
  if (by->low < 0) return *why = "its stride may go the other way", "stride-backwards";
  if (least(p, from->index) < 0) return *why = "its index may be below 0", "index-below-zero";
  if (!ends_before(p, from->index, 1, from->shape)) return *why = "its index may pass the shape", "index-past-the-shape";
  if (least(p, to->index) < 0) return *why = "the tile may begin below 0", "tile-below-zero";
  if (!ends_before(p, to->index, to->block, to->shape)) return *why = "the tile may pass the shape: it would read the next slice instead of padding", "tile-past-the-shape";
  const __int128 slices = (__int128)most(p, from->shape) - 1;
  if ((slices > 0 ? slices * by->high : 0) + most(p, to->shape) > INT32_MAX) return *why = "32 bits may not hold the index; if sizes are known, say so with assume", "index-may-wrap";
  return NULL;
}

/* --- Where the new descriptor stands */

/* `value` is known at `op`, and stays the same where `op` runs once. */
static int is_known_at(const pass* p, ts_value value, ts_op op) {
  const ts_plugin_host* h = p->host;
  ts_op definition = h->value_op(p->context, value);
  ts_block block = definition ? h->op_block(p->context, definition) : h->value_block(p->context, value);
  for (ts_op at = op; at; at = h->op_parent(p->context, at)) {
    if (h->op_block(p->context, at) != block) continue;
    if (!definition) return 1;
    for (ts_op before = h->op_previous(p->context, at); before; before = h->op_previous(p->context, before))
      if (before == definition) return 1;
    return 0;
  }
  return 0;
}

static int is_loop(const pass* p, ts_op op) {
  return is_named(p, op, "scf.for") || is_named(p, op, "scf.while");
}

/* Blocks of this region may run again. */
static int goes_back(const pass* p, ts_region region) {
  const ts_plugin_host* h = p->host;
  const uint32_t count = h->region_block_count(p->context, region);
  for (uint32_t i = 0; count > 1 && i < count; ++i) {
    ts_op last = h->block_last(p->context, h->region_block(p->context, region, i));
    for (uint32_t s = 0; last && s < h->op_successor_count(p->context, last); ++s)
      for (uint32_t j = 0; j <= i; ++j)
        if (h->op_successor(p->context, last, s) == h->region_block(p->context, region, j)) return 1;
  }
  return 0;
}

/* In anything that may run more than once in a call: all that is not known to run once. */
static int is_in_a_loop(const pass* p, ts_op op) {
  const ts_plugin_host* h = p->host;
  for (ts_op at = op; at; at = h->op_parent(p->context, at)) {
    ts_block block = h->op_block(p->context, at);
    if (!block) return 0;
    ts_region region = h->block_region(p->context, block);
    if (goes_back(p, region)) return 1;
    ts_op around = h->region_op(p->context, region);
    if (h->op_facts(p->context, around) & TS_OP_FUNCTION || !h->op_parent(p->context, around)) return 0;
    if (!is_named(p, around, "scf.if")) return 1;
  }
  return 0;
}

/* `op` runs at most as often as `other`: it is in the same block, or in a branch there. */
static int runs_with(const pass* p, ts_op op, ts_op other) {
  const ts_plugin_host* h = p->host;
  while (op && h->op_block(p->context, op) != h->op_block(p->context, other)) {
    op = h->op_parent(p->context, op);
    if (!is_named(p, op, "scf.if")) return 0;
  }
  return op != NULL;
}

/* The index has to be known where the new descriptor is made; constants are made again there. */
static int matters(const pass* p, const axis* a) {
  int64_t known;
  return a->fate == TO_BASE && !constant(p, a->index, &known);
}

/* Beside the old descriptor if all indices that go to the base are known there; else before the outermost loop in which none
 * of them changes; else at the load. */
static ts_op place_of(const pass* p, const candidate* c, int* is_beside) {
  const ts_plugin_host* h = p->host;
  ts_op beside = h->op_next(p->context, c->old);
  *is_beside = 1;
  for (uint32_t i = 0; i < c->rank; ++i) *is_beside &= !matters(p, &c->axes[i]) || is_known_at(p, c->axes[i].index, beside);
  if (*is_beside) return beside;
  ts_op point = c->load;
  ts_block block = h->op_block(p->context, c->old);
  for (ts_op at = c->load; at && h->op_block(p->context, at) != block;) {
    at = h->op_parent(p->context, at);
    if (!at || !(is_loop(p, at) || is_named(p, at, "scf.if"))) break;
    int outside = 1;
    for (uint32_t i = 0; i < c->rank; ++i) outside &= !matters(p, &c->axes[i]) || h->value_is_outside(p->context, c->axes[i].index, at);
    if (!outside) break;
    if (is_loop(p, at)) point = at;
  }
  return point;
}

/* --- Edits */

static ts_value create(const pass* p, ts_op before, const char* name, const ts_value* operands, uint32_t count, ts_type type, ts_op from) {
  ts_op_description d = {0};
  d.size = sizeof d;
  d.name = ts_text(name);
  d.at.before = before;
  d.operands = operands;
  d.operand_count = count;
  d.results = &type;
  d.result_count = 1;
  d.location = p->host->op_location(p->context, from);
  ts_op op = p->host->op_create(p->context, &d);
  return op ? p->host->op_result(p->context, op, 0) : NULL;
}

static ts_value binary(const pass* p, ts_op before, const char* name, ts_value a, ts_value b, ts_op from) {
  const ts_value operands[] = {a, b};
  return create(p, before, name, operands, 2, p->host->value_type(p->context, a), from);
}

static ts_value compare(const pass* p, ts_op before, const char* predicate, ts_value a, ts_value b, ts_op from) {
  const ts_value operands[] = {a, b};
  ts_op op = p->host->value_op(p->context, create(p, before, "arith.cmpi", operands, 2, p->host->type_parse(p->context, ts_text("i1")), from));
  p->host->op_set_attribute(p->context, op, ts_text("predicate"), p->host->attr_make_keyword(p->context, ts_text(predicate)));
  return op ? p->host->op_result(p->context, op, 0) : NULL;
}

static ts_value pick(const pass* p, ts_op before, ts_value condition, ts_value a, ts_value b, ts_op from) {
  const ts_value operands[] = {condition, a, b};
  return create(p, before, "arith.select", operands, 3, p->host->value_type(p->context, a), from);
}

static ts_value number(const pass* p, ts_op before, int64_t value, const char* type, ts_op from) {
  const ts_point at = {NULL, before};
  return p->host->constant(p->context, at, p->host->type_parse(p->context, ts_text(type)), value, p->host->op_location(p->context, from));
}

/* To i32; the number is known to fit. */
static ts_value as_i32(const pass* p, ts_op before, ts_value value, ts_op from) {
  const uint32_t width = p->host->type_width(p->context, p->host->value_type(p->context, value));
  if (width == 32) return value;
  return create(p, before, width > 32 ? "arith.trunci" : "arith.extsi", &value, 1, p->host->type_parse(p->context, ts_text("i32")), from);
}

/* value * factor, in 32 bits. */
static ts_value scaled(const pass* p, ts_op before, ts_value value, const factor* by, ts_op from) {
  if (by->value) value = binary(p, before, "arith.muli", value, as_i32(p, before, by->value, from), from);
  if (by->number != 1) value = binary(p, before, "arith.muli", value, number(p, before, by->number, "i32", from), from);
  return value;
}

/* 0 <= index < shape, as far as it is not known. */
static ts_value is_inside(const pass* p, ts_op before, const axis* a, ts_op from) {
  ts_value above = NULL, below = NULL;
  if (least(p, a->index) < 0) above = compare(p, before, "sge", a->index, number(p, before, 0, "i32", from), from);
  if (above && ends_before(p, a->index, 1, a->shape)) return above;
  below = compare(p, before, "slt", a->index, a->shape, from);
  return above ? binary(p, before, "arith.andi", above, below, from) : below;
}

static void copy_attributes(const pass* p, ts_op from, ts_op to) {
  const ts_plugin_host* h = p->host;
  for (uint32_t i = 0; i < h->op_attribute_count(p->context, from); ++i) {
    const ts_string key = h->op_attribute_key(p->context, from, i);
    h->op_set_attribute(p->context, to, key, h->op_attribute(p->context, from, key));
  }
}

/* The descriptor's type with the axes that are kept. */
static ts_type kept_type(const pass* p, const candidate* c) {
  const ts_string text = p->host->type_text(p->context, p->host->value_type(p->context, p->host->op_result(p->context, c->old, 0)));
  uint64_t at = 0; /* the first extent: `<` and a digit */
  while (at + 1 < text.size && !(text.data[at] == '<' && text.data[at + 1] >= '0' && text.data[at + 1] <= '9')) ++at;
  char out[256];
  if (at + 1 >= text.size || text.size + 1 > sizeof out) return NULL;
  size_t size = (size_t)at + 1;
  memcpy(out, text.data, size);
  uint64_t rest = at + 1;
  for (uint32_t i = 0; i < c->rank; ++i) {
    while (rest < text.size && text.data[rest] != 'x') ++rest;
    ++rest;
    if (c->axes[i].fate == KEPT) size += (size_t)snprintf(out + size, sizeof out - size, "%lldx", (long long)c->axes[i].block);
  }
  if (rest >= text.size || size + (text.size - rest) >= sizeof out) return NULL;
  memcpy(out + size, text.data + rest, (size_t)(text.size - rest));
  const ts_string made = {out, size + (text.size - rest)};
  return p->host->type_parse(p->context, made);
}

/* The new descriptor, or one that was made for another load. */
static ts_value descriptor_of(pass* p, const candidate* c) {
  const ts_plugin_host* h = p->host;
  for (made* m = p->first; m; m = m->next) {
    int equal = m->like.old == c->old && m->like.beside == c->beside && (c->beside || m->like.point == c->point) && m->like.rank == c->rank;
    for (uint32_t i = 0; equal && i < c->rank; ++i) {
      const axis *a = &m->like.axes[i], *b = &c->axes[i];
      equal = a->fate == b->fate && (a->fate != TO_BASE || (same(p, a->index, b->index, 0) && a->guarded == b->guarded)) && (a->fate != MERGED || a->into == b->into);
    }
    if (equal) return m->value;
  }
  ts_value base = h->op_operand(p->context, c->old, 0);
  ts_type i64 = h->type_parse(p->context, ts_text("i64"));
  ts_value shapes[kMost], operands[2 * kMost + 1];
  for (uint32_t i = 0; i < c->rank; ++i) shapes[i] = c->axes[i].shape;
  for (uint32_t i = 0; i < c->rank; ++i) {
    const axis* a = &c->axes[i];
    if (a->fate == MERGED) {
      ts_value slices = binary(p, c->point, "arith.subi", a->shape, number(p, c->point, 1, "i32", c->old), c->old);
      shapes[a->into] = binary(p, c->point, "arith.addi", scaled(p, c->point, slices, &a->by, c->old), shapes[a->into], c->old);
    } else if (a->fate == TO_BASE) {
      axis here = *a;
      int64_t known = 1;
      if (constant(p, a->index, &known) && known) here.index = number(p, c->point, known, "i32", c->load);
      if (!known) continue;
      ts_value index = here.index;
      if (a->guarded) index = pick(p, c->point, is_inside(p, c->point, &here, c->load), index, number(p, c->point, 0, "i32", c->load), c->load);
      index = create(p, c->point, "arith.extsi", &index, 1, i64, c->load);
      const ts_value add[] = {base, binary(p, c->point, "arith.muli", index, a->stride, c->load)};
      base = create(p, c->point, "tt.addptr", add, 2, h->value_type(p->context, base), c->load);
    }
  }
  uint32_t count = 0;
  operands[count++] = base;
  for (uint32_t i = 0; i < c->rank; ++i)
    if (c->axes[i].fate == KEPT) operands[count++] = shapes[i];
  for (uint32_t i = 0; i < c->rank; ++i)
    if (c->axes[i].fate == KEPT) operands[count++] = c->axes[i].stride;
  ts_type type = kept_type(p, c);
  if (!type) {
    h->fail(p->context, ts_text("the descriptor's type cannot be written with fewer axes"));
    return NULL;
  }
  ts_value value = create(p, c->point, "tt.make_tensor_descriptor", operands, count, type, c->old);
  ts_op op = value ? h->value_op(p->context, value) : NULL;
  if (op) copy_attributes(p, c->old, op);
  made* m = malloc(sizeof *m);
  if (m) {
    *m = (made){p->first, *c, value};
    p->first = m;
  }
  return value;
}

static ts_value new_load(pass* p, const candidate* c) {
  const ts_plugin_host* h = p->host;
  ts_value descriptor = descriptor_of(p, c);
  if (!descriptor) return NULL;
  ts_value indices[kMost], inside = NULL, operands[kMost + 1] = {descriptor};
  for (uint32_t i = 0; i < c->rank; ++i) indices[i] = c->axes[i].index;
  for (uint32_t i = 0; i < c->rank; ++i) {
    const axis* a = &c->axes[i];
    int64_t known;
    if (a->fate == MERGED && !(constant(p, a->index, &known) && known == 0)) indices[a->into] = binary(p, c->load, "arith.addi", scaled(p, c->load, a->index, &a->by, c->load), indices[a->into], c->load);
    if (a->fate != TO_BASE || !a->guarded) continue;
    ts_value here = is_inside(p, c->load, a, c->load);
    inside = inside ? binary(p, c->load, "arith.andi", inside, here, c->load) : here;
  }
  uint32_t behind = 0; /* an axis behind whose end the load is put; no other is merged into it */
  while (behind + 1 < c->rank && (c->axes[behind].fate != KEPT || c->axes[behind].takes)) ++behind;
  if (inside) indices[behind] = pick(p, c->load, inside, indices[behind], c->axes[behind].shape, c->load);
  uint32_t count = 1;
  for (uint32_t i = 0; i < c->rank; ++i)
    if (c->axes[i].fate == KEPT) operands[count++] = indices[i];
  ts_value value = create(p, c->load, "tt.descriptor_load", operands, count, c->result, c->load);
  if (value) copy_attributes(p, c->load, h->value_op(p->context, value));
  return value;
}

/* --- A load */

/* Which axes of extent 1 `to` leaves out of `from`; 0: it is not that. The last axes are kept where either would do. */
static int drops_units(const pass* p, ts_type from, ts_type to, int* dropped) {
  const ts_plugin_host* h = p->host;
  int64_t i = (int64_t)h->type_rank(p->context, from) - 1, j = (int64_t)h->type_rank(p->context, to) - 1;
  int any = 0;
  for (; i >= 0; --i) {
    const int64_t extent = h->type_extent(p->context, from, (uint32_t)i);
    dropped[i] = 0;
    if (j >= 0 && extent == h->type_extent(p->context, to, (uint32_t)j)) --j;
    else if (extent == 1) dropped[i] = any = 1;
    else return 0;
  }
  return j < 0 && any;
}

/* What the load is reshaped to: the type of all its users; NULL: it is not, or (with a rule) not in one way. */
static ts_type reshaped(const pass* p, ts_op load, const char** rule, const char** why) {
  const ts_plugin_host* h = p->host;
  ts_value value = h->op_result(p->context, load, 0);
  ts_type type = NULL;
  int reshapes = 0, others = 0;
  for (uint32_t i = 0; i < h->value_use_count(p->context, value); ++i) {
    ts_op user = h->value_use(p->context, value, i, NULL);
    if (!is_named(p, user, "tt.reshape")) {
      others = 1;
      continue;
    }
    if (h->op_attribute(p->context, user, ts_text("allow_reorder"))) return *rule = "may-reorder", *why = "the reshape may put elements anywhere: what it gives is not defined", NULL;
    ts_type to = h->value_type(p->context, h->op_result(p->context, user, 0));
    if (reshapes++ && type != to) others = 1;
    type = to;
  }
  if (reshapes && others) return *rule = "other-uses", *why = "the load is also used in another shape", NULL;
  return type;
}

/* Which axes are merged, where that is proved, and which go to the base. They are merged into the next axis that stays, or
 * (any = 1) into any other one. Says why the first that goes to the base is not merged. */
static void decide(const pass* p, candidate* c, const int* dropped, int any, uint32_t* merged, uint32_t* guarded, const char** rule, const char** why,
                   uint32_t* refused) {
  *merged = *guarded = 0;
  const char* first = NULL;
  for (uint32_t i = 0; i < c->rank; ++i) {
    c->axes[i].fate = dropped[i] ? TO_BASE : KEPT;
    c->axes[i].takes = c->axes[i].guarded = 0;
  }
  for (uint32_t u = 0; u < c->rank; ++u) {
    axis* a = &c->axes[u];
    if (!dropped[u]) continue;
    int tries = 0;
    for (uint32_t turn = 1; turn < c->rank && a->fate == TO_BASE && (any || !tries); ++turn) {
      const uint32_t k = (u + turn) % c->rank;
      if (dropped[k]) continue;
      ++tries;
      const char *this_rule = "another-is-merged", *this_why = "another axis is merged into the next one";
      if (!c->axes[k].takes) this_rule = reason_not_to_merge(p, c, u, k, &a->by, &this_why);
      if (!this_rule) {
        a->fate = MERGED;
        a->into = k;
        c->axes[k].takes = 1;
        ++*merged;
      } else if (!first) {
        first = *rule = this_rule, *why = this_why, *refused = u;
      }
    }
    if (a->fate == MERGED) continue;
    a->guarded = !(least(p, a->index) >= 0 && ends_before(p, a->index, 1, a->shape));
    *guarded += (uint32_t)a->guarded;
  }
  /* An index that may be outside needs an axis to pad by. */
  int can_pad = 0;
  for (uint32_t i = 0; i < c->rank; ++i) can_pad |= c->axes[i].fate == KEPT && !c->axes[i].takes;
  for (uint32_t i = 0; *guarded && !can_pad && i < c->rank; ++i) {
    c->axes[i].takes = 0;
    if (c->axes[i].fate == MERGED) c->axes[i].fate = TO_BASE, --*merged;
  }
  if (!first) *rule = "no-axis-to-pad-by", *why = "another index may be outside, and needs an axis to pad by";
}

static void consider(pass* p, ts_op load) {
  const ts_plugin_host* h = p->host;
  ts_context x = p->context;
  ts_value descriptor = h->op_operand(x, load, 0), loaded = h->op_result(x, load, 0);
  ts_type from = h->value_type(x, descriptor), direct = h->value_type(x, loaded);
  if (!from || !direct || h->type_kind(x, from) != TS_TYPE_DESCRIPTOR || h->type_rank(x, from) > kMost) return;
  char message[400];
  candidate c = {0};
  int dropped[kMost];
  const int reduces = h->type_rank(x, direct) < h->type_rank(x, from);
  const char *rule = NULL, *reason = NULL, *why = NULL, *ignored = NULL;
  ts_type to = reshaped(p, load, &rule, &why);
  const int through_reshape = to && drops_units(p, from, to, dropped);
  if (!through_reshape) {
    if (to && !reduces && h->type_rank(x, to) < h->type_rank(x, from)) rule = "not-unit-axes", why = "the reshape does more than leave out axes of extent 1";
    if (!reduces) {
      if (rule) refuse(p, load, rule, why);
      return;
    }
    to = direct;
    if (!drops_units(p, from, to, dropped)) {
      refuse(p, load, "not-unit-axes", "the load does more than leave out axes of extent 1");
      return;
    }
    rule = NULL;
  }
  c.load = load;
  c.rank = h->type_rank(x, from);
  c.result = to;
  if (dropped[c.rank - 1]) {
    refuse(p, load, "innermost-axis", "the axis whose elements lie side by side has extent 1: no other one takes its place");
    return;
  }
  if (h->type_encoding(x, from) || h->type_encoding(x, to)) {
    refuse(p, load, "has-a-layout", "the descriptor or the tile has a layout already");
    return;
  }
  c.old = h->value_op(x, descriptor);
  if (!is_named(p, c.old, "tt.make_tensor_descriptor")) {
    ts_block block = h->value_block(x, descriptor);
    if (block && h->op_facts(x, h->region_op(x, h->block_region(x, block))) & TS_OP_FUNCTION) refuse(p, load, "made-by-the-host", "the descriptor is an argument: the host makes it");
    else refuse(p, load, "not-followed", "which descriptor it is depends on a loop or a branch");
    return;
  }
  uint32_t shape = 0, stride = 0, index = 0;
  if (h->op_operand_group(x, c.old, ts_text("shape"), &shape) != c.rank || h->op_operand_group(x, c.old, ts_text("strides"), &stride) != c.rank ||
      h->op_operand_group(x, load, ts_text("indices"), &index) != c.rank) {
    refuse(p, load, "wrong-rank", "the descriptor has not one shape, stride and index for each axis of its block");
    return;
  }
  for (uint32_t i = 0; i < c.rank; ++i) {
    axis* a = &c.axes[i];
    a->block = h->type_extent(x, from, i);
    a->shape = h->op_operand(x, c.old, shape + i);
    a->stride = h->op_operand(x, c.old, stride + i);
    a->index = h->op_operand(x, load, index + i);
    if (!dropped[i]) ++c.kept;
  }

  uint32_t merged = 0, guarded = 0, refused_axis = 0;
  int allowed = 0;
  for (int any = 0; any < 2 && !allowed; ++any) {
    decide(p, &c, dropped, any, &merged, &guarded, any ? &ignored : &reason, any ? &ignored : &why, &refused_axis);
    c.point = place_of(p, &c, &c.beside);
    allowed = !p->on_device || !is_in_a_loop(p, c.point) || (h->value_use_count(x, descriptor) == 1 && runs_with(p, c.point, c.old));
  }
  if (!allowed) {
    snprintf(message, sizeof message, "axis %u changes in a loop, where no descriptor is made, and cannot be merged: %s", refused_axis, why);
    refuse(p, load, reason, message);
    return;
  }

  ts_value value = new_load(p, &c);
  if (!value) return;
  const uint32_t rank = c.rank;
  snprintf(message, sizeof message, "loaded through a descriptor of %u axes instead of %u%s%s", c.kept, rank,
           merged == rank - c.kept ? ": merged" : merged ? ": in part merged, in part by the base" : ": by the base",
           guarded ? ", with a check of the index" : "");
  say(p, load, TS_REMARK_DONE, merged == rank - c.kept ? "merged" : guarded ? "base-with-a-check" : "base", message);
  if (through_reshape) {
    while (h->value_use_count(x, loaded)) {
      ts_op user = h->value_use(x, loaded, 0, NULL);
      h->value_replace_uses(x, h->op_result(x, user, 0), value);
      h->op_erase(x, user);
      if (h->has_failed(x)) return;
    }
  } else {
    h->value_replace_uses(x, loaded, value);
  }
  h->op_erase(x, load);
}

static int32_t run(void* data, const ts_plugin_host* host, ts_context context, ts_error* error) {
  (void)data;
  pass p = {host, context, host->option_boolean(context, 1), NULL};
  const ts_string assumed = host->option_string(context, 0);
  if (assumed.size && !host->assume(context, assumed)) return ts_failure(error, "the option assume cannot be read");
  ts_op module = host->module(context);
  /* All loads first: reshapes go, and the walk may stand at one. */
  uint32_t count = 0;
  for (ts_op op = host->walk(context, module, NULL); op; op = host->walk(context, module, op)) count += is_named(&p, op, "tt.descriptor_load");
  ts_op* loads = malloc((count + 1) * sizeof *loads);
  if (!loads) return ts_failure(error, "out of memory");
  count = 0;
  for (ts_op op = host->walk(context, module, NULL); op; op = host->walk(context, module, op))
    if (is_named(&p, op, "tt.descriptor_load")) loads[count++] = op;
  for (uint32_t i = 0; i < count && !host->has_failed(context); ++i) consider(&p, loads[i]);
  /* Descriptors that no load uses any more. */
  for (made* m = p.first; m && !host->has_failed(context); m = m->next) {
    int first = 1;
    for (made* other = m->next; other; other = other->next) first &= other->like.old != m->like.old;
    if (first && host->value_use_count(context, host->op_result(context, m->like.old, 0)) == 0) host->op_erase(context, m->like.old);
  }
  for (made *m = p.first, *next; m; m = next) {
    next = m->next;
    free(m);
  }
  free(loads);
  return 0;
}

static const ts_option kAssume = {
  .size = sizeof(ts_option), .kind = TS_OPTION_STRING, .name = "assume", .fallback = "",
  .help = "what is known of the grid and of arguments: \"grid.x=16 N=1024 M=1..4096 K%64=0\""};
static const ts_option kOnDevice = {
  .size = sizeof(ts_option), .kind = TS_OPTION_BOOLEAN, .name = "device-descriptors", .fallback = "true",
  .help = "descriptors take time to make (NVIDIA from Hopper on): none is made in a loop"};
static const ts_option* const kOptions[] = {&kAssume, &kOnDevice};

static const ts_pass kPass = {
  .size = sizeof(ts_pass), .name = "fuse-reshape", .summary = "load through descriptors of lower rank where axes of extent 1 are reshaped away",
  .stage = "ttir", .options = kOptions, .option_count = 2, .run = run};
static const ts_pass* const kPasses[] = {&kPass};

static const ts_plugin kPlugin = {
  .size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = 0, .id = "tilesight.fuse-reshape",
  .version = "1.0", .summary = "reshapes of descriptor loads into the descriptor", .passes = kPasses, .pass_count = 1};

TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)host;
  (void)error;
  *plugin = &kPlugin;
  return 0;
}
