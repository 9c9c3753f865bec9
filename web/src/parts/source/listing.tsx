import { useMemo } from "preact/hooks";
import type { Op } from "../../data";
import { bytes, count } from "../../format";
import { highlight } from "../../models/highlight";
import { Virtual } from "../../parts/virtual";

export interface Line { text: string; ops: Op[]; moved: number; accesses: number; faults: number }

export function lines(text: string, ops: Op[], lineOf: (op: Op) => number): Line[] {
  const all: Line[] = text.replace(/\n$/, "").split("\n").map((line) => ({ text: line, ops: [], moved: 0, accesses: 0, faults: 0 }));
  for (const op of ops) {
    const line = all[lineOf(op) - 1];
    if (!line) continue;
    line.ops.push(op);
    line.moved += (op.totals?.read ?? 0) + (op.totals?.written ?? 0);
    line.accesses += op.totals?.accesses ?? 0;
    line.faults += op.totals?.faults ?? 0;
  }
  return all;
}

/** Numbered lines; the gutter has the bytes that a line moves and how many accesses that takes. `now`: the line of the
 * current step, or 0: `start` is at the top then; `near`: other lines that belong to it. */
export function Listing({ title, lines: all, language, now, start, near, marked, onPick, values }: {
  title: string; lines: Line[]; language: "python" | "mlir"; now: number; start?: number | undefined; near: Set<number>; marked?: Set<number>;
  onPick: (line: Line, number: number) => void; values?: Map<number, string>;
}) {
  const most = useMemo(() => Math.max(1, ...all.map((l) => l.moved)), [all]);
  const pieces = useMemo(() => new Map<number, ReturnType<typeof highlight>>(), [all, language]);
  const row = (i: number) => {
    const line = all[i]!;
    if (!pieces.has(i)) pieces.set(i, highlight(line.text, language));
    return (
      <div key={i} class={`line${i + 1 === now ? " on" : near.has(i + 1) ? " near" : ""}${marked?.has(i + 1) ? " bad" : ""}`} onClick={() => onPick(line, i + 1)}>
        <span class="gutter" title={line.accesses ? `${count(line.accesses)} accesses move ${bytes(line.moved)}${line.faults ? `; ${count(line.faults)} are faulty` : ""}` : ""}>
          {line.accesses ? <><em>{count(line.accesses)}×</em> {bytes(line.moved)}</> : ""}<i style={{ width: `${(line.moved / most) * 100}%` }} />
        </span>
        <span class="number">{i + 1}</span>
        <code>{pieces.get(i)!.map((p, k) => (p.kind ? <span key={k} class={`c-${p.kind}`}>{p.text}</span> : p.text))}{values?.has(i + 1) && <span class="inline">{values.get(i + 1)}</span>}</code>
      </div>
    );
  };
  return (
    <section class="listing">
      <h2>{title}</h2>
      <Virtual rows={all.length} height={18} row={row} focus={now - 1} start={start && start - 3} kind="code" />
    </section>
  );
}
