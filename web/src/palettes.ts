// Colours. cividis, viridis and grey keep their order for people who see colours differently, and in grey.
import { signal } from "@preact/signals";

export type Stop = [number, number, number];
export const palettes: Record<string, Stop[]> = {
  cividis: [[0, 34, 78], [42, 63, 109], [87, 93, 109], [123, 125, 120], [165, 156, 116], [210, 192, 96], [254, 232, 56]],
  viridis: [[68, 1, 84], [70, 50, 126], [54, 92, 141], [39, 127, 142], [31, 161, 135], [74, 193, 109], [160, 218, 57], [253, 231, 37]],
  magma: [[0, 0, 4], [59, 15, 112], [140, 41, 129], [222, 73, 104], [254, 159, 109], [252, 253, 191]],
  overlay: [[214, 39, 120], [214, 39, 120]],
  grey: [[20, 20, 20], [245, 245, 245]],
  "blue–orange": [[5, 72, 138], [74, 144, 200], [178, 208, 232], [244, 244, 244], [250, 205, 160], [227, 132, 45], [150, 70, 0]],
};

/** Those that a person may choose. */
export const choices = Object.keys(palettes).filter((name) => name !== "overlay");

/** Of `t` from 0 to 1: red, green, blue. */
export function colour(t: number, name = "cividis"): Stop {
  const stops = palettes[name] ?? palettes.cividis!;
  const x = Math.min(1, Math.max(0, t)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(x));
  const a = stops[i]!, b = stops[i + 1]!, f = x - i;
  return [a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f, a[2] + (b[2] - a[2]) * f];
}

export function css(name: string): string {
  return `linear-gradient(90deg, ${(palettes[name] ?? palettes.cividis!).map((s) => `rgb(${s.join(",")})`).join(", ")})`;
}

const tables = new Map<string, Uint8Array>();
/** 256 colours, red, green, blue each. */
export function table(name: string): Uint8Array {
  let made = tables.get(name);
  if (!made) {
    made = new Uint8Array(768);
    for (let i = 0; i < 256; ++i) made.set(colour(i / 255, name).map(Math.round), 3 * i);
    tables.set(name, made);
  }
  return made;
}

/** What has no place on the scale. kind: 0 a number, 1 NaN, 2 infinity, 3 dimmed, 4 nothing, 5 accessed outside of the tensor. */
export const special: Record<number, Stop> = { 1: [214, 39, 120], 2: [230, 120, 20], 5: [200, 20, 20] };

/** Cells as pixels. */
export function pixels(values: ArrayLike<number>, kind: ArrayLike<number> | null, min: number, max: number, palette = "cividis"): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(values.length * 4);
  const scale = max > min ? 255 / (max - min) : 0;
  const colours = table(palette);
  for (let i = 0; i < values.length; ++i) {
    const k = kind ? kind[i]! : 0;
    if (k === 4) continue;
    const fixed = special[k];
    const at = 3 * Math.min(255, Math.max(0, Math.round((values[i]! - min) * scale) || 0));
    out[4 * i] = fixed ? fixed[0] : colours[at]!;
    out[4 * i + 1] = fixed ? fixed[1] : colours[at + 1]!;
    out[4 * i + 2] = fixed ? fixed[2] : colours[at + 2]!;
    out[4 * i + 3] = k === 3 ? 60 : 255;
  }
  return out;
}

function stored(): string {
  try { return localStorage.getItem("theme") ?? ""; } catch { return ""; }
}
export const theme = signal(stored());
export function toggleTheme(): void {
  const dark = theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme.value = dark ? "light" : "dark";
  try { localStorage.setItem("theme", theme.value); } catch { /* not kept */ }
}
