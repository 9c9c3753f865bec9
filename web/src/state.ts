// What is looked at lives in the address, behind the #, so that a link shows the same.
import { effect, signal } from "@preact/signals";

export interface State {
  launch: number;
  program: number; // x fastest
  op: number; // -1: none
  finding: number; // -1: none
  tensor: number; // -1: the first
  layer: string;
  metric: string;
}

export const initial: State = { launch: 0, program: 0, op: -1, finding: -1, tensor: -1, layer: "accesses", metric: "accesses" };

export function parse(fragment: string): State {
  const state: State = { ...initial };
  for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (name === "layer" || name === "metric") state[name] = value;
    else if (name === "launch" || name === "program" || name === "op" || name === "finding" || name === "tensor") {
      const number = Number(value);
      if (Number.isSafeInteger(number) && number >= -1) state[name] = number;
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
    if (text !== print(parse(location.hash))) history.replaceState(null, "", text ? `#${text}` : location.pathname);
  });
}
