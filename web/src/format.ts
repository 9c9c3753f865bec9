export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function bytes(value: number): string {
  if (value < 1024) return `${Math.round(value)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let unit = -1;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; ++unit; }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

export function number(value: number): string {
  return Number.isInteger(value) ? count(value) : value.toPrecision(4);
}

export type Grid = [number, number, number];
/** Program number (x fastest) to id and back. */
export function programId(number: number, grid: Grid): Grid {
  return [number % grid[0], Math.floor(number / grid[0]) % grid[1], Math.floor(number / (grid[0] * grid[1]))];
}
export function programNumber(id: Grid, grid: Grid): number {
  return id[0] + grid[0] * (id[1] + grid[1] * id[2]);
}

/** A number of a value: short, and the same everywhere. */
export function short(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(3) : value.toPrecision(4);
}

export function typeText(dtype: string, shape: number[]): string {
  return shape.length ? `${dtype} [${shape.join(", ")}]` : dtype;
}
