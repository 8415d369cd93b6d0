// A folder that is not trusted, in a real VS Code: its problems are told, nothing of it runs; what was refused leads to where it is trusted.
//
//   node trust.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "downloaded");
const ran = path.join(artifacts, "the-script-ran");
fs.mkdirSync(workspace);
write("SKILL.md", "---\nname: greeter\ndescription: Greets.\n---\nGreet them.\n");
write("judge.py", `import json, pathlib\npathlib.Path(${JSON.stringify(ran)}).touch()\nprint(json.dumps({"score": 1.0, "passed": True}))\n`);
write("eval.yaml", `name: greeter
skill: greeter
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: mock
  model: none
tasks:
  - id: one
    inputs:
      prompt: Say hello
graders:
  - type: program
    name: by_script
    config:
      command: python3
      args: [judge.py]
      timout: 5
`);
const trust = { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" };

await play(scenario, { ...options, workspace, userSettings: trust });

async function scenario(page) {
  const refusal = page.locator(".notification-toast", { hasText: "Runs execute the suite's own scripts, so they need a trusted workspace" }).first();
  const results = path.join(workspace, ".waza", "results");
  const recorded = () => fs.existsSync(results) && fs.readdirSync(results).some((name) => name.endsWith(".json"));

  await step("what is wrong in it is told all the same", async () => {
    await editor.openFile(page, "eval.yaml", "timout");
    await editor.waitForSquiggle(page, "timout", "timout");
    await page.screenshot({ path: path.join(artifacts, "restricted.png") });
  });

  await step("a run is refused in words, and nothing of the folder has run", async () => {
    await editor.clickLens(page, "Run suite", "the refusal", () => refusal.isVisible());
    await page.screenshot({ path: path.join(artifacts, "refused.png") });
    assert.deepEqual([fs.existsSync(ran), fs.existsSync(path.join(workspace, ".waza"))], [false, false]);
  });

  await step("its button leads to where the folder is trusted, and then it runs", async () => {
    const manage = refusal.locator("a.monaco-button", { hasText: "Manage Workspace Trust" });
    const grant = page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust/u }).first();
    await editor.repeatUntil(page, "the page of trust", () => manage.click({ timeout: 5_000 }), () => grant.isVisible());
    await grant.click();
    await editor.openFile(page, "eval.yaml", "timout");
    await editor.applyQuickFix(page, "timout", "timout", "Change to `timeout`");
    await editor.clickLens(page, "Run suite", "a record", () => Promise.resolve(recorded()));
    assert.ok(fs.existsSync(ran));
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
