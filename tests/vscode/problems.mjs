// What is wrong with a suite, in a real VS Code: before a file of it is opened, and in graders beside one that cannot be read.
//
//   node problems.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "suite");
fs.mkdirSync(path.join(workspace, "tasks"), { recursive: true });
write(
  "eval.yaml",
  `\
name: checked
skill: checked
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks:
  - tasks/one.yaml
  - tasks/gone.yaml
graders:
  - type: code
    name: counts
    config:
      assertions:
        - len(output) = 3
  - type: text
    name: unclosed
    config:
      contains: [hello
  - type: text
    name: speaks
    confg: {contains: [hello]}
`,
);
write("tasks/one.yaml", "id: one\nname: One\ninputs:\n  prompt: Say hello\n");

await play(scenario, { ...options, workspace });

async function scenario(page) {
  await step("a task file that is listed and missing is in the Problems list before its suite is opened", async () => {
    const row = page.locator(".markers-panel .monaco-list-row", { hasText: "tasks/gone.yaml" }).first();
    await editor.repeatUntil(page, "the problem", () => editor.command(page, "Problems: Focus on Problems View"), () => row.isVisible());
    await page.screenshot({ path: path.join(options.artifacts, "problems.png") });
  });

  await step("a grader that cannot be read costs no finding in those beside it", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.waitForSquiggle(page, "contains: [hello", "[hello");
    await editor.waitForSquiggle(page, "len(output) = 3", "=");
    await editor.waitForSquiggle(page, "confg:", "confg");
    await page.screenshot({ path: path.join(options.artifacts, "beside.png") });
  });

  await step("an assignment is told as one, and its fix compares", async () => {
    await editor.hover(page, "len(output) = 3", "=", "assigns and does not compare");
    await editor.applyQuickFix(page, "len(output) = 3", "=", "Compare with `==`");
    await editor.waitForLine(page, "len(output) == 3");
    await editor.waitForNoSquiggle(page, "len(output) == 3", "==");
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
