import { useEffect, useRef } from "preact/hooks";
import { css } from "../palettes";
import { large, rendererOf, type Renderer, type Texture } from "../render/renderer";
import { state } from "../state";

export type Cells = Texture;
/** A rectangle of cells that is outlined. */
export interface Mark { row: number; column: number; rows?: number; columns?: number; kind?: string }

/** A matrix as one texture, scaled up without smoothing. */
export function Picture({ cells, marks, onHover, onPick, label, palette, tall }: {
  cells: Cells; marks?: Mark[]; label: string; palette?: string; tall?: boolean;
  onHover?: (row: number, column: number) => void; onPick?: (row: number, column: number, e: MouseEvent) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const renderer = useRef<Renderer | null>(null);
  const { height, width } = cells;
  const colours = palette ?? state.value.palette;
  const big = height * width >= large;
  useEffect(() => {
    renderer.current = rendererOf(canvas.current!, height * width);
    return () => renderer.current?.dispose();
  }, [big]);
  useEffect(() => renderer.current?.draw(cells, colours), [cells, colours, big]);
  const at = (e: MouseEvent, use?: (row: number, column: number, e: MouseEvent) => void) => {
    const box = canvas.current!.getBoundingClientRect();
    const row = Math.floor(((e.clientY - box.top) / box.height) * height), column = Math.floor(((e.clientX - box.left) / box.width) * width);
    if (use && row >= 0 && row < height && column >= 0 && column < width) use(row, column, e);
  };
  const part = (n: number, of: number) => `${(n / Math.max(1, of)) * 100}%`;
  // Cells are square where there is room for it.
  return (
    <div class={tall ? "picture tall" : "picture"} style={{ aspectRatio: `${Math.max(1, width)} / ${Math.max(1, height, width / 8)}` }}>
      <canvas key={String(big)} ref={canvas} role="img" aria-label={label} onMouseMove={(e) => at(e, onHover)} onClick={(e) => at(e, onPick)} />
      {marks?.map((m, i) => <i key={i} class={`mark ${m.kind ?? ""}`}
        style={{ left: part(m.column, width), top: part(m.row, height), width: part(m.columns ?? 1, width), height: part(m.rows ?? 1, height) }} />)}
    </div>
  );
}

export function Legend({ min, max, palette }: { min: string; max: string; palette?: string }) {
  return <div class="legend"><span>{min}</span><i style={{ background: css(palette ?? state.value.palette) }} /><span>{max}</span></div>;
}

/** How values are distributed; a bar is one of as many ranges between min and max. */
export function Histogram({ counts, min, max }: { counts: ArrayLike<number>; min: string; max: string }) {
  const all = Array.from(counts), top = Math.max(1, ...all);
  return (
    <div>
      <div class="histogram" role="img" aria-label="histogram">
        {all.map((v, i) => <i key={i} title={`${v}`} style={{ height: `${v ? Math.max(4, (Math.log1p(v) / Math.log1p(top)) * 100) : 0}%` }} />)}
      </div>
      <div class="ends dim"><span>{min}</span><span>how many, on a logarithmic scale</span><span>{max}</span></div>
    </div>
  );
}
