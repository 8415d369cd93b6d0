// What a run is to be like, in a real VS Code: the lens beside the run, the choices, the run that follows them.
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

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const list = page.locator(".quick-input-widget");

  await step("the lens beside the run asks what it is to be like", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.clickLens(page, "…", "the choices", async () => (await list.locator(".monaco-list-row", { hasText: "Trials" }).count()) > 0);
    for (const text of ["Run", "Model", "Executor", "Without cache", "Keep workspaces"]) {
      await list.locator(".monaco-list-row", { hasText: text }).first().waitFor();
    }
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
    await list.locator(".monaco-list-row").first().click();
    await editor.waitUntil(page, "results", () => results().length > 0);
    const runs = JSON.parse(fs.readFileSync(results()[0], "utf8")).tasks[0].runs;
    if (runs.length !== 2) throw new Error(`it made ${runs.length} trials`);
    if (!runs.every((run) => fs.existsSync(run.workspace_dir))) throw new Error("no workspace was kept");
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
