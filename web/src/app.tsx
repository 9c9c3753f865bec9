import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { entries, launch as launchAt, type Launch } from "./data";
import { programId, programNumber, type Grid } from "./format";
import { set, state } from "./state";
import { Findings } from "./views/findings";
import { GridView } from "./views/grid";
import { Launches } from "./views/launches";
import { Records } from "./views/records";
import { Source } from "./views/source";
import { Tensor } from "./views/tensor";

const help = signal(false);
const theme = signal(localStorage.getItem("theme") ?? "");

function toggleTheme(): void {
  const dark = theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme.value = dark ? "light" : "dark";
  localStorage.setItem("theme", theme.value);
}

const keys: [string, string, (launch: Launch) => void][] = [
  ["]", "next program", (l) => step(l, 1)],
  ["[", "previous program", (l) => step(l, -1)],
  ["n", "next finding", (l) => finding(l, 1)],
  ["p", "previous finding", (l) => finding(l, -1)],
  ["t", "next tensor", (l) => {
    const tensors = l.arguments.flatMap((a, i) => (a.kind === "tensor" ? [i] : []));
    set({ tensor: tensors[(tensors.indexOf(state.value.tensor) + 1) % tensors.length] ?? -1 });
  }],
  ["0", "back to the first program", () => set({ program: 0, op: -1, finding: -1 })],
  ["d", "light or dark", toggleTheme],
  ["?", "this list", () => (help.value = !help.value)],
];

function step(l: Launch, by: number): void {
  const n = l.grid[0] * l.grid[1] * l.grid[2];
  set({ program: (state.value.program + by + n) % n });
}

/** Goes to a finding's program, operation and tensor. */
export function showFinding(l: Launch, index: number): void {
  const f = l.findings[index];
  if (!f) return;
  const op = l.ops.find((o) => o.totals && o.file === f.location.file && o.line === f.location.line && o.column === f.location.column)
    ?? l.ops.find((o) => o.totals && o.file === f.location.file && o.line === f.location.line);
  const tensor = f.operand ? l.arguments.findIndex((a) => a.name === f.operand!.argument) : -1;
  set({ finding: index, program: programNumber(f.program, l.grid), op: op?.op ?? -1, ...(tensor >= 0 ? { tensor } : {}) });
}
function finding(l: Launch, by: number): void {
  const n = l.findings.length;
  if (n) showFinding(l, (state.value.finding + by + n) % n);
}

function ProgramBar({ launch }: { launch: Launch }) {
  const id = programId(state.value.program, launch.grid);
  const change = (axis: number, value: number) => {
    const next = [...id] as Grid;
    next[axis] = Math.min(launch.grid[axis]! - 1, Math.max(0, value || 0));
    set({ program: programNumber(next, launch.grid) });
  };
  return (
    <div class="programs">
      <b>program</b>
      {["x", "y", "z"].map((name, axis) => (
        <label key={name} class={launch.grid[axis] === 1 ? "dim" : ""}>
          {name}
          <input type="range" aria-label={`program ${name}`} min={0} max={launch.grid[axis]! - 1} value={id[axis]} disabled={launch.grid[axis] === 1}
            onInput={(e) => change(axis, Number(e.currentTarget.value))} />
          <input type="number" aria-label={`program ${name} number`} min={0} max={launch.grid[axis]! - 1} value={id[axis]} disabled={launch.grid[axis] === 1}
            onChange={(e) => change(axis, Number(e.currentTarget.value))} />
          <span class="dim">/ {launch.grid[axis]}</span>
        </label>
      ))}
      <button onClick={() => set({ program: 0, op: -1, finding: -1 })}>reset</button>
    </div>
  );
}

export function App() {
  const list = entries.value;
  const index = state.value.launch;
  const entry = list.value?.[index];
  const answer = entry && entry.state !== "failed" ? launchAt(index).value : {};
  const launch = answer.value;
  useEffect(() => {
    document.documentElement.dataset.theme = theme.value;
  }, [theme.value]);
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement) return;
      const key = keys.find(([k]) => k === e.key);
      if (key && (launch || e.key === "?" || e.key === "d")) { key[2](launch!); e.preventDefault(); }
      if (e.key === "Escape") help.value = false;
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [launch]);
  const problem = list.error ?? (list.value && !entry ? `there is no launch ${index}` : entry?.state === "failed" ? entry.error : answer.error);
  return (
    <div class="page">
      <header>
        <b class="name">Tilesight</b>
        <span class="kernel">{launch?.kernel ?? entry?.kernel ?? ""}</span>
        {launch && <ProgramBar launch={launch} />}
        <span class="space" />
        <button onClick={toggleTheme} title="light or dark (d)">◐</button>
        <button onClick={() => (help.value = !help.value)} title="keys (?)">?</button>
      </header>
      <main>
        <aside>
          <Launches />
          {launch && <Findings launch={launch} show={showFinding} />}
          {launch && <GridView index={index} launch={launch} />}
        </aside>
        {problem ? <div class="message error" role="alert">{problem}</div>
          : !launch ? <div class="message">{list.value ? "Running the launch …" : "Loading …"}</div>
          : <>
              <div class="middle">
                <Source launch={launch} />
                <Records index={index} launch={launch} />
              </div>
              <Tensor index={index} launch={launch} />
            </>}
      </main>
      {help.value && (
        <div class="help" role="dialog" aria-label="keys" onClick={() => (help.value = false)}>
          <table>{keys.map(([k, what]) => <tr key={k}><td><kbd>{k}</kbd></td><td>{what}</td></tr>)}</table>
        </div>
      )}
    </div>
  );
}
