// From an empty eval.yaml to a score, in a workspace that has nothing but a skill: two clicks.
//
//   node starting.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
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

await play(scenario, { ...options, workspace });

async function scenario(page) {
  await step("the empty file opens", () => editor.openFile(page, "eval.yaml", ""));

  await step("the list offers a suite for the skill", async () => {
    const offer = page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "New suite for skill pdf-filler" }).first();
    await page.locator(".codelens-decoration a", { hasText: "New suite for skill pdf-filler" }).first().waitFor();
    await page.locator(".editor-instance .view-lines").first().click();
    await page.keyboard.press("Control+Space");
    await offer.waitFor();
    await page.keyboard.press("Escape");
  });

  await step("one click on the lens makes it", async () => {
    await editor.makeSuite(page, "pdf-filler", () =>
      page.locator(".editor-instance .view-line", { hasText: /skill:.pdf-filler/u }).first().isVisible());
    await editor.waitUntil(page, "its other files", async () => fs.existsSync(path.join(suite, "fixtures", "example.md")));
  });

  await step("the next click runs it, and a score appears", async () => {
    await page.keyboard.press("Control+Home");
    await editor.clickLens(page, "Run suite", "a result", async () => {
      const results = path.join(suite, ".waza", "results");
      return fs.existsSync(results) && fs.readdirSync(results).some((name) => name.endsWith(".json"));
    });
    await page.screenshot({ path: path.join(options.artifacts, "starting.png") });
    assert.ok(fs.readFileSync(path.join(suite, "eval.yaml"), "utf8").includes("skill: pdf-filler"));
  });

  await step("the walkthrough, which is no file, runs the suite that there is", async () => {
    const walkthrough = page.locator(".gettingStartedContainer");
    const run = walkthrough.locator(".monaco-button", { hasText: "Run Suite" }).first();
    const results = () => fs.readdirSync(path.join(suite, ".waza", "results")).filter((name) => name.endsWith(".json")).length;
    const before = results();
    const open = async () => {
      if (!(await walkthrough.getByText("Run it for free").first().isVisible())) {
        await editor.command(page, "Welcome: Open Walkthrough");
        await page.locator(".quick-input-list .monaco-list-row", { hasText: "Evaluate a skill" }).first().click({ timeout: 5_000 });
      }
      await walkthrough.getByText("Run it for free").first().click({ timeout: 5_000 });
    };
    await editor.repeatUntil(page, "the step of the walkthrough", open, () => run.isVisible());
    await page.screenshot({ path: path.join(options.artifacts, "walkthrough.png") });
    assert.deepEqual((await walkthrough.allInnerTexts()).filter((text) => text.includes("`")), []);
    await editor.repeatUntil(page, "another result", () => run.click({ timeout: 5_000 }), async () => results() > before);
    await page.locator(".tab.active", { hasText: "eval.yaml" }).first().waitFor();
  });

  await step("without a skill a new suite begins with one", async () => {
    fs.rmSync(path.join(workspace, "skills"), { recursive: true });
    const begin = page.locator(".notification-toast a.monaco-button", { hasText: "New SKILL.md" }).first();
    await editor.repeatUntil(page, "the offer", () => editor.command(page, "Waza: New Suite…"), () => begin.isVisible());
    const question = page.locator(".quick-input-widget", { hasText: "New SKILL.md" });
    await editor.repeatUntil(page, "the question for its name", () => begin.click({ timeout: 5_000 }), () => question.isVisible());
    await question.locator("input:not([type=checkbox])").fill("form-reader");
    await page.keyboard.press("Enter");
    await page.locator(".codelens-decoration a", { hasText: "New suite for skill form-reader" }).first().waitFor();
    assert.match(fs.readFileSync(path.join(workspace, "skills", "form-reader", "SKILL.md"), "utf8"), /^name: form-reader$/mu);
  });
}
