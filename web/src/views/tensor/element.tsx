import { programId, set, type Launch } from "../../api";
import { json } from "../../data";
import { held } from "../../held";
import { InputsOf } from "./inputs";

export interface Story {
  index: number[]; reads: number | null; writes: number | null; value: { before?: string; after?: string };
  writer: { program: number; shared: boolean; step: number; op: number; file: string; line: number; variable: string; iterations: { name: string; value: number; trip: number }[]; operand: number } | null;
  first: number | null;
}

export const storyOf = (index: number, argument: number, element: number[]) => json<Story>(`/api/launch/${index}/element?argument=${argument}&index=${element.join(",")}`);

/** Leads to the program, the step and the line that wrote an element. */
export function Writer({ launch, writer: w }: { launch: Launch; writer: NonNullable<Story["writer"]> }) {
  const go = () => set({ program: w.program, finding: -1, right: "values", ...(w.step >= 0 ? { step: w.step, value: `o${w.operand}`, bottom: "value" } : {}), op: w.op });
  return <button class="link" onClick={go}>{w.shared ? "last written" : "written"} by program ({programId(w.program, launch.grid).join(", ")}){w.line ? `, line ${w.line}` : ""}{w.iterations.map((i) => `, ${i.name || "trip"} = ${i.value}`).join("")}</button>;
}

/** Who wrote the chosen element: program, line and iteration; one click goes there. And the inputs that its value came from. */
export function Element({ launch, index, argument, element }: { launch: Launch; index: number; argument: number; element: number[] | null }) {
  const answer = element && !held ? storyOf(index, argument, element).value : {};
  if (!element || held) return null;
  const story = answer.value, name = launch.arguments[argument]?.name ?? "";
  if (answer.error) return <p class="error">{answer.error}</p>;
  if (!story) return <p class="dim">looking for who wrote {name}[{element.join(", ")}] …</p>;
  const w = story.writer;
  return (
    <div class="story">
      <b>{name}[{element.join(", ")}]</b> {story.value.before !== undefined && story.value.before !== story.value.after ? <>{story.value.before} → </> : null}<b>{story.value.after ?? ""}</b>
      {story.reads !== null && <span class="dim"> read {story.reads}×, written {story.writes}×</span>}{" "}
      {w ? <Writer launch={launch} writer={w} />
        : <span>nobody writes it{(story.first ?? -1) >= 0 ? <>; <button class="link" onClick={() => set({ program: story.first!, finding: -1 })}>program ({programId(story.first!, launch.grid).join(", ")}) is the first to read it</button></> : ""}</span>}
      {w && <InputsOf launch={launch} index={index} from={{ argument, element }} />}
    </div>
  );
}
