// One interface for who puts cells on a canvas: Canvas2D for small pictures, WebGL2 for large ones where there is it.
import { canvas2d } from "./canvas2d";
import { webgl } from "./webgl";

export interface Texture {
  values: ArrayLike<number>;
  kind: ArrayLike<number> | null; // 0 a number, 1 NaN, 2 infinity, 3 dimmed, 4 nothing, 5 accessed outside of the tensor
  height: number;
  width: number;
  min: number;
  max: number;
}

export interface Renderer {
  readonly name: string;
  /** Draws the whole texture, one pixel of the canvas a cell. */
  draw(texture: Texture, palette: string): void;
  dispose(): void;
}

export const large = 1 << 18;

/** A canvas keeps the kind of its first context, so it is asked for once a canvas. */
export function rendererOf(canvas: HTMLCanvasElement, cells: number): Renderer {
  return (cells >= large ? webgl(canvas) : null) ?? canvas2d(canvas);
}
