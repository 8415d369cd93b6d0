// What a run is to be like, in a real VS Code: the lens beside the run, the choices, the run that follows them; what it
// will cost, on the lens and before it passes the limit.
//
//   node choices.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "greeter");
fs.mkdirSync(path.join(workspace, "tasks"), { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - Say hello\n";
write("eval.yaml", `name: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
write("tasks/one.yaml", "id: one\nname: Greets once\ninputs:\n  prompt: Say hello\n");

fs.mkdirSync(path.join(workspace, ".vscode"));
write(".vscode/settings.json", JSON.stringify({ "waza.run.maxCost": 0.1 }));
fs.mkdirSync(path.join(workspace, "priced", ".waza", "results"), { recursive: true });
const priced = "config: {trials_per_task: 2, timeout_seconds: 60, executor: openai, model: gpt-4o}\n";
const inline = "tasks:\n  - id: only\n    inputs:\n      prompt: Say hello\n";
write("priced/eval.yaml", `name: priced\nskill: priced\n${priced}${inline}${graders}`);
const trial = { run_number: 1, status: "passed", duration_ms: 90_000, validations: {}, usage: { input_tokens: 80_000 }, cost: { usd: 0.21 } };
const record = {
  schemaVersion: "1.4",
  eval_name: "priced",
  timestamp: "2026-05-01T10:00:00Z",
  config: { engine_type: "openai", model_id: "gpt-4o", runs_per_test: 1 },
  metadata: { engine: { eval_file: "eval.yaml", status: "completed" } },
  summary: { total_tests: 1, duration_ms: 90_000 },
  tasks: [{ test_id: "only", status: "passed", runs: [trial] }],
};
write("priced/.waza/results/20260501T100000Z-first.json", JSON.stringify(record));

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const list = page.locator(".quick-input-widget");

  await step("the lens beside the run asks what it is to be like", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.clickLens(page, "…", "the choices", async () => (await list.locator(".monaco-list-row", { hasText: "Trials" }).count()) > 0);
    for (const text of ["Run", "Model", "Executor", "Judge's model", "At the same time", "Limit of cost$0.1", "Without cache", "Keep workspaces"]) {
      await list.locator(".monaco-list-row", { hasText: text }).first().waitFor();
    }
  });

  await step("models are offered, and any other can be typed", async () => {
    const row = (text) => list.locator(".monaco-list-row", { hasText: text }).first();
    await editor.repeatUntil(page, "the models", () => row(/^\S*.?Model/u).click({ timeout: 5_000 }), () => row("used in this project").isVisible());
    await list.locator("input:not([type=checkbox])").first().fill("our-own-model");
    await row("as it is typed").waitFor();
    await page.keyboard.press("Enter");
    await row(/Model.*our-own-model/u).waitFor();
  });

  await step("a choice leads back to the list, which shows it", async () => {
    const row = (text) => list.locator(".monaco-list-row", { hasText: text }).first();
    // The box for the number has the input of the list: it is there when the list is gone.
    await editor.repeatUntil(page, "the box for the number", () => row("Trials").click({ timeout: 5_000 }), async () => !(await row("Executor").isVisible()));
    await list.locator("input:not([type=checkbox])").first().fill("2");
    await page.keyboard.press("Enter");
    await row(/Trials.*2/).waitFor();
    const chosen = row("Keep workspaces").locator(".codicon-check").first();
    await editor.repeatUntil(page, "the mark of the choice", () => row("Keep workspaces").click({ timeout: 5_000 }), () => chosen.isVisible());
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "choices.png") });
  });

  await step("the run is as it was chosen", async () => {
    const rows = list.locator(".monaco-list-row");
    await editor.repeatUntil(page, "the list to close", () => rows.first().click({ timeout: 5_000 }), async () => !(await rows.first().isVisible()));
    await editor.waitUntil(page, "results", () => results().length > 0);
    const runs = JSON.parse(fs.readFileSync(results()[0], "utf8")).tasks[0].runs;
    if (runs.length !== 2) throw new Error(`it made ${runs.length} trials`);
    if (JSON.parse(fs.readFileSync(results()[0], "utf8")).config.model_id !== "our-own-model") throw new Error("it asked another model");
    if (!runs.every((run) => fs.existsSync(run.workspace_dir))) throw new Error("no workspace was kept");
  });

  await step("the lens of a suite that an agent has run says what the next run will cost and take", async () => {
    await editor.openFile(page, "priced/eval.yaml", "gpt-4o");
    await page.locator(".codelens-decoration a", { hasText: "Run suite · ≈ $0.42 · 3 min · 2 trials" }).first().waitFor();
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "estimate.png") });
  });

  await step("before the run passes the limit of the settings it asks, and Cancel runs nothing", async () => {
    const question = page.locator(".monaco-dialog-box", { hasText: "expected to cost $0.42, and the limit is $0.10" });
    await editor.clickLens(page, "Run suite ·", "the question", async () => (await question.count()) > 0);
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "limit.png") });
    await question.locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.waitUntil(page, "the question to go", async () => (await question.count()) === 0);
    if (fs.readdirSync(path.join(workspace, "priced", ".waza", "results")).length !== 1) throw new Error("it ran");
  });
}

function results() {
  const folder = path.join(workspace, ".waza", "results");
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  return names.map((name) => path.join(folder, name));
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
