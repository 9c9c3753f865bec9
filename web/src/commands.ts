// What keys do; the palette lists them.
import type { Command } from "./api";
import type { Launch } from "./data";
import { otherFinding } from "./findings";
import { go, goToProgram, iterationBy, lineBy, stepBy, steps } from "./models/program";
import { choices, toggleTheme } from "./palettes";
import { set, state } from "./state";
import { viewsAt } from "./views";

function programBy(l: Launch | undefined, by: number): void {
  if (!l) return;
  const n = l.grid[0] * l.grid[1] * l.grid[2];
  goToProgram((state.value.program + by + n) % n);
}
function nextTensor(l: Launch | undefined): void {
  const tensors = l?.arguments.flatMap((a, i) => (a.kind === "tensor" ? [i] : [])) ?? [];
  if (tensors.length) set({ right: "tensor", tensor: tensors[(Math.max(0, tensors.indexOf(state.value.tensor)) + 1) % tensors.length]! });
}
function nextTab(place: "right" | "bottom"): void {
  const all = viewsAt(place);
  const at = all.findIndex((v) => v.id === state.value[place]);
  set({ [place]: all[(at + 1) % all.length]!.id });
}

export const commands: Command[] = [
  { key: ".", does: "next step", group: "steps", run: () => stepBy(1) },
  { key: ",", does: "step back", group: "steps", run: () => stepBy(-1) },
  { key: "j", does: "next line", group: "steps", run: () => lineBy(1) },
  { key: "k", does: "line before", group: "steps", run: () => lineBy(-1) },
  { key: ">", does: "same place, next iteration", group: "steps", run: () => iterationBy(1) },
  { key: "<", does: "same place, iteration before", group: "steps", run: () => iterationBy(-1) },
  { key: "s", does: "first step", group: "steps", run: () => go(0) },
  { key: "e", does: "last step", group: "steps", run: () => go((steps().value?.total ?? 1) - 1) },
  { key: "/", does: "stop where a condition holds", group: "steps", run: () => document.querySelector<HTMLInputElement>('[aria-label="condition"]')?.focus() },
  { key: "]", does: "next program", group: "program", run: (l) => programBy(l, 1) },
  { key: "[", does: "program before", group: "program", run: (l) => programBy(l, -1) },
  { key: "0", does: "back to the first program", group: "program", run: () => set({ program: 0, step: -1, op: -1, finding: -1, brush: "" }) },
  { key: "n", does: "next finding", group: "findings", run: (l) => l && otherFinding(l, 1) },
  { key: "p", does: "finding before", group: "findings", run: (l) => l && otherFinding(l, -1) },
  { key: "t", does: "next tensor", group: "page", run: nextTensor },
  { key: "r", does: "next view on the right", group: "page", run: () => nextTab("right") },
  { key: "b", does: "next view at the bottom", group: "page", run: () => nextTab("bottom") },
  { key: "c", does: "next palette", group: "page", run: () => {
    set({ palette: choices[(choices.indexOf(state.value.palette) + 1) % choices.length]! });
  } },
  { key: "d", does: "light or dark", group: "page", run: toggleTheme },
];
