// Two axes of an array are rows and columns, the others have an index: slicing, permuting and transposing in one.
export interface Axes { rows: number; columns: number; at: number[] }

export function usualAxes(shape: number[]): Axes {
  return { rows: shape.length > 1 ? shape.length - 2 : -1, columns: shape.length - 1, at: shape.map(() => 0) };
}

/** Axis `d` becomes rows, columns, or one that has an index. */
export function assign(axes: Axes, d: number, use: "rows" | "columns" | "at"): Axes {
  const next = { ...axes };
  if (use === "rows") { if (next.columns === d) next.columns = next.rows; next.rows = d; }
  if (use === "columns") { if (next.rows === d) next.rows = next.columns; next.columns = d; }
  if (use === "at") { if (next.rows === d) next.rows = -1; else if (next.columns === d) { next.columns = next.rows; next.rows = -1; } }
  return next;
}
export function transpose(axes: Axes): Axes {
  return axes.rows < 0 ? axes : { ...axes, rows: axes.columns, columns: axes.rows };
}

export function strides(shape: number[]): number[] {
  const out = shape.map(() => 1);
  for (let d = shape.length - 2; d >= 0; --d) out[d] = out[d + 1]! * shape[d + 1]!;
  return out;
}
export function extent(shape: number[], axis: number): number { return axis < 0 ? 1 : shape[axis]!; }

/** The flat index (row-major) of a cell. */
export function flat(shape: number[], axes: Axes, row: number, column: number): number {
  const step = strides(shape);
  return shape.reduce((sum, _, d) => sum + step[d]! * (d === axes.rows ? row : d === axes.columns ? column : axes.at[d] ?? 0), 0);
}
export function indexOf(shape: number[], flatIndex: number): number[] {
  return strides(shape).map((s, d) => Math.floor(flatIndex / s) % shape[d]!);
}
/** "3, 14" as an index of the shape; a number alone may be a flat one. Null if it is none. */
export function parseIndex(text: string, shape: number[]): number[] | null {
  const parts = text.split(/[\s,\[\]()]+/).filter(Boolean).map(Number);
  if (parts.some((p) => !Number.isInteger(p) || p < 0)) return null;
  if (parts.length === shape.length && parts.every((p, d) => p < shape[d]!)) return parts;
  const size = shape.reduce((a, b) => a * b, 1);
  return parts.length === 1 && parts[0]! < size ? indexOf(shape, parts[0]!) : null;
}
/** Tensors of one axis are shown in rows of so many elements; 0: in one row. */
export function foldOf(shape: number[]): number {
  return shape.length === 1 && shape[0]! > 128 ? Math.min(1024, 2 ** Math.ceil(Math.log2(Math.sqrt(shape[0]!)))) : 0;
}
/** Axes that show the element. */
export function focus(axes: Axes, index: number[]): Axes { return { ...axes, at: index }; }
