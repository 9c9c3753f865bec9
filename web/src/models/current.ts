// What the values are at the current step.
import { usePacked, type Iteration, type ValueInfo } from "../data";
import { held } from "../held";
import type { Packed } from "../packed";
import { state } from "../state";
import { programPath } from "./program";

export interface AtStep { step: number; iterations: Iteration[]; values: ValueInfo[]; variables: ValueInfo[]; pictures: Packed["arrays"] }

/** A hook: of the step before while the answer is on its way. */
export function currentStep(): { value?: AtStep; error?: string; busy: boolean } {
  const { step } = state.value;
  const path = step < 0 ? undefined : held ? `${programPath()}/everything` : `${programPath()}/step/${step}`;
  const answer = usePacked(path);
  if (answer.error) return { error: answer.error, busy: answer.busy };
  if (!answer.value) return { busy: answer.busy };
  if (held) return { value: fromEverything(answer.value, step), busy: answer.busy };
  const meta = answer.value.meta as unknown as Omit<AtStep, "pictures">;
  return { value: { ...meta, pictures: answer.value.arrays }, busy: answer.busy };
}

/** The value that the inspector shows: a variable by name, or v0, o1. */
export function chosenValue(at: AtStep | undefined, key: string): ValueInfo | undefined {
  if (!at) return undefined;
  const own = /^([vo])(\d{1,6})$/.exec(key);
  const named = at.variables.find((v) => v.name === key);
  if (named) return named;
  if (own) return at.values.find((v) => v.operand === (own[1] === "o") && v.number === Number(own[2]));
  return key ? undefined : at.values.find((v) => !v.operand && v.numel > 1) ?? at.values.find((v) => !v.operand) ?? at.values[0];
}

/** The same, from the values of all steps: variables are the last values of their names. */
export function fromEverything(answer: Packed, step: number): AtStep {
  const all = (answer.meta as unknown as { values: (ValueInfo & { last: boolean; iterations: Iteration[] })[] }).values;
  const variables = new Map<string, ValueInfo>();
  for (const v of all) {
    if (v.step > step) break;
    if (!v.last) continue;
    variables.delete(v.name);  // so that the newest is the last
    variables.set(v.name, v);
  }
  const values = all.filter((v) => v.step === step);
  return { step, values, variables: [...variables.values()], iterations: values[0]?.iterations ?? [], pictures: answer.arrays };
}
