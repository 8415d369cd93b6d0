// What keeps a run from its end, and the way out of it, in a real VS Code: a key that is missing, one that is wrong, another executor;
// the trigger prompts that are tried meanwhile; what runs the language server.
//
//   node provider.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "greeter");
const KEY = "sk-of-the-shop";
const PROMPT = "Greet the guests";

/** A model whose answers to the trigger prompt wait for `release`. */
let release = () => {};
const released = new Promise((resolve) => {
  release = resolve;
});
const model = http.createServer((request, response) => {
  let text = "";
  request.on("data", (data) => (text += data));
  request.on("end", async () => {
    if (request.headers.authorization !== `Bearer ${KEY}`) return answer(response, 401, { error: { message: "Incorrect API key provided" } });
    if (text.includes(PROMPT)) await released;
    const message = { role: "assistant", content: "hello there" };
    answer(response, 200, {
      ...{ id: "1", object: "chat.completion", created: 1, model: "our-model", choices: [{ index: 0, message, finish_reason: "stop" }] },
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
  });
});
const port = await new Promise((resolve) => model.listen(0, "127.0.0.1", () => resolve(model.address().port)));

write("SKILL.md", "---\nname: greeter\ndescription: Greets. Use it to say hello.\n---\nGreet them.\n");
write("eval.yaml", `name: greeter
skill: greeter
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: openai
  model: our-model
  provider:
    base_url: http://127.0.0.1:${port}/v1
    api_key_env: SHOP_KEY
tasks:
  - tasks/*.yaml
graders:
  - type: text
    name: speaks
    config:
      contains:
        - hello
`);
write("tasks/one.yaml", "id: one\nname: Greets\ninputs:\n  prompt: Say hello\n");
write("trigger_tests.yaml", `skill: greeter\nshould_trigger_prompts:\n  - prompt: ${PROMPT}\nshould_not_trigger_prompts:\n  - prompt: Add two numbers\n`);

try {
  await play(scenario, { ...options, workspace });
} finally {
  release();
  model.close();
  model.closeAllConnections();
}

async function scenario(page) {
  const toast = (text) => page.locator(".notification-toast", { hasText: text }).first();
  const list = page.locator(".quick-input-widget");
  const hasHint = async (line, pattern) => (await editor.hintsOn(page, line)).some((hint) => pattern.test(hint));
  const hintOn = (line, pattern) => editor.waitUntil(page, `${pattern} at "${line}"`, () => hasHint(line, pattern));
  const typeKey = async (message, key) => {
    const box = list.filter({ hasText: "Key for SHOP_KEY" });
    const ask = () => toast(message).locator("a.monaco-button", { hasText: "Set Key" }).first().click({ timeout: 5_000 });
    await editor.repeatUntil(page, "the box for the key", ask, () => box.isVisible());
    assert.equal(await box.locator("input:not([type=checkbox])").getAttribute("type"), "password");
    await page.keyboard.type(key);
    await page.keyboard.press("Enter");
    await box.waitFor({ state: "hidden" });
  };
  const run = (message) => editor.clickLens(page, "Run suite", "the reason", () => toast(message).isVisible());

  await editor.recordNotifications(page);

  await step("a run that lacks a key says which, and has a button for it", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await run("`SHOP_KEY`, which `provider.api_key_env` names, is not set");
    await hintOn("name: greeter", /!/u);
    await page.screenshot({ path: path.join(artifacts, "no-key.png") });
    await typeKey("is not set", "sk-of-somebody-else");
  });

  await step("a key that is refused is an error of each task, with the same way out", async () => {
    await editor.command(page, "Notifications: Clear All Notifications");
    await run(/SHOP_KEY/u);
    await hintOn("name: greeter", /^!/u);
    await page.screenshot({ path: path.join(artifacts, "wrong-key.png") });
    await typeKey(/SHOP_KEY/u, KEY);
  });

  await step("with the right key the model answers, and a trigger prompt that is tried says so", async () => {
    await editor.command(page, "Notifications: Clear All Notifications");
    await editor.openFile(page, "eval.yaml", "graders:");
    const isGoingOn = async () => (await page.locator(".statusbar-item", { hasText: PROMPT }).count()) > 0;
    await editor.clickLens(page, "Run suite", "the prompt in the status bar", isGoingOn);
    await editor.openFile(page, "trigger_tests.yaml", PROMPT);
    await hintOn(PROMPT, /⟳.running.·.prompt.sent/u);
    await page.screenshot({ path: path.join(artifacts, "trying.png") });
    release();
    await hintOn(PROMPT, /✗.not.triggered/u);
    await editor.openFile(page, "tasks/one.yaml", "id: one");
    await hintOn("id: one", /✓.1\.00/u);
  });

  await step("a click while the server starts again waits for it", async () => {
    assert.deepEqual((await editor.notificationsSeen(page)).filter((text) => text.includes("not found")), []);
  });

  await step("keys are in no file of the workspace and in no settings", () => {
    const folders = [workspace, path.join(artifacts, "home", "data", "User"), path.join(artifacts, "home", "data", "Machine")];
    for (const folder of folders.filter((each) => fs.existsSync(each))) {
      const files = fs.readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name)).filter((file) => fs.statSync(file).isFile());
      assert.deepEqual(files.filter((file) => fs.readFileSync(file, "latin1").includes(KEY)), []);
    }
  });

  await step("another executor is chosen from a list, and the next run is its own", async () => {
    const mock = list.locator(".monaco-list-row", { hasText: "mock" }).first();
    await editor.openFile(page, "eval.yaml", "graders:");
    await editor.repeatUntil(page, "the executors", () => editor.command(page, "Waza: Choose Executor"), () => mock.isVisible());
    await editor.repeatUntil(page, "the list to close", () => mock.click({ timeout: 5_000 }), async () => !(await mock.isVisible()));
    const recorded = () => results().some((file) => JSON.parse(fs.readFileSync(file, "utf8")).config.engine_type === "mock");
    await editor.clickLens(page, "Run suite", "a record of the mock", () => Promise.resolve(recorded()));
  });

  await step("the entry of the language says which server runs", async () => {
    const entry = page.locator(".statusbar-item", { has: page.locator(".codicon-json, .codicon-bracket") }).first();
    const said = page.locator(".hover-language-status", { hasText: "Waza" }).first();
    await editor.repeatUntil(page, "the status of the language", () => entry.hover({ timeout: 5_000 }), () => said.isVisible());
    assert.match(await said.innerText(), /\d+\.\d+\.\d+.*python/su);
    await page.screenshot({ path: path.join(artifacts, "status.png") });
  });
}

function results() {
  const folder = path.join(workspace, ".waza", "results");
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  return names.map((name) => path.join(folder, name));
}

function write(name, text) {
  const file = path.join(workspace, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

function answer(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
