import { pixels } from "../palettes";
import type { Renderer } from "./renderer";

export function canvas2d(canvas: HTMLCanvasElement): Renderer {
  const context = canvas.getContext("2d");
  return {
    name: "canvas2d",
    draw(t, palette) {
      canvas.width = Math.max(1, t.width);
      canvas.height = Math.max(1, t.height);
      if (t.width && t.height) context?.putImageData(new ImageData(pixels(t.values, t.kind, t.min, t.max, palette), t.width, t.height), 0, 0);
    },
    dispose() {},
  };
}
