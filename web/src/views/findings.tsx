import type { Launch } from "../data";
import { count } from "../format";
import { state } from "../state";

/** What the sanitizer says; a click goes to the program, the line and the tensor. */
export function Findings({ launch, show }: { launch: Launch; show: (launch: Launch, index: number) => void }) {
  const chosen = launch.findings[state.value.finding];
  return (
    <section class="panel findings">
      <h2>Findings <span class="dim">{launch.findings.length}</span></h2>
      {!launch.findings.length && !launch.unknowns.length && <p class="dim">none. Checked: {launch.checked.join(", ")}</p>}
      <ul>
        {launch.findings.map((f, i) => (
          <li key={i}>
            <button class={state.value.finding === i ? "row on" : "row"} onClick={() => show(launch, i)} title={f.message}>
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
        </div>
      )}
    </section>
  );
}
