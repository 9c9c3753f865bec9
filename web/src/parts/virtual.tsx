import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows of one height, of which only those in sight exist. `focus`: a row that is brought into sight when it changes; `start`:
 * the row at the top while there is none. */
export function Virtual({ rows, height, row, focus, start, kind }: {
  rows: number; height: number; row: (index: number) => ComponentChildren; focus?: number | undefined; start?: number | undefined; kind?: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, see] = useState({ top: 0, room: 400 });
  useEffect(() => {
    const element = box.current!;
    const look = () => see({ top: element.scrollTop, room: element.clientHeight || 400 });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => { watch.disconnect(); element.removeEventListener("scroll", look); };
  }, []);
  useEffect(() => {
    const element = box.current!;
    if (focus === undefined || focus < 0) {
      if (start !== undefined) element.scrollTop = Math.max(0, start) * height;
      return;
    }
    const top = focus * height;
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 2 * height) element.scrollTop = top - element.clientHeight / 3;
  }, [focus, start, height, rows]);
  const first = Math.max(0, Math.floor(seen.top / height) - 8), past = Math.min(rows, Math.ceil((seen.top + seen.room) / height) + 8);
  return (
    <div class={`virtual ${kind ?? ""}`} ref={box}>
      <div style={{ height: `${first * height}px` }} />
      {Array.from({ length: Math.max(0, past - first) }, (_, i) => row(first + i))}
      <div style={{ height: `${Math.max(0, rows - past) * height}px` }} />
    </div>
  );
}
