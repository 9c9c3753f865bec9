import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { count, json, number, set, type Launch } from "../../api";
import { upload, version } from "../../data";
import { storyOf, Writer } from "./element";

export interface Comparison {
  file: string | null; elements: number; wrong: number; relative: number; absolute: number; text: string;
  first: { index: number[]; actual: string; expected: string } | null;
  largest: { index: number[]; error: number } | null;
}

const sent = signal(0);
/** Pictures of differences have it in their address: they are other ones after the next file. */
export const comparisonTag = () => `&compared=${version.value}.${sent.value}`;
/** How a tensor compares with what is expected of it; `file` is null if that is nothing. */
export const comparisonOf = (index: number, argument: number) => json<Comparison>(`/api/launch/${index}/tensor/${argument}/expected?${comparisonTag().slice(1)}`).value;

/** Sends the .npy file that a person chooses, and shows the difference. */
export function Choose({ index, argument }: { index: number; argument: number }) {
  const [error, say] = useState("");
  const take = async (input: HTMLInputElement) => {
    const file = input.files?.[0];
    input.value = "";  // the same file may be chosen again: it may have changed
    if (!file) return;
    try {
      const found = await upload<Comparison>(`/api/launch/${index}/tensor/${argument}/expected?file=${encodeURIComponent(file.name)}`, file);
      say("");
      sent.value += 1;
      set({ layer: "difference", element: found.first?.index.join(",") ?? "" });
    } catch (problem) {
      say((problem as Error).message);
    }
  };
  return <>
    <label class="button" title="the result that it should have, as numpy.save writes it">compare with .npy<input type="file" accept=".npy" aria-label="expected" onChange={(e) => void take(e.currentTarget)} /></label>
    {error && <span class="error" role="alert">{error}</span>}
  </>;
}

/** How many elements are wrong; the first one, who wrote it, and where. */
export function Compared({ launch, index, argument, comparison: c }: { launch: Launch; index: number; argument: number; comparison: Comparison }) {
  const name = launch.arguments[argument]!.name, first = c.first;
  const writer = first ? storyOf(index, argument, first.index).value.value?.writer : undefined;
  const tolerance = c.relative || c.absolute ? `tolerance ${number(c.absolute)} + ${number(c.relative)} × |expected|` : "exact";
  if (!first) return <p class="compared">All {count(c.elements)} elements are as in {c.file} <span class="dim">({tolerance})</span>.</p>;
  return (
    <div class="compared story">
      <b class="error">{count(c.wrong)} of {count(c.elements)} elements are not as in {c.file}</b> <span class="dim">({tolerance})</span>: {c.text}
      <p>The first: <button class="link" onClick={() => set({ element: first.index.join(",") })}>{name}[{first.index.join(", ")}]</button> is <b>{first.actual}</b>, expected <b>{first.expected}</b>
        {writer ? <>, <Writer launch={launch} writer={writer} /></> : writer === null ? "; nobody writes it" : ""}</p>
      {c.largest && <p>The largest error: {number(c.largest.error)} at <button class="link" onClick={() => set({ element: c.largest!.index.join(",") })}>{name}[{c.largest.index.join(", ")}]</button></p>}
    </div>
  );
}
