// From a finding to what it is about.
import type { Launch } from "./data";
import { programNumber } from "./format";
import { set, state } from "./state";

/** Goes to a finding's program, operation and tensor. */
export function showFinding(l: Launch, index: number): void {
  const f = l.findings[index];
  if (!f) return;
  const op = l.ops.find((o) => o.totals && o.file === f.location.file && o.line === f.location.line && o.column === f.location.column)
    ?? l.ops.find((o) => o.totals && o.file === f.location.file && o.line === f.location.line);
  // The nearest element of the tensor, for those that lie outside.
  const shape = l.arguments.find((a) => a.name === f.operand?.argument)?.shape ?? [];
  const nearest = f.operand?.index.length === shape.length ? f.operand.index.map((i, d) => Math.min(shape[d]! - 1, Math.max(0, i))).join(",") : "";
  const tensor = f.operand ? l.arguments.findIndex((a) => a.name === f.operand!.argument) : -1;
  set({ finding: index, program: programNumber(f.program, l.grid), step: -1, op: op?.op ?? -1, right: "tensor", element: nearest, ...(tensor >= 0 ? { tensor } : {}) });
}
export function otherFinding(l: Launch, by: number): void {
  const n = l.findings.length;
  if (n) showFinding(l, (state.value.finding + by + n) % n);
}
