// What the values are at the current step.
import { usePacked, type Iteration, type ValueInfo } from "../data";
import type { Packed } from "../packed";
import { state } from "../state";
import { programPath } from "./program";

export interface AtStep { step: number; iterations: Iteration[]; values: ValueInfo[]; variables: ValueInfo[]; pictures: Packed["arrays"] }

/** A hook: of the step before while the answer is on its way. */
export function currentStep(): { value?: AtStep; error?: string; busy: boolean } {
  const { step } = state.value;
  const answer = usePacked(step >= 0 ? `${programPath()}/step/${step}` : undefined);
  if (answer.error) return { error: answer.error, busy: answer.busy };
  if (!answer.value) return { busy: answer.busy };
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
