// What is looked at lives in the address, behind the #, so that a link shows the same.
import { effect, signal } from "@preact/signals";

export interface State {
  launch: number;
  program: number; // x fastest
  step: number; // of the program; -1: none
  op: number; // -1: none
  finding: number; // -1: none
  tensor: number; // -1: the first
  other: number; // launch to compare with; -1: none
  layer: string;
  metric: string;
  right: string; // the view on the right, by id
  bottom: string; // the view below the source, by id
  value: string; // in the inspector: a variable's name, or v0, o1: a value, an operand of the step
  element: string; // of the tensor: "3,14"
  from: string; // whose inputs are shown: "3:1,2", element [1, 2] of argument 3; "": nobody's
  watch: string; // variables: "acc,m_i"
  stop: string; // condition to stop at
  palette: string;
  brush: string; // programs that count: "x0-x1,y0-y1"; "": all
}

export const initial: State = {
  launch: 0, program: 0, step: -1, op: -1, finding: -1, tensor: -1, other: -1, layer: "accesses", metric: "accesses",
  right: "tensor", bottom: "operations", value: "", element: "", from: "", watch: "", stop: "", palette: "cividis", brush: "",
};

export function parse(fragment: string): State {
  const state: State = { ...initial };
  const fields = state as unknown as Record<string, string | number>;
  for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (!Object.hasOwn(initial, name)) continue;
    if (typeof fields[name] === "string") fields[name] = value.slice(0, 1000);
    else {
      const number = Number(value);
      if (Number.isSafeInteger(number) && number >= -1) fields[name] = number;
    }
  }
  return state;
}

export function print(state: State): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(state))
    if (value !== initial[name as keyof State]) parts.set(name, String(value));
  return parts.toString();
}

export const state = signal<State>(initial);
export function set(change: Partial<State>): void {
  state.value = { ...state.value, ...change };
}

/** Keeps the state and the address the same. */
export function bindAddress(): void {
  state.value = parse(location.hash);
  addEventListener("hashchange", () => (state.value = parse(location.hash)));
  effect(() => {
    const text = print(state.value);
    if (text === print(parse(location.hash))) return;
    try {
      history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    } catch { /* a page inside of a notebook has no address of its own */ }
  });
}
