// Colours that people who see colours differently can tell apart, and that keep their order in grey.
type Stop = [number, number, number];
const cividis: Stop[] = [[0, 34, 78], [42, 63, 109], [87, 93, 109], [123, 125, 120], [165, 156, 116], [210, 192, 96], [254, 232, 56]];

/** Of `t` from 0 to 1: red, green, blue. */
export function colour(t: number): Stop {
  const x = Math.min(1, Math.max(0, t)) * (cividis.length - 1);
  const i = Math.min(cividis.length - 2, Math.floor(x));
  const a = cividis[i]!, b = cividis[i + 1]!, f = x - i;
  return [a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f, a[2] + (b[2] - a[2]) * f];
}

/** Cells as pixels. `kind`: 0 a number, 1 NaN, 2 infinity, 4 nothing. */
export function pixels(values: ArrayLike<number>, kind: ArrayLike<number> | null, min: number, max: number): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(values.length * 4);
  const scale = max > min ? 1 / (max - min) : 0;
  for (let i = 0; i < values.length; ++i) {
    const k = kind ? kind[i] : 0;
    if (k === 4) continue;
    const [r, g, b] = k === 1 ? [214, 39, 120] : k === 2 ? [230, 120, 20] : colour(((values[i] ?? 0) - min) * scale);
    out[4 * i] = r!; out[4 * i + 1] = g!; out[4 * i + 2] = b!; out[4 * i + 3] = 255;
  }
  return out;
}
