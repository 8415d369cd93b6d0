// After the click, in a real VS Code: commands where they work, the page of a result with its buttons, two runs side by side.
//
//   node results.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "greeter");
for (const folder of ["tasks", ".vscode"]) fs.mkdirSync(path.join(workspace, folder), { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - hello\n";
write(".vscode/settings.json", JSON.stringify({ "waza.live.enable": "off", "waza.run.keepWorkspaces": true }));
write("eval.yaml", `name: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
write("tasks/one.yaml", "id: one\nname: Greets\ninputs:\n  prompt: Say hello\n");
write("notes.yaml", "notes: of another kind\n");

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const offered = async (title, wanted) =>
    editor.waitUntil(page, `${wanted ? "" : "no "}"${title}"`, async () => (await editor.commandsOffered(page, "Waza: ")).includes(title) === wanted);

  await step("without a file what needs one is not offered", async () => {
    await offered("Waza: Show Log", true);
    const titles = await editor.commandsOffered(page, "Waza: ");
    assert.deepEqual(titles.filter((title) => /Run|Result|Task|Grader/u.test(title)), []);
  });

  await step("nor in a file of another kind", async () => {
    await editor.openFile(page, "notes.yaml", "notes");
    await offered("Waza: Run Suite", false);
  });

  await step("a suite can be run, and has no result yet", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await offered("Waza: Run Suite", true);
    await offered("Waza: Open Result", false);
  });

  await step("the button of its tab runs it, and then there is a result", async () => {
    const button = page.locator('.title .action-label[aria-label*="Run Suite"]').first();
    await editor.repeatUntil(page, "a result", () => button.click({ timeout: 10_000 }), () => Promise.resolve(results().length > 0));
    await offered("Waza: Open Result", true);
  });
}

function results() {
  const folder = path.join(workspace, ".waza", "results");
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
