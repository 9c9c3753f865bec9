// What people do with the visualizer, in a real browser: `scripts/test --browser` runs it with Node's own test runner.
//   TILESIGHT: the native tool; BUNDLES: a folder with attention.tsb, matmul.tsb, softmax.tsb; SLOW: what slow.py saves;
//   SCREENSHOTS: a folder, or nothing
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { bundles, open, picture, problems, server, text, view } from "./browser.mjs";

test("the first launch, its findings, its source; the token leaves the address", async () => {
  const page = await open(server.address);
  await page.waitForSelector(".findings button.row");
  assert.ok(!page.url().includes("token"));
  await page.waitForSelector(".tensor canvas");
  assert.match(await text(page, ".sources"), /attention_kernel/);
  await picture(page, "first");
});

test("a finding leads to its program, its line and its tensor; past its end is a margin", async () => {
  const page = await open(server.address);
  await page.click(".findings button.row");
  await page.waitForSelector(".line.on");
  assert.match(page.url(), /finding=0/);
  assert.match(await text(page, ".line.on code"), /tl\.load/);
  assert.match(await text(page, ".records h3"), /\((?!0, 0, 0)/);
  assert.equal(await page.$eval('[aria-label="tensor"]', (e) => e.selectedOptions[0].text), "K");
  await page.waitForSelector(".records .tr.bad");
  await page.waitForSelector(".mark.bounds", { state: "attached" });
  assert.match(await text(page, ".tensor"), /lie outside of it/);
  await picture(page, "finding");
});

test("a reproducer is a program that runs", async () => {
  const page = await open(server.address);
  await page.click(".findings button.row");
  const download = page.waitForEvent("download");
  await page.click("text=save it");
  const program = readFileSync(await (await download).path(), "utf8");
  assert.match(program, /@triton\.jit\ndef attention_kernel\(/);
  assert.match(program, /attention_kernel\[\(8, 16, 1\)\]\(Q=Q, K=K/);
  if (process.env.PYTHON_TO_REPRODUCE) {
    const file = join(mkdtempSync(join(tmpdir(), "tilesight-")), "again.py");
    writeFileSync(file, program);
    const run = spawnSync(process.env.PYTHON_TO_REPRODUCE, ["-m", "tilesight", "run", file], { encoding: "utf8" });
    assert.equal(run.status, 1, run.stderr);
    assert.match(run.stderr, /out-of-bounds/);
  }
});

test("step through a program: values appear, lines light up, iterations count", async () => {
  const page = await open(server.address, "#program=3&right=values");
  await page.click("text=start with the first step");
  await page.waitForSelector(".values .value.row");
  await page.waitForFunction(() => document.querySelector(".where")?.textContent?.includes("step 0 of"));
  await page.keyboard.press("e");
  await page.waitForFunction(() => document.querySelector(".where")?.textContent?.includes("tt.return") || /line 4\d/.test(document.querySelector(".where")?.textContent));
  await page.fill('[aria-label="step"]', "207");
  await page.waitForFunction(() => document.querySelector(".where")?.textContent?.includes("iteration 2"));
  await page.waitForFunction(() => document.querySelector(".loops")?.textContent?.includes("start_n = 128"));
  assert.match(await text(page, ".values"), /acc.*f32 \[128, 64\]/s);
  await page.waitForSelector(".line.on");
  const before = await text(page, ".where");
  await page.keyboard.press(">");
  await page.waitForFunction(() => document.querySelector(".where")?.textContent?.includes("iteration 3"));
  await page.keyboard.press("<");
  await page.waitForFunction((was) => document.querySelector(".where")?.textContent === was, before);
  await page.keyboard.press(".");
  await page.waitForFunction(() => location.hash.includes("step=208"));
  await picture(page, "step");
});

test("what runs in Triton's own library is shown at the line that calls it", async () => {
  const page = await open(server.address);
  await page.click('.launches .row:has-text("softmax")');
  await page.click('.records .tr:has-text("reduce")');  // of tl.max, which is in triton/language/standard.py
  await page.waitForSelector(".line.on");
  assert.match(await text(page, ".sources h2"), /softmax\.py/);
  assert.match(await text(page, ".line.on code"), /tl\.max/);
  assert.match(await text(page, ".stepper .where"), /line 20\b/);
});

test("a watch table follows variables over the iterations, and leads to each", async () => {
  const page = await open(server.address, "#program=3&bottom=watch");
  await page.waitForSelector(".watch .spark");
  assert.match(await text(page, ".watch .heads"), /acc/);
  await page.click('.chip:text-is("qk")');
  await page.waitForFunction(() => document.querySelector(".watch .heads")?.textContent?.includes("qk"));
  assert.match(page.url(), /watch=.*qk/);
  await page.click(".watch .cell >> nth=20");
  await page.waitForFunction(() => /step=\d+/.test(location.hash));
  await page.waitForSelector(".values .value.row");
  await picture(page, "watch");
});

test("stop where a condition holds; a wrong one says why", async () => {
  const page = await open(server.address, "#program=3");
  await page.waitForFunction(() => document.querySelector(".where")?.textContent?.includes("steps"));
  await page.keyboard.press("/");
  await page.keyboard.type("start_n == 640 and max(qk) > 0");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".where")?.textContent?.includes("iteration 10"));
  await page.fill('[aria-label="condition"]', "isnam(qk)");
  const before = problems.length;
  await page.click('.stop button:text-is("find")');
  await page.waitForSelector(".bubble.error");
  assert.match(await text(page, ".bubble"), /did you mean isnan/);
  problems.splice(before);  // the browser notes the refused request
});

test("a value, whole: formats, filters, an index, a picture, a file", async () => {
  const page = await open(server.address, "#program=7&step=1040&value=qk&bottom=value&right=values");
  await page.waitForSelector(".matrix .virtual .tr");
  await page.selectOption('[aria-label="format"]', "hex");
  await page.waitForFunction(() => /0x[0-9a-f]{8}/.test(document.querySelector(".matrix")?.textContent));
  await page.fill('[aria-label="go to index"]', "100, 60");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".matrix .chosen");
  assert.match(await text(page, ".inspector .hover"), /\[100, 60\]/);
  await page.selectOption('[aria-label="filter"]', "infinite");
  await page.waitForFunction(() => /are infinite/.test(document.querySelector(".numbers")?.textContent));
  await page.selectOption('[aria-label="axis 0"]', "columns");
  const download = page.waitForEvent("download");
  await page.click(".inspector a.button");
  const file = readFileSync(await (await download).path());
  assert.equal(file.subarray(1, 6).toString(), "NUMPY");
  assert.match(file.subarray(0, 128).toString("latin1"), /'<f4'.*\(128,64,\)/);
  await picture(page, "value");
});

test("an access shows which elements are active, masked and outside", async () => {
  const page = await open(server.address, "#launch=2");
  await page.click(".records .tr:not(.heads)");
  await page.waitForFunction(() => /step=\d+/.test(location.hash));
  await page.click('[role="tab"]:text-is("Value")');
  await page.waitForSelector(".masks .tag");
  assert.match(await text(page, ".masks"), /active/);
});

test("an element leads to its writer: program, line, step", async () => {
  const page = await open(server.address, "#tensor=3&element=1,2,500,7");
  await page.waitForSelector(".story .link");
  assert.match(await text(page, ".story"), /written by program \(3, 10, 0\), line 4\d/);
  await page.click(".story .link");
  await page.waitForFunction(() => /program=83/.test(location.hash) && /step=\d+/.test(location.hash));
  await page.waitForSelector(".inspector");
  assert.match(await text(page, ".line.on code"), /tl\.store/);
});

test("an output element leads to the input elements that it came from, on the inputs", async () => {
  const page = await open(server.address, "#tensor=3&element=1,2,500,7");
  await page.waitForSelector(".inputs .maps canvas >> nth=2");
  const sources = await page.$$eval(".inputs .source .link", (all) => all.map((e) => e.textContent));
  assert.deepEqual(sources.map((s) => s[0]).sort(), ["K", "Q", "V"]);
  assert.ok(sources.includes("Q[1, 2, 500, 0:64]"), sources.join("; "));
  await page.click(".inputs summary");
  assert.match(await text(page, ".inputs ul"), /line 4\d.*acc\[116, 7\]/);
  await picture(page, "inputs");
  await page.click('.inputs .source .link:has-text("Q[")');
  await page.waitForSelector(".overlay.inputs canvas");
  assert.equal(await page.$eval('[aria-label="tensor"]', (e) => e.selectedOptions[0].text), "Q");
  assert.match(page.url(), /from=3%3A1%2C2%2C500%2C7/);
  assert.match(await text(page, ".from"), /Q\[1, 2, 500, 0:64\]: what Out\[1, 2, 500, 7\] came from/);
  // One row of the plane [1, 2] is marked, in all of its columns.
  const marked = await page.$eval(".overlay.inputs canvas", (c) => {
    const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, rows = new Set();
    let n = 0;
    for (let i = 3; i < d.length; i += 4) if (d[i]) { ++n; rows.add(Math.floor(i / 4 / c.width)); }
    return { n, rows: rows.size, width: c.width };
  });
  assert.deepEqual([marked.rows, marked.n], [1, marked.width]);
  await picture(page, "inputs-of-q");
  await page.click(".from .link");
  await page.waitForFunction(() => document.querySelector('[aria-label="tensor"]')?.selectedOptions[0].text === "Out" && !location.hash.includes("from"));
  await page.waitForSelector(".story .link");
});

/** The matmul's output as a .npy file, two of its elements changed. */
async function wrongReference(page) {
  const bytes = Buffer.from(await page.evaluate(async () => Array.from(new Uint8Array(await (await fetch("/api/launch/1/tensor/2/data.npy")).arrayBuffer()))));
  const data = 10 + bytes.readUInt16LE(8), header = bytes.subarray(10, data).toString("latin1");
  const shape = /'shape': \((\d+), ?(\d+)/.exec(header).slice(1).map(Number), size = Number(/'<f(\d)'/.exec(header)[1]);
  const rewrite = (row, column) => {
    const at = data + size * (row * shape[1] + column);
    bytes[at + size - 1] ^= 0x80;  // the sign
  };
  rewrite(40, 33), rewrite(100, 7);
  const file = join(mkdtempSync(join(tmpdir(), "tilesight-")), "ref.npy");
  writeFileSync(file, bytes);
  return file;
}

test("actual against expected: the difference, the first wrong element, its writer and line", async () => {
  const page = await open(server.address, "#launch=1&tensor=2");
  await page.waitForSelector(".tensor canvas");
  const file = await wrongReference(page);
  await page.setInputFiles('[aria-label="expected"]', file);
  await page.waitForSelector(".compared .error");
  assert.match(await text(page, ".compared"), /2 of [\d,]+ elements are not as in ref\.npy.*\[40, 33\].*\[100, 7\]/s);
  await page.waitForFunction(() => /layer=difference/.test(location.hash) && /element=40%2C33/.test(location.hash));
  await page.waitForSelector(".compared .link:text-matches('written by program')");
  await page.waitForFunction(() => document.querySelector(".tensor canvas")?.getAttribute("aria-label")?.includes("difference"));
  await page.waitForSelector(".inputs .maps canvas");
  await picture(page, "difference");
  await page.click(".compared .link:text-matches('written by program')");
  await page.waitForFunction(() => /step=\d+/.test(location.hash));
  await page.waitForSelector(".line.on");
  assert.match(await text(page, ".line.on code"), /tl\.store/);
  // A file of another shape is refused, and says why; what was expected stays.
  const before = problems.length;
  await page.click('[role="tab"]:text-is("Tensor")');
  await page.selectOption('[aria-label="tensor"]', "0");
  writeFileSync(join(file, "..", "other.npy"), "no array");
  await page.setInputFiles('[aria-label="expected"]', join(file, "..", "other.npy"));
  await page.waitForSelector('.tensor [role="alert"]');
  assert.match(await text(page, '.tensor [role="alert"]'), /other\.npy is no \.npy file/);
  problems.splice(before);  // the browser notes the refused request
});

test("--expect: the page opens with the comparison; what fits no tensor is refused", async () => {
  const page = await open(server.address, "#launch=1&tensor=2");
  await page.waitForSelector(".tensor canvas");
  const file = await wrongReference(page);
  const name = await page.$eval('[aria-label="tensor"]', (e) => e.selectedOptions[0].text);
  const bundle = join(bundles, "matmul.tsb");
  const refused = (...options) => spawnSync(process.env.TILESIGHT, ["view", "--no-browser", bundle, ...options], { encoding: "utf8", timeout: 20000 });
  for (const [option, why] of [["nothing", /must be TENSOR=FILE\.npy/], [`q=${file}`, /no tensor "q"/], [`${name}=${bundle}`, /is no \.npy file/]]) {
    const run = refused("--expect", option);
    assert.equal(run.status, 2, option);
    assert.match(run.stderr, why);
  }
  const other = await view(bundle, "--expect", `${name}=${file}`);
  const opened = await open(other.address, "#tensor=2");
  await opened.waitForSelector(".compared .error");
  assert.match(await text(opened, ".compared"), /2 of/);
  await opened.selectOption('[aria-label="layer"]', "wrong");
  await opened.waitForFunction(() => /of [\d,]+ are 0/.test(document.querySelector(".tensor")?.textContent));
  await opened.close();
  other.child.kill();
});

test("a link shows the same again", async () => {
  const page = await open(server.address, "#launch=1&program=7&layer=writer&tensor=2&step=40&bottom=watch");
  await page.waitForSelector(".tensor canvas");
  assert.match(await text(page, "header .kernel"), /matmul_kernel/);
  await page.waitForFunction(() => /step 40/.test(document.querySelector(".where")?.textContent));
  assert.equal(await page.$eval('[role="tab"][aria-selected="true"]', (e) => e.textContent), "Watch");
  await page.hover(".tensor canvas");
  await page.waitForFunction(() => document.querySelector(".tensor .hover")?.textContent?.includes("program ("));
  await picture(page, "writer");
});

test("a link that says nonsense shows a page all the same", async () => {
  const page = await open(server.address, "#launch=0&program=99999&step=5&tensor=77&op=123456&layer=zzz&right=nothing&brush=x&element=9,9");
  await page.waitForSelector(".tensor canvas");
  await page.waitForFunction(() => !location.hash.includes("99999"));
  await page.goto(server.address.split("/?")[0] + "/#launch=17");
  await page.waitForSelector('[role="alert"]');
  assert.match(await text(page, '[role="alert"]'), /no launch 17/);
});

test("keys: the next program, the palette of commands, light and dark", async () => {
  const page = await open(server.address, "#launch=1");
  await page.waitForSelector(".records .tr:not(.heads)");
  await page.keyboard.press("]");
  await page.waitForFunction(() => document.querySelector(".records h3")?.textContent?.includes("(1, 0, 0)"));
  await page.keyboard.press("?");
  assert.match(await text(page, ".help"), /next program/);
  await page.keyboard.type("show watch");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector(".help") && location.hash.includes("bottom=watch"));
  await page.click("h2");
  await page.keyboard.press("d");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await picture(page, "dark");
});

test("a click in the grid chooses a program; a part of it filters the tensor", async () => {
  const page = await open(server.address, "#launch=0&tensor=0");
  await page.waitForSelector(".tensor canvas");
  await page.click(".grid canvas");
  await page.waitForFunction(() => /program=\d+/.test(location.hash));
  const box = await (await page.$(".grid canvas")).boundingBox();
  await page.mouse.move(box.x + 4, box.y + 4);
  await page.keyboard.down("Shift");
  await page.mouse.down(); await page.mouse.up();
  await page.mouse.click(box.x + box.width / 2 - 4, box.y + 4);
  await page.keyboard.up("Shift");
  await page.waitForFunction(() => /brush=0-3%2C0-0/.test(location.hash));
  await page.waitForFunction(() => /487,\d{3}|of 64,000 are 0/.test(document.querySelector(".tensor")?.textContent));
  // The findings, too, are those of these programs; the chip says so, and clears it.
  await page.waitForFunction(() => document.querySelector(".findings .tag.error") === null && /in these programs/.test(document.querySelector(".findings")?.textContent));
  assert.match(await text(page, "header .filter"), /only x 0–3, y 0–0/);
  await picture(page, "brushed");
  await page.click("header .filter");
  await page.waitForSelector(".findings .tag.error");
  assert.ok(!page.url().includes("brush"));
  assert.equal(await page.$("header .filter"), null);
});

test("before all programs have run: source, steps and values; then findings and counts", async () => {
  const other = await view(process.env.SLOW);
  const page = await open(other.address, "#program=77&step=40&right=values");
  await page.waitForSelector(".values .value.row");
  await page.waitForSelector(".running");
  assert.match(await text(page, ".sources"), /slow_kernel/);
  assert.match(await text(page, ".findings"), /known when all programs have run/);
  await page.waitForFunction(() => /\d+ %/.test(document.querySelector(".running")?.textContent));
  await page.keyboard.press("]");
  await page.waitForFunction(() => document.querySelector(".records h3")?.textContent?.includes("(78, 0, 0)"));
  await page.click('[role="tab"]:text-is("Tensor")');
  await page.click('.tensor .link:text-is("the values before")');
  await page.waitForSelector(".tensor canvas");
  await picture(page, "running");
  await page.selectOption('[aria-label="layer"]', "accesses");
  await page.waitForFunction(() => !document.querySelector(".running") && /accesses per element/.test(document.querySelector(".tensor canvas")?.getAttribute("aria-label")), null, { timeout: 90000 });
  assert.match(await text(page, ".findings"), /Checked/);
  other.child.kill();
});

test("values of a tensor after the launch, and as a table", async () => {
  const page = await open(server.address, "#launch=2&layer=after&tensor=0");
  await page.waitForSelector(".tensor .histogram i", { state: "attached" });
  assert.match(await text(page, ".tensor"), /mean/);
  await page.click(".tensor .twin summary");
  await page.waitForSelector(".tensor .twin td");
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
  assert.match(await text(page, '[role="alert"]'), /error: /);
  assert.equal(await page.$("img"), null, "a name is never markup");
  await page.close();
  other.child.kill();
});

test("a server that goes away is a clear message", async () => {
  const other = await view(join(bundles, "softmax.tsb"));
  const page = await open(other.address);
  await page.waitForSelector(".records .tr:not(.heads)");
  const before = problems.length;
  const gone = new Promise((done) => other.child.once("exit", done));
  other.child.kill();
  await gone;
  await page.selectOption('[aria-label="layer"]', "writes");
  await page.waitForSelector(".tensor .error");
  assert.match(await text(page, ".tensor .error"), /does not answer/);
  await page.waitForSelector(".banner");
  await page.close();
  await new Promise((done) => setTimeout(done, 200));
  problems.splice(before);  // the browser's own lines about the lost connection
});

test("one file, opened from disk: no server, the values it says it holds", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "tilesight-")), "page.html");
  const made = spawnSync(process.env.TILESIGHT, ["view", join(bundles, "attention.tsb"), "--html", file], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stderr, /holds the values of programs attention_kernel \(0, 0, 0\)/);
  const page = await open(pathToFileURL(file).href, "#step=207&right=values&bottom=watch");
  await page.waitForSelector(".values .value.row");
  await page.waitForSelector(".watch .spark");
  await page.click('[role="tab"]:text-is("Tensor")');
  await page.waitForSelector(".tensor canvas");
  assert.match(await text(page, "header"), /one page/);
  await page.keyboard.press("]");
  await page.waitForSelector(".where .error");
  assert.match(await text(page, ".where"), /does not hold that/);
  await picture(page, "page");
});

test("a file that changes is shown as it is now", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tilesight-"));
  copyFileSync(join(bundles, "softmax.tsb"), join(folder, "run.tsb"));
  const other = await view(join(folder, "run.tsb"));
  const page = await open(other.address);
  await page.waitForFunction(() => document.querySelector(".kernel")?.textContent === "softmax_kernel");
  copyFileSync(join(bundles, "matmul.tsb"), join(folder, "new.tsb"));
  renameSync(join(folder, "new.tsb"), join(folder, "run.tsb"));
  await page.waitForFunction(() => document.querySelector(".kernel")?.textContent === "matmul_kernel");
  await page.waitForSelector(".tensor canvas");
  await page.close();
  other.child.kill();
});
