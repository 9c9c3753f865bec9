// What a view may use, and how it says that it is there. A view is a folder of src/views with an index.tsx that exports
// `view`; views/example is one to copy. State is in the address: read `state.value`, change it with `set`.
import type { ComponentType } from "preact";
import type { Launch } from "./data";

export interface View {
  id: string;
  title: string;
  /** side: one below the other, at the left; right, bottom: one of several, chosen by a tab. */
  place: "side" | "right" | "bottom";
  order: number;
  component: ComponentType<ViewProps>;
}
export interface ViewProps { index: number; launch: Launch }

/** Something a person can do: a key, and an entry in the list that `?` shows. */
export interface Command {
  key: string;
  does: string;
  group: "program" | "steps" | "findings" | "page";
  run: (launch: Launch | undefined) => void;
}

export { state, set } from "./state";
export { json, packed, question, usePacked } from "./data";
export type { Launch, Op, Site, ValueInfo } from "./data";
export { bytes, count, number, programId, programNumber, short } from "./format";
export { Histogram, Legend, Picture } from "./parts/picture";
export { TableTwin } from "./parts/table";
export { Virtual } from "./parts/virtual";
export { go, goToOp, goToProgram, programPath, sites, steps } from "./models/program";
