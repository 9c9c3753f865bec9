import type { Launch } from "../data";
import { programId, programNumber, type Grid } from "../format";
import { goToProgram } from "../models/program";
import { set, state } from "../state";

/** Which program: a slider and a number for each axis of the grid. */
export function ProgramBar({ launch }: { launch: Launch }) {
  const id = programId(state.value.program, launch.grid);
  const change = (axis: number, value: number) => {
    const next = [...id] as Grid;
    next[axis] = Math.min(launch.grid[axis]! - 1, Math.max(0, value || 0));
    goToProgram(programNumber(next, launch.grid));
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
      <button onClick={() => set({ program: 0, step: -1, op: -1, finding: -1, brush: "" })}>reset</button>
    </div>
  );
}
