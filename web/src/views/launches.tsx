import { entries } from "../data";
import { set, state } from "../state";

/** All launches of the files, in order. */
export function Launches() {
  const list = entries.value.value ?? [];
  return (
    <section class="panel launches">
      <h2>Launches <span class="dim">{list.length}</span></h2>
      <ul>
        {list.map((e, i) => (
          <li key={i}>
            <button class={state.value.launch === i ? "row on" : "row"} onClick={() => set({ launch: i, program: 0, op: -1, finding: -1, tensor: -1 })}>
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
    </section>
  );
}
