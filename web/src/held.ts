// A page of its own holds its answers: <script id="held" type="application/json">{"note", "answers": {path: base64 of
// deflated bytes}}</script>. Null where a server answers.
export interface Held {
  note: string;
  answer(path: string): Promise<ArrayBuffer | undefined>;
  has(path: string): boolean;
  missing(path: string): string;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function read(): Held | null {
  const element = typeof document === "undefined" ? null : document.getElementById("held");
  if (!element) return null;
  const { note, answers } = JSON.parse(element.textContent ?? "") as { note: string; answers: Record<string, string> };
  return {
    note,
    has: (path) => Object.hasOwn(answers, path),
    async answer(path) {
      if (!Object.hasOwn(answers, path)) return undefined;
      const stream = new Blob([bytesOf(answers[path]!)]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Response(stream).arrayBuffer();
    },
    missing: () => `this page does not hold that: ${note}`,
  };
}

export const held = read();
