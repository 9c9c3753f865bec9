import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Launch, Op } from "../data";
import { bytes, count } from "../format";
import { set, state } from "../state";

interface Line { text: string; ops: Op[]; moved: number; accesses: number }

function lines(text: string, ops: Op[], lineOf: (op: Op) => number): Line[] {
  const all: Line[] = text.replace(/\n$/, "").split("\n").map((line) => ({ text: line, ops: [], moved: 0, accesses: 0 }));
  for (const op of ops) {
    const line = all[lineOf(op) - 1];
    if (!line) continue;
    line.ops.push(op);
    line.moved += (op.totals?.read ?? 0) + (op.totals?.written ?? 0);
    line.accesses += op.totals?.accesses ?? 0;
  }
  return all;
}

function Listing({ title, lines: all, current, marked }: { title: string; lines: Line[]; current: (l: Line) => boolean; marked?: Set<number> }) {
  const box = useRef<HTMLDivElement>(null);
  const most = Math.max(1, ...all.map((l) => l.moved));
  const first = all.findIndex(current);
  useEffect(() => {
    const row = box.current?.querySelector(".line.on");
    if (row && box.current) {
      const top = (row as HTMLElement).offsetTop - box.current.offsetTop;
      if (top < box.current.scrollTop || top > box.current.scrollTop + box.current.clientHeight - 24) box.current.scrollTop = top - box.current.clientHeight / 2;
    }
  }, [first]);
  return (
    <section class="panel listing">
      <h2>{title}</h2>
      <div class="code" ref={box}>
        {all.map((line, i) => (
          <div key={i} class={`line${current(line) ? " on" : ""}${marked?.has(i + 1) ? " bad" : ""}`}
            onClick={() => line.ops.length && set({ op: (line.ops.find((o) => o.totals) ?? line.ops[line.ops.length - 1]!).op })}>
            <span class="gutter" title={line.accesses ? `${count(line.accesses)} accesses, ${bytes(line.moved)}` : ""}>
              {line.moved ? bytes(line.moved) : ""}<i style={{ width: `${(line.moved / most) * 100}%` }} />
            </span>
            <span class="number">{i + 1}</span>
            <code>{line.text || " "}</code>
          </div>
        ))}
      </div>
    </section>
  );
}

/** The user's source and the IR, side by side; the gutter has the bytes that a line moves. */
export function Source({ launch }: { launch: Launch }) {
  const file = useMemo(() => {
    const known = launch.ops.map((o) => o.file).filter((f) => launch.sources[f] !== undefined);
    return known[0] ?? Object.keys(launch.sources)[0];
  }, [launch]);
  const source = useMemo(() => lines((file && launch.sources[file]) || "The source was not saved with the launch.", launch.ops, (o) => (o.file === file ? o.line : 0)), [launch, file]);
  const ir = useMemo(() => lines(launch.ir, launch.ops, (o) => o.irLine), [launch]);
  const op = launch.ops.find((o) => o.op === state.value.op);
  const marked = useMemo(() => new Set(launch.findings.filter((f) => f.location.file === file).map((f) => f.location.line)), [launch, file]);
  const isSource = (l: Line) => !!op && l.ops.some((o) => o.line === op.line && o.file === op.file);
  const isIr = (l: Line) => !!op && l.ops.some((o) => o.op === op.op || (o.line === op.line && o.file === op.file && o.operation !== "tt.func"));
  return (
    <div class="sources">
      <Listing title={file ? file.split("/").pop()! : "Source"} lines={source} current={isSource} marked={marked} />
      <Listing title="Triton IR" lines={ir} current={isIr} />
    </div>
  );
}
