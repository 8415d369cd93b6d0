// What a run came to, as it is seen in a real VS Code: badges, gutter icons, stale marks and their diff, a re-grade.
//
//   node marks.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "greeter");
for (const folder of ["tasks", ".vscode"]) fs.mkdirSync(path.join(workspace, folder), { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - hello\n";
const skill = "---\nname: greeter\ndescription: Greets.\n---\nGreet them.\n";
// Without verdicts as one types, so that it is the lens that judges again.
write(".vscode/settings.json", JSON.stringify({ "waza.live.enable": "off" }));
write("SKILL.md", skill);
write("eval.yaml", `name: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
write("tasks/good.yaml", "id: good\nname: Good\ninputs:\n  prompt: Say hello\n");
write("tasks/wrong.yaml", "id: wrong\nname: Wrong\ninputs:\n  prompt: Say nothing\n");

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const glyphs = () => page.locator(".editor-instance .glyph-margin-widgets .cgmr, .editor-instance .margin-view-overlays .cgmr");
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = async (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));

  await step("the suite runs", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.clickLens(page, "Run suite", "a run", () => page.locator(".notification-toast", { hasText: "greeter" }).first().isVisible());
    await hintOn("name: greeter", /✗.1\/2.tasks/u);
  });

  await step("icons in the gutter tell what failed", async () =>
    editor.waitUntil(page, "icons in the gutter", async () => {
      const icons = await glyphs().evaluateAll((found) => found.filter((each) => getComputedStyle(each).backgroundImage.includes("svg")).length);
      return icons >= 2;
    }),
  );

  await step("files that failed have a badge in the Explorer and at their tab", async () => {
    await page.keyboard.press("Control+Shift+E");
    await editor.waitUntil(page, "the badge of eval.yaml", async () =>
      (await page.locator('.explorer-folders-view .monaco-list-row[aria-label*="eval.yaml"] .monaco-icon-label').evaluateAll((found) =>
        found.some((each) => getComputedStyle(each, "::after").content.includes("✗")))));
  });

  await step("the lens of a grader grades the record again, without the agent", async () => {
    const before = fs.readdirSync(path.join(workspace, ".waza", "results")).length;
    await editor.openFile(page, "eval.yaml", "graders:");
    const lens = page.locator(".codelens-decoration a", { hasText: "Re-grade" }).last();
    await lens.waitFor();
    await editor.repeatUntil(page, "a verdict that was judged again", () => lens.click(), () => hasHint("name: speaks", /↻/u));
    if (fs.readdirSync(path.join(workspace, ".waza", "results")).length !== before) throw new Error("the agent ran again");
  });

  await step("a skill that changed makes scores stale, by how many lines", async () => {
    write("SKILL.md", skill.replace("Greet them.", "Greet them warmly.\nAnd briefly."));
    await hintOn("name: greeter", /stale:.SKILL\.md.\+2.−1/u);
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "stale.png") });
  });

  await step("the mark opens what changed", async () => {
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
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "diff.png") });
  });

  await step("what failed beside a task file that is broken can be walked, and its mark says what is wrong", async () => {
    write("tasks/broken.yaml", 'id: broken\nname: "Broken\n');
    await editor.openFile(page, "eval.yaml", "graders:");
    const told = page.locator(".notification-toast", { hasText: /1 failed, 1 in error.*broken\.yaml:\d+: the YAML is broken/u });
    await editor.clickLens(page, "Run suite", "the message", () => told.locator("a.monaco-button", { hasText: "Show Failures" }).first().isVisible());
    await page.locator(".statusbar-item", { hasText: /1 of 3 tasks passed, 1 failed, 1 in error/u }).first().waitFor();
    await editor.openFile(page, "broken.yaml", "id: broken");
    await hintOn("id: broken", /^!.the.YAML.is.broken/u);
    await page.screenshot({ path: path.join(path.resolve(options.artifacts), "broken.png") });
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
