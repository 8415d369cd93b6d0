// Files of suites in the Explorer of a real VS Code: a rename and a deletion are undone with what they changed, and so is a new suite.
//
//   node moves.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "greeter");
for (const folder of ["tasks", "skills/tea"]) fs.mkdirSync(path.join(workspace, folder), { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const SUITE = `name: greeter\nskill: greeter\n${config}graders: []\ntasks:\n  - tasks/one.yaml\n  - tasks/two.yaml\n`;
write("eval.yaml", SUITE);
for (const name of ["one", "two"]) write(`tasks/${name}.yaml`, `id: ${name}\nname: ${name}\ninputs:\n  prompt: Say hello\n`);
write("skills/tea/SKILL.md", "---\nname: tea\ndescription: Brews tea. Use when asked for tea.\n---\nBrew it.\n");

// What is deleted for good must be asked about before an undo brings it back.
await play(scenario, { ...options, workspace, userSettings: { "explorer.confirmUndo": "light", "explorer.compactFolders": false } });

async function scenario(page) {
  const row = (name) => page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first();
  const inExplorer = async (name, key) => {
    await page.keyboard.press("Control+Shift+E");
    if (!(await row(name).isVisible())) await row("tasks").click();
    await row(name).click();
    await page.keyboard.press(key);
  };
  const agree = async () => {
    if (await page.locator(".monaco-dialog-box").isVisible()) await page.keyboard.press("Enter");
  };
  const undo = async () => {
    await page.keyboard.press("Control+Shift+E");
    await page.keyboard.press("Control+Z");
    await editor.repeatUntil(page, "the undo", agree, async () => !(await page.locator(".monaco-dialog-box").isVisible()));
  };
  const isSuite = (text) => text === fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8");
  const isThere = (name) => fs.existsSync(path.join(workspace, name));

  await step("a task is renamed in the Explorer, and its suite follows", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await page.locator(".codelens-decoration a", { hasText: "Run" }).first().waitFor();
    await inExplorer("one.yaml", "F2");
    await page.locator(".explorer-folders-view input").waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("first.yaml");
    await page.keyboard.press("Enter");
    await editor.repeatUntil(page, "the suite to follow", agree, () => isSuite(SUITE.replace("one.yaml", "first.yaml")));
  });

  await step("the undo of the rename restores the suite, too", async () => {
    await editor.repeatUntil(page, "the suite as it was", undo, () => isThere("tasks/one.yaml") && isSuite(SUITE));
  });

  await step("a task is deleted, and its entry goes with it", async () => {
    await inExplorer("one.yaml", "Delete");
    await editor.repeatUntil(page, "the entry to go", agree, () => !isThere("tasks/one.yaml") && isSuite(SUITE.replace("  - tasks/one.yaml\n", "")));
  });

  await step("the undo of the deletion restores the entry, too", async () => {
    await editor.repeatUntil(page, "the suite as it was", undo, () => isThere("tasks/one.yaml") && isSuite(SUITE));
  });

  await step("a new suite is shown before it is written", async () => {
    await editor.command(page, "Waza: New Suite");
    const skill = page.locator(".quick-input-list .monaco-list-row", { hasText: "tea" }).first();
    await skill.waitFor();
    await page.keyboard.press("Enter");
    const dialog = page.locator(".monaco-dialog-box", { hasText: "evals/tea/trigger_tests.yaml" });
    await dialog.waitFor();
    await page.screenshot({ path: path.join(artifacts, "preview.png") });
    if (isThere("evals/tea/eval.yaml")) throw new Error("it was written before it was taken");
    await editor.repeatUntil(page, "the suite", agree, () => isThere("evals/tea/eval.yaml") && isThere("evals/tea/fixtures/example.md"));
    await editor.waitForLine(page, "name: tea-eval");
    await page.screenshot({ path: path.join(artifacts, "suite.png") });
  });

  await step("one undo takes all of it away", async () => {
    await undo();
    await page.screenshot({ path: path.join(artifacts, "undo.png") });
    await editor.repeatUntil(page, "its files to go", agree, () => !isThere("evals/tea/eval.yaml") && !isThere("evals/tea/trigger_tests.yaml"));
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
