import { useMemo } from "preact/hooks";
import { count, go, packed, programPath, set, short, sites, state, steps, TableTwin, Virtual, type View } from "../../api";
import { held } from "../../held";
import { interesting, onlyColumns, watchTable, type WatchCell } from "../../models/steps";

function text(c: WatchCell): string {
  if (c.elements === 1) return short(c.first);
  if (!c.elements) return "";
  if (c.nan + c.inf === c.elements) return "";
  return `${short(c.min)} … ${short(c.max)} ⌀ ${short(c.mean)}`;
}

/** One variable over the iterations: the range of its elements, and their mean. */
function Spark({ cells, title }: { cells: (WatchCell | undefined)[]; title: string }) {
  const known = cells.filter((c): c is WatchCell => !!c);
  if (known.length < 2) return null;
  const low = Math.min(...known.map((c) => c.min)), high = Math.max(...known.map((c) => c.max)), span = high - low || 1;
  const x = (i: number) => (i / (cells.length - 1)) * 100, y = (v: number) => 22 - ((v - low) / span) * 20;
  const at = cells.flatMap((c, i) => (c ? [[i, c] as const] : []));
  const band = [...at.map(([i, c]) => `${x(i)},${y(c.max)}`), ...at.reverse().map(([i, c]) => `${x(i)},${y(c.min)}`)].join(" ");
  const mean = cells.flatMap((c, i) => (c ? [`${x(i)},${y(c.mean)}`] : [])).join(" ");
  return <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={title}><polygon points={band} /><polyline points={mean} />{at.filter(([, c]) => c.nan).map(([i]) => <rect key={i} x={x(i) - 0.5} y={0} width={1.5} height={24} />)}</svg>;
}

/** Chosen variables over the iterations: numbers, or the smallest, largest and mean element. A click goes there. */
function Watch() {
  const known = sites().value;
  const all = useMemo(() => [...new Set((known ?? []).flatMap((s) => s.values.filter((v) => v.last).map((v) => v.name)))], [known]);
  const defaults = useMemo(() => interesting(known ?? []), [known]);
  const chosen = state.value.watch ? state.value.watch.split(",").filter((n) => all.includes(n)) : defaults;
  // A page of its own holds the watch of all variables.
  const asked = held ? all.slice(0, 64) : chosen;
  const answer = chosen.length ? packed(`${programPath()}/watch?names=${asked.map(encodeURIComponent).join(",")}`).value : {};
  const whole = useMemo(() => (answer.value && known ? watchTable(answer.value, asked, known) : undefined), [answer.value, known]);
  const table = useMemo(() => (held && whole ? onlyColumns(whole, chosen) : whole), [whole, state.value.watch]);
  const total = (answer.value?.meta as { total: number } | undefined)?.total ?? 0;
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((n) => n !== name) : [...chosen, name];
    set({ watch: next.join(",") });
  };
  const trips = state.value.step >= 0 ? steps().value?.trips(state.value.step).join(",") : undefined;
  const width = { gridTemplateColumns: `70px repeat(${table?.columns.length ?? 1}, minmax(120px, 1fr))` };
  const now = table?.rows.findIndex((r) => r.trips.join(",") === trips) ?? -1;
  return (
    <div class="watch">
      <div class="chips">{all.map((name) => <button key={name} class={chosen.includes(name) ? "chip on" : "chip"} aria-pressed={chosen.includes(name)} onClick={() => toggle(name)}>{name}</button>)}</div>
      {answer.error && <p class="error">{answer.error}</p>}
      {!answer.value && !answer.error && chosen.length > 0 && <p class="dim">running the program …</p>}
      {table && <div class="sheet"><div class="inner">
        <div class="tr heads" style={width}><span>iteration</span>{table.columns.map((c, i) => <span key={i} title={c.enters ? "as the iteration begins" : `after line ${c.line}`}>{c.name} <span class="dim">{c.enters ? "begins" : `line ${c.line}`}</span></span>)}</div>
        <div class="tr sparks" style={width}><span class="dim">{count(table.rows.length)} rows</span>{table.columns.map((c, i) => <span key={i}><Spark cells={table.rows.filter((r) => r.trips.length > 0 || table.rows.length < 3).map((r) => r.cells[i])} title={`${c.name} over the iterations`} /></span>)}</div>
        <Virtual rows={table.rows.length} height={19} focus={now} kind="table" row={(i) => {
          const row = table.rows[i]!;
          return (
            <div key={i} role="row" class={`tr${i === now ? " on" : ""}`} style={width}>
              <span class="dim">{row.trips.join(".") || "outside"}</span>
              {row.cells.map((c, k) => (
                <span key={k}>{c && <button class="cell" onClick={() => { go(c.step); set({ value: table.columns[k]!.name, bottom: state.value.bottom, right: "values" }); }}>
                  {text(c)}{c.nan ? <b class="error"> {c.nan} NaN</b> : null}{c.inf ? <b class="warning"> {c.inf} inf</b> : null}
                </button>}</span>
              ))}
            </div>
          );
        }} />
      </div></div>}
      {table && <>
        {total > 20000 && <p class="dim">the first 20,000 of {count(total)} values</p>}
        <TableTwin head={["iteration", ...table.columns.map((c) => `${c.name}${c.enters ? " begins" : ` line ${c.line}`}`)]} rows={table.rows.length} row={(i) => [table.rows[i]!.trips.join(".") || "outside", ...table.rows[i]!.cells.map((c) => (c ? text(c) : ""))]} />
      </>}
    </div>
  );
}
export const view: View = { id: "watch", title: "Watch", place: "bottom", order: 2, component: Watch };
