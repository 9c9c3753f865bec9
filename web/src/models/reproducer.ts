// A runnable program that launches the kernel alone, with arrays of the same shapes.
import type { Argument, Finding, Launch } from "../data";

const numpyTypes: Record<string, string> = {
  float16: "np.float16", float32: "np.float32", float64: "np.float64", bool: "np.bool_",
  int8: "np.int8", int16: "np.int16", int32: "np.int32", int64: "np.int64", uint8: "np.uint8", uint16: "np.uint16", uint32: "np.uint32", uint64: "np.uint64",
};

function isDense(a: Argument): boolean {
  let step = 1;
  for (let d = (a.shape?.length ?? 0) - 1; d >= 0; --d) {
    if (a.shape![d]! > 1 && a.strides![d] !== step) return false;
    step *= a.shape![d]!;
  }
  return true;
}

/** One array: with its strides, and random numbers for floats; indices are zeros. */
function arrayText(a: Argument): string {
  const shape = `(${a.shape!.join(", ")}${a.shape!.length === 1 ? "," : ""})`;
  const type = numpyTypes[a.dtype ?? ""];
  if (!type) return `None  # ${a.dtype} is no type of numpy: make it with torch`;
  const whole = isDense(a);
  const size = whole ? shape : String(1 + a.shape!.reduce((n, extent, d) => n + Math.max(0, extent - 1) * Math.abs(a.strides![d]!), 0));
  const made = type.startsWith("np.float") ? `rng.standard_normal(${size}).astype(${type})` : `np.zeros(${size}, ${type})`;
  return whole ? made : `np.lib.stride_tricks.as_strided(${made}, ${shape}, [s * np.dtype(${type}).itemsize for s in (${a.strides!.join(", ")},)])`;
}

/** The function of the source that defines the kernel, with its decorators; "" if it is not there. */
export function functionText(source: string, name: string): string {
  const lines = source.split("\n");
  const def = lines.findIndex((l) => new RegExp(`^\\s*def ${name.replace(/\W/g, "")}\\s*\\(`).test(l));
  if (def < 0) return "";
  const indent = lines[def]!.match(/^\s*/)![0].length;
  let first = def;
  while (first > 0 && lines[first - 1]!.trimStart().startsWith("@")) --first;
  let past = def + 1, open = (lines[def]!.match(/[([{]/g) ?? []).length - (lines[def]!.match(/[)\]}]/g) ?? []).length;
  while (past < lines.length) {
    const line = lines[past]!;
    if (open <= 0 && line.trim() && line.match(/^\s*/)![0].length <= indent) break;
    open += (line.match(/[([{]/g) ?? []).length - (line.match(/[)\]}]/g) ?? []).length;
    ++past;
  }
  return lines.slice(first, past).map((l) => l.slice(Math.min(indent, l.match(/^\s*/)![0].length))).join("\n").trimEnd();
}

export function reproducer(launch: Launch, finding: Finding): string {
  const source = Object.values(launch.sources).map((text) => functionText(text, launch.kernel)).find(Boolean) ?? "";
  const decorated = source.replace(/^@(?!triton\.jit|jit)[^\n]*\n/gm, "");
  const file = Object.keys(launch.sources).find((f) => functionText(launch.sources[f]!, launch.kernel));
  const helpers = file ? launch.sources[file]!.split("\n").flatMap((l) => l.match(/^\s*def (\w+)\s*\(/)?.[1] ?? [])
    .filter((name) => name !== launch.kernel && new RegExp(`\\b${name}\\s*\\(`).test(source)).map((name) => functionText(launch.sources[file]!, name)).filter((t) => /@(triton\.)?jit/.test(t)) : [];
  const argument = (a: Argument) => (a.kind === "tensor" ? a.name : `${a.name}=${a.value ?? "None"}`);
  const arrays = launch.arguments.filter((a) => a.kind === "tensor").map((a) => `${a.name} = ${arrayText(a)}`);
  const hard = launch.arguments.filter((a) => a.kind === "descriptor").map((a) => `# ${a.name} is a tensor descriptor: make it here\n${a.name} = None`);
  const names = launch.arguments.map((a) => (a.kind === "tensor" || a.kind === "descriptor" ? `${a.name}=${a.name}` : argument(a)));
  return `"""${finding.kind}: ${finding.message.replace(/"""/g, "'''")}
Program (${finding.program.join(", ")}), ${finding.location.file.split("/").pop()}:${finding.location.line}.

  tilesight run FILE        shows it again; values of arrays are made up, shapes and strides are those of the launch
"""
import numpy as np
import triton
import triton.language as tl

${helpers.length ? helpers.join("\n\n\n") + "\n\n\n" : ""}${decorated || `# The kernel's source was not saved with the launch: define ${launch.kernel} here.`}


rng = np.random.default_rng(0)
${[...arrays, ...hard].join("\n")}

${launch.kernel}[(${launch.grid.join(", ")})](${names.join(", ")})
`;
}
