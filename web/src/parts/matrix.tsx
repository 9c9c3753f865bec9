import { elementText, type Elements, type Format } from "../models/elements";
import { extent, flat, type Axes } from "../models/axes";
import { Virtual } from "./virtual";

const width: Record<Format, number> = { decimal: 76, hex: 92, bits: 150 };

/** The elements as a table of numbers; many columns are shown in parts. `kind`: how an element looks, by flat index. */
export function Matrix({ elements, shape, axes, format, from, columns, chosen, kind, onHover, onPick }: {
  elements: Elements; shape: number[]; axes: Axes; format: Format; from: number; columns: number; chosen: number; focusRow?: number;
  kind?: (index: number) => string; onHover: (index: number) => void; onPick: (index: number) => void;
}) {
  const rows = extent(shape, axes.rows), all = extent(shape, axes.columns), past = Math.min(all, from + columns);
  const chosenRow = chosen >= 0 && axes.rows >= 0 ? rowOf(shape, axes, chosen) : undefined;
  const grid = { gridTemplateColumns: `44px repeat(${past - from}, ${width[format]}px)` };
  return (
    <div class="matrix">
      <div class="tr heads" style={grid}><span />{Array.from({ length: past - from }, (_, c) => <span key={c}>{from + c}</span>)}</div>
      <Virtual rows={rows} height={18} focus={chosenRow} kind="table" row={(r) => (
        <div key={r} role="row" class="tr" style={grid}>
          <span class="dim">{r}</span>
          {Array.from({ length: past - from }, (_, c) => {
            const i = flat(shape, axes, r, from + c), v = elements.number[i]!;
            return <span key={c} class={`${Number.isNaN(v) ? "nan" : !Number.isFinite(v) ? "inf" : ""}${i === chosen ? " chosen" : ""} ${kind?.(i) ?? ""}`} onMouseEnter={() => onHover(i)} onClick={() => onPick(i)}>{elementText(elements, i, format)}</span>;
          })}
        </div>
      )} />
    </div>
  );
}

function rowOf(shape: number[], axes: Axes, flatIndex: number): number {
  let step = 1;
  for (let d = shape.length - 1; d > axes.rows; --d) step *= shape[d]!;
  return Math.floor(flatIndex / step) % shape[axes.rows]!;
}
