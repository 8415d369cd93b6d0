// From the extension just installed to the first score, timed: a bare profile, a Python that has nothing of ours, an empty eval.yaml.
//
//   node first_score.mjs --vsix FILE --artifacts FOLDER --path DIRECTORIES
//
// Each step prints its milliseconds, and the seconds since the window was asked for.

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { vsix: { type: "string" }, artifacts: { type: "string" }, path: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "repository");
const skill = path.join(workspace, "skills", "pdf-filler");
const suite = path.join(workspace, "evals", "pdf");
fs.mkdirSync(skill, { recursive: true });
fs.mkdirSync(suite, { recursive: true });
fs.writeFileSync(
  path.join(skill, "SKILL.md"),
  "---\nname: pdf-filler\ndescription: Fills PDF forms. Use when asked to fill a form.\n---\n# PDF filler\n",
);
fs.writeFileSync(path.join(suite, "eval.yaml"), "");

await play(scenario, { ...options, workspace, environment: { PATH: options.path } });

async function scenario(page) {
  await step("the empty file opens", () => editor.openFile(page, "eval.yaml", ""));

  await step("one click makes the environment of the language server", async () => {
    const create = page.locator(".notification-toast a.monaco-button", { hasText: "Create Environment" }).first();
    await create.click();
    const lens = page.locator(".codelens-decoration a", { hasText: "New suite for skill pdf-filler" }).first();
    await lens.waitFor({ timeout: 120_000 });
  });

  await step("two clicks make the suite", () =>
    editor.makeSuite(page, "pdf-filler", () =>
      page.locator(".editor-instance .view-line", { hasText: /skill:.pdf-filler/u }).first().isVisible(),
    ),
  );

  await step("one key saves it, one click runs it, and the score stands there", async () => {
    await page.keyboard.press("Control+S");
    await page.keyboard.press("Control+Home");
    const scored = async () => (await page.locator('.view-line span[class*="dyn-rule"]', { hasText: /[✓✗◐]/u }).count()) > 0;
    await editor.clickLens(page, "Run suite", "a result", () => fs.existsSync(path.join(suite, ".waza", "results")));
    await editor.waitUntil(page, "a score", scored);
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "first_score.png") });
  });
}
