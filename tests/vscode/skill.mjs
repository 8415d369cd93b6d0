// A folder that has nothing but a skill: its SKILL.md makes the suite, runs it, and shows how it came out.
//
//   node skill.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";
import { processesOf } from "./workbench.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "repository");
const skill = path.join(workspace, "skills", "pdf-filler", "SKILL.md");
const text = "---\nname: pdf-filler\ndescription: Fills PDF forms. Use when asked to fill a form.\n---\n# PDF filler\n\n## Parameters\n- signature: Who signs it\n";
fs.mkdirSync(path.dirname(skill), { recursive: true });
fs.writeFileSync(skill, text);

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const results = path.join(workspace, "evals", "pdf-filler", ".waza", "results");
  const openSkill = () => editor.openFile(page, "SKILL.md", "name: pdf-filler");

  await step("the server starts before any file is opened", () =>
    editor.waitUntil(page, "the server", () => Promise.resolve(processesOf(path.join(artifacts, "home"), ["waza_language_server"]).length > 0)));

  await step("the skill offers a suite, which opens when it is made", async () => {
    await openSkill();
    await editor.makeSuite(page, "pdf-filler", () =>
      page.locator(".tab.active", { hasText: "eval.yaml" }).first().isVisible());
  });

  await step("from then on the skill runs it, saved as it is typed", async () => {
    await openSkill();
    await page.locator(".codelens-decoration a", { hasText: "Run evals of this skill" }).first().waitFor();
    await page.locator(".editor-instance .view-line", { hasText: /#.PDF.filler/u }).first().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("Fill every field.");
    await editor.clickLens(page, "Run evals of this skill", "a result", () =>
      Promise.resolve(fs.existsSync(results) && fs.readdirSync(results).some((name) => name.endsWith(".json"))));
    if (!fs.readFileSync(skill, "utf8").includes("Fill every field.")) throw new Error("the skill was not saved before the run");
  });

  await step("what it promises says how many tests name it", () =>
    editor.waitUntil(page, "a promise without a test", async () => (await editor.hintsOn(page, "signature")).includes("no test")));

  await step("its first line tells how it came out, and later that this is stale", async () => {
    const hinted = (pattern) => async () => (await editor.hintsOn(page, "---")).some((hint) => pattern.test(hint));
    await editor.waitUntil(page, "the verdict", hinted(/\d\/\d.tasks/u));
    await page.screenshot({ path: path.join(artifacts, "skill.png") });
    fs.writeFileSync(skill, `${text}Fill every field.\nAnd sign it.\n`);
    await editor.waitUntil(page, "a stale verdict", hinted(/stale/u));
  });
}
