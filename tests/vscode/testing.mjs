// Suites in the Test Explorer of a real VS Code: the tree, a run, failures at their lines, the message at the end.
//
//   node testing.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "greeter");
fs.mkdirSync(path.join(workspace, "tasks"), { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - a phrase that no answer has\n";
write("eval.yaml", `name: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
write("tasks/one.yaml", "id: one\nname: Greets once\ninputs:\n  prompt: Say hello\n");
write("tasks/two.yaml", "id: two\nname: Greets twice\ninputs:\n  prompt: a phrase that no answer has\n");
write("trigger_tests.yaml", "skill: greeter\nshould_trigger_prompts:\n  - prompt: Greet me\n  - prompt: Say hello\n  - prompt: Say goodbye\n");
runInTerminal();

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const row = (text) => page.locator(".test-explorer .monaco-list-row", { hasText: text }).first();
  const state = async (text, name) =>
    editor.waitUntil(page, `"${text}" to be ${name}`, async () =>
      (await row(text).locator(`.codicon-testing-${name}-icon`).count()) > 0,
    );

  await step("the suite opens and the server answers", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await page.locator(".codelens-decoration a", { hasText: "Run suite" }).first().waitFor();
    await page.locator(".editor-instance .view-line").last().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("# typed");
    await editor.waitForLine(page, "# typed");
  });

  await step("the tree has the suite, its tasks and its trigger prompts", async () => {
    await editor.command(page, "Testing: Focus on Test Explorer View");
    const expand = async () => {
      await row("greeter").click();
      await page.keyboard.press("ArrowRight");
    };
    await editor.repeatUntil(page, "the tasks of the suite", expand, () => row("Greets once").isVisible());
    for (const text of ["Greets once", "Greets twice", "Greet me"]) await row(text).waitFor();
  });

  await step("it shows the result of a run in a terminal", async () => {
    for (const text of ["greeter", "Greets once"]) await editor.waitUntil(page, `"${text}" to have failed`, async () => /✗/u.test(await row(text).innerText()));
    if (/✗/u.test(await row("Greets twice").innerText())) throw new Error("the task that passed looks failed");
  });

  await step("a run from the tree saves the file and shows the verdict of each task", async () => {
    await editor.recordNotifications(page);
    await editor.command(page, "Test: Run All Tests");
    await state("Greets once", "failed");
    await state("Greets twice", "passed");
    await state("Greet me", "passed");
    await state("greeter", "failed");
    if (!fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8").includes("# typed")) throw new Error("it was not saved before");
  });

  await step("at the end the status bar has the summary, and a message has buttons", async () => {
    await page.locator(".statusbar-item", { hasText: /greeter: 1 of 2 tasks passed, 1 failed/ }).waitFor();
    const told = page.locator(".notification-toast", { hasText: "greeter: 1 of 2 tasks passed, 1 failed" }).first();
    await editor.waitUntil(page, "the row of the suite to say so, too", async () => /1 of 2 tasks passed, 1 failed/u.test(await row("greeter").innerText()));
    for (const title of ["Show Failures", "Re-run Failed"]) await told.locator("a.monaco-button", { hasText: title }).waitFor();
  });

  await step("the failure is shown at the type of its grader, where no hint is", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    const message = page.locator(".test-error-content-widget").first();
    const line = page.locator(".editor-instance .view-line", { hasText: /type:.text/u }).first();
    await editor.waitUntil(page, "the message beside the type", async () => {
      const [there, here] = [(await message.count()) > 0 ? await message.boundingBox() : null, await line.boundingBox()];
      return there !== null && here !== null && Math.abs(there.y - here.y) < here.height;
    });
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "testing.png") });
  });

  await step("re-running failed tests runs that task only", async () => {
    const before = results().length;
    await page.locator(".notification-toast a.monaco-button", { hasText: "Re-run Failed" }).first().click();
    await editor.waitUntil(page, "new results", async () => results().length > before);
    const newest = JSON.parse(fs.readFileSync(results().at(-1), "utf8"));
    const tasks = newest.tasks.map((task) => task.test_id);
    if (tasks.join() !== "one") throw new Error(`it ran ${tasks.join()}`);
  });

  const isStale = async (text) => (await row(text).locator(".computed-state.retired").count()) > 0 && /stale/u.test(await row(text).innerText());

  await step("an edit makes only the affected result stale", async () => {
    write("tasks/two.yaml", fs.readFileSync(path.join(workspace, "tasks/two.yaml"), "utf8").replace("has", "has, and a phrase that no answer has"));
    await editor.waitUntil(page, "the result to be stale", () => isStale("Greets twice"));
    if (await isStale("Greets once")) throw new Error("the other task is stale, too");
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "stale.png") });
  });

  await step("a run replaces the stale result", async () => {
    const click = async () => {
      await row("Greets twice").hover();
      await row("Greets twice").locator('.action-label[aria-label="Run Test"]').first().click({ timeout: 5_000 });
    };
    const isFresh = async () => (await row("Greets twice").locator(".computed-state.retired").count()) === 0 && !(await isStale("Greets twice"));
    await editor.repeatUntil(page, "the result to be fresh", click, isFresh);
    await state("Greets twice", "passed");
    await editor.waitUntil(page, "its words to go", async () => !/stale/u.test(await row("Greets twice").innerText()));
  });

  await step("the result of a task opens as a page", async () => {
    const entry = page.locator(".context-view .action-label, .monaco-menu .action-label", { hasText: "Open Result" }).first();
    const frame = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");
    const open = async () => {
      // A menu that has just opened ignores a click.
      if (!(await entry.isVisible())) await row("Greets once").click({ button: "right" });
      await entry.click({ timeout: 5_000 });
    };
    await editor.repeatUntil(page, "the page", open, () => frame.locator("h2", { hasText: "Greets once" }).isVisible());
    await frame.locator("li", { hasText: "missing text" }).first().waitFor();
    if (await entry.isVisible()) await page.keyboard.press("Escape"); // asked for twice, the menu would take the next click
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "result.png") });
  });

  await step("a re-grade is shown there, without a run", async () => {
    await page.locator(".tab", { hasText: "eval.yaml" }).first().click();
    const before = results().length;
    write("eval.yaml", fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8").replace("- a phrase that no answer has", "- e"));
    await editor.waitForLine(page, "- e");
    await page.locator(".editor-instance .view-line").first().click();
    await page.keyboard.press("Control+Home");
    await editor.clickLens(page, "Re-grade", "the tree to tell it", async () => {
      return (await row("Greets once").locator(".codicon-testing-passed-icon").count()) > 0;
    });
    if (results().length !== before) throw new Error("grading again has written results");
    write("eval.yaml", fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8").replace("        - e\n", "        - a phrase that no answer has\n"));
  });

  await step("a run from a lens is also shown there", async () => {
    await page.locator(".tab", { hasText: "eval.yaml" }).first().click();
    await editor.waitForLine(page, "- a phrase that no answer has");
    write("eval.yaml", fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8").replace("- a phrase that no answer has", "- Say hello"));
    await editor.waitForLine(page, "- Say hello");
    await page.locator(".editor-instance .view-line").first().click();
    await page.keyboard.press("Control+Home");
    await editor.runByLens(page, "Run suite", workspace);
    await row("Greets once").locator(".codicon-testing-passed-icon").first().waitFor();
  });

  await step("a lens runs only the changed tasks", async () => {
    const tasksOf = (file) => JSON.parse(fs.readFileSync(file, "utf8")).tasks.map((task) => task.test_id);
    assert.equal(tasksOf(results().at(-1)).length, 2);
    write("tasks/one.yaml", "id: one\nname: Greets once\ninputs:\n  prompt: Say hello again\n");
    await page.locator(".codelens-decoration a", { hasText: "Run affected (1 of 2)" }).first().waitFor();
    await editor.runByLens(page, "Run affected", workspace);
    assert.deepEqual(tasksOf(results().at(-1)), ["one"]);
  });

  const newestTried = () => {
    const tried = JSON.parse(fs.readFileSync(results().at(-1), "utf8")).trigger_results ?? [];
    return tried.map((each) => each.prompt).sort().join();
  };

  await step("a lens runs one trigger prompt", async () => {
    await editor.openFile(page, "trigger_tests.yaml", "Greet me");
    await editor.runByLens(page, "Run prompt", workspace);
    assert.equal(newestTried(), "Greet me");
  });

  await step("the tree runs one of them", async () => {
    const run = row("Say goodbye").locator('.action-label[aria-label="Run Test"]').first();
    const click = async () => {
      await row("Say goodbye").hover();
      await run.click({ timeout: 5_000 });
    };
    await editor.runOnce(page, workspace, click);
    assert.equal(newestTried(), "Say goodbye");
  });

  await step("several items selected in the tree are one run", async () => {
    const click = async () => {
      await row("Say goodbye").click();
      await row("Greet me").click({ modifiers: ["Control"] });
      await row("Greet me").hover();
      await row("Greet me").locator('.action-label[aria-label="Run Test"]').first().click({ timeout: 5_000 });
    };
    await editor.runOnce(page, workspace, click);
    assert.equal(newestTried(), "Greet me,Say goodbye");
    await state("Greet me", "passed");
    await state("Say goodbye", "passed");
  });

  await step("a later run in a terminal is shown next to the result", async () => {
    runInTerminal();
    await editor.waitUntil(page, "the newer run", async () => /stale: a newer run is recorded/u.test(await row("greeter").innerText()));
    await editor.waitUntil(page, "its icons to hold no longer", async () => (await row("Greets twice").locator(".computed-state.retired").count()) > 0);
  });

  await step("a suite in a folder that is created or deleted outside of VS Code appears in and disappears from the tree", async () => {
    const [away, here] = [path.join(workspace, "..", "away"), path.join(workspace, "second suite")];
    fs.mkdirSync(path.join(away, "tasks"), { recursive: true });
    fs.writeFileSync(path.join(away, "eval.yaml"), `name: newcomer\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
    fs.writeFileSync(path.join(away, "tasks", "one.yaml"), "id: one\nname: Comes and goes\ninputs:\n  prompt: Say hello\n");
    fs.renameSync(away, here);
    await row("newcomer").waitFor();
    const expand = async () => {
      await row("newcomer").click();
      await page.keyboard.press("ArrowRight");
    };
    await editor.repeatUntil(page, "its task", expand, () => row("Comes and goes").isVisible());
    fs.rmSync(path.join(here, "tasks"), { recursive: true });
    await row("Comes and goes").waitFor({ state: "detached" });
    fs.renameSync(here, away);
    await row("newcomer").waitFor({ state: "detached" });
  });

  await step("without its result file the result is stale", async () => {
    fs.rmSync(path.join(workspace, ".waza"), { recursive: true });
    await editor.waitUntil(page, "the row to say so", async () => /stale: its record is gone/u.test(await row("greeter").innerText()));
  });
}

function runInTerminal() {
  const { status, stderr } = spawnSync(options.python, ["-m", "waza_engine", "run", path.join(workspace, "eval.yaml")], { encoding: "utf8" });
  if (status > 1) throw new Error(stderr);
}

function results() {
  const folder = path.join(workspace, ".waza", "results");
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  return names.map((name) => path.join(folder, name)).sort((one, other) => fs.statSync(one).mtimeMs - fs.statSync(other).mtimeMs);
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
