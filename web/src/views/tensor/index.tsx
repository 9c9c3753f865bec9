import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { count, Histogram, Legend, number, Picture, programId, set, state, TableTwin, usePacked, type View, type ViewProps } from "../../api";
import { goToProgram } from "../../models/program";
import { parseBrush } from "../../models/brush";
import { held } from "../../held";
import type { Packed } from "../../packed";
import { foldOf, parseIndex, usualAxes, type Axes } from "../../models/axes";
import { AxisBar } from "../../parts/axes";
import { inputsQuery, parseFrom } from "../../models/inputs";
import { Choose, Compared, comparisonOf, comparisonTag } from "./comparison";
import { Element } from "./element";
import { inputsOf } from "./inputs";

export const layers: Record<string, string> = {
  accesses: "accesses per element", reads: "reads per element", writes: "writes per element", untouched: "never touched",
  rewritten: "written more than once", writer: "last writer", first: "first program that touches it", before: "values before", after: "values after",
};
/** Where something is expected of the tensor. */
const comparisons: Record<string, string> = { difference: "difference to the expected", wrong: "wrong elements" };
type Cells = Packed["arrays"][string];
const look = signal<{ key: string; axes: Axes }>({ key: "", axes: { rows: -1, columns: -1, at: [] } });

interface Meta {
  rows: number; columns: number; window: [number, number, number, number]; step: [number, number]; min: number; max: number; mean: number; nan: number; inf: number;
  zero: number; elements: number; outside: number; cell?: number; bounds?: [number, number];
}

/** One tensor argument: two of its axes as a picture, the others by index; on it, what the program touches. */
function Tensor({ index, launch }: ViewProps) {
  const [hovered, hover] = useState<[number, number] | null>(null);
  const [own, showOwn] = useState(true);
  const [only, showOnly] = useState(false);
  const tensors = launch.arguments.flatMap((a, i) => (a.kind === "tensor" ? [i] : []));
  const chosen = tensors.includes(state.value.tensor) ? state.value.tensor : tensors[0] ?? -1;
  const argument = launch.arguments[chosen];
  const shape = argument?.shape ?? [];
  const compared = chosen >= 0 && !held && !argument?.withheld ? comparisonOf(index, chosen).value : undefined;
  const offered = compared?.file ? { ...layers, ...comparisons } : layers;
  const layer = state.value.layer in offered ? state.value.layer : "accesses";
  const from = held ? null : parseFrom(state.value.from, launch.arguments);
  const source = from ? inputsOf(index, from).value.value?.sources.find((s) => s.argument === chosen) : undefined;
  const tensorKey = `${index}/${chosen}/${source ? state.value.from : ""}/`, key = tensorKey + state.value.element;
  const element = parseIndex(state.value.element, shape);
  // The plane that one looked at, else the first input's, else the first; and the chosen element's in any case.
  const base = { ...usualAxes(shape), ...(source?.first.length ? { at: source.first } : {}) };
  const last = look.value.key.startsWith(tensorKey) ? look.value.axes : base;
  const axes = look.value.key === key ? look.value.axes : { ...last, at: element ?? last.at };
  const fold = foldOf(shape);
  const window = `rows=${axes.rows}&columns=${axes.columns}&fold=${fold}&at=${axes.at.join(",")}&height=512&width=512`;
  const path = `/api/launch/${index}/tensor/${chosen}?layer=${layer}&${window}`;
  const answer = usePacked(chosen >= 0 ? path + (layer in comparisons ? comparisonTag() : "") + (parseBrush(state.value.brush) && !held ? `&brush=${state.value.brush}` : "") : undefined);
  const opOnly = only && state.value.op >= 0 ? `&op=${state.value.op}` : "";
  const touched = usePacked(chosen >= 0 && own && !(held && !held.has(`/api/launch/${index}/tensor/${chosen}?layer=program&program=${state.value.program}&${window}`))
    ? `/api/launch/${index}/tensor/${chosen}?layer=program&program=${state.value.program}${opOnly}&${window}` : undefined);
  const inputs = usePacked(source ? `/api/launch/${index}/tensor/${chosen}?${inputsQuery(from!)}&${window}` : undefined);
  const meta = answer.value?.meta as unknown as Meta | undefined;
  const cells = useMemo(() => {
    const value = answer.value?.arrays.value, kind = answer.value?.arrays.kind;
    return value && kind && meta ? { values: value.values, kind: kind.values, height: value.shape[0]!, width: value.shape[1]!, min: meta.min, max: meta.max } : undefined;
  }, [answer.value]);
  const overlay = (value: Cells | undefined) => {
    if (!value || !cells || value.shape[0] !== cells.height || value.shape[1] !== cells.width) return undefined;
    const kind = Uint8Array.from(value.values as ArrayLike<number>, (v) => (v > 0 ? 0 : 4));
    return { values: value.values, kind, height: cells.height, width: cells.width, min: 0, max: 1, some: kind.includes(0) };
  };
  const footprint = useMemo(() => (own && !source ? overlay(touched.value?.arrays.value) : undefined), [touched.value, cells, own, source]);
  const cameFrom = useMemo(() => overlay(inputs.value?.arrays.value), [inputs.value, cells]);
  if (!argument) return <p class="dim">The launch has no tensor arguments.</p>;
  const at = (r: number, c: number): number[] => {
    const row = (meta!.window[0] + r * meta!.step[0]), column = meta!.window[2] + c * meta!.step[1];
    return fold ? [row * fold + column] : shape.map((_, d) => (d === axes.rows ? row : d === axes.columns ? column : axes.at[d] ?? 0));
  };
  const h = hovered, cell = h && cells && h[0] < cells.height && h[1] < cells.width ? h[0] * cells.width + h[1] : -1;
  const shownValue = (v: number) => (layer === "writer" || layer === "first" ? (v < 0 ? "nobody" : `program (${programId(v, launch.grid).join(", ")})`) : number(v));
  const bars = answer.value?.arrays.histogram?.values;
  const mark = element && meta && cells && (fold || element.every((v, d) => d === axes.rows || d === axes.columns || v === axes.at[d]))
    ? [{ row: Math.floor(((fold ? Math.floor(element[0]! / fold) : axes.rows < 0 ? 0 : element[axes.rows]!) - meta.window[0]) / meta.step[0]), column: Math.floor(((fold ? element[0]! % fold : element[axes.columns]!) - meta.window[2]) / meta.step[1]) }] : [];
  const bounds = meta?.bounds && cells ? [{ row: (0 - meta.window[0]) / meta.step[0], column: 0, rows: meta.bounds[0] / meta.step[0], columns: cells.width, kind: "bounds" }] : [];
  return (
    <div class="tensor">
      <p class="tools">
        <select aria-label="tensor" value={chosen} onChange={(e) => set({ tensor: Number(e.currentTarget.value), element: "" })}>
          {tensors.map((i) => <option key={i} value={i}>{launch.arguments[i]!.name}</option>)}
        </select>
        <span class="dim">{argument.dtype} [{shape.join(", ")}]</span>
        <select aria-label="layer" value={layer} onChange={(e) => set({ layer: e.currentTarget.value })}>
          {Object.entries(offered).map(([l, name]) => <option key={l} value={l}>{name}</option>)}
        </select>
        {!held && !argument.withheld && <a class="button" download href={`/api/launch/${index}/tensor/${chosen}/data.npy?when=${layer === "before" ? "before" : "after"}`}>.npy</a>}
        {!held && !argument.withheld && <Choose key={`${index}/${chosen}`} index={index} argument={chosen} />}
      </p>
      {compared?.file && <Compared launch={launch} index={index} argument={chosen} comparison={compared} />}
      <AxisBar shape={shape} axes={axes} change={(a) => (look.value = { key, axes: a })} />
      {answer.error && <p class="error">{answer.error}</p>}
      {!launch.surveyed && !cells && layer !== "before" && <p class="dim">known when all programs have run; <button class="link" onClick={() => set({ layer: "before" })}>the values before</button> are there now</p>}
      {source && from && <p class="from">{source.text}: what <button class="link" onClick={() => set({ tensor: from.argument, element: from.element.join(","), from: "" })}>{launch.arguments[from.argument]!.name}[{from.element.join(", ")}]</button> came from <button onClick={() => set({ from: "" })}>hide</button></p>}
      {cells && meta && <>
        <div class="stack">
          <Picture cells={cells} tall marks={[...bounds, ...mark]} label={`${argument.name}: ${offered[layer]}`} onHover={(r, c) => hover([r, c])}
            onPick={(r, c, e) => { const v = cells.values[r * cells.width + c]!; if ((layer === "writer" || layer === "first") && v >= 0 && e.shiftKey) goToProgram(v); else set({ element: at(r, c).join(",") }); }} />
          {cameFrom?.some && <div class="overlay inputs"><Picture cells={cameFrom} tall label={`what ${launch.arguments[from!.argument]!.name}[${from!.element.join(", ")}] came from`} palette="overlay" /></div>}
          {footprint?.some && <div class="overlay"><Picture cells={footprint} tall label="what the program touches" palette="overlay" /></div>}
        </div>
        {(meta.cell ?? 1) > 1 && <p class="dim">{count(meta.cell!)} neighbours in memory are counted together: {layer === "writer" || layer === "first" ? "one of them" : layer === "untouched" ? "none of them is touched" : "their mean"} is shown</p>}
        <Legend min={shownValue(meta.min)} max={shownValue(meta.max)} />
        <p class="hover">{h && cell >= 0 && cells.kind![cell] !== 4 ? <>[{at(h[0], h[1]).join(", ")}]{meta.step[0] * meta.step[1] > 1 ? ` and ${meta.step[0] * meta.step[1] - 1} more` : ""}: <b>{cells.kind![cell] === 5 ? `outside of the tensor, accessed ${number(cells.values[cell]!)}×` : cells.kind![cell] === 1 ? "NaN" : cells.kind![cell] === 2 ? "infinity" : shownValue(cells.values[cell]!)}</b></> : <span class="dim">point at the picture; a click chooses an element</span>}</p>
        <p><label class={source ? "dim" : ""}><input type="checkbox" checked={own} disabled={!!source} onChange={(e) => showOwn(e.currentTarget.checked)} /> outline what program ({programId(state.value.program, launch.grid).join(", ")}) touches</label>{" "}
          <label class={state.value.op < 0 ? "dim" : ""}><input type="checkbox" checked={only} disabled={state.value.op < 0} onChange={(e) => showOnly(e.currentTarget.checked)} /> at this operation only</label></p>
        {meta.outside > 0 && <p class="error">{count(meta.outside)} accesses by way of {argument.name} lie outside of it{meta.bounds ? "; those near it are in the margin" : ""}</p>}
        <Element launch={launch} index={index} argument={chosen} element={element} />
        {bars && <Histogram counts={bars} min={shownValue(meta.min)} max={shownValue(meta.max)} />}
        <p class="dim">mean {number(meta.mean)}, {count(meta.zero)} of {count(meta.elements)} are 0{meta.nan ? `, ${count(meta.nan)} NaN` : ""}{meta.inf ? `, ${count(meta.inf)} infinite` : ""}</p>
        <TableTwin head={["row", "column", "value"]} rows={cells.values.length} row={(i) => [Math.floor(i / cells.width) * meta.step[0] + meta.window[0], (i % cells.width) * meta.step[1] + meta.window[2], shownValue(cells.values[i]!)]} />
      </>}
    </div>
  );
}
export const view: View = { id: "tensor", title: "Tensor", place: "right", order: 1, component: Tensor };
