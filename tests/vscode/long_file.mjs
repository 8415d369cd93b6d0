// A file with hundreds of graders: lenses are where one looks, at the beginning, at the end, and while one types.
//
//   node long_file.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const GRADERS = 600;
const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "long");
fs.mkdirSync(path.join(workspace, "tasks"), { recursive: true });
const head = "name: long\nskill: long\nconfig: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\ntasks: ['tasks/*.yaml']\n";
const graders = Array.from({ length: GRADERS }, (_, at) => `  - type: text\n    name: grader-${at}\n    config:\n      contains: [hello]\n`);
fs.writeFileSync(path.join(workspace, "eval.yaml"), `${head}graders:\n${graders.join("")}`);
fs.writeFileSync(path.join(workspace, "tasks", "one.yaml"), "id: one\nname: One\ninputs: {prompt: Say hello}\n");

await play(scenario, { ...options, workspace, userSettings: { "editor.wordBasedSuggestions": "off" } });

async function scenario(page) {
  const lens = (title) => page.locator(".codelens-decoration a:visible", { hasText: title }).first();
  const line = (text) => page.locator(".editor-instance .view-line", { hasText: text }).first();

  await step("the lenses of the beginning are there", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await lens("Run suite").waitFor();
    await lens("Run grader").waitFor();
  });

  await step("at the end are those of the end", async () => {
    const go = async () => {
      await page.locator(".editor-instance .view-line").first().click();
      await page.keyboard.press("Control+End");
    };
    await editor.repeatUntil(page, "the end", go, () => line(`grader-${GRADERS - 1}`).isVisible());
    await lens("Run grader").waitFor();
    if (await lens("Run suite").isVisible()) throw new Error("the lens of the first line is in view at the end");
  });

  await step("they stay while one types", async () => {
    await page.keyboard.type("# a comment");
    await line("a comment").waitFor();
    await lens("Run grader").waitFor();
  });

  await step("and back at the beginning are those of the beginning", async () => {
    await editor.repeatUntil(page, "the beginning", () => page.keyboard.press("Control+Home"), () => line("name: long").isVisible());
    await lens("Run suite").waitFor();
  });
}
