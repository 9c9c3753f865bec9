// Which element's inputs are shown: "3:1,2" in the address, element [1, 2] of argument 3.
import type { Argument } from "../data";
import { parseIndex } from "./axes";

export interface From { argument: number; element: number[] }

export function parseFrom(text: string, all: Argument[]): From | null {
  const parts = /^(\d{1,4}):(.*)$/.exec(text);
  const argument = parts ? all[Number(parts[1])] : undefined;
  const element = argument?.kind === "tensor" && argument.shape ? parseIndex(parts![2]!, argument.shape) : null;
  return element && { argument: Number(parts![1]), element };
}
export const printFrom = (from: From) => `${from.argument}:${from.element.join(",")}`;
/** The query of a picture of its inputs. */
export const inputsQuery = (from: From) => `layer=inputs&of=${from.argument}&element=${from.element.join(",")}`;
