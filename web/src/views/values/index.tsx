import { useEffect, useRef } from "preact/hooks";
import { set, short, state, type Launch, type ValueInfo, type View } from "../../api";
import { typeText } from "../../format";
import { chosenValue, currentStep, type AtStep } from "../../models/current";
import { stepBy } from "../../models/program";
import { pixels } from "../../palettes";

/** A small picture of a tile: NaN and infinities have their own colours. */
function Thumbnail({ at, value }: { at: AtStep; value: ValueInfo }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = value.picture ? at.pictures[value.picture] : undefined;
  const palette = state.value.palette;
  useEffect(() => {
    if (!picture) return;
    const [height, width] = picture.shape as [number, number];
    const kind = Uint8Array.from(picture.values as ArrayLike<number>, (v) => (Number.isNaN(v) ? 1 : Number.isFinite(v) ? 0 : 2));
    canvas.current?.getContext("2d")?.putImageData(new ImageData(pixels(picture.values, kind, value.min ?? 0, value.max ?? 0, palette), width, height), 0, 0);
  }, [picture, palette, value.min, value.max]);
  if (!picture) return null;
  return <canvas class="thumb" ref={canvas} width={picture.shape[1]} height={picture.shape[0]} aria-hidden="true" />;
}

export function summary(v: ValueInfo): string {
  if (v.numel === 0) return v.text ?? "";
  if (v.numel === 1) return v.text ?? "";
  if (v.family === "pointer") return `${v.text ?? ""} …`;
  if (v.family === "bool") return `${Math.round((v.mean ?? 0) * v.numel)} of ${v.numel} true`;
  if ((v.nan ?? 0) + (v.inf ?? 0) === v.numel) return "";
  return `${short(v.min ?? 0)} … ${short(v.max ?? 0)}, mean ${short(v.mean ?? 0)}`;
}

function Row({ at, value, id, chosen, label }: { at: AtStep; value: ValueInfo; id: string; chosen: boolean; label: string }) {
  return (
    <button class={`value row${chosen ? " on" : ""}${value.step === at.step ? " new" : ""}`} title={`${value.ssa} ${value.type}`} onClick={() => set({ value: id, bottom: "value" })}>
      <b class="grow">{label}</b>
      <span class="dim type">{value.family === "none" ? "view" : typeText(value.dtype, value.shape)}</span>
      <span class="sum">{summary(value)}{value.nan ? <span class="tag error">{value.nan} NaN</span> : null}{value.inf ? <span class="tag warning">{value.inf} inf</span> : null}</span>
      <Thumbnail at={at} value={value} />
    </button>
  );
}

/** What the step takes and makes, and what all variables are after it. A click opens a value in the inspector. */
function Values({ launch }: { launch: Launch }) {
  const { value: at, error, busy } = currentStep();
  if (state.value.step < 0)
    return <div class="empty"><p>Choose a program and step through it: what its variables are appears here.</p><p><button onClick={() => stepBy(1)}>start with the first step</button></p></div>;
  if (error) return <p class="error">{error}</p>;
  if (!at) return <p class="dim">running the program …</p>;
  const chosen = chosenValue(at, state.value.value);
  const isChosen = (v: ValueInfo) => v === chosen || (!!chosen && v.step === chosen.step && v.operand === chosen.operand && v.number === chosen.number);
  const source = (v: ValueInfo) => (v.family === "pointer" && v.argument !== undefined ? ` → ${launch.arguments[v.argument]?.name ?? ""}` : "");
  const label = (v: ValueInfo) => ((!v.part && v.name) || v.ssa || (v.operand ? `operand ${v.number}` : `result ${v.number}`)) + source(v);
  const operands = at.values.filter((v) => v.operand), results = at.values.filter((v) => !v.operand);
  // Those of functions of Triton's library are not the user's.
  const variables = Object.keys(launch.sources).length ? at.variables.filter((v) => launch.sources[v.file] !== undefined) : at.variables;
  return (
    <div class={busy ? "values busy" : "values"}>
      {at.iterations.length > 0 && <p class="loops">{at.iterations.map((i, k) => <span key={k} class="tag">{i.name || "while"} = {i.value} <span class="dim">#{i.trip}</span></span>)}</p>}
      {operands.length > 0 && <h3>takes</h3>}
      {operands.map((v) => <Row key={`o${v.number}`} at={at} value={v} id={`o${v.number}`} chosen={isChosen(v)} label={label(v)} />)}
      {results.length > 0 && <h3>makes</h3>}
      {results.map((v) => <Row key={`v${v.number}`} at={at} value={v} id={v.name && v.numel && !v.part ? v.name : `v${v.number}`} chosen={isChosen(v)} label={label(v)} />)}
      <h3>variables <span class="dim">{variables.length}, the newest first</span></h3>
      {[...variables].reverse().map((v) => <Row key={v.name} at={at} value={v} id={v.name} chosen={isChosen(v)} label={label(v)} />)}
    </div>
  );
}
export const view: View = { id: "values", title: "Values", place: "right", order: 2, component: Values };
