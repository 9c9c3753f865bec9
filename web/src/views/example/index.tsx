// A view to copy: a table of the operations that move most, as a tab at the bottom. Copy the folder, change the id.
import { bytes, count, goToOp, state, type View, type ViewProps } from "../../api";

function Traffic({ launch }: ViewProps) {
  const moved = (op: ViewProps["launch"]["ops"][number]) => (op.totals ? op.totals.read + op.totals.written : 0);
  const ops = launch.ops.filter((op) => op.totals).sort((a, b) => moved(b) - moved(a));
  return (
    <div class="scroll">
      <table>
        <thead><tr><th>line</th><th>operation</th><th>variable</th><th>accesses</th><th>read</th><th>written</th><th>masked off</th><th>faulty</th></tr></thead>
        <tbody>
          {ops.map((op) => (
            <tr key={op.op} class={op.op === state.value.op ? "on" : ""} onClick={() => goToOp(op.op)}>
              <td>{op.line}</td><td>{op.operation}</td><td>{op.variable}</td><td>{count(op.totals!.accesses)}</td><td>{bytes(op.totals!.read)}</td><td>{bytes(op.totals!.written)}</td>
              <td>{op.totals!.elements ? `${((1 - op.totals!.active / op.totals!.elements) * 100).toFixed(1)} %` : ""}</td><td>{op.totals!.faults ? count(op.totals!.faults) : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export const view: View = { id: "traffic", title: "Traffic", place: "bottom", order: 4, component: Traffic };
