import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { Histogram, Legend, packed, Picture, programPath, set, short, state, steps, TableTwin, usePacked, type Launch, type ValueInfo, type View } from "../../api";
import { typeText } from "../../format";
import { held } from "../../held";
import { extent, flat, indexOf, parseIndex, usualAxes, type Axes } from "../../models/axes";
import { chosenValue, currentStep } from "../../models/current";
import { elementText, filtered, filters, histogram, type Elements, type Filter, type Format } from "../../models/elements";
import { maskKinds, maskOf, maskOperands } from "../../models/mask";
import { AxisBar } from "../../parts/axes";
import { summary } from "../values/index";
import { Matrix } from "../../parts/matrix";

const view_ = signal<{ key: string; axes: Axes; from: number; chosen: number }>({ key: "", axes: { rows: -1, columns: -1, at: [] }, from: 0, chosen: -1 });
const columnsShown = 24;

function pathOf(v: ValueInfo, file = "value"): string {
  return `${programPath()}/step/${v.step}/${file}?operand=${v.operand ? 1 : 0}&number=${v.number}`;
}

/** Active, masked and outside: of the access of the step. */
function useMask(launch: Launch, at: ReturnType<typeof currentStep>["value"]): { kinds: Uint8Array; counts: number[] } | null {
  const site = at && at.step === state.value.step ? steps().value?.siteAt(at.step) : undefined;
  const operands = at && !held ? maskOperands(site, at.values) : null;
  const pointer = operands ? packed(pathOf(operands.pointer)).value.value : undefined;
  const mask = operands?.mask ? packed(pathOf(operands.mask)).value.value : undefined;
  return useMemo(() => {
    if (!operands || !pointer || (operands.mask && !mask)) return null;
    const kinds = maskOf(pointer.arrays.number!.values, pointer.arrays.argument!.values, mask?.arrays.number!.values ?? null, launch.arguments);
    const counts = maskKinds.map((_, k) => kinds.reduce((n, v) => n + (v === k ? 1 : 0), 0));
    return { kinds, counts };
  }, [pointer, mask, launch]);
}

/** One value, whole: numbers, picture, histogram; and how the step's access masks it. */
function Value({ launch }: { launch: Launch }) {
  const { value: at } = currentStep();
  const info = chosenValue(at, state.value.value);
  const answer = usePacked(info && info.numel && !held ? pathOf(info) : undefined);
  const meta = answer.value?.meta as (ValueInfo & { bits: number; bytes: number }) | undefined;
  const [format, setFormat] = useState<Format>("decimal");
  const [filter, setFilter] = useState<Filter>("all");
  const [go, setGo] = useState({ text: "", wrong: false });
  const [hover, setHover] = useState(-1);
  const masks = useMask(launch, at);
  const elements = useMemo((): Elements | undefined => answer.value && meta ? { dtype: meta.dtype, family: meta.family, bits: meta.bits, bytes: meta.bytes, number: answer.value.arrays.number!.values, raw: answer.value.arrays.bits!.values } : undefined, [answer.value]);
  const shape = useMemo(() => (meta ? (meta.shape.length ? meta.shape : [1]) : [1]), [answer.value]);
  const key = `${shape.join("x")}`;
  const look = view_.value.key === key ? view_.value : { key, axes: usualAxes(shape), from: 0, chosen: -1 };
  const { axes } = look;
  const change = (next: Partial<typeof look>) => (view_.value = { ...look, ...next });
  const rows = extent(shape, axes.rows), columns = extent(shape, axes.columns);
  const cells = useMemo(() => {
    if (!elements || !meta || elements.number.length < 2) return undefined;
    const values = new Float32Array(rows * columns), kind = new Uint8Array(rows * columns);
    for (let r = 0; r < rows; ++r)
      for (let c = 0; c < columns; ++c) {
        const v = elements.number[flat(shape, axes, r, c)]!, cell = r * columns + c;
        values[cell] = v;
        kind[cell] = Number.isNaN(v) ? 1 : !Number.isFinite(v) ? 2 : filter !== "all" && !filters[filter](v) ? 3 : 0;
      }
    return { values, kind, height: rows, width: columns, min: meta.min ?? 0, max: meta.max ?? 0 };
  }, [elements, axes, filter]);
  const bars = useMemo(() => (elements && meta ? histogram(elements.number, meta.min ?? 0, meta.max ?? 0) : undefined), [elements]);
  const found = useMemo(() => (elements && filter !== "all" ? filtered(elements.number, filter) : undefined), [elements, filter]);
  if (state.value.step < 0) return <p class="dim">Step through a program, then choose a value.</p>;
  if (held && info) return <p>A page of its own has pictures and statistics of values, not all of their elements. <b>{info.name || info.ssa}</b> {typeText(info.dtype, info.shape)}: {summary(info)}</p>;
  if (answer.error) return <p class="error">{answer.error}</p>;
  if (!info) return <p class="dim">{at ? `${state.value.value || "A value"} has no value yet at this step.` : "running the program …"}</p>;
  if (!info.numel) return <p><b>{info.name || info.ssa}</b> {info.text || info.type}</p>;
  if (!elements || !meta) return <p class="dim">running the program …</p>;
  const kinds = masks && masks.kinds.length === elements.number.length ? masks.kinds : null;
  const chosen = look.chosen < elements.number.length ? look.chosen : -1;
  const pick = (index: number) => {
    const place = indexOf(shape, index), column = place[axes.columns] ?? 0;
    change({ chosen: index, axes: { ...axes, at: place }, from: column >= look.from && column < look.from + columnsShown ? look.from : Math.floor(column / columnsShown) * columnsShown });
  };
  const seen = hover >= 0 && hover < elements.number.length ? hover : chosen;
  return (
    <div class={answer.busy ? "inspector busy" : "inspector"}>
      <div class="tools">
        <b>{(!info.part && info.name) || info.ssa || (info.operand ? `operand ${info.number}` : `result ${info.number}`)}</b> <span class="dim">{typeText(info.dtype, info.shape)}, line {info.line}, step {info.step}</span>
        <select aria-label="format" value={format} onChange={(e) => setFormat(e.currentTarget.value as Format)}><option>decimal</option><option>hex</option><option>bits</option></select>
        <select aria-label="filter" value={filter} onChange={(e) => setFilter(e.currentTarget.value as Filter)}>{Object.keys(filters).map((f) => <option key={f}>{f}</option>)}</select>
        <form onSubmit={(e) => { e.preventDefault(); const index = parseIndex(go.text, shape); setGo({ ...go, wrong: !index }); if (index) pick(index.reduce((sum, v, d) => sum * shape[d]! + v, 0)); }}>
          <input type="text" aria-label="go to index" size={9} placeholder="go to 3, 14" class={go.wrong ? "wrong" : ""} value={go.text} onInput={(e) => setGo({ text: e.currentTarget.value, wrong: false })} />
          {go.wrong && <span class="error" role="status"> no index of [{shape.join(", ")}]</span>}
        </form>
        {!held && <a class="button" download href={pathOf(info, "value.npy")}>.npy</a>}
        <button onClick={() => set({ bottom: "watch", watch: [...new Set([...state.value.watch.split(",").filter(Boolean), info.name])].join(",") })} disabled={!info.name}>watch</button>
      </div>
      <AxisBar shape={shape} axes={axes} change={(a) => change({ axes: a })} />
      <div class="halves">
        <div class="numbers">
          {found ? <>
            <p>{found.total} of {elements.number.length} are {filter}</p>
            <ul class="found">{found.indices.map((i) => <li key={i}><button class="row" onClick={() => pick(i)}>[{indexOf(shape, i).join(", ")}] <b>{elementText(elements, i, format)}</b></button></li>)}</ul>
          </> : <>
            <Matrix elements={elements} shape={shape} axes={axes} format={format} from={look.from} columns={columnsShown} chosen={chosen} onHover={setHover} onPick={pick}
              {...(kinds ? { kind: (i: number) => `m${kinds[i]}` } : {})} />
            {columns > columnsShown && <p class="tools"><button disabled={look.from === 0} onClick={() => change({ from: Math.max(0, look.from - columnsShown) })}>◂</button> columns {look.from}–{Math.min(columns, look.from + columnsShown) - 1} of {columns} <button disabled={look.from + columnsShown >= columns} onClick={() => change({ from: look.from + columnsShown })}>▸</button></p>}
          </>}
        </div>
        {cells && <div class="chart">
          <Picture cells={cells} label={`${info.name} as a picture`} marks={chosen >= 0 && axes.rows >= 0 ? [{ row: indexOf(shape, chosen)[axes.rows]!, column: indexOf(shape, chosen)[axes.columns]! }] : []}
            onHover={(r, c) => setHover(flat(shape, axes, r, c))} onPick={(r, c) => pick(flat(shape, axes, r, c))} />
          <Legend min={short(cells.min)} max={short(cells.max)} />
          <p class="hover">{seen >= 0 ? <>[{indexOf(shape, seen).join(", ")}] <b>{elementText(elements, seen, "decimal")}</b> <span class="dim">{elementText(elements, seen, "hex")}{kinds ? `, ${maskKinds[kinds[seen]!]}` : ""}</span></> : <span class="dim">point at an element</span>}</p>
          {bars && <Histogram counts={bars} min={short(cells.min)} max={short(cells.max)} />}
          <p class="dim">mean {short(meta.mean ?? 0)}, {meta.zero ?? 0} of {meta.numel} are 0{meta.nan ? `, ${meta.nan} NaN` : ""}{meta.inf ? `, ${meta.inf} infinite` : ""}</p>
          {masks && <p class="masks">{maskKinds.map((k, i) => masks.counts[i] ? <span key={k} class={`tag m${i}`}>{masks.counts[i]} {k}</span> : null)}</p>}
          {bars && <TableTwin head={["from", "to", "elements"]} rows={bars.length} row={(i) => [short(cells.min + ((cells.max - cells.min) * i) / bars.length), short(cells.min + ((cells.max - cells.min) * (i + 1)) / bars.length), bars[i]!]} />}
        </div>}
      </div>
    </div>
  );
}
export const view: View = { id: "value", title: "Value", place: "bottom", order: 3, component: Value };
