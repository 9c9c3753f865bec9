import { useEffect } from "preact/hooks";
import { commands } from "./commands";
import { entries, launch as launchAt, progress, version, type Launch } from "./data";
import { held } from "./held";
import { theme, toggleTheme } from "./palettes";
import { CommandPalette, paletteOpen } from "./parts/palette";
import { ProgramBar } from "./parts/programs";
import { Source } from "./parts/source/source";
import { Stepper } from "./parts/stepper";
import { set, state } from "./state";
import { parseBrush } from "./models/brush";
import { viewsAt } from "./views";

function Tabs({ place, index, launch }: { place: "right" | "bottom"; index: number; launch: Launch }) {
  const all = viewsAt(place);
  const chosen = all.find((v) => v.id === state.value[place]) ?? all[0]!;
  return (
    <section class={`panel tabs ${place}`}>
      <div role="tablist">
        {all.map((v) => <button key={v.id} role="tab" aria-selected={v === chosen} class={v === chosen ? "on" : ""} onClick={() => set({ [place]: v.id })}>{v.title}</button>)}
      </div>
      <div class="content" role="tabpanel" aria-label={chosen.title}><chosen.component key={`${chosen.id}/${index}`} index={index} launch={launch} /></div>
    </section>
  );
}

function press(e: KeyboardEvent, launch: Launch | undefined): void {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const target = e.target;
  if (target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox") {
    if (e.key === "Escape") target.blur();
    return;
  }
  if (target instanceof HTMLSelectElement) return;
  if (e.key === "Escape") paletteOpen.value = false;
  if (e.key === "?") paletteOpen.value = !paletteOpen.value;
  const command = commands.find((c) => c.key === e.key);
  if (!command || paletteOpen.value) return;
  command.run(launch);
  e.preventDefault();
}

function Page() {
  const list = entries.value;
  const index = state.value.launch;
  const entry = list.value?.[index];
  const answer = entry && entry.state !== "failed" ? launchAt(index, parseBrush(state.value.brush) ? state.value.brush : "").value : {};
  const launch = answer.value;
  const brush = parseBrush(state.value.brush);
  useEffect(() => {
    const listen = (e: KeyboardEvent) => press(e, launch);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [launch]);
  // Programs beyond the grid, as an old link may have them.
  const beyond = !!launch && state.value.program >= launch.grid[0] * launch.grid[1] * launch.grid[2];
  useEffect(() => {
    if (beyond) set({ program: 0, step: -1 });
  }, [beyond]);
  const problem = (!list.value && list.error) || (list.value && !entry ? `there is no launch ${index}` : entry?.state === "failed" ? entry.error : answer.error);
  return (
    <div class="page">
      <header>
        <b class="name">Tilesight</b>
        <span class="kernel">{launch?.kernel ?? entry?.kernel ?? ""}</span>
        {launch && !beyond && <ProgramBar launch={launch} />}
        <span class="space" />
        {launch && !launch.surveyed && <span class="running" role="status"><i class="spin" /> all programs run{progress.value.launch === index ? `: ${Math.floor(progress.value.part * 100)} %` : ""}</span>}
        {brush && !held && <button class="chip filter on" title="findings, counts and tensors are those of these programs; a click shows all" onClick={() => set({ brush: "", finding: -1 })}>{launch?.surveyed && launch.counting && !launch.refused ? <><i class="spin" /> counting</> : "only"} x {brush.x.join("–")}, y {brush.y.join("–")} ✕</button>}
        {launch?.refused && <span class="error" role="alert">{launch.refused}: what is shown is of all programs</span>}
        {held && <span class="tag" title={held.note}>one page: {held.note}</span>}
        <button onClick={toggleTheme} title="light or dark (d)">◐</button>
        <button onClick={() => (paletteOpen.value = !paletteOpen.value)} title="all that can be done, with keys (?)">?</button>
      </header>
      {list.value && list.error && <div class="banner error" role="status">{list.error}</div>}
      <main>
        <aside>
          {viewsAt("side").map((v) => (v.id === "launches" || (launch && !beyond)) && (
            <section class="panel" key={v.id}><h2>{v.title}</h2><v.component index={index} launch={launch!} /></section>
          ))}
        </aside>
        {problem ? <div class="message error" role="alert">{problem}</div>
          : !launch || beyond ? <div class="message" role="status">{list.value ? <><i class="spin" /> Reading the launch …</> : "Loading …"}</div>
          : <>
              <div class="middle">
                <Stepper launch={launch} />
                <Source launch={launch} />
                <Tabs place="bottom" index={index} launch={launch} />
              </div>
              <Tabs place="right" index={index} launch={launch} />
            </>}
      </main>
      {paletteOpen.value && <CommandPalette launch={launch} />}
    </div>
  );
}

export function App() {
  useEffect(() => {
    document.documentElement.dataset.theme = theme.value;
  }, [theme.value]);
  return <Page key={version.value} />;
}
