import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { question, type Launch } from "../data";
import { count } from "../format";
import { go, iterationBy, lineBy, programPath, stepBy, steps } from "../models/program";
import type { Steps } from "../models/steps";
import { set, state } from "../state";

const playing = signal(false);
const search = signal<{ text: string; error?: boolean; busy?: boolean }>({ text: "" });

/** The first step from the next one on where the condition holds, in this program or in all from this one on. */
async function find(launch: Launch, everywhere: boolean): Promise<void> {
  const condition = state.value.stop.trim();
  if (!condition || search.value.busy) return;
  let program = state.value.program, from = state.value.step + 1;
  search.value = { text: "searching …", busy: true };
  try {
    for (;;) {
      const path = `${programPath(program)}/find?condition=${encodeURIComponent(condition)}&from=${from}${everywhere ? "&everywhere=1" : ""}`;
      const answer = await question<{ program?: number; step?: number; done: boolean }>(path);
      if (answer.step !== undefined && answer.program !== undefined) {
        search.value = { text: "it holds here" };
        set({ program: answer.program, step: answer.step, right: "values" });
        return;
      }
      if (answer.done || answer.program === undefined) break;
      program = answer.program, from = 0;
      search.value = { text: `searching program ${count(program)} of ${count(launch.grid[0] * launch.grid[1] * launch.grid[2])} …`, busy: true };
    }
    search.value = { text: everywhere ? "it holds in no program from here on" : "it does not hold any more in this program" };
  } catch (error) {
    search.value = { text: (error as Error).message, error: true };
  }
}

/** Where in the program: iterations of the outer loop as bands, accesses as ticks. */
function Bands({ all }: { all: Steps }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const c = canvas.current!, width = (c.width = Math.max(1, c.clientWidth)), height = (c.height = 12);
    const g = c.getContext("2d")!;
    const style = getComputedStyle(c);
    for (let x = 0; x < width; ++x) {
      const from = Math.floor((x / width) * all.total), past = Math.max(from + 1, Math.floor(((x + 1) / width) * all.total));
      const trip = all.trips(from)[0];
      if (trip !== undefined) {
        g.fillStyle = style.getPropertyValue(trip % 2 ? "--line" : "--on");
        g.fillRect(x, 0, 1, height);
      }
      for (let i = from; i < past && i < from + 64; ++i) {
        const operation = all.siteAt(i)?.operation ?? "";
        if (!/load|store|atomic|gather|scatter/.test(operation)) continue;
        g.fillStyle = style.getPropertyValue(/load|gather/.test(operation) ? "--accent" : "--error");
        g.fillRect(x, height - 5, 1, 5);
        break;
      }
    }
  }, [all]);
  return <canvas class="bands" ref={canvas} aria-hidden="true" />;
}

export function Stepper({ launch }: { launch: Launch }) {
  const { value: all, error } = steps();
  const step = state.value.step;
  useEffect(() => {
    if (!playing.value) return;
    const timer = setInterval(() => {
      const known = steps().value;
      if (!known || state.value.step >= known.total - 1) playing.value = false;
      else stepBy(1);
    }, 120);
    return () => clearInterval(timer);
  }, [playing.value]);
  // A program that is shorter than the one before; a step that came with the address, or from a search, brings its line.
  useEffect(() => {
    if (!all || step < 0) return;
    if (step >= all.total) go(all.total - 1);
    else if (all.siteAt(step) && all.siteAt(step)!.op !== state.value.op) set({ op: all.siteAt(step)!.op });
  }, [all, step]);
  const site = all && step >= 0 ? all.siteAt(step) : undefined;
  const trips = all && step >= 0 ? all.trips(step) : [];
  const button = (text: string, title: string, run: () => void) => <button title={title} aria-label={title} disabled={!all} onClick={run}>{text}</button>;
  return (
    <div class="stepper">
      {button("|‹", "first step (s)", () => go(0))}
      {button("‹", "step back (,)", () => stepBy(-1))}
      {button("›", "next step (.)", () => stepBy(1))}
      {button("↧", "next line (j)", () => lineBy(1))}
      {button("↻", "same place, next iteration (>)", () => iterationBy(1))}
      {button(playing.value ? "⏸" : "▶", "play", () => (playing.value = !playing.value))}
      <div class="scrubber">
        {all && <Bands all={all} />}
        <input type="range" aria-label="step" min={0} max={Math.max(0, (all?.total ?? 1) - 1)} value={Math.max(0, step)} disabled={!all} onInput={(e) => go(Number(e.currentTarget.value))} />
      </div>
      <span class="where">
        {error ? <span class="error">{error}</span> : !all ? <span class="dim">running the program …</span>
          : step < 0 ? <span class="dim">{count(all.total)} steps: drag, or press .</span>
          : <>step <b>{count(step)}</b> <span class="dim">of {count(all.total)}</span>{site?.user.line ? <> · line {site.user.line}</> : null}{trips.length ? <> · iteration {trips.join(".")}</> : null} <span class="dim">{site?.operation}{site?.what === "arguments" ? " begins" : ""}</span></>}
        {all?.stopped && <span class="error" title={all.stopped}> stopped early</span>}
      </span>
      <form class="stop" onSubmit={(e) => { e.preventDefault(); void find(launch, false); }}>
        <input type="text" aria-label="condition" size={20} placeholder="stop where: isnan(qk)" spellcheck={false} value={state.value.stop}
          onInput={(e) => { search.value = { text: "" }; set({ stop: e.currentTarget.value }); }} title="isnan isinf isfinite abs; any all max min sum mean count; + - * / < <= > >= == != and or not" />
        <button type="submit" disabled={!state.value.stop || !!search.value.busy}>find</button>
        <button type="button" disabled={!state.value.stop || !!search.value.busy} title="in this program and all after it" onClick={() => void find(launch, true)}>in all</button>
        {search.value.text && <span role="status" class={search.value.error ? "error bubble" : "bubble"}>{search.value.text}</span>}
      </form>
    </div>
  );
}
