// What the server says, or, in a page of its own (`--html`), what the page holds. Nothing is fetched twice.
import { batch, computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { held } from "./held";
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
  iterations: Iteration[];
  operand: { argument: string; index: number[]; bytes_past: number } | null;
  because: { name: string; expression: string; value: string }[];
  counts: { elements: number; programs: number };
}
/** What is there when the launch has been read. */
interface Opened {
  state: string; kernel: string; bundle: string; number: number; grid: Grid; triton: string; reproducer?: string;
  arguments: Argument[]; sources: Record<string, string>; ir: string; ops: Op[];
}
/** What is there when it has run. */
interface Survey {
  accesses: number; findings: Finding[]; unknowns: { reason: string; file: string; line: number }[]; checked: string[]; notChecked: string[];
}
/** Until it has run, `surveyed` is false, and what would be there then is empty. `counting`: what is there is of all
 * programs still, not of the part of the grid that is asked for; `refused` is why it stays so. */
export interface Launch extends Opened, Survey { surveyed: boolean; counting: boolean; refused?: string }
export interface Iteration { name: string; value: number; trip: number }
export interface Named { name: string; ssa: string; type: string; file: string; line: number; last: boolean }
export interface Site {
  what: "operation" | "arguments" | "results"; op: number; operation: string; function: string; depth: number; file: string; line: number;
  /** In a source that was saved: of a step in Triton's own library, the call that leads there. */
  user: { op: number; file: string; line: number };
  values: Named[]; operands: Named[];
}
/** One value of a step; `picture` names an array of the answer. */
export interface ValueInfo {
  step: number; site: number; operand: boolean; number: number; name: string; /** of `name` there is a later value in its line */ part: boolean; ssa: string; type: string; line: number; file: string;
  dtype: string; family: "float" | "int" | "bool" | "pointer" | "none"; shape: number[]; numel: number;
  min?: number; max?: number; mean?: number; nan?: number; inf?: number; zero?: number; text?: string; argument?: number; picture?: string;
}

/** `waits`: it comes when the launch has run. */
export interface Answer<T> { value?: T; error?: string; waits?: boolean }

async function ask(path: string, body?: Blob): Promise<Response> {
  let response: Response;
  if (held) {
    const body = await held.answer(path);
    if (!body) throw new Error(held.missing(path));
    return new Response(body);
  }
  try {
    response = await fetch(path, { headers: { "X-Tilesight-Version": String(version.peek()) }, ...(body ? { method: "PUT", body } : {}) });
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

/** The answer when it is there: launches run first. Throws when the files have changed by then: the page begins anew. */
async function whenReady(path: string, body?: Blob, waits?: () => void): Promise<Response> {
  const asked = version.peek();
  for (;;) {
    const response = await ask(path, body);
    if (response.status !== 202) return response;
    const said = (await response.json()) as { state: string; done?: number; of?: number };
    if (said.state === "changed") lookAgain();
    else if (said.of) progress.value = { launch: Number(path.split("/")[3]), part: said.done! / said.of };
    waits?.();
    await pause(150);
    if (version.peek() !== asked) throw new Error("the files have changed");
  }
}

/** How far a launch is that runs. */
export const progress = signal<{ launch: number; part: number }>({ launch: -1, part: 0 });

let kept = new Map<string, Signal<Answer<unknown>>>();
function once<T>(path: string, read: (response: Response) => Promise<T>): Signal<Answer<T>> {
  const known = kept.get(path) as Signal<Answer<T>> | undefined;
  if (known) return known;
  const fresh = signal<Answer<T>>({});
  const mine = kept;
  mine.set(path, fresh as Signal<Answer<unknown>>);
  if (mine.size > 300) mine.delete(mine.keys().next().value!);
  whenReady(path, undefined, () => { if (!fresh.peek().waits) fresh.value = { waits: true }; }).then(read).then((value) => (fresh.value = { value }), (error: Error) => {
    fresh.value = { error: error.message };
    setTimeout(() => mine.delete(path), 2000);  // asked again at the next change, not at once and for ever
  });
  return fresh;
}

export const packed = (path: string) => once<Packed>(path, async (r) => unpack(await r.arrayBuffer()));
export const json = <T>(path: string) => once<T>(path, (r) => r.json() as Promise<T>);
type Told = Signal<Answer<Survey & { totals: Record<string, Totals> }>>;
const joined = new WeakMap<Signal<Answer<Opened>>, [Told, Told, ReadonlySignal<Answer<Launch>>]>();
/** A launch, first as it was read, then with what its run told; `brush`: what these programs did. */
export function launch(index: number, brush: string): ReadonlySignal<Answer<Launch>> {
  const told = (query: string): Told => json(`/api/launch/${index}/survey${query}`);
  const opened = json<Opened>(`/api/launch/${index}`), survey = told(""), part = brush && !held ? told(`?brush=${brush}`) : survey;
  const known = joined.get(opened);
  if (known?.[0] === survey && known[1] === part) return known[2];
  const both = computed<Answer<Launch>>(() => {
    const first = opened.value.value, then = part.value.value ?? survey.value.value, error = opened.value.error ?? survey.value.error;
    if (error) return { error };
    if (!first) return {};
    if (!then) return { value: { ...first, surveyed: false, counting: false, accesses: 0, findings: [], unknowns: [], checked: [], notChecked: [] } };
    const { totals, ...told } = then;
    const refused = part === survey ? undefined : part.value.error;
    return { value: { ...first, ...told, surveyed: true, counting: !part.value.value, ...(refused ? { refused } : {}), ops: first.ops.map((op) => (totals[op.op] ? { ...op, totals: totals[op.op]! } : op)) } };
  });
  joined.set(opened, [survey, part, both]);
  return both;
}
export const sites = (index: number) => json<{ sites: Site[]; needsReads: boolean }>(`/api/launch/${index}/sites`);
/** One question whose answer is not kept. */
export async function question<T>(path: string): Promise<T> {
  return (await whenReady(path)).json() as Promise<T>;
}
/** Sends a file; the answer to it. */
export async function upload<T>(path: string, body: Blob): Promise<T> {
  return (await whenReady(path, body)).json() as Promise<T>;
}
export async function download(path: string): Promise<ArrayBuffer> {
  return (await whenReady(path)).arrayBuffer();
}

/** The answer at `path`; until it is there, the one before, so that nothing flickers while one drags. Of the paths that
 * come while a request is under way, the last is asked for; a request that waits for the launch to run is not waited for. */
export function usePacked(path: string | undefined): Answer<Packed> & { busy: boolean } {
  const [shown, show] = useState<{ path?: string; answer: Answer<Packed> }>({ answer: {} });
  const wanted = useRef(path), asking = useRef(false), asked = useRef<{ answer: Signal<Answer<Packed>>; leave: () => void } | null>(null);
  wanted.current = path;
  useEffect(() => {
    if (!path) return;
    if (asking.current) {
      if (!asked.current?.answer.peek().waits) return;
      asked.current.leave();
    }
    const next = () => {
      const want = wanted.current;
      if (!want) { asking.current = false; return; }
      const answer = packed(want);
      const finish = (value: Answer<Packed>) => {
        show({ path: want, answer: value });
        if (wanted.current !== want) next();
        else asking.current = false;
      };
      if (answer.peek().value || answer.peek().error) return finish(answer.peek());
      let left = false;
      const stop = answer.subscribe((value) => {
        if (left || (!value.value && !value.error)) {
          // What waits for the launch gives way to what is wanted by now.
          if (!left && value.waits && wanted.current !== want) { left = true; queueMicrotask(() => stop()); next(); }
          return;
        }
        left = true;
        queueMicrotask(() => stop());
        finish(value);
      });
      asked.current = { answer, leave: () => { left = true; stop(); } };
    };
    asking.current = true;
    next();
  }, [path]);
  return { ...(path ? shown.answer : {}), busy: shown.path !== path };
}

export const entries = signal<Answer<Entry[]>>({});
let lookAgain: () => void = () => {};
/** How often the files have changed; everything is asked for again. */
export const version = signal(0);
/** Asks for the launches for as long as the page is open: they run, and their files may change. */
export async function watchEntries(): Promise<void> {
  let seen = "";
  for (;;) {
    let wait = 2000;
    try {
      const answer = (await (await ask("/api/launches")).json()) as { launches: Entry[]; version: number };
      const text = JSON.stringify(answer);
      batch(() => {
        if (answer.version !== version.value) {
          kept = new Map();
          version.value = answer.version;
        }
        if (text !== seen) entries.value = { value: answer.launches };
      });
      seen = text;
      if (!answer.launches.every((e) => e.state === "ready" || e.state === "failed")) wait = 400;
      if (held) return;
    } catch (error) {
      seen = "";
      entries.value = { ...(entries.value.value ? { value: entries.value.value } : {}), error: (error as Error).message };
    }
    await Promise.race([pause(wait), new Promise<void>((done) => (lookAgain = done))]);
  }
}
