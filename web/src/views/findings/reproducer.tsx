import { useState } from "preact/hooks";
import { held } from "../../held";
import type { Finding, Launch } from "../../data";
import { reproducer } from "../../models/reproducer";

/** A program that shows the finding again. */
export function Reproducer({ launch, finding }: { launch: Launch; index: number; finding: Finding }) {
  const [said, say] = useState("");
  const text = () => reproducer(launch, finding);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      say("copied");
    } catch {
      say("the browser does not let pages copy: save it instead");
    }
  };
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text()], { type: "text/x-python" }));
    link.download = `reproduce_${launch.kernel.replace(/\W/g, "_")}.py`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  if (held) return null;
  return <p class="buttons"><button onClick={() => void copy()}>copy a reproducer</button> <button onClick={save}>save it</button> <span class="dim" role="status">{said}</span></p>;
}
