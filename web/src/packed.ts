// The server's arrays: see src/server/packed.h.
export type Numbers = Uint8Array | Int32Array | Uint32Array | Float32Array | Float64Array;

export interface Packed {
  meta: Record<string, unknown>;
  arrays: Record<string, { shape: number[]; values: Numbers }>;
}

interface Header {
  arrays: { name: string; dtype: string; shape: number[]; at: number }[];
  meta: Record<string, unknown>;
}

function view(dtype: string, buffer: ArrayBuffer, at: number, count: number): Numbers {
  switch (dtype) {
    case "u8": return new Uint8Array(buffer, at, count);
    case "i32": return new Int32Array(buffer, at, count);
    case "u32": return new Uint32Array(buffer, at, count);
    case "f32": return new Float32Array(buffer, at, count);
    case "f64": return new Float64Array(buffer, at, count);
    default: throw new Error(`arrays of ${dtype} are not known`);
  }
}

/** Throws where the bytes are no answer of the server, or end early. */
export function unpack(buffer: ArrayBuffer): Packed {
  const magic = new Uint8Array(buffer, 0, Math.min(4, buffer.byteLength));
  if (String.fromCharCode(...magic) !== "TSV1" || buffer.byteLength < 8) throw new Error("this is no answer of Tilesight");
  const length = new DataView(buffer).getUint32(4, true);
  const start = 8 + length;
  if (start > buffer.byteLength) throw new Error("the answer ends early");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length))) as Header;
  const arrays: Packed["arrays"] = {};
  for (const { name, dtype, shape, at } of header.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = { shape, values: view(dtype, buffer, start + at, count) };
  }
  return { meta: header.meta, arrays };
}
