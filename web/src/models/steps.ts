// The steps of a program, as the scrubber moves over them.
import type { Site } from "../data";
import type { Packed } from "../packed";

export const chunk = 65536;

/** Steps first .. first + n of a program with `total` steps. */
export class Steps {
  readonly total: number;
  readonly first: number;
  readonly stopped: string;
  private readonly site: ArrayLike<number>;
  private readonly trip: ArrayLike<number>;
  readonly depth: number;

  constructor(answer: Packed, private readonly sites: Site[]) {
    const meta = answer.meta as { total: number; first: number; complete: boolean; stopped: string };
    this.total = meta.total;
    this.first = meta.first;
    this.stopped = meta.complete ? "" : meta.stopped || "the program was stopped";
    this.site = answer.arrays.site!.values;
    this.trip = answer.arrays.trips!.values;
    this.depth = answer.arrays.trips!.shape[1]!;
  }

  get past(): number { return this.first + this.site.length; }
  has(step: number): boolean { return step >= this.first && step < this.past; }
  siteNumber(step: number): number { return this.site[step - this.first] ?? -1; }
  siteAt(step: number): Site | undefined { return this.sites[this.siteNumber(step)]; }
  /** Trips of the loops around, outermost first. */
  trips(step: number): number[] {
    const out: number[] = [];
    for (let d = 0; d < this.depth; ++d) {
      const t = this.trip[(step - this.first) * this.depth + d];
      if (t !== undefined && t >= 0) out.push(t);
    }
    return out;
  }
  /** The nearest step after (by 1) or before (by -1) `step` that fits; -1: none in this part. */
  seek(step: number, by: 1 | -1, fits: (step: number) => boolean): number {
    for (let i = step + by; this.has(i); i += by) if (fits(i)) return i;
    return -1;
  }
  /** The same place in the next or the last iteration. */
  sameSite(step: number, by: 1 | -1): number {
    const site = this.siteNumber(step);
    return this.seek(step, by, (i) => this.siteNumber(i) === site);
  }
  /** The first step of the next line that is run, or the first one of the line before. */
  otherLine(step: number, by: 1 | -1): number {
    const at = (i: number) => { const user = this.siteAt(i)?.user; return user?.line ? `${user.line} ${user.file}` : ""; };
    const here = at(step);
    const found = this.seek(step, by, (i) => !!at(i) && at(i) !== here);
    if (by > 0 || found < 0) return found;
    const line = at(found);
    let first = found;
    while (this.has(first - 1) && at(first - 1) === line) --first;
    return first;
  }
  /** The nearest step of an operation, from `step` on, else from the start. */
  ofOp(op: number, step: number): number {
    const fits = (i: number) => this.siteAt(i)?.op === op && this.siteAt(i)?.what !== "arguments";
    const after = this.seek(step - 1, 1, fits);
    return after >= 0 ? after : this.seek(this.first - 1, 1, fits);
  }
  /** The steps at which these operations run, one after another of each; -1: not in this part. */
  occurrences(ops: ArrayLike<number>): number[] {
    const next = new Map<number, number>();
    return Array.from(ops, (op) => {
      const from = next.get(op) ?? this.first - 1;
      const step = from < -1 ? -1 : this.seek(from, 1, (i) => this.siteAt(i)?.op === op && this.siteAt(i)?.what === "operation");
      next.set(op, step < 0 ? -2 : step);
      return step;
    });
  }
}

/** A column of a watch table: a variable at one place. */
export interface WatchColumn { name: string; site: number; line: number; enters: boolean }
export interface WatchCell { step: number; number: number; elements: number; min: number; max: number; mean: number; first: number; nan: number; inf: number }
export interface WatchRow { trips: number[]; cells: (WatchCell | undefined)[] }

/** One row for each iteration, one column for each place where one of the variables gets a value. */
export function watchTable(answer: Packed, names: string[], sites: Site[]): { columns: WatchColumn[]; rows: WatchRow[] } {
  const column = (name: string) => answer.arrays[name]!.values;
  const name = column("name"), site = column("site"), trips = answer.arrays.trips!;
  const depth = trips.shape[1]!, n = name.length;
  const columns: WatchColumn[] = [], columnOf = new Map<string, number>();
  for (let i = 0; i < n; ++i) {
    const key = `${name[i]}/${site[i]}`;
    if (columnOf.has(key)) continue;
    columnOf.set(key, columns.length);
    const place = sites[site[i]!];
    columns.push({ name: names[name[i]!] ?? "", site: site[i]!, line: place?.values.find((v) => v.name === names[name[i]!])?.line ?? place?.line ?? 0, enters: place?.what === "arguments" });
  }
  // Places that come often first: what is set once, outside of the loops, is of less interest.
  const often = new Map<string, number>();
  for (let i = 0; i < n; ++i) often.set(`${name[i]}/${site[i]}`, (often.get(`${name[i]}/${site[i]}`) ?? 0) + 1);
  const times = (c: WatchColumn) => Math.min(2, often.get(`${names.indexOf(c.name)}/${c.site}`) ?? 0);
  columns.sort((a, b) => times(b) - times(a));
  columns.forEach((c, i) => columnOf.set(`${names.indexOf(c.name)}/${c.site}`, i));
  const rows: WatchRow[] = [], rowOf = new Map<string, WatchRow>();
  for (let i = 0; i < n; ++i) {
    const at = Array.from({ length: depth }, (_, d) => trips.values[i * depth + d]!).filter((t) => t >= 0);
    const key = at.join(",");
    const c = columnOf.get(`${name[i]}/${site[i]}`)!;
    let row = rowOf.get(key);
    if (!row || row.cells[c]) {  // once more in the same iteration: a row of its own
      row = { trips: at, cells: Array.from({ length: columns.length }, () => undefined) };
      rowOf.set(key, row);
      rows.push(row);
    }
    const cell = { step: 0, number: 0, elements: 0, min: 0, max: 0, mean: 0, first: 0, nan: 0, inf: 0 } as WatchCell;
    for (const field of Object.keys(cell) as (keyof WatchCell)[]) cell[field] = column(field)[i]!;
    row.cells[c] = cell;
  }
  return { columns, rows };
}

/** The columns of some variables, and the rows that have one of them. */
export function onlyColumns(table: ReturnType<typeof watchTable>, names: string[]): ReturnType<typeof watchTable> {
  const kept = table.columns.flatMap((c, i) => (names.includes(c.name) ? [i] : []));
  const rows = table.rows.map((r) => ({ trips: r.trips, cells: kept.map((i) => r.cells[i]) })).filter((r) => r.cells.some(Boolean));
  return { columns: kept.map((i) => table.columns[i]!), rows };
}

/** Variables that are worth watching: what loops carry; else what is loaded or computed by dots. */
export function interesting(sites: Site[]): string[] {
  const of = (fits: (s: Site) => boolean) => [...new Set(sites.filter(fits).flatMap((s) => s.values.map((v) => v.name)).filter(Boolean))];
  const carried = of((s) => s.what === "arguments" && s.operation !== "tt.func");
  return (carried.length > 1 ? carried : [...carried, ...of((s) => s.operation === "tt.load" || s.operation === "tt.dot")]).slice(0, 8);
}
