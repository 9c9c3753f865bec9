// Python and MLIR in a few colours. Text comes out as it went in.
export interface Piece { text: string; kind: "" | "word" | "text" | "number" | "comment" | "name" }

const python = /(#.*)|("""|'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(def|for|in|if|else|elif|while|return|import|from|as|and|or|not|is|None|True|False|with|class|lambda|assert|pass|break|continue)\b|\b(\d[\w.]*)|(@[\w.]+)/g;
const mlir = /(\/\/.*)|("(?:[^"\\]|\\.)*")|\b((?:tt|ttg|arith|scf|math|cf|func)\.[\w.]+|module|iter_args|dense)\b|(?<![\w%])(-?\d[\w.+-]*)|(%[\w$.#-]+)/g;

export function highlight(line: string, language: "python" | "mlir"): Piece[] {
  const out: Piece[] = [];
  const kinds: Piece["kind"][] = ["comment", "text", "word", "number", "name"];
  let at = 0;
  for (const m of line.matchAll(language === "python" ? python : mlir)) {
    if (m.index > at) out.push({ text: line.slice(at, m.index), kind: "" });
    out.push({ text: m[0], kind: kinds[m.slice(1).findIndex((g) => g !== undefined)] ?? "" });
    at = m.index + m[0].length;
  }
  if (at < line.length) out.push({ text: line.slice(at), kind: "" });
  return out;
}
