/* A dialect for tests: blocks of a vector. `blk.indices` are those of a program's block, `blk.load` and `blk.store` touch the
 * elements at indices below a bound, `blk.scale` multiplies. OTHER makes a second plugin with the same dialect. */
#include <tilesight/plugin.h>

static const ts_enum_row kMode = {sizeof(ts_enum_row), 32, "mode", "wrap=0 saturate=1"};
static const ts_enum_row* const kEnums[] = {&kMode};

static const ts_op_row kIndices = {
  .size = sizeof(ts_op_row), .name = "blk.indices", .attributes = "axis: enum:axis", .results = "result: IntTensor",
  .format = "$axis attr-dict `:` type($result)", .traits = "pure"};
static const ts_op_row kLoad = {
  .size = sizeof(ts_op_row), .name = "blk.load", .operands = "base: Ptr, indices: IntTensor, count?: I32", .results = "result: Tensor",
  .format = "$base `[` $indices `]` (`below` $count^)? attr-dict `:` qualified(type($base)) `,` type($indices) `->` type($result)",
  .rules = "shape(indices, result)", .traits = "reads"};
static const ts_op_row kStore = {
  .size = sizeof(ts_op_row), .name = "blk.store", .operands = "base: Ptr, indices: IntTensor, value: Tensor, count?: I32",
  .format = "$value `,` $base `[` $indices `]` (`below` $count^)? attr-dict `:` qualified(type($base)) `,` type($indices) `,` type($value)",
  .rules = "shape(indices, value)", .traits = "writes"};
static const ts_op_row kScale = {
  .size = sizeof(ts_op_row), .name = "blk.scale", .operands = "x: IntTensor", .attributes = "by: i32, mode: enum:mode = wrap", .results = "result: IntTensor",
  .format = "$x `by` $by attr-dict `:` type($x)", .rules = "result = same(x)", .traits = "pure elementwise"};
static const ts_op_row* const kOps[] = {&kIndices, &kLoad, &kStore, &kScale};

/* An operation before `op`; its first result, if it has one. */
static ts_value make(const ts_plugin_host* host, ts_context context, ts_op op, const char* name, const ts_value* operands, uint32_t count, ts_type result,
                     const char* key, ts_attr value) {
  const ts_string keys[] = {ts_text(key ? key : "")};
  ts_op_description d = {.size = sizeof d, .operand_count = count, .name = ts_text(name), .at = {NULL, op}, .operands = operands,
                         .result_count = result ? 1 : 0, .results = &result, .attribute_count = key ? 1 : 0, .attribute_keys = keys, .attribute_values = &value};
  ts_op made = host->op_create(context, &d);
  return result && made ? host->op_result(context, made, 0) : NULL;
}

static ts_value splat(const ts_plugin_host* host, ts_context context, ts_op op, ts_value scalar, ts_type shaped) {
  const int64_t extent = host->type_extent(context, shaped, 0);
  ts_type type = host->type_tensor(context, &extent, 1, host->value_type(context, scalar), NULL);
  return make(host, context, op, "tt.splat", &scalar, 1, type, NULL, NULL);
}

static void replace(const ts_plugin_host* host, ts_context context, ts_op op, ts_value with) {
  host->value_replace_uses(context, host->op_result(context, op, 0), with);
}

/* The pointers, and in `mask` whether the indices are below the bound, if there is one. */
static ts_value pointers(const ts_plugin_host* host, ts_context context, ts_op op, ts_value* mask) {
  uint32_t at = 0;
  host->op_operand_group(context, op, ts_text("base"), &at);
  ts_value base = host->op_operand(context, op, at);
  host->op_operand_group(context, op, ts_text("indices"), &at);
  ts_value indices = host->op_operand(context, op, at);
  ts_type type = host->value_type(context, indices);
  const int64_t extent = host->type_extent(context, type, 0);
  *mask = NULL;
  if (host->op_operand_group(context, op, ts_text("count"), &at)) {
    const ts_value compared[] = {indices, splat(host, context, op, host->op_operand(context, op, at), type)};
    ts_type truth = host->type_tensor(context, &extent, 1, host->type_parse(context, ts_text("i1")), NULL);
    *mask = make(host, context, op, "arith.cmpi", compared, 2, truth, "predicate", host->attr_make_keyword(context, ts_text("slt")));
  }
  const ts_value both[] = {splat(host, context, op, base, type), indices};
  return make(host, context, op, "tt.addptr", both, 2, host->value_type(context, both[0]), NULL, NULL);
}

static int32_t lower(void* data, const ts_plugin_host* host, ts_context context, ts_op op, ts_error* error) {
  (void)data;
  const ts_string name = host->op_name(context, op);
  uint32_t at = 0;
  if (ts_equal(name, "blk.indices")) {
    ts_type type = host->value_type(context, host->op_result(context, op, 0));
    if (host->type_rank(context, type) != 1) return ts_failure(error, "indices have one axis");
    ts_type i32 = host->type_element(context, type);
    const int64_t extent = host->type_extent(context, type, 0);
    ts_value first[] = {make(host, context, op, "tt.get_program_id", NULL, 0, i32, "axis", host->op_attribute(context, op, ts_text("axis"))),
                        host->constant(context, (ts_point){NULL, op}, i32, extent, NULL)};
    ts_value begin = make(host, context, op, "arith.muli", first, 2, i32, NULL, NULL);
    const ts_string keys[] = {ts_text("end"), ts_text("start")};
    const ts_attr values[] = {host->attr_make_integer(context, extent, i32), host->attr_make_integer(context, 0, i32)};
    ts_op_description range = {.size = sizeof range, .name = ts_text("tt.make_range"), .at = {NULL, op}, .result_count = 1, .results = &type,
                               .attribute_count = 2, .attribute_keys = keys, .attribute_values = values};
    const ts_value sum[] = {splat(host, context, op, begin, type), host->op_result(context, host->op_create(context, &range), 0)};
    replace(host, context, op, make(host, context, op, "arith.addi", sum, 2, type, NULL, NULL));
  } else if (ts_equal(name, "blk.load")) {
    ts_value operands[2];
    operands[0] = pointers(host, context, op, &operands[1]);
    replace(host, context, op, make(host, context, op, "tt.load", operands, operands[1] ? 2 : 1, host->value_type(context, host->op_result(context, op, 0)), NULL, NULL));
  } else if (ts_equal(name, "blk.store")) {
    ts_value operands[3];
    operands[0] = pointers(host, context, op, &operands[2]);
    host->op_operand_group(context, op, ts_text("value"), &at);
    operands[1] = host->op_operand(context, op, at);
    make(host, context, op, "tt.store", operands, operands[2] ? 3 : 2, NULL, NULL, NULL);
  } else {
    if (host->op_attribute(context, op, ts_text("mode"))) return ts_failure(error, "it cannot saturate");
    ts_value x = host->op_operand(context, op, 0);
    int64_t by = 0;
    host->attr_integer(context, host->op_attribute(context, op, ts_text("by")), &by);
    const ts_value product[] = {x, host->constant(context, (ts_point){NULL, op}, host->value_type(context, x), by, NULL)};
    replace(host, context, op, make(host, context, op, "arith.muli", product, 2, host->value_type(context, x), NULL, NULL));
  }
  host->op_erase(context, op);
  return 0;
}

static const ts_dialect kDialect = {.size = sizeof(ts_dialect), .op_count = 4, .name = "blk", .summary = "blocks of a vector", .ops = kOps,
                                    .enums = kEnums, .enum_count = 1, .lower = lower};
static const ts_dialect* const kDialects[] = {&kDialect};

/* A pass that knows the dialect: scales by 1 go. */
static int32_t run(void* data, const ts_plugin_host* host, ts_context context, ts_error* error) {
  (void)data, (void)error;
  ts_op next = host->walk(context, host->module(context), NULL);
  for (ts_op op = next; op; op = next) {
    next = host->walk(context, host->module(context), op);
    int64_t by = 0;
    if (!ts_equal(host->op_name(context, op), "blk.scale") || !host->attr_integer(context, host->op_attribute(context, op, ts_text("by")), &by) || by != 1) continue;
    replace(host, context, op, host->op_operand(context, op, 0));
    host->op_erase(context, op);
  }
  return 0;
}

#if defined(OTHER)
#define ID "test.other-blocks"
#define PASS "other-scale-by-one"
#else
#define ID "test.blocks"
#define PASS "scale-by-one"
#endif
static const ts_pass kPass = {.size = sizeof(ts_pass), .name = PASS, .summary = "takes away scales by 1", .run = run};
static const ts_pass* const kPasses[] = {&kPass};
static const ts_plugin kPlugin = {.size = sizeof(ts_plugin), .abi_major = TS_PLUGIN_ABI_MAJOR, .abi_minor = 1, .id = ID, .version = "1.0", .summary = "blocks",
                                  .passes = kPasses, .pass_count = 1, .dialects = kDialects, .dialect_count = 1};

TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host* host, const ts_plugin** plugin, ts_error* error) {
  (void)host, (void)error;
  *plugin = &kPlugin;
  return 0;
}
