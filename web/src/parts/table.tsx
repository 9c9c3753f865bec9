import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

const most = 500;

/** A chart's numbers as a table, for who cannot see the chart or wants to copy them. `row` is asked for when it is opened. */
export function TableTwin({ head, rows, row }: { head: string[]; rows: number; row: (index: number) => ComponentChildren[] }) {
  const [open, toggle] = useState(false);
  return (
    <details class="twin" onToggle={(e) => toggle(e.currentTarget.open)}>
      <summary>as a table</summary>
      {open && <div class="scroll">
        <table>
          <thead><tr>{head.map((h) => <th key={h}>{h}</th>)}</tr></thead>
          <tbody>{Array.from({ length: Math.min(rows, most) }, (_, i) => <tr key={i}>{row(i).map((c, k) => <td key={k}>{c}</td>)}</tr>)}</tbody>
        </table>
        {rows > most && <p class="dim">the first {most} of {rows}</p>}
      </div>}
    </details>
  );
}
