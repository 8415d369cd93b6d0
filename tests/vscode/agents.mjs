// What chat agents get from the extension in a real VS Code: an MCP server for each folder, which VS Code starts, and a skill.
//
//   node agents.mjs --python FILE --vsix FILE --artifacts FOLDER

import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "greeter");
fs.mkdirSync(workspace, { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const tasks = "tasks:\n  - id: one\n    inputs:\n      prompt: Say hello\n";
fs.writeFileSync(path.join(workspace, "eval.yaml"), `name: greeter\nskill: greeter\n${config}${tasks}`);

// The oldest VS Code has neither. All other scenarios disable chat and MCP servers.
if (process.env.WAZA_VSCODE_UNDER_TEST !== "oldest") await play(scenario, { ...options, workspace, userSettings: { "chat.disableAIFeatures": false } });

async function scenario(page) {
  const rows = (text) => page.locator(".quick-input-list .monaco-list-row", { hasText: text });

  await step("VS Code lists and starts the MCP server of the folder, which has the tools", async () => {
    await editor.openFile(page, "eval.yaml", "name: greeter");
    await page.locator(".codelens-decoration a").first().waitFor();
    await editor.repeatUntil(page, "the server", async () => {
      await page.keyboard.press("Escape");
      await editor.command(page, "MCP: List Servers");
    }, () => rows(/^Waza/u).first().isVisible());
    await page.screenshot({ path: path.join(artifacts, "servers.png") });
    await rows(/^Waza/u).first().click();
    await rows(/Start Server/u).first().click();
    // VS Code then shows the log of the server.
    await page.locator(".view-line", { hasText: /Discovered.6.tools/u }).waitFor();
  });

  await step("chat lists the skill that writes suites", async () => {
    await editor.command(page, "Chat: Configure Skills...");
    await rows(/author-waza-evals/u).first().waitFor();
    await page.screenshot({ path: path.join(artifacts, "skills.png") });
    await page.keyboard.press("Escape");
  });
}
