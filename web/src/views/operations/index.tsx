import { useMemo } from "preact/hooks";
import { count, goToOp, packed, programId, programPath, set, state, steps, Virtual, type Op, type View, type ViewProps } from "../../api";

const kinds = ["load", "store", "atomic_rmw", "atomic_cas", "copy", "dot", "reduce"];
const forms = ["one address", "affine", "by axis", "dense"];

/** What the program did to memory, its dots and reductions, in order. A click goes to the step. */
function Operations({ launch }: ViewProps) {
  const answer = packed(`${programPath()}/records`).value;
  const a = answer.value?.arrays;
  const meta = answer.value?.meta as { total: number; patterns: Record<string, { shape: number[]; form: number }> } | undefined;
  const column = (name: string, row: number) => a?.[name]?.values[row] ?? 0;
  const rows = a?.op!.values.length ?? 0;
  const all = steps().value;
  const stepOf = useMemo(() => (a && all?.first === 0 ? all.occurrences(a.op!.values) : undefined), [a, all]);
  /** Of an operation in Triton's own library, the line that calls it; its file, if that is not known. */
  const lineOf = (i: number, op: Op | undefined) => {
    const user = all?.siteAt(stepOf?.[i] ?? -1)?.user;
    if (user && launch.sources[user.file] !== undefined) return user.line;
    return !op?.line ? "" : launch.sources[op.file] !== undefined ? op.line : `${op.file.split("/").pop()}:${op.line}`;
  };
  const variableOf = (i: number, op: Op | undefined) => op?.variable || launch.ops.find((o) => o.op === all?.siteAt(stepOf?.[i] ?? -1)?.user.op)?.variable || "";
  const pick = (i: number) => {
    const op = column("op", i), argument = column("argument", i), access = column("kind", i) <= 4;
    const step = stepOf?.[i] ?? -1;
    if (access && argument >= 0) set({ tensor: argument });
    if (step >= 0) set({ step, op });
    else goToOp(op);
  };
  const line = (i: number) => {
    const kind = column("kind", i), op = launch.ops.find((o) => o.op === column("op", i));
    const pattern = kind <= 4 ? meta!.patterns[String(column("pattern", i))] : undefined;
    const elements = pattern?.shape.reduce((x, y) => x * y, 1) ?? 0, argument = column("argument", i);
    return (
      <div key={i} role="row" class={`tr${op && op.op === state.value.op ? " on" : ""}${column("faults", i) ? " bad" : ""}`} onClick={() => pick(i)}>
        <span>{i}</span><span>{kinds[kind]}</span><span>{kind <= 4 && argument >= 0 ? launch.arguments[argument]?.name : ""}</span>
        <span>{pattern ? pattern.shape.join(" × ") : kind === 5 ? `${column("m", i)} × ${column("n", i)} × ${column("active", i)}` : `${column("m", i)} of ${column("active", i)}`}</span>
        <span>{pattern ? (column("active", i) === elements ? "all" : `${count(column("active", i))} of ${count(elements)}`) : ""}</span>
        <span>{pattern ? forms[pattern.form] : ""}</span><span>{lineOf(i, op)}</span><span>{variableOf(i, op)}</span>
      </div>
    );
  };
  const focus = useMemo(() => {
    if (!a) return -1;
    const mine = Array.from(a.op!.values).flatMap((op, i) => (op === state.value.op ? [i] : []));
    return mine.find((i) => a.faults!.values[i]) ?? mine[0] ?? -1;
  }, [a, state.value.op]);
  return (
    <div class="records">
      <h3>program ({programId(state.value.program, launch.grid).join(", ")}) <span class="dim">{meta ? `${count(meta.total)} operations` : ""}{meta && meta.total > rows ? `, the first ${count(rows)}` : ""}</span></h3>
      {answer.error && <p class="error">{answer.error}</p>}
      <div class="tr heads"><span>#</span><span>operation</span><span>tensor</span><span>tile</span><span>active</span><span>addresses</span><span>line</span><span>variable</span></div>
      <Virtual rows={rows} height={19} row={line} focus={focus} kind="table" />
    </div>
  );
}
export const view: View = { id: "operations", title: "Operations", place: "bottom", order: 1, component: Operations };
