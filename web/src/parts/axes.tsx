import { assign, transpose, type Axes } from "../models/axes";

/** Which axes are rows and columns, and the index along the others. */
export function AxisBar({ shape, axes, change }: { shape: number[]; axes: Axes; change: (axes: Axes) => void }) {
  if (shape.length < 2) return null;
  return (
    <div class="axes">
      {shape.map((extent, d) => (
        <label key={d}>
          axis {d}
          <select aria-label={`axis ${d}`} value={d === axes.rows ? "rows" : d === axes.columns ? "columns" : "at"} onChange={(e) => change(assign(axes, d, e.currentTarget.value as "rows" | "columns" | "at"))}>
            <option value="rows">rows</option><option value="columns">columns</option><option value="at">at</option>
          </select>
          {d !== axes.rows && d !== axes.columns && <input type="number" aria-label={`index of axis ${d}`} min={0} max={extent - 1} value={axes.at[d]}
            onInput={(e) => change({ ...axes, at: axes.at.map((v, k) => (k === d ? Math.min(extent - 1, Math.max(0, Number(e.currentTarget.value) || 0)) : v)) })} />}
        </label>
      ))}
      <button title="rows become columns" onClick={() => change(transpose(axes))}>transpose</button>
    </div>
  );
}
