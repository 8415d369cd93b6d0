// Several folders, runs and windows at once in a real VS Code: results do not mix, and interrupted runs are reported.
//
//   node several.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";
import { processesOf } from "./workbench.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const SUITE = "evals/greeter";
const ENGINE = ["waza_engine", "serve"];

// Two folders with the same names in them; the second task runs until its gate is opened.
for (const [folder, wanted, settings] of [["alpha", "hello", { "waza.run.trials": 2 }], ["beta", "farewell", {}]]) {
  write(`${folder}/.vscode/settings.json`, JSON.stringify(settings));
  const config = "config: {trials_per_task: 1, timeout_seconds: 600, executor: mock, model: none}\n";
  const graders = `graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - ${wanted}\n`;
  write(`${folder}/${SUITE}/eval.yaml`, `# of ${folder}\nname: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
  write(`${folder}/${SUITE}/tasks/fast.yaml`, `# of ${folder}\nid: fast\nname: Greets at once\ninputs:\n  prompt: Say hello\n`);
  const script = `"import os, pathlib, time; g = pathlib.Path(os.environ['GATES'], '${folder}'); g.with_suffix('.reached').touch()\\nwhile not g.exists(): time.sleep(0.05)"`;
  const waits = `graders:\n  - type: program\n    name: waits\n    config:\n      command: ${path.resolve(options.python)}\n      timeout: 500\n      args:\n        - -c\n        - ${script}\n`;
  write(`${folder}/${SUITE}/tasks/slow.yaml`, `id: slow\nname: Greets late\ninputs:\n  prompt: Say hello\n${waits}`);
}
openFolders("alpha");
const gates = path.join(artifacts, "gates");
fs.mkdirSync(gates);
open("alpha");
open("beta");

await play(scenario, { ...options, workspace: path.join(artifacts, "both.code-workspace"), environment: { GATES: gates } });

async function scenario(page) {
  const lens = (title) => page.locator(".codelens-decoration a", { hasText: title }).first();
  const bar = (words) => page.locator(".statusbar-item", { hasText: words }).first();
  const show = (folder, file = "eval.yaml") => editor.openFile(page, path.join(artifacts, folder, SUITE, file), `# of ${folder}`);
  const atTop = async (folder, title) => {
    await page.mouse.move(640, 700); // what pops up over a tab would lie over the text
    await show(folder); // it has the keys then
    await page.keyboard.press("Control+Home");
    await lens(title).waitFor();
  };
  const rows = page.locator(".test-explorer .monaco-list-row");
  // The rows are in the order of the tree: the suite of alpha with its tasks, then that of beta.
  const row = (folder, text) => rows.filter({ hasText: text }).nth(folder === "alpha" ? 0 : 1);
  const states = async (folder, text) => row(folder, text).locator(".computed-state").evaluateAll((icons) => icons.map(({ className }) => className).join());
  const state = (folder, text, name) => editor.waitUntil(page, `"${text}" of ${folder} to be ${name}`, async () => (await states(folder, text)).includes(`codicon-testing-${name}-icon`));
  const begin = async (folder) => {
    shut(folder);
    await atTop(folder, "Run suite");
    await editor.clickLens(page, "Run suite", "the run to reach its gate", () => fs.existsSync(reached(folder)));
  };
  const frame = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");
  const notice = (words) => frame.locator(".notice", { hasText: words });
  const showPage = () => page.locator(".tab", { hasText: "result" }).first().click();

  await step("an added folder has its suite in the tree, next to one with the same name", async () => {
    await atTop("alpha", "Run suite");
    const look = () => editor.command(page, "Testing: Focus on Test Explorer View");
    await look();
    await rows.filter({ hasText: "greeter" }).first().waitFor();
    openFolders("alpha", "beta"); // the window turns to its files then
    await look();
    const expand = async () => {
      if (!(await rows.first().isVisible())) await look();
      for (const folder of ["alpha", "beta"]) {
        await row(folder, "greeter").click();
        await page.keyboard.press("ArrowRight");
      }
    };
    await editor.repeatUntil(page, "the tasks of both suites", expand, async () => (await rows.filter({ hasText: "Greets late" }).count()) === 2);
    for (const folder of ["alpha", "beta"]) assert.match(await row(folder, "greeter").innerText(), new RegExp(folder, "u"));
    await editor.recordNotifications(page);
  });

  await step("a run of all suites uses the settings of each folder and reports each", async () => {
    await editor.command(page, "Test: Run All Tests");
    for (const text of ["Greets at once", "Greets late"]) {
      await state("alpha", text, "passed");
      await state("beta", text, "failed");
    }
    assert.deepEqual(trials("alpha"), { fast: 2, slow: 2 });
    assert.deepEqual(trials("beta"), { fast: 1, slow: 1 });
    await bar(/2 runs: 1 passed, 1 failed/u).waitFor(); // once, and true of both
    const told = await editor.notificationsSeen(page);
    const failures = [...new Set(told.filter((text) => text.includes("Show Failures")).map((text) => text.slice(text.indexOf("2 runs"))))];
    assert.equal(failures.length, 1, failures.join("\n"));
    assert.match(failures[0], /^2 runs: 1 passed, 1 failed · .*beta › greeter: 0 of 2 tasks passed, 2 failed/u);
  });

  await step("so do marks and badges", async () => {
    const hasBadge = () => page.locator(".tab.active .monaco-icon-label").evaluateAll((labels) => labels.some((label) => getComputedStyle(label, "::after").content.includes("✗")));
    for (const [folder, said] of [["beta", "✗"], ["alpha", "✓"]]) {
      await atTop(folder, "Run suite");
      await marked(page, said);
      await editor.waitUntil(page, `the badge of ${folder}`, async () => (await hasBadge()) === (folder === "beta"));
    }
    await page.screenshot({ path: path.join(artifacts, "folders.png") });
  });

  await step("a result page that is open during a run has a notice", async () => {
    await begin("alpha");
    await editor.command(page, "Waza: Open Result");
    await frame.locator("h1", { hasText: "goes on" }).waitFor();
    await frame.locator("h2", { hasText: "Greets at once: passed" }).waitFor();
  });

  await step("a run of a task at the same time has its own result", async () => {
    await show("alpha", "tasks/fast.yaml");
    await editor.runByLens(page, "Run task", path.join(artifacts, "alpha", SUITE));
    await bar(/alpha › greeter › fast: 1 of 1 task passed/u).waitFor();
    await bar(/alpha › greeter .*slow/u).waitFor(); // the other one goes on
    await atTop("alpha", "Cancel");
    await editor.waitUntil(page, "its task to be shown as going on", async () => /loading|queued/u.test(await states("alpha", "Greets late")));
    await page.screenshot({ path: path.join(artifacts, "beside.png") });
  });

  await step("an identical run is not started again, with a message", async () => {
    await editor.command(page, "Waza: Run Suite");
    await editor.waitUntil(page, "the message", async () => (await editor.notificationsSeen(page)).some((text) => text.includes("alpha › greeter is already running")));
  });

  await step("cancelling another run of it keeps the first one", async () => {
    await editor.openFile(page, path.join(artifacts, "alpha", SUITE, "tasks/slow.yaml"), "id: slow");
    const marker = reached("alpha");
    fs.rmSync(marker);
    await editor.clickLens(page, "Run task", "the second run to reach the gate", () => fs.existsSync(marker));
    await editor.clickLens(page, "Cancel", "it to be cancelled", () => bar(/alpha › greeter › slow: cancelled/u).isVisible());
    await atTop("alpha", "Cancel"); // of the suite
  });

  await step("at its end the open page shows the result", async () => {
    await showPage();
    open("alpha");
    await bar(/alpha › greeter: 2 of 2 tasks passed/u).waitFor();
    await frame.locator("h1", { hasText: "passed" }).waitFor();
    await frame.locator("h2", { hasText: "Greets late: passed" }).waitFor();
    await state("alpha", "Greets late", "passed");
    assert.ok(!(await editor.notificationsSeen(page)).some((text) => /engine stopped|Pending response/u.test(text)));
  });

  await step("another window on the same folders updates its marks", async () => {
    const context = await page.context().browser().newContext({ viewport: page.viewportSize() });
    const other = await context.newPage();
    other.setDefaultTimeout(60_000);
    await other.goto(page.url());
    await other.locator(".monaco-workbench .part.statusbar").waitFor();
    await editor.openFile(other, path.join(artifacts, "beta", SUITE, "eval.yaml"), "# of beta");
    await marked(other, "✗"); // what the first window has run
    const suite = path.join(artifacts, "beta", SUITE, "eval.yaml");
    fs.writeFileSync(suite, fs.readFileSync(suite, "utf8").replace("farewell", "hello"));
    await atTop("beta", "Run suite");
    await editor.waitForLine(page, "- hello");
    await editor.runByLens(page, "Run suite", path.dirname(suite));
    await marked(other, "✓");
    await context.close();
  });

  await step("after a re-grade the page has a notice", async () => {
    await atTop("alpha", "Re-grade");
    await editor.clickLens(page, "Re-grade", "the verdict of now", async () => (await editor.hintsOn(page, "name: speaks")).some((hint) => hint.startsWith("↻")));
    await showPage();
    await notice("Graded again since").waitFor();
  });

  await step("deleting the shown result adds a notice and removes its marks", async () => {
    for (const file of results("alpha")) fs.rmSync(file);
    await notice("gone").waitFor();
    await atTop("alpha", "Run suite");
    await editor.waitUntil(page, "the marks to go", async () => (await editor.hintsOn(page, "name: speaks")).length === 0);
  });

  // The finished task has another verdict each time.
  const cutOff = async (words, said, wanted, { name, sign }) => {
    const suite = path.join(artifacts, "alpha", SUITE, "eval.yaml");
    fs.writeFileSync(suite, fs.readFileSync(suite, "utf8").replace(/- (?:hello|farewell)$/mu, `- ${wanted}`));
    await atTop("alpha", "Run suite");
    await editor.waitForLine(page, `- ${wanted}`);
    await begin("alpha");
    await editor.waitUntil(page, "the second task to be shown as going on", async () => /loading|queued/u.test(await states("alpha", "Greets late")));
    await editor.waitUntil(page, "the first task to be kept", () => kept("alpha") > 0);
    const [pids, engines] = [running(words), running(ENGINE)];
    assert.ok(pids.length > 0);
    for (const pid of pids) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch (error) {
        if (error.code !== "ESRCH") throw error; // it went with the one before
      }
    }
    await bar(said).waitFor();
    await editor.waitUntil(page, "the engine to go", () => engines.every((pid) => !running(ENGINE).includes(pid)));
    await state("alpha", "Greets late", "error");
    await state("alpha", "Greets at once", name);
    await atTop("alpha", "Run suite");
    await marked(page, sign); // what was finished
  };

  // This run is recorded, and no newer one.
  const toldOfItself = async () => {
    const told = await row("alpha", "the run was interrupted").innerText();
    assert.ok(!/newer run/u.test(told), told);
  };

  await step("a killed engine ends its run as interrupted in all views", async () => {
    await cutOff(ENGINE, /alpha › greeter: interrupted: the engine/u, "farewell", { name: "failed", sign: "✗" });
    await showPage();
    await frame.locator("h1", { hasText: "interrupted" }).waitFor();
    await page.screenshot({ path: path.join(artifacts, "killed.png") });
    await toldOfItself();
  });

  await step("so does a killed server, which restarts", async () => {
    const said = /alpha › greeter: interrupted: the language/u;
    await cutOff(["waza_language_server", "--stdio"], said, "hello", { name: "passed", sign: "✓" });
    const seen = await editor.notificationsSeen(page);
    assert.ok(!seen.some((text) => /connection|Pending response/iu.test(text)), seen.join("\n"));
    await toldOfItself();
    open("alpha");
    await editor.runByLens(page, "Run suite", path.join(artifacts, "alpha", SUITE));
    await state("alpha", "Greets late", "passed");
  });

  await step("a reload interrupts a run", async () => {
    const before = results("alpha").length;
    await begin("alpha");
    await editor.waitUntil(page, "the first task to be kept", () => kept("alpha") > 0);
    await editor.reloadWindow(page);
    await bar(/alpha › greeter: interrupted; finished tasks were saved/u).waitFor();
    if (process.env.WAZA_VSCODE_UNDER_TEST === "oldest") return; // in a browser it lets what served the window before live on
    await editor.waitUntil(page, "its record", () => results("alpha").length > before);
    const { conclusion } = JSON.parse(fs.readFileSync(results("alpha").at(-1), "utf8")).metadata.engine;
    assert.match(conclusion.words, /^the run was interrupted;/u);
  });
}

/** Sets the folders of the window by writing its workspace file. */
function openFolders(...folders) {
  const workspace = { folders: folders.map((folder) => ({ path: folder })), settings: { "waza.live.enable": "off" } };
  write("both.code-workspace", JSON.stringify(workspace));
}

/** Waits until the hint of the grader of the suite begins with a text. */
async function marked(page, sign) {
  await editor.waitUntil(page, `${sign} at the grader`, async () => (await editor.hintsOn(page, "name: speaks")).some((hint) => hint.startsWith(sign)));
}

function running(words) {
  return processesOf(path.join(artifacts, "home"), words);
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function reached(folder) {
  return path.join(gates, `${folder}.reached`);
}

function open(folder) {
  fs.writeFileSync(path.join(gates, folder), "");
}

function shut(folder) {
  fs.rmSync(path.join(gates, folder), { force: true });
  fs.rmSync(reached(folder), { force: true });
}

/** Returns the result files of a folder, the newest last. */
function results(folder) {
  const directory = path.join(artifacts, folder, SUITE, ".waza", "results");
  const names = fs.existsSync(directory) ? fs.readdirSync(directory).filter((name) => name.endsWith(".json")) : [];
  return names.map((name) => path.join(directory, name)).sort((one, other) => fs.statSync(one).mtimeMs - fs.statSync(other).mtimeMs);
}

/** Returns the number of finished tasks of the active run of a folder: its journal has one line each after the first line. */
function kept(folder) {
  const directory = path.join(artifacts, folder, SUITE, ".waza", "results");
  const journals = fs.readdirSync(directory).filter((name) => name.endsWith(".partial.jsonl"));
  const lines = journals.map((name) => readIfThere(path.join(directory, name)).split("\n").filter(Boolean).length - 1);
  return Math.max(0, ...lines);
}

/** Returns the number of trials of each task in the newest run of a folder. */
function trials(folder) {
  const { tasks } = JSON.parse(fs.readFileSync(results(folder).at(-1), "utf8"));
  return Object.fromEntries(tasks.map((task) => [task.test_id, task.runs.length]));
}

function write(name, text) {
  const file = path.join(artifacts, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}
