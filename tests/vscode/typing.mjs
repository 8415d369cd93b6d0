// Typing suite files in a real VS Code with default settings: diagnostics, also of closed and of invalid files; lenses of the visible
// lines of a long file.
//
//   node typing.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const GRADERS = 600;
const workspace = path.join(path.resolve(options.artifacts), "suites");
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
for (const folder of ["typed", "checked", "long"]) {
  fs.mkdirSync(path.join(workspace, folder, "tasks"), { recursive: true });
  write(`${folder}/tasks/one-${folder}.yaml`, "id: one\nname: One\ninputs:\n  prompt: Say hello\ngraders:\n");
}
write("typed/eval.yaml", "name: typed\nskill: typed\ntasks:\n  - tasks/*.yaml\ngraders:\n");
write("typed/trigger_tests.yaml", "skill: typed\nshould_trigger_prompts:\n");
write("other.yaml", "services:\n");
write(
  "checked/eval.yaml",
  `\
name: checked
skill: checked
${config}tasks:
  - tasks/one-checked.yaml
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
const graders = Array.from({ length: GRADERS }, (_, at) => `  - type: text\n    name: grader-${at}\n    config:\n      contains: [hello]\n`);
write("long/eval.yaml", `name: long\nskill: long\n${config}tasks: ['tasks/*.yaml']\ngraders:\n${graders.join("")}`);

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const lens = (title) => page.locator(".codelens-decoration a:visible", { hasText: title }).first();
  const line = (text) => page.locator(".editor-instance .view-line", { hasText: text }).first();

  await step("a task file that is listed and missing is in the Problems list before its suite is opened", async () => {
    const row = page.locator(".markers-panel .monaco-list-row", { hasText: "tasks/gone.yaml" }).first();
    await editor.repeatUntil(page, "the problem", () => editor.command(page, "Problems: Focus on Problems View"), () => row.isVisible());
    await page.screenshot({ path: path.join(options.artifacts, "problems.png") });
  });

  await step("an invalid grader does not hide diagnostics of the others", async () => {
    await editor.openFile(page, "checked/eval.yaml", "name: checked");
    await editor.waitForSquiggle(page, "contains: [hello", "[hello");
    await editor.waitForSquiggle(page, "len(output) = 3", "=");
    await editor.waitForSquiggle(page, "confg:", "confg");
    await page.screenshot({ path: path.join(options.artifacts, "beside.png") });
  });

  await step("an assignment is reported, and its fix is a comparison", async () => {
    await editor.hover(page, "len(output) = 3", "=", "assigns and does not compare");
    await editor.applyQuickFix(page, "len(output) = 3", "=", "Compare with `==`");
    await editor.waitForLine(page, "len(output) == 3");
    await editor.waitForNoSquiggle(page, "len(output) == 3", "==");
  });

  await step("a long file shows the lenses at its beginning", async () => {
    await editor.openFile(page, "long/eval.yaml", "name: long");
    await lens("Run suite").waitFor();
    await lens("Run grader").waitFor();
  });

  await step("at its end it shows those at the end, also while typing", async () => {
    const go = async () => {
      await page.locator(".editor-instance .view-line").first().click();
      await page.keyboard.press("Control+End");
    };
    await editor.repeatUntil(page, "the end", go, () => line(`grader-${GRADERS - 1}`).isVisible());
    await lens("Run grader").waitFor();
    if (await lens("Run suite").isVisible()) throw new Error("the lens of the first line is in view at the end");
    await page.keyboard.type("# a comment");
    await line("a comment").waitFor();
    await lens("Run grader").waitFor();
  });

  await step("and back at the beginning those at the beginning", async () => {
    await page.keyboard.press("Escape");
    await editor.repeatUntil(page, "the beginning", () => page.keyboard.press("Control+Home"), () => line("name: long").isVisible());
    await lens("Run suite").waitFor();
  });

  await step("an empty list of graders opens", async () => {
    await editor.openFile(page, "typed/eval.yaml", "name: typed");
    await lens("Run suite").waitFor();
  });

  await step("Enter after `- type: code` aligns with the key, in graders", async () => {
    await typeLines(page, ["  - type: code", "name: b"]);
    await saved(page, "typed/eval.yaml", "  - type: code\n    name: b");
  });

  await step("in the triggers", async () => {
    await editor.openFile(page, "trigger_tests.yaml", "should_trigger_prompts:");
    await typeLines(page, ["  - prompt: hello", "reason: x"]);
    await saved(page, "typed/trigger_tests.yaml", "  - prompt: hello\n    reason: x");
  });

  await step("in the graders of a task", async () => {
    await editor.openFile(page, "one-typed.yaml", "Say hello");
    await typeLines(page, ["  - type: text", "name: b"]);
    await saved(page, "typed/tasks/one-typed.yaml", "graders:\n  - type: text\n    name: b");
  });

  await step("an incomplete key is an error only after the file was saved", async () => {
    await page.keyboard.press("Enter");
    await page.keyboard.type("weig", { delay: 40 });
    const retype = async () => {
      // The formatting of a new line is a separate edit, which may arrive after more typing.
      await page.keyboard.press("Backspace");
      await page.keyboard.type("g");
      await page.keyboard.press("Escape");
      await page.waitForTimeout(1_000);
    };
    await editor.repeatUntil(page, "no squiggle", retype, async () => (await editor.squigglesUnder(page, "weig", "weig")).length === 0);
    await saved(page, "typed/tasks/one-typed.yaml", "    weig");
    await editor.waitForSquiggle(page, "weig", "weig");
  });

  await step("accepting `graders` opens the list of types", async () => {
    await editor.openFile(page, "typed/eval.yaml", "name: typed");
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await typeLines(page, ["skill: typed", ""]);
    await page.keyboard.type("grader", { delay: 40 });
    const graders = page.locator(".suggest-widget .monaco-list-row", { hasText: "graders" }).first();
    const asked = async () => {
      if (!(await graders.isVisible())) await page.keyboard.press("Control+Space");
    };
    await editor.repeatUntil(page, "`graders` in the list", asked, () => graders.isVisible());
    await page.keyboard.press("Enter");
    await editor.waitForLine(page, "- type:");
    await page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "code" }).first().waitFor();
    await page.keyboard.press("Escape");
  });

  await step("not in other YAML", async () => {
    await editor.openFile(page, "other.yaml", "services:");
    await typeLines(page, ["  - type: code", "name: b"]);
    await saved(page, "other.yaml", "  - type: code\n  name: b");
  });

  await step("an untitled suite is checked", async () => {
    await page.keyboard.press("F1");
    await page.locator(".quick-input-widget input:not([type=checkbox])").fill(">File: New Untitled Text File");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: /^File: New Untitled Text File/u }).click();
    await editor.command(page, "Change Language Mode");
    await page.locator(".quick-input-widget input[placeholder='Select Language Mode']").fill("yaml");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: /^YAML/u }).click();
    await page.locator(".statusbar-item", { hasText: /^YAML$/u }).waitFor();
    await typeLines(page, ["name: a", "skill: b", "config: {executr: mock}", "graders: []", "tasks: []"]);
    await editor.waitForSquiggle(page, "config", "executr");
    await page.screenshot({ path: path.join(options.artifacts, "unsaved.png") });
    await editor.command(page, "File: Revert File");
  });

  await step("the link of a hover opens its page at the heading", async () => {
    await editor.openFile(page, "one-typed.yaml", "type: text");
    const preview = page.locator(".tab", { hasText: "graders.md" }).first();
    const follow = () => page.locator(".monaco-hover:visible a", { hasText: "All about text" }).first().click({ timeout: 5_000 });
    const hover = () => editor.hover(page, "type: text", "text", "All about text", follow);
    await editor.repeatUntil(page, "the page", hover, () => preview.isVisible());
    const heading = page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame").locator("#text");
    await heading.waitFor();
    await editor.waitUntil(page, "the heading in view", async () => {
      const [box, size] = [await heading.boundingBox(), page.viewportSize()];
      return box !== null && box.y >= 0 && box.y < size.height;
    });
    await page.screenshot({ path: path.join(options.artifacts, "page.png") });
  });
}

/** Types at the end of the file, without accepting suggestions. */
async function typeLines(page, lines) {
  await page.keyboard.press("Control+End");
  for (const [index, line] of lines.entries()) {
    if (index > 0) {
      // Enter would accept a late suggestion; none appears after the cursor has moved.
      await page.keyboard.press("Escape");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await page.waitForTimeout(150);
    }
    await page.keyboard.type(line, { delay: 40 });
  }
  await page.keyboard.press("Escape");
}

async function saved(page, name, expected) {
  await page.keyboard.press("Control+S");
  const read = () => fs.readFileSync(path.join(workspace, name), "utf8");
  const isThere = async () => read().trimEnd().endsWith(expected);
  await editor.waitUntil(page, expected, isThere, 5_000).catch((error) => {
    throw new Error(`${error.message}\nThe file is:\n${read()}`);
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
