// Which elements of an access are active, masked off, or outside of their tensor.
import type { Argument, Site, ValueInfo } from "../data";
import type { Numbers } from "../packed";

export const maskKinds = ["active", "masked off", "outside the tensor", "masked off and outside"] as const;

/** The numbers of an access's pointer and mask operands; null if it has none, as accesses by descriptors. */
export function maskOperands(site: Site | undefined, values: ValueInfo[]): { pointer: ValueInfo; mask: ValueInfo | null } | null {
  if (!site || !/load|store|atomic/.test(site.operation)) return null;
  const operands = values.filter((v) => v.operand);
  const pointer = operands.find((v) => v.family === "pointer");
  if (!pointer) return null;
  return { pointer, mask: operands.find((v) => v.family === "bool" && v.number > 0) ?? null };
}

/** By element: an index in maskKinds. `offset`: in elements of the tensor, of a pointer each; `mask`: one a pointer, or one for all, or null. */
export function maskOf(offset: ArrayLike<number>, argument: ArrayLike<number>, mask: Numbers | ArrayLike<number> | null, tensors: (Argument | undefined)[]): Uint8Array {
  const out = new Uint8Array(offset.length);
  const limits = tensors.map((t) => {
    if (!t?.shape || !t.strides) return null;
    let low = 0, high = 0;
    t.shape.forEach((n, d) => { const reach = (n - 1) * t.strides![d]!; if (reach < 0) low += reach; else high += reach; });
    return t.shape.some((n) => n === 0) ? [0, -1] as const : [low, high] as const;
  });
  for (let i = 0; i < out.length; ++i) {
    const off = mask ? !mask[mask.length === 1 ? 0 : i] : false;
    const limit = limits[argument[i]!];
    const outside = !!limit && (offset[i]! < limit[0] || offset[i]! > limit[1]);
    out[i] = (off ? 1 : 0) + (outside ? 2 : 0);
  }
  return out;
}
