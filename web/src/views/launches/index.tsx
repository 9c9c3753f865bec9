import { entries } from "../../data";
import { set, state, type View } from "../../api";

/** All launches of the files, in order. */
function Launches() {
  const list = entries.value.value ?? [];
  return (
    <ul class="launches">
      {list.map((e, i) => (
        <li key={i}>
          <button class={state.value.launch === i ? "row on" : "row"} onClick={() => set({ launch: i, program: 0, step: -1, op: -1, finding: -1, tensor: -1, value: "", element: "", watch: "", stop: "", brush: "" })}>
            <span class="dim">{e.number}</span> <span class="grow">{e.kernel || e.bundle.split("/").pop()}</span>
            {e.state === "failed" ? <span class="tag error">cannot be read</span>
              : e.state !== "ready" ? <span class="dim">…</span>
              : e.errors ? <span class="tag error">{e.errors}</span>
              : e.unknowns ? <span class="tag warning">unknown</span>
              : e.warnings ? <span class="tag warning">{e.warnings}</span>
              : <span class="tag ok">ok</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
export const view: View = { id: "launches", title: "Launches", place: "side", order: 1, component: Launches };
