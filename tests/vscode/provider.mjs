// Run options and remedies in a real VS Code: the options next to the lens, the expected cost, a missing and a wrong key, another
// executor, and the progress of trigger prompts.
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

/** A model server whose answers to the trigger prompt wait for `release`. */
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

const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - Say hello\n";
write("chosen/eval.yaml", `name: chosen\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
write("chosen/tasks/one.yaml", "id: one\nname: Greets once\ninputs:\n  prompt: Say hello\n");

write(".vscode/settings.json", JSON.stringify({ "waza.run.maxCost": 0.1 }));
const priced = "config: {trials_per_task: 2, timeout_seconds: 60, executor: openai, model: gpt-4o}\n";
const inline = "tasks:\n  - id: only\n    inputs:\n      prompt: Say hello\n";
write("priced/eval.yaml", `name: priced\nskill: priced\n${priced}${inline}${graders}`);
const trial = { run_number: 1, status: "passed", duration_ms: 90_000, validations: {}, usage: { input_tokens: 80_000 }, cost: { usd: 0.21 } };
const record = {
  schemaVersion: "1.4",
  eval_name: "priced",
  timestamp: "2026-05-01T10:00:00Z",
  config: { engine_type: "openai", model_id: "gpt-4o", runs_per_test: 1 },
  metadata: { engine: { eval_file: "eval.yaml", status: "completed" } },
  summary: { total_tests: 1, duration_ms: 90_000 },
  tasks: [{ test_id: "only", status: "passed", runs: [trial] }],
};
write("priced/.waza/results/20260501T100000Z-first.json", JSON.stringify(record));

write("keyed/SKILL.md", "---\nname: greeter\ndescription: Greets. Use it to say hello.\n---\nGreet them.\n");
write("keyed/eval.yaml", `name: keyed
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
write("keyed/tasks/greets.yaml", "id: one\nname: Greets\ninputs:\n  prompt: Say hello\n");
write("keyed/trigger_tests.yaml", `skill: greeter\nshould_trigger_prompts:\n  - prompt: ${PROMPT}\nshould_not_trigger_prompts:\n  - prompt: Add two numbers\n`);

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

  await step("the lens next to the run opens the run options", async () => {
    await editor.openFile(page, "chosen/eval.yaml", "name: chosen");
    await editor.clickLens(page, "…", "the choices", async () => (await list.locator(".monaco-list-row", { hasText: "Trials" }).count()) > 0);
    for (const text of ["Run", "Model", "Executor", "Judge's model", "At the same time", "Limit of cost$0.1", "Without cache", "Keep workspaces"]) {
      await list.locator(".monaco-list-row", { hasText: text }).first().waitFor();
    }
  });

  await step("models are listed, and any other can be typed", async () => {
    const row = (text) => list.locator(".monaco-list-row", { hasText: text }).first();
    await editor.repeatUntil(page, "the models", () => row(/^\S*.?Model/u).click({ timeout: 5_000 }), () => row("used in this project").isVisible());
    await list.locator("input:not([type=checkbox])").first().fill("our-own-model");
    await row("as it is typed").waitFor();
    await page.keyboard.press("Enter");
    await row(/Model.*our-own-model/u).waitFor();
  });

  await step("a change returns to the list, which shows it", async () => {
    const row = (text) => list.locator(".monaco-list-row", { hasText: text }).first();
    // The input box reuses the input of the list: it is ready when the list is gone.
    await editor.repeatUntil(page, "the box for the number", () => row("Trials").click({ timeout: 5_000 }), async () => !(await row("Executor").isVisible()));
    await list.locator("input:not([type=checkbox])").first().fill("2");
    await page.keyboard.press("Enter");
    await row(/Trials.*2/).waitFor();
    const chosen = row("Keep workspaces").locator(".codicon-check").first();
    await editor.repeatUntil(page, "the mark of the choice", () => row("Keep workspaces").click({ timeout: 5_000 }), () => chosen.isVisible());
    await page.screenshot({ path: path.join(artifacts, "choices.png") });
  });

  await step("the run has the chosen options", async () => {
    const rows = list.locator(".monaco-list-row");
    await editor.repeatUntil(page, "the list to close", () => rows.first().click({ timeout: 5_000 }), async () => !(await rows.first().isVisible()));
    await editor.waitUntil(page, "results", () => results("chosen").length > 0);
    const runs = JSON.parse(fs.readFileSync(results("chosen")[0], "utf8")).tasks[0].runs;
    if (runs.length !== 2) throw new Error(`it made ${runs.length} trials`);
    if (JSON.parse(fs.readFileSync(results("chosen")[0], "utf8")).config.model_id !== "our-own-model") throw new Error("it asked another model");
    if (!runs.every((run) => fs.existsSync(run.workspace_dir))) throw new Error("no workspace was kept");
  });

  await step("the lens of a suite shows the cost and the duration of the next run", async () => {
    await editor.openFile(page, "priced/eval.yaml", "gpt-4o");
    await page.locator(".codelens-decoration a", { hasText: "Run suite · ≈ $0.42 · 3 min · 2 trials" }).first().waitFor();
    await page.screenshot({ path: path.join(artifacts, "estimate.png") });
  });

  await step("a run over budget asks first, and Cancel runs nothing", async () => {
    const question = page.locator(".monaco-dialog-box", { hasText: "expected to cost $0.42, and the limit is $0.10" });
    await editor.clickLens(page, "Run suite ·", "the question", async () => (await question.count()) > 0);
    await page.screenshot({ path: path.join(artifacts, "limit.png") });
    await question.locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.waitUntil(page, "the question to go", async () => (await question.count()) === 0);
    if (fs.readdirSync(path.join(workspace, "priced", ".waza", "results")).length !== 1) throw new Error("it ran");
  });

  await step("a run without a key names it and has a button for it", async () => {
    write(".vscode/settings.json", "{}");
    await editor.openFile(page, "keyed/eval.yaml", "name: keyed");
    await run("`SHOP_KEY`, which `provider.api_key_env` names, is not set");
    await hintOn("name: keyed", /!/u);
    await page.screenshot({ path: path.join(artifacts, "no-key.png") });
    await typeKey("is not set", "sk-of-somebody-else");
  });

  await step("a rejected key is an error of each task, with the same button", async () => {
    await editor.command(page, "Notifications: Clear All Notifications");
    await run(/SHOP_KEY/u);
    await hintOn("name: keyed", /^!/u);
    await page.screenshot({ path: path.join(artifacts, "wrong-key.png") });
    await typeKey(/SHOP_KEY/u, KEY);
  });

  await step("with the right key the model answers, and the progress names the trigger prompt", async () => {
    await editor.command(page, "Notifications: Clear All Notifications");
    await editor.openFile(page, "keyed/eval.yaml", "name: keyed");
    const isGoingOn = async () => (await page.locator(".statusbar-item", { hasText: PROMPT }).count()) > 0;
    await editor.clickLens(page, "Run suite", "the prompt in the status bar", isGoingOn);
    await editor.openFile(page, "trigger_tests.yaml", PROMPT);
    await hintOn(PROMPT, /⟳.running.·.prompt.sent/u);
    await page.screenshot({ path: path.join(artifacts, "trying.png") });
    release();
    await hintOn(PROMPT, /✗.not.triggered/u);
    await editor.openFile(page, "greets.yaml", "id: one");
    await hintOn("id: one", /✓.1\.00/u);
  });

  await step("a click during a restart waits for the server", async () => {
    assert.deepEqual((await editor.notificationsSeen(page)).filter((text) => text.includes("not found")), []);
  });

  await step("keys are in no file of the workspace and in no settings", () => {
    const folders = [workspace, path.join(artifacts, "home", "data", "User"), path.join(artifacts, "home", "data", "Machine")];
    for (const folder of folders.filter((each) => fs.existsSync(each))) {
      const files = fs.readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name)).filter((file) => fs.statSync(file).isFile());
      assert.deepEqual(files.filter((file) => fs.readFileSync(file, "latin1").includes(KEY)), []);
    }
  });

  await step("another executor is chosen from a list and used by the next run", async () => {
    const mock = list.locator(".monaco-list-row", { hasText: "mock" }).first();
    await editor.openFile(page, "keyed/eval.yaml", "name: keyed");
    await editor.repeatUntil(page, "the executors", () => editor.command(page, "Waza: Choose Executor"), () => mock.isVisible());
    await editor.repeatUntil(page, "the list to close", () => mock.click({ timeout: 5_000 }), async () => !(await mock.isVisible()));
    const recorded = () => results("keyed").some((file) => JSON.parse(fs.readFileSync(file, "utf8")).config.engine_type === "mock");
    await editor.clickLens(page, "Run suite", "a record of the mock", () => Promise.resolve(recorded()));
  });

  await step("the language status item shows the server", async () => {
    const entry = page.locator(".statusbar-item", { has: page.locator(".codicon-json, .codicon-bracket") }).first();
    const said = page.locator(".hover-language-status", { hasText: "Waza" }).first();
    await editor.repeatUntil(page, "the status of the language", () => entry.hover({ timeout: 5_000 }), () => said.isVisible());
    assert.match(await said.innerText(), /\d+\.\d+\.\d+.*python/su);
    await page.screenshot({ path: path.join(artifacts, "status.png") });
  });
}

function results(suite) {
  const folder = path.join(workspace, suite, ".waza", "results");
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
