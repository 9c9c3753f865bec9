// A part of the grid: ranges of x and y, ends included.
import { programId, type Grid } from "../format";

export interface Brush { x: [number, number]; y: [number, number] }

export function parseBrush(text: string): Brush | null {
  const m = /^(\d{1,9})-(\d{1,9}),(\d{1,9})-(\d{1,9})$/.exec(text);
  return m ? { x: [Number(m[1]), Number(m[2])], y: [Number(m[3]), Number(m[4])] } : null;
}
export function printBrush(x: [number, number], y: [number, number]): string {
  return `${Math.min(...x)}-${Math.max(...x)},${Math.min(...y)}-${Math.max(...y)}`;
}
export function inBrush(program: number, brush: Brush, grid: Grid): boolean {
  const [x, y] = programId(program, grid);
  return x >= brush.x[0] && x <= brush.x[1] && y >= brush.y[0] && y <= brush.y[1];
}
