import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Command } from "../api";
import { commands } from "../commands";
import type { Launch } from "../data";
import { set } from "../state";
import { views } from "../views";

export const paletteOpen = signal(false);

/** All that can be done: by key, or by a few letters of it and Enter. */
export function CommandPalette({ launch }: { launch: Launch | undefined }) {
  const [text, type] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const all: Command[] = [
    ...commands,
    ...views.filter((v) => v.place !== "side").map((v): Command => ({ key: "", does: `show ${v.title}`, group: "page", run: () => set({ [v.place]: v.id }) })),
  ];
  const found = all.filter((c) => text.toLowerCase().split(" ").every((word) => `${c.does} ${c.key}`.toLowerCase().includes(word)));
  const run = (c: Command | undefined) => {
    paletteOpen.value = false;
    c?.run(launch);
  };
  return (
    <div class="help" role="dialog" aria-label="keys" onClick={(e) => e.target === e.currentTarget && (paletteOpen.value = false)}>
      <div class="box">
        <input ref={input} type="text" aria-label="what to do" placeholder="what to do, or press its key outside of this box" value={text} onInput={(e) => type(e.currentTarget.value)}
          onKeyDown={(e) => { if (e.key === "Enter") run(found[0]); if (e.key === "Escape") paletteOpen.value = false; e.stopPropagation(); }} />
        <ul>{found.map((c, i) => <li key={i}><button class={i === 0 && text ? "row on" : "row"} onClick={() => run(c)}><kbd>{c.key || " "}</kbd> <span class="grow">{c.does}</span> <span class="dim">{c.group}</span></button></li>)}</ul>
      </div>
    </div>
  );
}
