// The screenshots of the documentation, in one theme.
//
//   node pictures.mjs --python FILE --vsix FILE --artifacts FOLDER --theme dark|light --out FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({
  options: {
    python: { type: "string" },
    vsix: { type: "string" },
    artifacts: { type: "string" },
    theme: { type: "string" },
    out: { type: "string" },
  },
});
const SIZE = { width: 1060, height: 620 };
const workspace = path.join(path.resolve(options.artifacts), "forms");
const suite = "evals/pdf-filler";
const skill = `---
name: pdf-filler
description: Fills in PDF forms. Use when asked to fill in a form.
---
# PDF filler

1. Read the fields of the form.
2. Fill in what is known, and ask for the rest.
`;
write("skills/pdf-filler/SKILL.md", skill);
write("evals/new/eval.yaml", "");
write(`${suite}/eval.yaml`, `name: Filling in forms
skill: pdf-filler

config:
  trials_per_task: 1
  timeout_seconds: 120
  executor: mock
  model: claude-sonnet-4.6

graders:
  - type: text
    name: says_what_is_missing
    config:
      contains:
        - form
        - the date is missing
  - type: code
    name: stays_brief
    config:
      assertions:
        - len(output) < 400
        - "'signature' not in output"

tasks:
  - tasks/*.yaml
`);
const tasks = {
  "asks-for-the-date": "Fill in form W-9 for Ada Lovelace; say that the date is missing",
  "fills-a-form": "Fill in form W-9 for Ada Lovelace, dated 2026-03-01",
  "signs-nothing": "Fill in form W-9 without a signature; the date is missing",
};
for (const [id, prompt] of Object.entries(tasks)) write(`${suite}/tasks/${id}.yaml`, `id: ${id}\nname: ${named(id)}\ninputs:\n  prompt: ${prompt}\n`);
const theme = options.theme === "light" ? "Default Light Modern" : "Default Dark Modern";
const userSettings = { "workbench.colorTheme": theme, "waza.live.enable": "off", "waza.run.keepWorkspaces": true, "workbench.editor.enablePreview": false };

await play(scenario, { ...options, workspace, userSettings });

async function scenario(page) {
  const row = (text) => page.locator(".test-explorer .monaco-list-row", { hasText: text }).first();
  const isStill = async () => {
    await editor.command(page, "Notifications: Clear All Notifications");
    await editor.waitUntil(page, "the notifications to go", async () => (await page.locator(".notification-toast").count()) === 0);
    await page.mouse.move(5, 5);
    const cancel = page.locator(".codelens-decoration a", { hasText: "Cancel" });
    await editor.waitUntil(page, "the lens of the run to be drawn anew", async () => (await cancel.count()) === 0);
    await editor.waitUntil(page, "the popups to go", async () => !(await page.locator(".monaco-hover:visible, .quick-input-widget:visible").first().isVisible()));
  };
  const takeAll = (name, clip) => page.screenshot({ path: path.join(path.resolve(options.out), `${name}-${options.theme}.png`), animations: "disabled", clip });
  await page.setViewportSize(SIZE);

  await step("an empty file offers a suite", async () => {
    await editor.openFile(page, "new/eval.yaml", "");
    await page.locator(".codelens-decoration a", { hasText: "New suite for skill pdf-filler" }).first().waitFor();
    const offer = page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "New suite for skill" }).first();
    const ask = async () => {
      await page.locator(".editor-instance .view-lines").first().click();
      await page.keyboard.press("Control+Space");
    };
    await editor.repeatUntil(page, "the list", ask, () => offer.isVisible());
    await page.mouse.move(5, 5);
    await takeAll("empty-file", { x: 0, y: 0, width: SIZE.width, height: 300 });
    await page.keyboard.press("Escape");
    await editor.command(page, "View: Close Editor");
  });

  await step("the tree shows a run", async () => {
    for (let run = 1; run <= 2; run++) {
      await editor.openFile(page, "pdf-filler/eval.yaml", "graders:");
      await editor.runByLens(page, "Run suite", path.join(workspace, suite));
      await editor.waitUntil(page, "a failure", async () => (await editor.hintsOn(page, "name: Filling")).some((hint) => /✗/u.test(hint)));
    }
    await editor.command(page, "Testing: Focus on Test Explorer View");
    const expand = async () => {
      await row("Filling in forms").click();
      await page.keyboard.press("ArrowRight");
    };
    await editor.repeatUntil(page, "the tasks", expand, () => row("Fills a form").isVisible());
    const open = async () => {
      await row("Fills a form").click();
      await page.keyboard.press("ArrowRight");
    };
    await editor.repeatUntil(page, "the graders", open, () => row("stays_brief").isVisible());
    await editor.openFile(page, "pdf-filler/eval.yaml", "graders:");
    await isStill();
    await takeAll("test-explorer");
  });

  await step("F8 goes through the failures", async () => {
    const peek = page.locator(".peekview-widget").first();
    const open = async () => {
      await page.locator(".editor-instance .view-line", { hasText: /graders:/u }).first().click();
      await editor.command(page, "Test: Peek Output");
    };
    await editor.repeatUntil(page, "the first failure", open, () => peek.isVisible());
    const first = await peek.innerText();
    const walk = () => page.keyboard.press("F8");
    await editor.repeatUntil(page, "another failure", walk, async () => (await peek.isVisible()) && (await peek.innerText()) !== first);
    await isStill();
    await takeAll("failures");
    await page.keyboard.press("Escape");
  });

  await step("a result is a page", async () => {
    await editor.openFile(page, "tasks/fills-a-form.yaml", "id: fills-a-form");
    await editor.command(page, "View: Toggle Primary Side Bar Visibility");
    await editor.command(page, "Waza: Open Result");
    const frame = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");
    await frame.locator("h2", { hasText: "Fills a form" }).waitFor();
    await isStill();
    await takeAll("result");
    await editor.command(page, "View: Close Editor");
    await editor.command(page, "View: Close Editor");
  });

  await step("a stale score opens its diff", async () => {
    await editor.openFile(page, "pdf-filler/eval.yaml", "graders:");
    await page.keyboard.press("Control+Home");
    await editor.waitForLine(page, "name: Filling");
    write("skills/pdf-filler/SKILL.md", skill.replace("Fill in what is known, and ask for the rest.", "Fill in what is known.\n3. Say what is missing, the date above all."));
    const hinted = async () => (await editor.hintsOn(page, "name: Filling")).some((hint) => /stale/u.test(hint));
    await editor.waitUntil(page, "a stale mark", hinted);
    const mark = page.locator('.view-line span[class*="dyn-rule"]', { hasText: /stale:.SKILL/u }).first();
    const link = page.locator(".monaco-hover a", { hasText: /SKILL\.md/u }).first();
    const follow = async () => {
      await editor.hoverUntilShown(page, mark, link);
      await link.click();
    };
    const diff = page.locator(".monaco-diff-editor").first();
    await editor.repeatUntil(page, "the diff", follow, () => diff.isVisible());
    await editor.command(page, "View: Move Editor into Group Below");
    await page.locator(".monaco-diff-editor .modified .view-line", { hasText: /date.above/u }).first().waitFor();
    await isStill();
    await takeAll("stale");
  });
}

function named(id) {
  return `${id[0].toUpperCase()}${id.slice(1).replaceAll("-", " ")}`;
}

function write(name, text) {
  const file = path.join(workspace, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}
