import { useMemo } from "preact/hooks";
import { count, json, Picture, set, usePacked, type Launch } from "../../api";
import type { Iteration } from "../../data";
import { foldOf, usualAxes } from "../../models/axes";
import { inputsQuery, printFrom, type From } from "../../models/inputs";

export interface Source { argument: number; name: string; text: string; count: number; first: number[]; outside: number; mayHaveChanged: boolean }
interface Link { name: string; elements: string; value: string; file: string; line: number; op: number; times: number; iterations: Iteration[] }
interface Inputs { program: number; atomic: boolean; value: string; chain: Link[]; sources: Source[]; scalars: string[]; unknown: number }

export const inputsOf = (index: number, from: From) => json<Inputs>(`/api/launch/${index}/inputs?argument=${from.argument}&index=${from.element.join(",")}`);

/** The elements of one input, on a small picture of it. */
function SourceMap({ launch, index, from, source }: { launch: Launch; index: number; from: From; source: Source }) {
  const argument = launch.arguments[source.argument], shape = argument?.shape ?? [];
  const drawn = argument?.kind === "tensor" && source.first.length === shape.length;
  const axes = usualAxes(shape);
  const answer = usePacked(drawn ? `/api/launch/${index}/tensor/${source.argument}?${inputsQuery(from)}&rows=${axes.rows}&columns=${axes.columns}&fold=${foldOf(shape)}&at=${source.first.join(",")}&height=96&width=128` : undefined);
  const cells = useMemo(() => {
    const value = answer.value?.arrays.value;
    return value && { values: value.values, kind: Uint8Array.from(value.values as ArrayLike<number>, (v) => (v > 0 ? 0 : 4)), height: value.shape[0]!, width: value.shape[1]!, min: 0, max: 1 };
  }, [answer.value]);
  const go = () => set({ from: printFrom(from), tensor: source.argument, element: "" });
  return (
    <div class="source">
      {drawn ? <button class="link" onClick={go}>{source.text}</button> : <b>{source.text}</b>}
      <span class="dim"> {count(source.count)} element{source.count === 1 ? "" : "s"}{source.mayHaveChanged ? ", as they were when the program read them: the launch writes this tensor" : ""}</span>
      {source.outside > 0 && <span class="error">, and {count(source.outside)} reads outside of it</span>}
      {answer.error && <span class="error"> {answer.error}</span>}
      {cells && <Picture cells={cells} label={`${source.name}: what it came from`} palette="overlay" onPick={go} />}
    </div>
  );
}

/** What the value of an element came from: its inputs, and the variables on the way, last to first. */
export function InputsOf({ launch, index, from }: { launch: Launch; index: number; from: From }) {
  const { value, error } = inputsOf(index, from).value;
  if (error) return <p class="error">{error}</p>;
  if (!value) return <p class="dim">following its value back to the inputs …</p>;
  return (
    <div class="inputs">
      <p>{value.atomic ? `The last atomic operation on it had ${value.value}, which came from` : "It came from"}{value.sources.length ? " these elements" : value.unknown || value.scalars.length ? " no tensor" : " no input: constants and program numbers only"}{value.scalars.length ? `, and from ${value.scalars.join(", ")}` : ""}
        {value.unknown > 0 && <span class="error">, and {count(value.unknown)} elements of memory that is no tensor of the launch</span>}</p>
      <div class="maps">{value.sources.map((s) => <SourceMap key={s.argument} launch={launch} index={index} from={from} source={s} />)}</div>
      <details class="twin">
        <summary>by way of {value.chain.length} variables, last to first</summary>
        <ul>{value.chain.map((l, i) => (
          <li key={i}><button class="row" onClick={() => set({ program: value.program, op: l.op, finding: -1 })}>
            <span class="dim">line {l.line}</span>
            <span class="grow"><b>{l.elements}</b>{l.value ? `: ${l.value}` : ""}<span class="dim">{l.iterations.map((t) => `, ${t.name || "trip"} = ${t.value}`).join("")}{l.times > 1 ? `, and in ${count(l.times - 1)} turns before` : ""}</span></span>
          </button></li>
        ))}</ul>
      </details>
    </div>
  );
}
