import { expect, test } from "vitest";
import { colour, pixels } from "./palettes";
import { bytes, programId, programNumber } from "./format";
import { unpack } from "./packed";
import { initial, parse, print } from "./state";

function answer(header: string, data: Uint8Array): ArrayBuffer {
  const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
  const out = new Uint8Array(8 + padded.length + data.length);
  out.set(new TextEncoder().encode("TSV1"));
  new DataView(out.buffer).setUint32(4, padded.length, true);
  out.set(new TextEncoder().encode(padded), 8);
  out.set(data, 8 + padded.length);
  return out.buffer;
}

test("arrays come out as they were put in", () => {
  const data = new Uint8Array(new Float32Array([1, 2, 3]).buffer);
  const packed = unpack(answer('{"arrays":[{"name":"v","dtype":"f32","shape":[3],"at":0}],"meta":{"min":1}}', data));
  expect([...packed.arrays.v!.values]).toEqual([1, 2, 3]);
  expect(packed.meta.min).toBe(1);
});

test("bytes that are no answer, or end early, are refused", () => {
  expect(() => unpack(new ArrayBuffer(3))).toThrow("no answer");
  expect(() => unpack(answer('{"arrays":[{"name":"v","dtype":"f32","shape":[300],"at":0}],"meta":{}}', new Uint8Array(4)))).toThrow();
  const cut = answer('{"arrays":[],"meta":{}}', new Uint8Array(0)).slice(0, 12);
  expect(() => unpack(cut)).toThrow("ends early");
});

test("the address keeps the state, and nonsense in it is left out", () => {
  const state = { ...initial, launch: 2, program: 17, layer: "after" };
  expect(parse(`#${print(state)}`)).toEqual(state);
  expect(print(initial)).toBe("");
  expect(parse("#launch=x&program=-5&op=1e99&layer=reads&toString=1")).toEqual({ ...initial, layer: "reads" });
});

test("program numbers count x first", () => {
  expect(programId(7, [3, 2, 2])).toEqual([1, 0, 1]);
  expect(programNumber([1, 0, 1], [3, 2, 2])).toBe(7);
});

test("colours keep their order, and what is no number is told apart", () => {
  const light = (t: number) => colour(t).reduce((a, b) => a + b, 0);
  expect(light(0)).toBeLessThan(light(0.5));
  expect(light(0.5)).toBeLessThan(light(1));
  const out = pixels([0, 1, 0], [0, 1, 4], 0, 1);
  expect(out[3]).toBe(255);
  expect([out[4], out[5], out[6]]).toEqual([214, 39, 120]);
  expect(out[11]).toBe(0);
});

test("sizes in the units that people use", () => {
  expect(bytes(512)).toBe("512 B");
  expect(bytes(1536)).toBe("1.5 KiB");
});
