import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { bytes, count, Legend, number, packed, Picture, programId, set, state, TableTwin, type View, type ViewProps } from "../../api";
import { inBrush, parseBrush, printBrush } from "../../models/brush";

export const metrics: Record<string, string> = { accesses: "accesses", read: "bytes read", written: "bytes written", masked: "elements masked off", faults: "faulty accesses", distinct: "number" };
const hovered = signal(-1);
const start = signal<[number, number] | null>(null);

/** All programs, coloured by a number of each; rows are y (and z below one another). Long rows are folded. Shift and two
 * clicks brush a part, to which other views then limit themselves. */
function GridView({ index, launch }: ViewProps) {
  const answer = packed(`/api/launch/${index}/grid`).value;
  const metric = !launch.surveyed || !answer.value ? "distinct" : state.value.metric in metrics ? state.value.metric : "accesses";
  const [x, y, z] = launch.grid;
  const fold = y * z === 1 && x > 64 ? Math.ceil(Math.sqrt(x * 2)) : x;
  const own = metric === "distinct" ? undefined : answer.value?.arrays[metric]?.values;
  const values = useMemo(() => own ?? Float32Array.from({ length: x * y * z }, (_, i) => i), [own, metric, x, y, z]);
  const brush = parseBrush(state.value.brush);
  const cells = useMemo(() => {
    if (!values) return undefined;
    const width = fold, height = Math.ceil((x * y * z) / fold);
    const kind = new Uint8Array(width * height).fill(4);
    let min = Infinity, max = -Infinity;
    for (let i = 0; i < values.length; ++i) { const v = values[i]!; kind[i] = !brush || inBrush(i, brush, launch.grid) ? 0 : 3; min = Math.min(min, v); max = Math.max(max, v); }
    const all = new Float32Array(width * height);
    all.set(values);
    return { values: all, kind, width, height, min, max };
  }, [values, fold, state.value.brush]);
  // Of the table: all, or those of the part.
  const listed = useMemo(() => (brush ? Array.from({ length: x * y * z }, (_, i) => i).filter((i) => inBrush(i, brush, launch.grid)) : null), [state.value.brush, x, y, z]);
  const show = (v: number) => (metric === "read" || metric === "written" ? bytes(v) : number(v));
  const at = hovered.value >= 0 && hovered.value < x * y * z ? hovered.value : state.value.program;
  const pick = (row: number, column: number, e: MouseEvent) => {
    const program = row * fold + column;
    if (program >= x * y * z) return;
    if (!e.shiftKey) { start.value = null; return set({ program, finding: -1 }); }
    const [px, py] = programId(program, launch.grid);
    // Nothing changes before the second click: what it is to hit would move.
    if (!start.value) { start.value = [px, py]; return; }
    set({ finding: -1, brush: printBrush([start.value[0], px], [start.value[1], py]) });
    start.value = null;
  };
  return (
    <div class="grid">
      <p class="tools"><span class="dim">{x} × {y} × {z}</span>
        <select aria-label="metric" value={metric} disabled={!launch.surveyed} onChange={(e) => set({ metric: e.currentTarget.value })}>
          {Object.entries(metrics).map(([m, name]) => <option key={m} value={m}>{name}</option>)}
        </select>
      </p>
      {answer.error && <p class="error">{answer.error}</p>}
      {cells && values && <>
        <Picture cells={cells} label={`programs by ${metrics[metric]}`} marks={[state.value.program, ...(start.value ? [start.value[0] + x * start.value[1]] : [])].map((p, i) => ({ row: Math.floor(p / fold), column: p % fold, ...(i ? { kind: "corner" } : {}) }))}
          onHover={(r, c) => (hovered.value = r * fold + c)} onPick={pick} />
        <Legend min={show(cells.min)} max={show(cells.max)} />
        <p class="dim">({programId(at, launch.grid).join(", ")}): {show(values[at] ?? 0)}{metric === "accesses" ? ` of ${count(launch.accesses)}` : ""}</p>
        {start.value ? <p class="dim">shift and a click: the other corner</p> : brush ? <p>only x {brush.x.join("–")}, y {brush.y.join("–")} <button onClick={() => set({ brush: "", finding: -1 })}>all programs</button></p> : <p class="dim">shift and two clicks: a part of the grid</p>}
        {answer.value && <TableTwin head={["program", ...Object.keys(metrics).filter((m) => m !== "distinct").map((m) => metrics[m]!)]} rows={listed?.length ?? x * y * z}
          row={(n) => { const i = listed?.[n] ?? n; return [`(${programId(i, launch.grid).join(", ")})`, ...Object.keys(metrics).filter((m) => m !== "distinct").map((m) => count(answer.value!.arrays[m]!.values[i]!))]; }} />}
      </>}
    </div>
  );
}
export const view: View = { id: "grid", title: "Grid", place: "side", order: 3, component: GridView };
