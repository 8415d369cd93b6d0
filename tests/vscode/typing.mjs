// Writing suite files in a real VS Code, key by key, with nothing set up for it.
//
//   node typing.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const workspace = path.join(path.resolve(options.artifacts), "suite");
fs.mkdirSync(path.join(workspace, "tasks"), { recursive: true });
write("eval.yaml", "name: typed\nskill: typed\ntasks:\n  - tasks/*.yaml\ngraders:\n");
write("tasks/one.yaml", "id: one\nname: One\ninputs:\n  prompt: Say hello\ngraders:\n");
write("trigger_tests.yaml", "skill: typed\nshould_trigger_prompts:\n");
write("other.yaml", "services:\n");

await play(scenario, { ...options, workspace });

async function scenario(page) {
  await step("the suite opens and the server answers", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await page.locator(".codelens-decoration a", { hasText: "Run suite" }).first().waitFor();
  });

  await step("Enter after `- type: code` stands under the key, in graders", async () => {
    await typeLines(page, ["  - type: code", "name: b"]);
    await saved(page, "eval.yaml", "  - type: code\n    name: b");
  });

  await step("in the triggers", async () => {
    await editor.openFile(page, "trigger_tests.yaml", "should_trigger_prompts:");
    await typeLines(page, ["  - prompt: hello", "reason: x"]);
    await saved(page, "trigger_tests.yaml", "  - prompt: hello\n    reason: x");
  });

  await step("in the graders of a task", async () => {
    await editor.openFile(page, "one.yaml", "Say hello");
    await typeLines(page, ["  - type: text", "name: b"]);
    await saved(page, "tasks/one.yaml", "graders:\n  - type: text\n    name: b");
  });

  await step("a half-typed key is not red while the cursor is there, and red when it is saved", async () => {
    await page.keyboard.press("Enter");
    await page.keyboard.type("weig", { delay: 40 });
    const retype = async () => {
      // What formats a new line may come behind what was typed meanwhile, and is an edit of its own.
      await page.keyboard.press("Backspace");
      await page.keyboard.type("g");
      await page.keyboard.press("Escape");
      await page.waitForTimeout(1_000);
    };
    await editor.repeatUntil(page, "no squiggle", retype, async () => (await editor.squigglesUnder(page, "weig", "weig")).length === 0);
    await saved(page, "tasks/one.yaml", "    weig");
    await editor.waitForSquiggle(page, "weig", "weig");
  });

  await step("taking `graders` opens the list of types", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
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

  await step("not in YAML of others", async () => {
    await editor.openFile(page, "other.yaml", "services:");
    await typeLines(page, ["  - type: code", "name: b"]);
    await saved(page, "other.yaml", "  - type: code\n  name: b");
  });

  await step("a suite that was never saved is checked, too", async () => {
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

  await step("the link of a hover shows its page, at the heading", async () => {
    await editor.openFile(page, "one.yaml", "type: text");
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

/** Types at the end of the file as a person does, without taking what is suggested. */
async function typeLines(page, lines) {
  await page.keyboard.press("Control+End");
  for (const [index, line] of lines.entries()) {
    if (index > 0) {
      // A list that comes late would be taken by Enter; none comes for a cursor that was moved.
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
