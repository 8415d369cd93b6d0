// Verdicts of a run in a real VS Code: badges, gutter icons, stale marks and their diff, a re-grade.
//
//   node marks.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";
import { processesOf } from "./workbench.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "greeter");
for (const folder of ["tasks", ".vscode"]) fs.mkdirSync(path.join(workspace, folder), { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - hello\n";
const skill = "---\nname: greeter\ndescription: Greets.\n---\nGreet them.\n";
// Live verdicts are off, so that only the lens re-grades.
write(".vscode/settings.json", JSON.stringify({ "waza.live.enable": "off" }));
write("SKILL.md", skill);
write("eval.yaml", `name: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
write("tasks/good.yaml", "id: good\nname: Good\ninputs:\n  prompt: Say hello\n");
write("tasks/wrong.yaml", "id: wrong\nname: Wrong\ninputs:\n  prompt: Say nothing\n");

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const glyphs = () => page.locator(".editor-instance .glyph-margin-widgets .cgmr, .editor-instance .margin-view-overlays .cgmr");
  const icons = () => glyphs().evaluateAll((found) => found.filter((each) => getComputedStyle(each).backgroundImage.includes("svg")).length);
  const isBadged = () =>
    page.locator('.explorer-folders-view .monaco-list-row[aria-label*="eval.yaml"] .monaco-icon-label').evaluateAll((found) =>
      found.some((each) => getComputedStyle(each, "::after").content.includes("✗")));
  // An active run has a journal, which is not a result file.
  const records = () => fs.readdirSync(path.join(workspace, ".waza", "results")).filter((name) => name.endsWith(".json")).length;
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = async (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));

  await step("the shortcut runs the suite before the file has lenses", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await page.locator(".statusbar-item", { hasText: "YAML" }).waitFor(); // before, VS Code knows no languages and keys of extensions
    const press = () => page.keyboard.press("Control+Alt+E"); // even now it drops one on a slow machine
    await editor.runOnce(page, workspace, press);
    await page.locator(".notification-toast", { hasText: "greeter" }).first().waitFor({ timeout: 60_000 });
    await hintOn("name: greeter", /✗.1.of.2.tasks/u);
  });

  await step("icons in the gutter show failures", () => editor.waitUntil(page, "icons in the gutter", async () => (await icons()) >= 1));

  await step("a passing task keeps the failed icon of the suite", async () => {
    await editor.openFile(page, "good.yaml", "id: good");
    await editor.runByLens(page, "Run task", workspace);
    await hintOn("id: good", /✓/u);
    await editor.openFile(page, "eval.yaml", "graders:");
    const glyph = (verdict) => page.locator(`.editor-instance .testing-run-glyph.codicon-testing-${verdict}-icon`);
    await glyph("failed").first().waitFor();
    await page.screenshot({ path: path.join(artifacts, "task.png") });
    if ((await glyph("passed").count()) > 0) throw new Error("the suite's icon is green");
    await editor.runByLens(page, "Run suite", workspace);
    await hintOn("name: greeter", /✗.1.of.2.tasks/u);
  });

  await step("failed files have a badge in the Explorer and on their tab", async () => {
    await page.keyboard.press("Control+Shift+E");
    await editor.waitUntil(page, "the badge of eval.yaml", isBadged);
  });

  await step("the lens of a grader grades the record again, without the agent", async () => {
    const before = records();
    await editor.openFile(page, "eval.yaml", "graders:");
    const lens = page.locator(".codelens-decoration a", { hasText: "Re-grade" }).last();
    await lens.waitFor();
    await editor.repeatUntil(page, "a verdict that was judged again", () => lens.click(), () => hasHint("name: speaks", /↻/u));
    if (records() !== before) throw new Error("the agent ran again");
  });

  await step("a changed skill makes scores stale, with the number of lines", async () => {
    write("SKILL.md", skill.replace("Greet them.", "Greet them warmly.\nAnd briefly."));
    await hintOn("name: greeter", /stale:.SKILL\.md.\+2.−1/u);
    await page.screenshot({ path: path.join(artifacts, "stale.png") });
  });

  await step("the stale mark opens the diff", async () => {
    const mark = page.locator('.view-line span[class*="dyn-rule"]', { hasText: /stale:.SKILL/u }).first();
    const link = page.locator(".monaco-hover a", { hasText: /SKILL\.md/u }).first();
    const diff = page.locator(".diff-editor, .monaco-diff-editor").first();
    const follow = async () => {
      await editor.hoverUntilShown(page, mark, link);
      await link.click();
    };
    await editor.repeatUntil(page, "the diff of the skill", follow, () => diff.isVisible());
    await page.locator(".monaco-diff-editor .original .view-line", { hasText: /Greet.them\./u }).first().waitFor();
    await page.locator(".monaco-diff-editor .modified .view-line", { hasText: /warmly/u }).first().waitFor();
    await page.screenshot({ path: path.join(artifacts, "diff.png") });
  });

  await step("re-grading with a corrected grader turns the suite and its files green", async () => {
    const written = fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8");
    write("eval.yaml", written.replace("- hello", "- say"));
    await editor.openFile(page, "eval.yaml", "- say");
    const passes = () => hasHint("name: greeter", /^↻.✓.2\/2.tasks/u);
    await editor.repeatUntil(page, "the verdict of now", () => page.locator(".codelens-decoration a", { hasText: "Re-grade" }).first().click(), passes);
    await page.locator(".statusbar-item", { hasText: /↻ greeter: 2 of 2 tasks passed/u }).first().waitFor();
    await page.keyboard.press("Control+Shift+E");
    await editor.waitUntil(page, "no badge", async () => !(await isBadged()));
    await page.screenshot({ path: path.join(artifacts, "regraded.png") });
    write("eval.yaml", written);
    await editor.waitForLine(page, "- hello");
  });

  await step("failures next to an invalid task file can be shown, and its mark has the reason", async () => {
    write("tasks/broken.yaml", 'id: broken\nname: "Broken\n');
    await editor.openFile(page, "eval.yaml", "graders:");
    const told = page.locator(".notification-toast", { hasText: /1 failed, 1 in error.*broken\.yaml:\d+: the YAML is broken/u });
    await editor.clickLens(page, "Run suite", "the message", () => told.locator("a.monaco-button", { hasText: "Show Failures" }).first().isVisible());
    await page.locator(".statusbar-item", { hasText: /1 of 3 tasks passed, 1 failed, 1 in error/u }).first().waitFor();
    await editor.openFile(page, "broken.yaml", "id: broken");
    await hintOn("id: broken", /^!.the.YAML.is.broken/u);
    await page.screenshot({ path: path.join(artifacts, "broken.png") });
  });

  await step("a server that keeps stopping loses all marks, and a button restarts it", async () => {
    const message = page.locator(".notification-toast", { hasText: "keeps stopping" });
    const areDrawn = async () => (await icons()) > 0 && (await isBadged());
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.waitUntil(page, "the marks", areDrawn);
    const servers = () => processesOf(path.join(artifacts, "home"), ["waza_language_server", "--stdio"]);
    while (!(await message.isVisible())) {
      const killed = servers();
      for (const pid of killed) process.kill(Number(pid), "SIGKILL");
      const isNew = () => servers().some((pid) => !killed.includes(pid));
      await editor.waitUntil(page, "another server", async () => isNew() || (await message.isVisible()));
      await page.waitForTimeout(1_500); // until it has answered
    }
    await editor.waitUntil(page, "no mark", async () => (await icons()) === 0 && !(await isBadged()));
    await message.locator("a.monaco-button", { hasText: "Restart Server" }).click();
    await editor.waitUntil(page, "the marks again", areDrawn);
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
