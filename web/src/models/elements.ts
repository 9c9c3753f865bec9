// One element as people want to read it: decimal, hexadecimal, bits; whatever its type.
export type Format = "decimal" | "hex" | "bits";

/** Exponent and mantissa bits of a floating-point type. */
const layouts: Record<string, [number, number]> = {
  f16: [5, 10], bf16: [8, 7], f32: [8, 23], tf32: [8, 23], f64: [11, 52], f8E4M3FN: [4, 3], f8E5M2: [5, 2], f8E4M3FNUZ: [4, 3], f8E5M2FNUZ: [5, 2],
  f8E4M3B11FNUZ: [4, 3], f4E2M1FN: [2, 1],
};

export interface Elements {
  dtype: string;
  family: "float" | "int" | "bool" | "pointer" | "none";
  bits: number; // of an element
  bytes: number;
  number: ArrayLike<number>; // pointers: offset in elements
  raw: ArrayLike<number>; // `bytes` an element, little-endian
}

function pattern(e: Elements, index: number): bigint {
  let value = 0n;
  for (let b = e.bytes - 1; b >= 0; --b) value = (value << 8n) | BigInt(e.raw[index * e.bytes + b] ?? 0);
  return e.bits < 8 * e.bytes ? value & ((1n << BigInt(e.bits)) - 1n) : value;
}

export function elementText(e: Elements, index: number, format: Format): string {
  if (format === "hex") return `0x${pattern(e, index).toString(16).padStart(Math.ceil(e.bits / 4), "0")}`;
  if (format === "bits") {
    const text = pattern(e, index).toString(2).padStart(e.bits, "0");
    const layout = layouts[e.dtype];
    return layout ? `${text[0]} ${text.slice(1, 1 + layout[0])} ${text.slice(1 + layout[0])}` : text.replace(/(.{8})(?=.)/g, "$1 ");
  }
  if (e.family === "bool") return e.number[index] ? "true" : "false";
  if (e.family === "int" && e.bytes >= 8) return BigInt.asIntN(8 * e.bytes, pattern(e, index)).toString();
  if (e.family === "pointer") return `+${e.number[index]}`;
  return decimal(e.number[index] ?? NaN, e.dtype);
}

/** As few digits as tell the value from its neighbours of the same type. */
export function decimal(value: number, dtype: string): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0";
  if (dtype === "f64" || !dtype.includes("f")) return String(value);
  const digits = (layouts[dtype]?.[1] ?? 23) * 0.30103;
  for (let n = 1; n <= 9; ++n) {
    const text = value.toPrecision(n);
    if (n >= digits + 2 || Number(text) === value || (dtype === "f32" && Math.fround(Number(text)) === value)) return String(Number(text));
  }
  return String(value);
}

export type Filter = "all" | "NaN" | "infinite" | "not finite" | "zero" | "not zero";
export const filters: Record<Filter, (v: number) => boolean> = {
  all: () => true, NaN: (v) => Number.isNaN(v), infinite: (v) => v === Infinity || v === -Infinity, "not finite": (v) => !Number.isFinite(v), zero: (v) => v === 0, "not zero": (v) => v !== 0,
};
/** Indices of the first `limit` elements that a filter lets through, and how many there are. */
export function filtered(values: ArrayLike<number>, filter: Filter, limit = 2000): { indices: number[]; total: number } {
  const indices: number[] = [];
  let total = 0;
  for (let i = 0; i < values.length; ++i)
    if (filters[filter](values[i]!)) { if (indices.length < limit) indices.push(i); ++total; }
  return { indices, total };
}

export function histogram(values: ArrayLike<number>, min: number, max: number, bars = 48): Float64Array {
  const out = new Float64Array(bars);
  const scale = max > min ? bars / (max - min) : 0;
  for (let i = 0; i < values.length; ++i) {
    const v = values[i]!;
    if (Number.isFinite(v)) out[Math.min(bars - 1, Math.floor((v - min) * scale))]! += 1;
  }
  return out;
}
