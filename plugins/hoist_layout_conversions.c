/* hoist-layout-conversions: a ttg.convert_layout to a dot operand leaves the loops in which its source does not change.
 *
 * It goes just before the outermost loop for which the source is invariant, unless a loop that it crosses has no registers
 * for it: of each, what lives through it is counted, in bytes a thread. A conversion that frees as much as it takes is always
 * welcome; one that takes more is refused where four fifths of the budget would be passed. A loop that is not entered makes
 * the conversion superfluous, not wrong: it has no effect. */
#include <tilesight/plugin.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct pass {
  const ts_plugin_host* host;
  ts_context context;
  int64_t warps;
  int64_t budget; /* bytes a thread; 0: none */
} pass;

static int is_named(const pass* p, ts_op op, const char* name) { return op && ts_equal(p->host->op_name(p->context, op), name); }

static int starts_with(ts_string text, const char* prefix) { return text.size >= strlen(prefix) && memcmp(text.data, prefix, strlen(prefix)) == 0; }

/* The numbers behind the last `key = [` of a layout's text; how many there are. */
static int numbers_of(ts_string text, const char* key, int64_t* out, int most) {
  const size_t length = strlen(key);
  const char* found = NULL;
  for (uint64_t i = 0; i + length <= text.size; ++i)
    if (memcmp(text.data + i, key, length) == 0) found = text.data + i + length;
  if (!found) return 0;
  const char* end = text.data + text.size;
  while (found < end && *found != '[') ++found;
  int count = 0;
  for (++found; found < end && *found != ']' && count < most;) {
    int64_t value = 0;
    while (found < end && *found >= '0' && *found <= '9') value = value * 10 + (*found++ - '0');
    out[count++] = value;
    while (found < end && (*found == ',' || *found == ' ')) ++found;
  }
  return count;
}

/* Bytes that a thread holds of a value. Dot operands are held again by every warp along the dimension that they do not have. */
static int64_t bytes_of(const pass* p, ts_type type) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  if (!type || h->type_kind(c, type) != TS_TYPE_TENSOR) return 0;
  ts_type element = h->type_element(c, type);
  int64_t bits = h->type_kind(c, element) == TS_TYPE_POINTER ? 64 : h->type_width(c, element);
  if (bits < 8) bits = 8;
  int64_t elements = 1, splits = p->warps;
  for (uint32_t i = 0; i < h->type_rank(c, type); ++i) elements *= h->type_extent(c, type, i);
  ts_attr layout = h->type_encoding(c, type);
  if (layout) {
    const ts_string text = h->attr_text(c, layout);
    int64_t warps[8];
    const int rank = numbers_of(text, "warpsPerCTA", warps, 8);
    if (starts_with(text, "#ttg.dot_op") && rank >= 2) {
      const char* index = "opIdx = 1";
      int second = 0;
      for (uint64_t i = 0; i + 9 <= text.size; ++i) second |= memcmp(text.data + i, index, 9) == 0;
      splits = warps[second ? rank - 1 : rank - 2];
    }
  }
  const int64_t threads = 32 * (splits > 0 ? splits : 1);
  return (elements * bits / 8 + threads - 1) / threads;
}

/* Bytes a thread that live through a loop: tensors from outside that it reads, and those that it carries. `but`, if not NULL,
 * is not counted where only `reader` reads it. */
static int64_t live_through(const pass* p, ts_op loop, ts_value but, ts_op reader) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  int64_t bytes = 0;
  ts_block body = h->region_block(c, h->op_region(c, loop, 0), 0);
  for (uint32_t i = 0; i < h->block_argument_count(c, body); ++i) bytes += bytes_of(p, h->value_type(c, h->block_argument(c, body, i)));
  ts_value* seen = NULL;
  size_t count = 0, room = 0;
  for (ts_op op = h->walk(c, loop, loop); op; op = h->walk(c, loop, op)) {
    for (uint32_t i = 0; i < h->op_operand_count(c, op); ++i) {
      ts_value value = h->op_operand(c, op, i);
      if (!h->value_is_outside(c, value, loop)) continue;
      if (value == but && op == reader) continue;
      int known = 0;
      for (size_t j = 0; j < count && !known; ++j) known = seen[j] == value;
      if (known) continue;
      if (count == room) {
        room = room ? 2 * room : 64;
        ts_value* larger = realloc(seen, room * sizeof *seen);
        if (!larger) {
          free(seen);
          h->fail(c, ts_text("out of memory"));
          return 0;
        }
        seen = larger;
      }
      seen[count++] = value;
      bytes += bytes_of(p, h->value_type(c, value));
    }
  }
  free(seen);
  return bytes;
}

static void say(const pass* p, ts_op op, uint32_t kind, const char* rule, const char* message) {
  p->host->remark(p->context, op, kind, ts_text(rule), ts_text(message));
}

static void consider(const pass* p, ts_op op) {
  const ts_plugin_host* h = p->host;
  ts_context c = p->context;
  ts_value source = h->op_operand(c, op, 0);
  ts_op loop = h->op_parent(c, op);
  ts_op around = loop;
  while (around && !is_named(p, around, "scf.for")) around = h->op_parent(c, around);
  if (!around) return; /* not in a loop */
  ts_type from = h->value_type(c, source), to = h->value_type(c, h->op_result(c, op, 0));
  ts_attr layout = h->type_encoding(c, to);
  if (!layout || !starts_with(h->attr_text(c, layout), "#ttg.dot_op")) {
    if (h->value_is_outside(c, source, around)) say(p, op, TS_REMARK_REFUSED, "not-a-dot-operand", "the conversion is invariant, but not to a dot operand");
    return;
  }
  if (loop != around) {
    say(p, op, TS_REMARK_REFUSED, "in-a-branch", "the conversion may not run in every iteration");
    return;
  }
  if (!h->value_is_outside(c, source, loop)) {
    ts_block block = h->value_block(c, source);
    if (block) say(p, op, TS_REMARK_REFUSED, "loop-carried", "the loop changes the source in every iteration");
    else say(p, op, TS_REMARK_REFUSED, "source-in-loop", "the source is computed in the loop");
    return;
  }
  const int64_t takes = bytes_of(p, to), gives = bytes_of(p, from);
  ts_op target = NULL;
  char message[300];
  int crossed = 0;
  message[0] = 0;
  for (ts_op at = loop; is_named(p, at, "scf.for") && h->value_is_outside(c, source, at); at = h->op_parent(c, at)) {
    if (p->budget) {
      /* What lives through this loop when the result does, and the source only if something else there reads it. */
      const int64_t now = live_through(p, at, NULL, NULL), without = live_through(p, at, source, op);
      const int64_t then = without + takes;
      if (then > now && then >= p->budget / 5 * 4) {
        snprintf(message, sizeof message, "a loop would hold %lld of %lld bytes a thread (%lld for the result, %lld for the source)", (long long)then, (long long)p->budget,
                 (long long)takes, (long long)gives);
        break;
      }
    }
    target = at;
    ++crossed;
  }
  if (!target) {
    say(p, op, TS_REMARK_REFUSED, "register-budget", message);
    return;
  }
  if (message[0]) say(p, op, TS_REMARK_REFUSED, "register-budget-further-out", message);
  ts_point before = {0};
  before.before = target;
  h->op_move(c, op, before);
  h->op_set_attribute(c, op, ts_text("loop.stage"), NULL);
  h->op_set_attribute(c, op, ts_text("loop.cluster"), NULL);
  snprintf(message, sizeof message, "moved before %d loop%s", crossed, crossed == 1 ? "" : "s");
  say(p, op, TS_REMARK_DONE, "invariant-source", message);
}

static int32_t run(void* data, const ts_plugin_host* host, ts_context context, ts_error* error) {
  (void)data;
  (void)error;
  pass p = {host, context, 4, host->option_integer(context, 0)};
  ts_op module = host->module(context);
  ts_attr warps = host->op_attribute(context, module, ts_text("ttg.num-warps"));
  if (warps) host->attr_integer(context, warps, &p.warps);
  if (p.warps < 1) p.warps = 1;
  /* Once for every conversion, in the order of the text: one whose source another one was moves behind it. */
  for (ts_op op = host->walk(context, module, NULL), next; op; op = next) {
    next = host->walk(context, module, op);
    if (is_named(&p, op, "ttg.convert_layout")) consider(&p, op);
  }
  return 0;
}

static const ts_option kBudget = {
  .size = sizeof(ts_option), .kind = TS_OPTION_INTEGER, .name = "budget", .fallback = "1020", .least = 0, .most = 1 << 20,
  .help = "registers, in bytes a thread (255 of 4 bytes on CUDA); 0: do not count"};
static const ts_option* const kOptions[] = {&kBudget};

static const ts_pass kPass = {
  .size = sizeof(ts_pass), .name = "hoist-layout-conversions", .summary = "move conversions to dot operands out of loops in which their source does not change",
  .stage = "ttgir", .options = kOptions, .option_count = 1, .run = run};
static const ts_pass* const kPasses[] = {&kPass};

static const ts_plugin kPlugin = {
  .size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = 0, .id = "tilesight.hoist-layout-conversions",
  .version = "1.0", .summary = "layout conversions out of loops", .passes = kPasses, .pass_count = 1};

TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)host;
  (void)error;
  *plugin = &kPlugin;
  return 0;
}
