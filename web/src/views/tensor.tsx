import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { packed, type Launch } from "../data";
import { count, number, programId } from "../format";
import { set, state } from "../state";
import { Legend, Picture } from "./picture";

const layers: Record<string, string> = {
  accesses: "accesses per element", reads: "reads per element", writes: "writes per element", untouched: "never touched",
  rewritten: "written more than once", writer: "last writer", before: "values before", after: "values after",
};
const hovered = signal<[number, number] | null>(null);
const view = signal<{ key: string; rows: number; columns: number; at: number[] }>({ key: "", rows: -1, columns: -1, at: [] });

/** One tensor argument: two of its axes as a picture, the others by index. */
export function Tensor({ index, launch }: { index: number; launch: Launch }) {
  const tensors = launch.arguments.flatMap((a, i) => (a.kind === "tensor" ? [i] : []));
  const chosen = tensors.includes(state.value.tensor) ? state.value.tensor : tensors[0] ?? -1;
  const argument = launch.arguments[chosen];
  const shape = argument?.shape ?? [];
  const layer = state.value.layer in layers ? state.value.layer : "accesses";
  const key = `${index}/${chosen}`;
  const finding = launch.findings[state.value.finding];
  const index0 = finding?.operand && finding.operand.argument === argument?.name && finding.operand.index.length === shape.length ? finding.operand.index : undefined;
  const axes = view.value.key === key ? view.value : { key, rows: shape.length > 1 ? shape.length - 2 : -1, columns: shape.length - 1, at: shape.map((n, d) => Math.min(n - 1, Math.max(0, index0?.[d] ?? 0))) };
  const fold = shape.length === 1 && shape[0]! > 128 ? Math.min(1024, 2 ** Math.ceil(Math.log2(Math.sqrt(shape[0]!)))) : 0;
  const path = `/api/launch/${index}/tensor/${chosen}?layer=${layer}&rows=${axes.rows}&columns=${axes.columns}&fold=${fold}&at=${axes.at.join(",")}&height=512&width=512`;
  const answer = chosen >= 0 ? packed(path).value : {};
  const meta = answer.value?.meta as { rows: number; columns: number; window: number[]; step: [number, number]; min: number; max: number; mean: number; nan: number; inf: number; zero: number; elements: number } | undefined;
  const cells = useMemo(() => {
    const value = answer.value?.arrays.value, kind = answer.value?.arrays.kind;
    return value && kind && meta ? { values: value.values, kind: kind.values, height: value.shape[0]!, width: value.shape[1]!, min: meta.min, max: meta.max } : undefined;
  }, [answer.value]);
  if (!argument) return <section class="panel tensor"><h2>Tensors</h2><p class="dim">The launch has no tensor arguments.</p></section>;
  const h = hovered.value, cell = h && cells && h[0] < cells.height && h[1] < cells.width ? h[0] * cells.width + h[1] : -1;
  const place = h && meta ? (fold ? [h[0] * meta.step[0] * fold + h[1] * meta.step[1]]
    : shape.map((_, d) => (d === axes.rows ? h[0] * meta.step[0] : d === axes.columns ? h[1] * meta.step[1] : axes.at[d] ?? 0))) : [];
  const shownValue = (v: number) => (layer === "writer" ? (v < 0 ? "nobody" : `program (${programId(v, launch.grid).join(", ")})`) : number(v));
  const histogram = answer.value?.arrays.histogram?.values;
  const top = histogram ? Math.max(1, ...histogram) : 1;
  const mark: [number, number] | undefined = index0 && meta && index0.every((v, d) => v >= 0 && v < shape[d]! && (d === axes.rows || d === axes.columns || v === axes.at[d]))
    ? fold ? [Math.floor(index0[0]! / fold / meta.step[0]), Math.floor((index0[0]! % fold) / meta.step[1])]
      : [axes.rows < 0 ? 0 : Math.floor(index0[axes.rows]! / meta.step[0]), Math.floor(index0[axes.columns]! / meta.step[1])] : undefined;
  return (
    <section class="panel tensor">
      <h2>
        <select aria-label="tensor" value={chosen} onChange={(e) => set({ tensor: Number(e.currentTarget.value) })}>
          {tensors.map((i) => <option key={i} value={i}>{launch.arguments[i]!.name}</option>)}
        </select>
        <span class="dim">{argument.dtype} [{shape.join(",")}]</span>
        <select aria-label="layer" value={layer} onChange={(e) => set({ layer: e.currentTarget.value })}>
          {Object.entries(layers).map(([l, name]) => <option key={l} value={l}>{name}</option>)}
        </select>
      </h2>
      {shape.length > 1 && (
        <div class="axes">
          {shape.map((extent, d) => (
            <label key={d}>
              axis {d}
              <select aria-label={`axis ${d}`} value={d === axes.rows ? "rows" : d === axes.columns ? "columns" : "at"} onChange={(e) => {
                const use = e.currentTarget.value;
                const next = { ...axes };
                if (use === "rows") { if (next.columns === d) next.columns = next.rows; next.rows = d; }
                if (use === "columns") { if (next.rows === d) next.rows = next.columns; next.columns = d; }
                if (use === "at") { if (next.rows === d) next.rows = -1; else if (next.columns === d) { next.columns = next.rows; next.rows = -1; } }
                view.value = next;
              }}>
                <option value="rows">rows</option><option value="columns">columns</option><option value="at">at</option>
              </select>
              {d !== axes.rows && d !== axes.columns && <input type="number" aria-label={`index of axis ${d}`} min={0} max={extent - 1} value={axes.at[d]}
                onChange={(e) => (view.value = { ...axes, at: axes.at.map((v, k) => (k === d ? Math.min(extent - 1, Math.max(0, Number(e.currentTarget.value) || 0)) : v)) })} />}
            </label>
          ))}
        </div>
      )}
      {answer.error && <p class="error">{answer.error}</p>}
      {cells && meta && <>
        <Picture cells={cells} mark={mark} label={`${argument.name}: ${layers[layer]}`} onHover={(r, c) => (hovered.value = [r, c])}
          onPick={(r, c) => { const v = cells.values[r * cells.width + c]!; if (layer === "writer" && v >= 0) set({ program: v }); }} />
        <Legend min={shownValue(meta.min)} max={shownValue(meta.max)} />
        <p>{cell >= 0 && cells.kind[cell] !== 4 ? <>[{place.join(", ")}]{meta.step[0] * meta.step[1] > 1 ? ` and ${meta.step[0] * meta.step[1] - 1} more` : ""}: <b>{cells.kind[cell] === 1 ? "NaN" : cells.kind[cell] === 2 ? "infinity" : shownValue(cells.values[cell]!)}</b></> : <span class="dim">point at the picture</span>}</p>
        <div class="histogram" role="img" aria-label="histogram">{histogram && Array.from(histogram, (v, i) => <i key={i} style={{ height: `${v ? Math.max(4, (Math.log1p(v) / Math.log1p(top)) * 100) : 0}%` }} />)}</div>
        <p class="dim">mean {number(meta.mean)}, {count(meta.zero)} of {count(meta.elements)} are 0{meta.nan ? `, ${count(meta.nan)} NaN` : ""}{meta.inf ? `, ${count(meta.inf)} infinite` : ""}</p>
      </>}
    </section>
  );
}
