// What people do with the visualizer, in a real browser: `scripts/test --browser` runs it with Node's own test runner.
//   TILESIGHT: the native tool; BUNDLES: a folder with attention.tsb, matmul.tsb, softmax.tsb; SCREENSHOTS: a folder, or nothing
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const bundles = process.env.BUNDLES, pictures = process.env.SCREENSHOTS;
let browser, server, problems = [];

/** `tilesight view`; resolves to the process and its address. */
function view(...files) {
  return new Promise((done, fail) => {
    const child = spawn(process.env.TILESIGHT, ["view", "--no-browser", ...files], { stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.on("data", (part) => {
      text += part;
      const address = text.match(/http:\S+/);
      if (address) done({ child, address: address[0] });
    });
    child.on("exit", () => fail(new Error(text)));
  });
}

async function open(address, fragment = "") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  page.on("pageerror", (e) => problems.push(String(e)));
  await page.goto(address + fragment);
  return page;
}
async function picture(page, name) {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  server = await view(bundles);
});
after(async () => {
  server?.child.kill();
  await browser?.close();
  assert.deepEqual(problems, [], "the console has no errors");
});

test("the first launch, its findings, its source; the token leaves the address", async () => {
  const page = await open(server.address);
  await page.waitForSelector(".findings button.row");
  assert.ok(!page.url().includes("token"));
  await page.waitForSelector(".tensor canvas");
  assert.match(await page.textContent(".sources"), /attention_kernel/);
  await picture(page, "first");
});

test("a finding leads to its program, its line and its tensor", async () => {
  const page = await open(server.address);
  await page.click(".findings button.row");
  await page.waitForSelector(".line.on");
  assert.match(page.url(), /finding=0/);
  assert.match(await page.textContent(".line.on code"), /tl\.load/);
  assert.match(await page.textContent(".records h2"), /\((?!0, 0, 0)/);
  assert.equal(await page.$eval('[aria-label="tensor"]', (e) => e.selectedOptions[0].text), "K");
  await page.waitForSelector(".records tr.bad");
  await picture(page, "finding");
});

test("a link shows the same again", async () => {
  const page = await open(server.address, "#launch=1&program=7&layer=writer&tensor=2");
  await page.waitForSelector(".tensor canvas");
  assert.match(await page.textContent("header .kernel"), /matmul_kernel/);
  assert.match(await page.textContent(".records h2"), /\(7, 0, 0\)/);
  await page.hover(".tensor canvas");
  await page.waitForFunction(() => document.querySelector(".tensor").textContent.includes("program ("));
  await picture(page, "writer");
});

test("keys: the next program, the list of keys, light and dark", async () => {
  const page = await open(server.address, "#launch=1");
  await page.waitForSelector(".records tbody tr");
  await page.keyboard.press("]");
  await page.waitForFunction(() => document.querySelector(".records h2").textContent.includes("(1, 0, 0)"));
  await page.keyboard.press("?");
  assert.match(await page.textContent(".help"), /next program/);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".help"));
  await page.keyboard.press("d");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await picture(page, "dark");
});

test("a click in the grid chooses a program", async () => {
  const page = await open(server.address, "#launch=2");
  await page.click(".grid canvas");
  await page.waitForFunction(() => /program=\d+/.test(location.hash));
});

test("values of a tensor after the launch", async () => {
  const page = await open(server.address, "#launch=2&layer=after&tensor=0");
  await page.waitForSelector(".histogram i", { state: "attached" });
  assert.match(await page.textContent(".tensor"), /mean/);
  await picture(page, "values");
});

test("a broken bundle is a clear message", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tilesight-"));
  const whole = readFileSync(join(bundles, "matmul.tsb"));
  writeFileSync(join(folder, "<img src=x onerror=alert(1)>.tsb"), whole.subarray(0, 5000));
  copyFileSync(join(bundles, "softmax.tsb"), join(folder, "softmax.tsb"));
  const other = await view(folder);
  const page = await open(other.address, "#launch=1");
  await page.waitForSelector('[role="alert"]');
  assert.match(await page.textContent('[role="alert"]'), /error: /);
  assert.equal(await page.$("img"), null, "a name is never markup");
  other.child.kill();
});

test("a server that goes away is a clear message", async () => {
  const other = await view(join(bundles, "softmax.tsb"));
  const page = await open(other.address);
  await page.waitForSelector(".records tbody tr");
  const gone = new Promise((done) => other.child.once("exit", done));
  other.child.kill();
  await gone;
  const before = problems.length;
  await page.selectOption('[aria-label="layer"]', "writes");
  await page.waitForSelector(".tensor .error");
  assert.match(await page.textContent(".tensor .error"), /does not answer/);
  problems.splice(before); // the browser's own lines about the lost connection
});
