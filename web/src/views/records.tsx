import { packed, type Launch } from "../data";
import { count, programId } from "../format";
import { set, state } from "../state";

const kinds = ["load", "store", "atomic_rmw", "atomic_cas", "copy", "dot", "reduce"];
const forms = ["one address", "affine", "by axis", "dense"];
const shown = 400;

/** What the program did, in order. */
export function Records({ index, launch }: { index: number; launch: Launch }) {
  const answer = packed(`/api/launch/${index}/program/${state.value.program}/records`).value;
  const a = answer.value?.arrays;
  const meta = answer.value?.meta as { total: number; patterns: Record<string, { shape: number[]; form: number }> } | undefined;
  const column = (name: string, row: number) => a?.[name]?.values[row] ?? 0;
  const rows = a ? Math.min(shown, a.op!.values.length) : 0;
  return (
    <section class="panel records">
      <h2>Operations of program ({programId(state.value.program, launch.grid).join(", ")}) <span class="dim">{meta ? count(meta.total) : ""}{meta && meta.total > shown ? `, the first ${shown}` : ""}</span></h2>
      {answer.error && <p class="error">{answer.error}</p>}
      <div class="scroll">
        <table>
          <thead><tr><th>#</th><th>operation</th><th>tensor</th><th>tile</th><th>active</th><th>addresses</th><th>line</th><th>variable</th></tr></thead>
          <tbody>
            {Array.from({ length: rows }, (_, i) => {
              const kind = column("kind", i), op = launch.ops.find((o) => o.op === column("op", i));
              const pattern = kind <= 4 ? meta!.patterns[String(column("pattern", i))] : undefined;
              const elements = pattern?.shape.reduce((x, y) => x * y, 1) ?? 0;
              const argument = column("argument", i);
              return (
                <tr key={i} class={`${op && op.op === state.value.op ? "on" : ""}${column("faults", i) ? " bad" : ""}`}
                  onClick={() => set({ op: op?.op ?? -1, ...(kind <= 4 && argument >= 0 ? { tensor: argument } : {}) })}>
                  <td>{i}</td><td>{kinds[kind]}</td><td>{kind <= 4 && argument >= 0 ? launch.arguments[argument]?.name : ""}</td>
                  <td>{pattern ? pattern.shape.join(" × ") : kind === 5 ? `${column("m", i)} × ${column("n", i)} × ${column("active", i)}` : `${column("m", i)} of ${column("active", i)}`}</td>
                  <td>{pattern ? (column("active", i) === elements ? "all" : `${count(column("active", i))} of ${count(elements)}`) : ""}</td>
                  <td>{pattern ? forms[pattern.form] : ""}</td><td>{op?.line ?? ""}</td><td>{op?.variable ?? ""}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
