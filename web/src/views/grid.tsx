import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { packed, type Launch } from "../data";
import { bytes, count, number, programId } from "../format";
import { set, state } from "../state";
import { Legend, Picture } from "./picture";

const metrics: Record<string, string> = { accesses: "accesses", read: "bytes read", written: "bytes written", masked: "elements masked off", faults: "faulty accesses" };
const hovered = signal(-1);

/** All programs, coloured by a number of each; rows are y (and z below one another). Long rows are folded. */
export function GridView({ index, launch }: { index: number; launch: Launch }) {
  const answer = packed(`/api/launch/${index}/grid`).value;
  const metric = state.value.metric in metrics ? state.value.metric : "accesses";
  const [x, y, z] = launch.grid;
  const fold = y * z === 1 && x > 64 ? Math.ceil(Math.sqrt(x * 2)) : x;
  const values = answer.value?.arrays[metric]?.values;
  const cells = useMemo(() => {
    if (!values) return undefined;
    const width = fold, height = Math.ceil((x * y * z) / fold);
    const kind = new Uint8Array(width * height).fill(4);
    let min = Infinity, max = -Infinity;
    for (const [i, v] of values.entries()) { kind[i] = 0; min = Math.min(min, v); max = Math.max(max, v); }
    const all = new Float64Array(width * height);
    all.set(values);
    return { values: all, kind, width, height, min, max };
  }, [values, fold]);
  const show = (v: number) => (metric === "read" || metric === "written" ? bytes(v) : number(v));
  const at = hovered.value >= 0 && hovered.value < x * y * z ? hovered.value : state.value.program;
  return (
    <section class="panel grid">
      <h2>Grid <span class="dim">{x} × {y} × {z}</span>
        <select aria-label="metric" value={metric} onChange={(e) => set({ metric: e.currentTarget.value })}>
          {Object.entries(metrics).map(([m, name]) => <option key={m} value={m}>{name}</option>)}
        </select>
      </h2>
      {answer.error && <p class="error">{answer.error}</p>}
      {cells && values && <>
        <Picture cells={cells} label={`programs by ${metrics[metric]}`} mark={[Math.floor(state.value.program / fold), state.value.program % fold]}
          onHover={(r, c) => (hovered.value = r * fold + c)} onPick={(r, c) => r * fold + c < x * y * z && set({ program: r * fold + c, finding: -1 })} />
        <Legend min={show(cells.min)} max={show(cells.max)} />
        <p class="dim">({programId(at, launch.grid).join(", ")}): {show(values[at] ?? 0)}{metric === "accesses" ? ` of ${count(launch.records)} records` : ""}</p>
      </>}
    </section>
  );
}
