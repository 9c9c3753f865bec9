import { useMemo } from "preact/hooks";
import type { Launch, Op, ValueInfo } from "../../data";
import { short } from "../../format";
import { currentStep } from "../../models/current";
import { goToOp, steps } from "../../models/program";
import { set, state } from "../../state";
import { lines, Listing, type Line } from "./listing";

function inlineText(v: ValueInfo): string {
  if (v.numel <= 1) return `${v.name} = ${v.text ?? ""}`;
  if (v.family === "pointer") return `${v.name} = ${v.text ?? ""} …`;
  return `${v.name} ∈ ${short(v.min ?? 0)} … ${short(v.max ?? 0)}${v.nan ? `, ${v.nan} NaN` : ""}${v.inf ? `, ${v.inf} inf` : ""}`;
}

/** The user's source and the IR, side by side. While one steps, what variables are stands behind their lines. */
export function Source({ launch }: { launch: Launch }) {
  const file = useMemo(() => {
    const known = launch.ops.map((o) => o.file).filter((f) => launch.sources[f] !== undefined);
    return known[0] ?? Object.keys(launch.sources)[0];
  }, [launch]);
  const op = launch.ops.find((o) => o.op === state.value.op);
  const step = state.value.step >= 0 ? steps().value?.siteAt(state.value.step) : undefined;
  const here = step && step.op === op?.op ? step.user : op;
  const shown = here && launch.sources[here.file] !== undefined ? here.file : file;
  const start = launch.ops.find((o) => o.operation === "tt.func" && o.file === shown)?.line;
  const source = useMemo(() => lines((shown && launch.sources[shown]) || "The source was not saved with the launch.", launch.ops, (o) => (o.file === shown ? o.line : 0)), [launch, shown]);
  const ir = useMemo(() => lines(launch.ir, launch.ops, (o) => o.irLine), [launch]);
  const marked = useMemo(() => new Set(launch.findings.filter((f) => f.location.file === shown).map((f) => f.location.line)), [launch, shown]);
  const near = useMemo(() => new Set(op ? launch.ops.filter((o) => o.line === op.line && o.file === op.file && o.operation !== "tt.func").map((o) => o.irLine) : []), [launch, op]);
  const stepping = state.value.step >= 0;
  const current = currentStep();
  const values = useMemo(() => {
    const texts = new Map<number, string>();
    if (stepping) for (const v of current.value?.variables ?? []) if (v.file === shown && v.name) texts.set(v.line, `${texts.has(v.line) ? `${texts.get(v.line)}; ` : ""}${inlineText(v)}`);
    return texts;
  }, [current.value, shown, stepping]);
  const pick = (of: (line: Line) => Op | undefined) => (line: Line) => {
    const chosen = of(line);
    if (!chosen) return;
    if (state.value.step < 0 && !steps().value) set({ op: chosen.op });
    else goToOp(chosen.op);
  };
  const best = (line: Line) => line.ops.find((o) => o.totals) ?? line.ops[line.ops.length - 1];
  return (
    <div class="sources">
      <Listing title={shown ? shown.split("/").pop()! : "Source"} lines={source} language="python" now={here?.file === shown ? here?.line ?? 0 : 0} start={start} near={new Set()} marked={marked} onPick={pick(best)} values={values} />
      <Listing title="Triton IR" lines={ir} language="mlir" now={op?.irLine ?? 0} near={near} onPick={pick(best)} />
    </div>
  );
}
