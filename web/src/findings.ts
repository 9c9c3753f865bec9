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
  const tensor = f.operand ? l.arguments.findIndex((a) => a.name === f.operand!.argument) : -1;
  set({ finding: index, program: programNumber(f.program, l.grid), step: -1, op: op?.op ?? -1, right: "tensor", element: f.operand?.index.join(",") ?? "", ...(tensor >= 0 ? { tensor } : {}) });
}
export function otherFinding(l: Launch, by: number): void {
  const n = l.findings.length;
  if (n) showFinding(l, (state.value.finding + by + n) % n);
}
