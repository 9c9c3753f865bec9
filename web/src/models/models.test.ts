import { expect, test } from "vitest";
import type { Launch, Site } from "../data";
import type { Packed } from "../packed";
import { assign, flat, indexOf, parseIndex, transpose, usualAxes } from "./axes";
import { inBrush, parseBrush, printBrush } from "./brush";
import { decimal, elementText, filtered, histogram, type Elements } from "./elements";
import { highlight } from "./highlight";
import { inputsQuery, parseFrom, printFrom } from "./inputs";
import { maskOf } from "./mask";
import { functionText, reproducer } from "./reproducer";
import { interesting, Steps, watchTable } from "./steps";

const site = (what: Site["what"], op: number, line: number, operation: string, names: string[]): Site =>
  ({ what, op, line, operation, function: "k", depth: 0, file: "k.py", user: { op, file: "k.py", line }, operands: [], values: names.map((name) => ({ name, ssa: "", type: "", file: "k.py", line, last: true })) });
const sites = [site("operation", 1, 2, "tt.load", ["x"]), site("arguments", 2, 3, "scf.for", ["i", "acc"]), site("operation", 3, 4, "tt.dot", ["acc"]), site("results", 2, 3, "scf.for", ["acc"])];
const array = (values: number[], shape = [values.length]) => ({ shape, values: Float64Array.from(values) });
const program: Packed = {
  meta: { total: 6, first: 0, complete: true, stopped: "" },
  arrays: { site: array([0, 1, 2, 1, 2, 3]), trips: array([-1, 0, 0, 1, 1, -1], [6, 1]) },
};

test("steps: the next line, the same place in the next iteration, the next time of an operation", () => {
  const steps = new Steps(program, sites);
  expect(steps.otherLine(0, 1)).toBe(1);
  expect(steps.otherLine(2, -1)).toBe(1);
  expect(steps.sameSite(2, 1)).toBe(4);
  expect(steps.sameSite(4, 1)).toBe(-1);
  expect(steps.sameSite(4, -1)).toBe(2);
  expect(steps.ofOp(3, 3)).toBe(4);
  expect(steps.ofOp(1, 5)).toBe(0);
  expect(steps.occurrences([3, 1, 3, 3])).toEqual([2, 0, 4, -1]);
  expect(steps.trips(3)).toEqual([1]);
  expect(steps.trips(0)).toEqual([]);
});

test("a watch table has a row an iteration and a column a place", () => {
  const n = 5, zeros = Array.from({ length: n }, () => 0);
  const answer: Packed = { meta: { total: n }, arrays: {
    name: array(zeros), site: array([1, 2, 1, 2, 3]), trips: array([0, 0, 1, 1, -1], [n, 1]), step: array([1, 2, 3, 4, 5]), number: array([1, 0, 1, 0, 0]), elements: array([1, 1, 1, 1, 1]),
    min: array(zeros), max: array(zeros), mean: array(zeros), first: array([0, 10, 10, 20, 20]), nan: array(zeros), inf: array(zeros) } };
  const table = watchTable(answer, ["acc"], sites);
  expect(table.columns.map((c) => [c.line, c.enters])).toEqual([[3, true], [4, false], [3, false]]);
  expect(table.rows.map((r) => [r.trips.join(), ...r.cells.map((c) => c?.first)])).toEqual([["0", 0, 10, undefined], ["1", 10, 20, undefined], ["", undefined, undefined, 20]]);
  expect(interesting(sites)).toEqual(["i", "acc"]);
});

test("axes: slicing, permuting, transposing", () => {
  const shape = [2, 3, 4];
  let axes = usualAxes(shape);
  expect(flat(shape, axes, 1, 2)).toBe(6);
  axes = assign(axes, 0, "rows");
  expect(axes).toEqual({ rows: 0, columns: 2, at: [0, 0, 0] });
  expect(flat(shape, transpose(axes), 3, 1)).toBe(15);
  expect(assign(axes, 2, "at")).toEqual({ rows: -1, columns: 0, at: [0, 0, 0] });
  expect(indexOf(shape, 23)).toEqual([1, 2, 3]);
});

test("an index is written as people write it", () => {
  expect(parseIndex("1, 2", [3, 4])).toEqual([1, 2]);
  expect(parseIndex("[1 2]", [3, 4])).toEqual([1, 2]);
  expect(parseIndex("6", [3, 4])).toEqual([1, 2]);
  for (const wrong of ["3, 0", "1,2,3", "x", "-1,0", "12"]) expect(parseIndex(wrong, [3, 4])).toBeNull();
});

function elements(dtype: string, family: Elements["family"], bits: number, raw: number[], number: number[]): Elements {
  return { dtype, family, bits, bytes: Math.ceil(bits / 8), raw, number };
}
test("elements in decimal, hexadecimal and bits", () => {
  const half = elements("f16", "float", 16, [0x00, 0x3e], [1.5]);
  expect(elementText(half, 0, "decimal")).toBe("1.5");
  expect(elementText(half, 0, "hex")).toBe("0x3e00");
  expect(elementText(half, 0, "bits")).toBe("0 01111 1000000000");
  expect(elementText(elements("i64", "int", 64, [255, 255, 255, 255, 255, 255, 255, 255], [-1]), 0, "decimal")).toBe("-1");
  expect(elementText(elements("i64", "int", 64, [1, 0, 0, 0, 0, 0, 32, 0], [9007199254740992]), 0, "decimal")).toBe("9007199254740993");
  expect(elementText(elements("i1", "bool", 8, [1], [1]), 0, "decimal")).toBe("true");
  expect(elementText(elements("f8E5M2", "float", 8, [0x3c], [1]), 0, "bits")).toBe("0 01111 00");
  expect(decimal(Math.fround(0.1), "f32")).toBe("0.1");
  expect(decimal(-0, "f32")).toBe("-0");
  expect(decimal(NaN, "f32")).toBe("NaN");
});

test("filters find NaN and infinities; the histogram leaves them out", () => {
  const values = [0, NaN, 1, -Infinity, 2];
  expect(filtered(values, "NaN")).toEqual({ indices: [1], total: 1 });
  expect(filtered(values, "not finite").indices).toEqual([1, 3]);
  expect([...histogram(values, 0, 2, 2)]).toEqual([1, 2]);
});

test("a mask view tells active, masked and outside elements", () => {
  const tensor = { name: "x", kind: "tensor", shape: [4], strides: [1] };
  expect([...maskOf([0, 3, 4, 5, -1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 1], [tensor])]).toEqual([0, 1, 2, 3, 2]);
  expect([...maskOf([0, 1], [0, 0], null, [tensor])]).toEqual([0, 0]);
});

test("a part of the grid", () => {
  expect(printBrush([3, 1], [0, 2])).toBe("1-3,0-2");
  const brush = parseBrush("1-3,0-2")!;
  expect(inBrush(1, brush, [4, 4, 1])).toBe(true);
  expect(inBrush(12 + 1, brush, [4, 4, 1])).toBe(false);
  expect(parseBrush("1-3")).toBeNull();
});

test("colouring leaves text as it is", () => {
  for (const line of ['    x = tl.load(p, mask=m, other=0.0)  # "why"', "def f(a: tl.constexpr):", ""]) expect(highlight(line, "python").map((p) => p.text).join("")).toBe(line);
  const ir = '    %qk_3 = tt.dot %a, %b, %c {inputPrecision = 0 : i32} : tensor<16x16xf32>';
  expect(highlight(ir, "mlir").map((p) => p.text).join("")).toBe(ir);
  expect(highlight("for x in y", "python")[0]).toEqual({ text: "for", kind: "word" });
});

test("the reproducer has the kernel, its arrays and its launch", () => {
  const source = "import triton\n\n@triton.autotune(configs=[])\n@triton.jit\ndef k(x, n,\n      B: tl.constexpr):\n    a = tl.load(x)\n\n    tl.store(x, a)\n\ndef other():\n    pass\n";
  expect(functionText(source, "k").split("\n").pop()).toBe("    tl.store(x, a)");
  const launch = { kernel: "k", grid: [2, 1, 1], sources: { "k.py": source }, arguments: [
    { name: "x", kind: "tensor", dtype: "float32", shape: [4, 3], strides: [6, 1] }, { name: "n", kind: "scalar", value: "5" }, { name: "B", kind: "specialized", value: "16" }] } as unknown as Launch;
  const finding = { kind: "out-of-bounds", message: "m", program: [1, 0, 0], location: { file: "k.py", line: 7, column: 1 } } as unknown as Launch["findings"][number];
  const text = reproducer(launch, finding);
  expect(text).toContain("@triton.jit\ndef k(");
  expect(text).not.toContain("autotune");
  expect(text).toContain("as_strided(rng.standard_normal(21)");
  expect(text).toContain("k[(2, 1, 1)](x=x, n=5, B=16)");
});

test("whose inputs are shown: an element of a tensor, or nobody's", () => {
  const all = [{ name: "n", kind: "scalar", value: "4" }, { name: "y", kind: "tensor", shape: [4, 6] }];
  const from = parseFrom("1:2,5", all);
  expect(from).toEqual({ argument: 1, element: [2, 5] });
  expect(printFrom(from!)).toBe("1:2,5");
  expect(inputsQuery(from!)).toBe("layer=inputs&of=1&element=2,5");
  for (const text of ["", "1", "1:", "1:4,0", "0:0", "2:0,0", "1:x,y", "-1:0,0"]) expect(parseFrom(text, all)).toBeNull();
});
