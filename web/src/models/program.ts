// Where we are in which program: one place for all views that step.
import { packed, sites as sitesOf, type Answer, type Site } from "../data";
import { set, state } from "../state";
import { chunk, Steps } from "./steps";

export function sites(): Answer<Site[]> {
  const answer = sitesOf(state.value.launch).value;
  return answer.value ? { value: answer.value.sites } : answer.error ? { error: answer.error } : {};
}

export const programPath = (program = state.value.program) => `/api/launch/${state.value.launch}/program/${program}`;

let made: { answer: unknown; sites: unknown; steps: Steps } | undefined;
/** The steps around the current one. */
export function steps(): Answer<Steps> {
  const known = sites();
  if (!known.value) return known.error ? { error: known.error } : {};
  const first = Math.floor(Math.max(0, state.value.step) / chunk) * chunk;
  const answer = packed(`${programPath()}/steps?first=${first}&limit=${chunk}`).value;
  if (!answer.value) return answer.error ? { error: answer.error } : {};
  if (made?.answer !== answer.value || made.sites !== known.value) made = { answer: answer.value, sites: known.value, steps: new Steps(answer.value, known.value) };
  return { value: made.steps };
}

/** Goes to a step, and to its line. */
export function go(step: number): void {
  const all = steps().value;
  if (!all) return set({ step: Math.max(0, step) });  // the stepper brings the line when they are there
  const to = Math.min(all.total - 1, Math.max(0, step));
  const op = all.siteAt(to)?.op;
  set({ step: to, ...(op !== undefined ? { op } : {}) });
}

export function stepBy(by: number): void { go(state.value.step < 0 ? 0 : state.value.step + by); }
export function lineBy(by: 1 | -1): void {
  const to = steps().value?.otherLine(Math.max(0, state.value.step), by);
  if (to !== undefined && to >= 0) go(to);
}
export function iterationBy(by: 1 | -1): void {
  const to = steps().value?.sameSite(Math.max(0, state.value.step), by);
  if (to !== undefined && to >= 0) go(to);
}
/** To the next time that the operation runs, if it does. */
export function goToOp(op: number): void {
  const to = steps().value?.ofOp(op, Math.max(0, state.value.step)) ?? -1;
  if (to >= 0) set({ step: to, op });
  else set({ op });
}

/** Another program, at the same step. */
export function goToProgram(program: number): void {
  set({ program, finding: -1 });
}
