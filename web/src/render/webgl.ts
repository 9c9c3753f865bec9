// The numbers are a texture, and so are the palette's colours: a new palette or scale costs one draw.
import { table } from "../palettes";
import type { Renderer } from "./renderer";

const vertex = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }`;
const fragment = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D; precision highp usampler2D;
uniform sampler2D values; uniform usampler2D kinds; uniform sampler2D colours; uniform vec2 scale; uniform float height;
out vec4 pixel;
void main() {
  ivec2 at = ivec2(gl_FragCoord.x, height - gl_FragCoord.y);
  uint kind = texelFetch(kinds, at, 0).r;
  if (kind == 4u) { pixel = vec4(0); return; }
  vec3 colour = texelFetch(colours, ivec2(clamp(int((texelFetch(values, at, 0).r - scale.x) * scale.y + 0.5), 0, 255), 0), 0).rgb;
  if (kind == 1u) colour = vec3(214, 39, 120) / 255.0;
  if (kind == 2u) colour = vec3(230, 120, 20) / 255.0;
  if (kind == 5u) colour = vec3(200, 20, 20) / 255.0;
  float alpha = kind == 3u ? 60.0 / 255.0 : 1.0;
  pixel = vec4(colour * alpha, alpha);
}`;

export function webgl(canvas: HTMLCanvasElement): Renderer | null {
  const gl = canvas.getContext("webgl2", { preserveDrawingBuffer: true });
  const program = gl?.createProgram();
  if (!gl || !program) return null;
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(type)!;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  const usable = !!gl.getProgramParameter(program, gl.LINK_STATUS);
  const textures = [0, 1, 2].map(() => gl.createTexture());
  const upload = (unit: number, inner: number, width: number, height: number, format: number, type: number, data: ArrayBufferView) => {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, textures[unit]!);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, inner, width, height, 0, format, type, data);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  };
  return {
    name: "webgl2",
    draw(t, palette) {
      canvas.width = Math.max(1, t.width);
      canvas.height = Math.max(1, t.height);
      if (!usable || !t.width || !t.height) return;
      gl.viewport(0, 0, t.width, t.height);
      gl.useProgram(program);
      upload(0, gl.R32F, t.width, t.height, gl.RED, gl.FLOAT, t.values instanceof Float32Array ? t.values : Float32Array.from(t.values));
      const kinds = t.kind instanceof Uint8Array ? t.kind : t.kind ? Uint8Array.from(t.kind) : new Uint8Array(t.width * t.height);
      upload(1, gl.R8UI, t.width, t.height, gl.RED_INTEGER, gl.UNSIGNED_BYTE, kinds);
      upload(2, gl.RGB, 256, 1, gl.RGB, gl.UNSIGNED_BYTE, table(palette));
      for (const [i, name] of ["values", "kinds", "colours"].entries()) gl.uniform1i(gl.getUniformLocation(program, name), i);
      gl.uniform2f(gl.getUniformLocation(program, "scale"), t.min, t.max > t.min ? 255 / (t.max - t.min) : 0);
      gl.uniform1f(gl.getUniformLocation(program, "height"), t.height);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    },
    dispose() { gl.getExtension("WEBGL_lose_context")?.loseContext(); },
  };
}
