import { count, state, type View, type ViewProps } from "../../api";
import { showFinding } from "../../findings";
import { Reproducer } from "./reproducer";

/** What the sanitizer says; a click goes to the program, the line and the tensor. */
function Findings({ launch, index }: ViewProps) {
  const chosen = launch.findings[state.value.finding];
  return (
    <div class="findings">
      {!launch.surveyed && <p class="dim">known when all programs have run</p>}
      {launch.surveyed && !launch.findings.length && !launch.unknowns.length && <p class="dim">none{state.value.brush && !launch.counting ? " in these programs" : ""}. Checked: {launch.checked.join(", ")}</p>}
      <ul>
        {launch.findings.map((f, i) => (
          <li key={i}>
            <button class={state.value.finding === i ? "row on" : "row"} onClick={() => showFinding(launch, i)} title={f.message}>
              <span class={`tag ${f.severity}`}>{f.kind}</span>
              <span class="grow">{f.operand?.argument ?? ""}</span>
              <span class="dim">line {f.location.line}</span>
            </button>
          </li>
        ))}
        {launch.unknowns.map((u, i) => <li key={`u${i}`} class="row"><span class="tag warning">unknown</span> {u.reason}</li>)}
      </ul>
      {chosen && (
        <div class="detail">
          <p>{chosen.message}</p>
          <p class="dim">program ({chosen.program.join(", ")}){chosen.iterations.map((t) => `, ${t.name || "trip"} = ${t.value}`).join("")};{" "}
            {count(chosen.counts.elements)} elements of {count(chosen.counts.programs)} programs</p>
          <dl>{chosen.because.map((b, i) => <div key={i}><dt>{b.name}</dt><dd>{b.expression}{b.value && <span class="dim"> = {b.value}</span>}</dd></div>)}</dl>
          {chosen.remedy && <p>{chosen.remedy}</p>}
          <Reproducer launch={launch} index={index} finding={chosen} />
        </div>
      )}
    </div>
  );
}
export const view: View = { id: "findings", title: "Findings", place: "side", order: 2, component: Findings };
