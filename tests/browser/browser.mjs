// A browser and a server for all journeys of a file.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
export const bundles = process.env.BUNDLES, pictures = process.env.SCREENSHOTS;
/** Errors on the console; none are expected. */
export const problems = [];
export let server;
let browser;

/** `tilesight view`; resolves to the process and its address. */
export function view(...files) {
  return new Promise((done, fail) => {
    const child = spawn(process.env.TILESIGHT, ["view", "--no-browser", ...files], { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (part) => {
      said += part;
      const address = said.match(/http:\S+/);
      if (address) done({ child, address: address[0] });
    });
    child.on("exit", () => fail(new Error(said)));
  });
}

export async function open(address, fragment = "", size = { width: 1280, height: 720 }) {
  await Promise.all(browser.contexts().map((c) => c.close()));  // pages ask for as long as they are open
  const context = await browser.newContext({ viewport: size, colorScheme: "light" });
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.WAIT ?? 20000));
  page.on("console", (m) => m.type() === "error" && problems.push(`${m.text()} ${m.location().url}`));
  page.on("pageerror", (e) => problems.push(String(e)));
  await page.goto(address + fragment);
  return page;
}
export const text = (page, selector) => page.textContent(selector);
export async function picture(page, name) {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--enable-unsafe-swiftshader"] });
  server = await view(bundles);
});
after(async () => {
  await browser?.close();
  server?.child.kill();
  assert.deepEqual(problems, [], "the console has no errors");
});
