// The main use case in a real VS Code: a mistake is underlined, explained and repaired; a click runs the suite; scores appear next to
// the graders.
//
//   node end_to_end.mjs --suite FOLDER --python FILE --vsix FILE --artifacts FOLDER
//
// Exit code 0 when every step succeeded. On failure the message, a screenshot and all logs are in the artifacts folder.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { seedMistakes } from "./mistakes.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({
  options: {
    suite: { type: "string" },
    python: { type: "string" },
    vsix: { type: "string" },
    artifacts: { type: "string" },
  },
});
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, path.basename(options.suite));
fs.cpSync(options.suite, workspace, { recursive: true, filter: (source) => path.basename(source) !== ".waza" });
const { toRepair, toKeep } = seedMistakes(path.join(workspace, "eval.yaml"));

await play(scenario, { ...options, workspace });

async function scenario(page) {
  await step("the suite opens", () => editor.openFile(page, "eval.yaml", toRepair.line));

  await step("both misspelt keys are underlined exactly", async () => {
    await editor.waitForSquiggle(page, toRepair.line, toRepair.wrong);
    await editor.waitForSquiggle(page, toKeep.line, toKeep.wrong);
  });

  await step("hovering over a grader type explains it", async () => {
    const text = await editor.hover(page, `type: ${toRepair.graderType}`, toRepair.graderType, toRepair.graderType);
    assert.ok(text.length > 80, `the hover says only: ${text}`);
  });

  await step("the quick fix repairs the key", async () => {
    await editor.applyQuickFix(page, toRepair.line, toRepair.wrong, toRepair.right);
    await editor.waitForLine(page, toRepair.repaired);
    await editor.waitForNoSquiggle(page, toRepair.repaired, toRepair.right);
  });

  await step("the graders are among the symbols of the file", async () => {
    const listed = page.locator(".quick-input-list .monaco-list-row", { hasText: "has_substance" }).first();
    await editor.repeatUntil(page, "the symbols", () => page.keyboard.press("Control+Shift+O"), () => listed.isVisible());
    await page.keyboard.press("Escape");
  });

  await step("a click on the lens runs the suite, with progress", async () => {
    await editor.recordNotifications(page);
    await page.keyboard.press("Control+Home");
    const title = `Waza: ${path.basename(workspace)}`;
    const counts = (text) => text.includes(title) && /\d/.test(text.replace(title, ""));
    await editor.clickLens(page, "Run suite", "a notification that counts what is done", async () =>
      (await editor.notificationsSeen(page)).some(counts),
    );
  });

  await step("the file was saved before the run", () => {
    const saved = fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8");
    assert.ok(saved.includes(toRepair.repaired), `eval.yaml on disk:\n${saved}`);
  });

  await step("the score appears next to the grader", () =>
    editor.waitUntil(page, `a score at "${toRepair.graderLine}"`, async () =>
      (await editor.hintsOn(page, toRepair.graderLine)).some((hint) => /[✓✗◐]/u.test(hint) && /\d/.test(hint)),
    ),
  );

  await step("the result is on disk, in the suite's folder", () =>
    // The first scores appear during the run.
    editor.waitUntil(page, "a result file", () =>
      fs.readdirSync(path.join(workspace, ".waza", "results")).some((name) => name.endsWith(".json")),
    ),
  );

  await step("a message about the failures stays until it is closed", async () => {
    const told = page.locator(".notification-toast", { hasText: "failed" }).first();
    await told.locator("a.monaco-button", { hasText: "Show Failures" }).waitFor();
    const close = async () => {
      await told.hover({ timeout: 5_000 });
      await told.locator(".codicon-notifications-clear").click({ timeout: 5_000 });
    };
    await editor.repeatUntil(page, "the message to go", close, async () => !(await told.isVisible()));
  });

  await step("one page shows the other mistake, the lenses and the score", async () => {
    // A click with a slow effect was repeated, which causes a second message.
    const clear = () => editor.command(page, "Notifications: Clear All Notifications");
    await editor.repeatUntil(page, "the notifications to go", clear, async () => (await page.locator(".notification-toast").count()) === 0);
    await page.keyboard.press("Control+Home");
    await page.mouse.move(5, 5);
    await editor.waitForSquiggle(page, toKeep.line, toKeep.wrong);
    for (const title of ["Run suite", "Run grader"]) {
      await page.locator(".codelens-decoration a", { hasText: title }).first().waitFor();
    }
    assert.notEqual((await editor.hintsOn(page, toRepair.graderLine)).length, 0);
    const area = await page.locator(".editor-instance .monaco-scrollable-element").first().boundingBox();
    for (const [line, token] of [[toKeep.line, toKeep.wrong], [toRepair.graderLine, toRepair.graderLine]]) {
      const box = await editor.boxOf(page, line, token);
      assert.ok(box.y >= area.y && box.y + box.height <= area.y + area.height, `"${line}" is outside of the page`);
    }
    await page.screenshot({ path: path.join(artifacts, "vscode.png") });
  });

  await step("Cancel in the notification ends the run and its hanging script", async () => {
    const marker = path.join(artifacts, "script.pid");
    const script = `import os, pathlib, time\npathlib.Path(${JSON.stringify(marker)}).write_text(str(os.getpid()))\ntime.sleep(300)\n`;
    fs.writeFileSync(path.join(workspace, "graders", "explanation_quality.py"), script);
    await editor.clickLens(page, "Run suite", "the script of a grader to start", () => fs.existsSync(marker));
    const pid = fs.readFileSync(marker, "utf8");
    const toast = page.locator(".notification-toast", { has: page.locator("a.monaco-button", { hasText: "Cancel" }) }).first();
    await toast.locator("a.monaco-button", { hasText: "Cancel" }).click();
    await editor.waitUntil(page, "the script to end", () => !fs.existsSync(`/proc/${pid}`), 15_000);
    await toast.waitFor({ state: "detached", timeout: 15_000 });
  });
}
