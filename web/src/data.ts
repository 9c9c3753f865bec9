// What the server says. Nothing is fetched twice.
import { signal, type Signal } from "@preact/signals";
import { unpack, type Packed } from "./packed";
import type { Grid } from "./format";

export interface Entry {
  bundle: string; kernel: string; number: number; state: "waiting" | "running" | "ready" | "failed"; error: string;
  grid: Grid; errors: number; warnings: number; notes: number; unknowns: number; seconds: number;
}
export interface Argument { name: string; kind: string; dtype?: string; shape?: number[]; strides?: number[]; value?: string; withheld?: boolean }
export interface Totals { accesses: number; elements: number; active: number; read: number; written: number; faults: number }
export interface Op { op: number; operation: string; variable: string; irLine: number; file: string; line: number; column: number; totals?: Totals }
export interface Finding {
  kind: string; severity: "error" | "warning" | "note"; message: string; program: Grid; element: number[]; source: string; remedy: string;
  operation: string; location: { file: string; line: number; column: number };
  iterations: { name: string; value: number; trip: number }[];
  operand: { argument: string; index: number[]; bytes_past: number } | null;
  because: { name: string; expression: string; value: string }[];
  counts: { elements: number; programs: number };
}
export interface Launch {
  state: string; kernel: string; bundle: string; number: number; grid: Grid; triton: string; records: number;
  arguments: Argument[]; findings: Finding[]; unknowns: { reason: string; file: string; line: number }[];
  checked: string[]; notChecked: string[]; sources: Record<string, string>; ir: string; ops: Op[];
}

export interface Answer<T> { value?: T; error?: string }

async function ask(path: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch {
    throw new Error("the server does not answer: is `tilesight view` still running?");
  }
  if (response.ok) return response;
  let message = `${response.status}`;
  const text = await response.text();
  try { message = String((JSON.parse(text) as { error: unknown }).error); } catch { message = text.trim() || message; }
  throw new Error(message);
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function whenReady(path: string): Promise<Response> {
  for (;;) {
    const response = await ask(path);
    if (response.status !== 202) return response;
    await pause(150);
  }
}

const kept = new Map<string, Signal<Answer<unknown>>>();
function once<T>(path: string, read: (response: Response) => Promise<T>): Signal<Answer<T>> {
  let answer = kept.get(path) as Signal<Answer<T>> | undefined;
  if (answer) return answer;
  const fresh = signal<Answer<T>>({});
  kept.set(path, fresh as Signal<Answer<unknown>>);
  if (kept.size > 300) kept.delete(kept.keys().next().value!);
  whenReady(path).then(read).then((value) => (fresh.value = { value }), (error: Error) => {
    fresh.value = { error: error.message };
    setTimeout(() => kept.delete(path), 2000);  // asked again at the next change, not at once and for ever
  });
  return fresh;
}

export const launch = (index: number) => once<Launch>(`/api/launch/${index}`, (r) => r.json() as Promise<Launch>);
export const packed = (path: string) => once<Packed>(path, async (r) => unpack(await r.arrayBuffer()));

export const entries = signal<Answer<Entry[]>>({});
/** Asks until all launches have run. */
export async function watchEntries(): Promise<void> {
  for (;;) {
    try {
      const value = ((await (await ask("/api/launches")).json()) as { launches: Entry[] }).launches;
      entries.value = { value };
      if (value.every((e) => e.state === "ready" || e.state === "failed")) return;
    } catch (error) {
      entries.value = { error: (error as Error).message };
      return;
    }
    await pause(500);
  }
}
