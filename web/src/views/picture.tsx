import { useEffect, useRef } from "preact/hooks";
import { pixels } from "../colours";

export interface Cells { values: ArrayLike<number>; kind: ArrayLike<number> | null; height: number; width: number; min: number; max: number }

/** A matrix as one texture, scaled up without smoothing. `mark`: a cell [row, column] that is outlined. */
export function Picture({ cells, mark, onHover, onPick, label }: {
  cells: Cells; mark?: [number, number] | undefined; label: string;
  onHover?: (row: number, column: number) => void; onPick?: (row: number, column: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { height, width } = cells;
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !height || !width) return;
    context.putImageData(new ImageData(pixels(cells.values, cells.kind, cells.min, cells.max), width, height), 0, 0);
  }, [cells]);
  const at = (e: MouseEvent, use?: (row: number, column: number) => void) => {
    const box = canvas.current!.getBoundingClientRect();
    const row = Math.floor(((e.clientY - box.top) / box.height) * height), column = Math.floor(((e.clientX - box.left) / box.width) * width);
    if (use && row >= 0 && row < height && column >= 0 && column < width) use(row, column);
  };
  // Cells are square where there is room for it.
  return (
    <div class="picture" style={{ aspectRatio: `${Math.max(1, width)} / ${Math.max(1, height, width / 8)}` }}>
      <canvas ref={canvas} width={Math.max(1, width)} height={Math.max(1, height)} role="img" aria-label={label}
        onMouseMove={(e) => at(e, onHover)} onClick={(e) => at(e, onPick)} />
      {mark && <i class="mark" style={{ left: `${(mark[1] / width) * 100}%`, top: `${(mark[0] / height) * 100}%`, width: `${100 / width}%`, height: `${100 / height}%` }} />}
    </div>
  );
}

export function Legend({ min, max }: { min: string; max: string }) {
  return <div class="legend"><span>{min}</span><i /><span>{max}</span></div>;
}
