// From an empty eval.yaml to a score in two clicks, in a workspace with only a skill; from a new skill to its suite, with the lenses of
// its SKILL.md. Undoing a rename, a deletion and a new suite also reverts their edits.
//
//   node starting.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";
import { processesOf } from "./workbench.mjs";

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

// Only files that are deleted permanently, after a question, can be restored by undo.
await play(scenario, { ...options, workspace, userSettings: { "explorer.confirmUndo": "light", "explorer.compactFolders": false } });

async function scenario(page) {
  await step("the server starts before any file is opened", () =>
    editor.waitUntil(page, "the server", () => Promise.resolve(processesOf(path.join(path.resolve(options.artifacts), "home"), ["waza_language_server"]).length > 0)));

  await step("the empty file opens", () => editor.openFile(page, "eval.yaml", ""));

  await step("the suggestions offer a suite for the skill", async () => {
    const offer = page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "New suite for skill pdf-filler" }).first();
    await page.locator(".codelens-decoration a", { hasText: "New suite for skill pdf-filler" }).first().waitFor();
    await page.locator(".editor-instance .view-lines").first().click();
    await page.keyboard.press("Control+Space");
    await offer.waitFor();
    await page.keyboard.press("Escape");
  });

  await step("one click on the lens creates it", async () => {
    await editor.createSuite(page, "pdf-filler", () =>
      page.locator(".editor-instance .view-line", { hasText: /skill:.pdf-filler/u }).first().isVisible());
    await editor.waitUntil(page, "its other files", async () => fs.existsSync(path.join(suite, "fixtures", "example.md")));
  });

  await step("the next click runs it, and a score appears", async () => {
    await page.keyboard.press("Control+Home");
    await editor.runByLens(page, "Run suite", suite);
    await page.screenshot({ path: path.join(options.artifacts, "starting.png") });
    assert.ok(fs.readFileSync(path.join(suite, "eval.yaml"), "utf8").includes("skill: pdf-filler"));
  });

  await step("the walkthrough runs the only suite", async () => {
    const walkthrough = page.locator(".gettingStartedContainer");
    const run = walkthrough.locator(".monaco-button", { hasText: "Run Suite" }).first();
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
    await editor.runOnce(page, suite, () => run.click({ timeout: 5_000 }));
    await page.locator(".tab.active", { hasText: "eval.yaml" }).first().waitFor();
  });

  await step("without a skill, a new suite begins with one", async () => {
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

  const written = path.join(workspace, "skills", "form-reader", "SKILL.md");
  const text = "---\nname: form-reader\ndescription: Reads forms. Use when asked to read a form.\n---\n# Form reader\n\n## Parameters\n- signature: Who signs it\n";

  await step("the new skill has a lens that creates and opens a suite", async () => {
    fs.writeFileSync(written, text);
    await editor.waitForLine(page, "# Form reader");
    await editor.createSuite(page, "form-reader", () =>
      page.locator(".tab.active", { hasText: "eval.yaml" }).first().isVisible());
  });

  await step("then the skill has a lens that runs it, and is saved first", async () => {
    await editor.openFile(page, "SKILL.md", "name: form-reader");
    await page.locator(".codelens-decoration a", { hasText: "Run evals of this skill" }).first().waitFor();
    await page.locator(".editor-instance .view-line", { hasText: /#.Form.reader/u }).first().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("Read every field.");
    await editor.runByLens(page, "Run evals of this skill", path.join(workspace, "evals", "form-reader"));
    if (!fs.readFileSync(written, "utf8").includes("Read every field.")) throw new Error("the skill was not saved before the run");
  });

  await step("its description shows how many tests name each promise", () =>
    editor.waitUntil(page, "a promise without a test", async () => (await editor.hintsOn(page, "signature")).includes("no test")));

  await step("its first line shows the verdict, and later that it is stale", async () => {
    const hinted = (pattern) => async () => (await editor.hintsOn(page, "---")).some((hint) => pattern.test(hint));
    await editor.waitUntil(page, "the verdict", hinted(/\d\/\d.tasks/u));
    await page.screenshot({ path: path.join(options.artifacts, "skill.png") });
    fs.writeFileSync(written, `${text}Read every field.\nAnd sign it.\n`);
    await editor.waitUntil(page, "a stale verdict", hinted(/stale/u));
  });

  const shop = path.join(workspace, "shop");
  const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
  const SUITE = `name: greeter\nskill: greeter\n${config}graders: []\ntasks:\n  - cases/one.yaml\n  - cases/two.yaml\n`;
  const row = (name) => page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first();
  const inExplorer = async (name, key) => {
    await page.keyboard.press("Control+Shift+E");
    if (!(await row(name).isVisible())) await row("cases").click();
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
  const isSuite = (text) => text === fs.readFileSync(path.join(shop, "eval.yaml"), "utf8");
  const isThere = (name) => fs.existsSync(path.join(workspace, name));

  await step("renaming a task file in the Explorer updates its suite", async () => {
    fs.mkdirSync(path.join(shop, "cases"), { recursive: true });
    fs.mkdirSync(path.join(workspace, "skills", "tea"), { recursive: true });
    fs.writeFileSync(path.join(shop, "eval.yaml"), SUITE);
    for (const name of ["one", "two"]) fs.writeFileSync(path.join(shop, "cases", `${name}.yaml`), `id: ${name}\nname: ${name}\ninputs:\n  prompt: Say hello\n`);
    fs.writeFileSync(path.join(workspace, "skills", "tea", "SKILL.md"), "---\nname: tea\ndescription: Brews tea. Use when asked for tea.\n---\nBrew it.\n");
    await editor.openFile(page, "shop/eval.yaml", "name: greeter");
    await page.locator(".codelens-decoration a", { hasText: "Run" }).first().waitFor();
    await inExplorer("one.yaml", "F2");
    await page.locator(".explorer-folders-view input").waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("first.yaml");
    await page.keyboard.press("Enter");
    await editor.repeatUntil(page, "the suite to follow", agree, () => isSuite(SUITE.replace("one.yaml", "first.yaml")));
  });

  await step("undoing the rename restores the suite", async () => {
    await editor.repeatUntil(page, "the suite as it was", undo, () => isThere("shop/cases/one.yaml") && isSuite(SUITE));
  });

  await step("deleting a task file removes its entry", async () => {
    await inExplorer("one.yaml", "Delete");
    await editor.repeatUntil(page, "the entry to go", agree, () => !isThere("shop/cases/one.yaml") && isSuite(SUITE.replace("  - cases/one.yaml\n", "")));
  });

  await step("undoing the deletion restores the entry", async () => {
    await editor.repeatUntil(page, "the suite as it was", undo, () => isThere("shop/cases/one.yaml") && isSuite(SUITE));
  });

  await step("the files of a new suite are shown before they are created", async () => {
    await editor.command(page, "Waza: New Suite");
    const skill = page.locator(".quick-input-list .monaco-list-row", { hasText: "tea" }).first();
    await skill.click();
    const dialog = page.locator(".monaco-dialog-box", { hasText: "evals/tea/trigger_tests.yaml" });
    await dialog.waitFor();
    await page.screenshot({ path: path.join(options.artifacts, "preview.png") });
    if (isThere("evals/tea/eval.yaml")) throw new Error("it was written before it was taken");
    await editor.repeatUntil(page, "the suite", agree, () => isThere("evals/tea/eval.yaml") && isThere("evals/tea/fixtures/example.md"));
    await editor.waitForLine(page, "name: tea-eval");
    await page.screenshot({ path: path.join(options.artifacts, "suite.png") });
  });

  await step("one undo removes all of them", async () => {
    await undo();
    await page.screenshot({ path: path.join(options.artifacts, "undo.png") });
    await editor.repeatUntil(page, "its files to go", agree, () => !isThere("evals/tea/eval.yaml") && !isThere("evals/tea/trigger_tests.yaml"));
  });
}
