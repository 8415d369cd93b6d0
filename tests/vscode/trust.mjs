// Restricted Mode in a real VS Code: an untrusted folder has diagnostics but runs nothing; a rejected run leads to the trust settings.
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
// Opens a folder of a clone that has its own Python above it.
const clone = path.join(artifacts, "downloaded");
const workspace = path.join(clone, "evals");
const [ran, pythonRan] = ["the-script-ran", "the-python-ran"].map((name) => path.join(artifacts, name));
fs.mkdirSync(path.join(clone, ".git"), { recursive: true });
fs.mkdirSync(path.join(clone, ".venv", "bin"), { recursive: true });
fs.mkdirSync(workspace);
fs.writeFileSync(path.join(clone, ".venv", "bin", "python"), `#!/bin/sh\ntouch '${pythonRan}'\nexec '${options.python}' "$@"\n`, { mode: 0o755 });
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

// No setting names a Python; that of the clone comes first on PATH, which no shell resets.
const search = [path.join(clone, ".venv", "bin"), path.dirname(options.python), process.env.PATH].join(path.delimiter);

await play(scenario, { vsix: options.vsix, artifacts, workspace, userSettings: trust, environment: { PATH: search, VSCODE_CLI: "1" } });

async function scenario(page) {
  const refusal = page.locator(".notification-toast", { hasText: "Runs execute the suite's own scripts, so they need a trusted workspace" }).first();

  await step("its diagnostics are shown", async () => {
    await editor.openFile(page, "eval.yaml", "timout");
    await editor.waitForSquiggle(page, "timout", "timout");
    await page.screenshot({ path: path.join(artifacts, "restricted.png") });
  });

  await step("a run is rejected with a message, and nothing of the folder has run", async () => {
    await editor.clickLens(page, "Run suite", "the refusal", () => refusal.isVisible());
    await page.screenshot({ path: path.join(artifacts, "refused.png") });
    assert.deepEqual([ran, pythonRan, path.join(workspace, ".waza")].map((file) => fs.existsSync(file)), [false, false, false]);
  });

  await step("its button opens the trust settings, and then the suite runs", async () => {
    const manage = refusal.locator("a.monaco-button", { hasText: "Manage Workspace Trust" });
    const grant = page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust/u }).first();
    await editor.repeatUntil(page, "the page of trust", () => manage.click({ timeout: 5_000 }), () => grant.isVisible());
    await grant.click();
    await editor.openFile(page, "eval.yaml", "timout");
    await editor.applyQuickFix(page, "timout", "timout", "Change to `timeout`");
    await editor.runByLens(page, "Run suite", workspace);
    assert.deepEqual([fs.existsSync(ran), fs.existsSync(pythonRan)], [true, true]);
  });
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
