// Results in a real VS Code: commands where they work, the result page with its buttons, the comparison of two runs.
//
//   node results.mjs --python FILE --vsix FILE --artifacts FOLDER

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "greeter");
for (const folder of ["tasks", ".vscode"]) fs.mkdirSync(path.join(workspace, folder), { recursive: true });
const config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n";
const graders = "graders:\n  - type: text\n    name: speaks\n    config:\n      contains:\n        - hello\n";
write(".vscode/settings.json", JSON.stringify({ "waza.live.enable": "off", "waza.run.keepWorkspaces": true }));
write("eval.yaml", `name: greeter\nskill: greeter\n${config}tasks:\n  - tasks/*.yaml\n${graders}`);
write("tasks/one.yaml", "id: one\nname: Greets\ninputs:\n  prompt: Say hello\n");
write("notes.yaml", "notes: of another kind\n");

await play(scenario, { ...options, workspace });

async function scenario(page) {
  const offered = async (title, wanted) =>
    editor.waitUntil(page, `${wanted ? "" : "no "}"${title}"`, async () => (await editor.commandsOffered(page, "Waza: ")).includes(title) === wanted);

  await step("without a file, commands that need one are not offered", async () => {
    await offered("Waza: Show Log", true);
    const titles = await editor.commandsOffered(page, "Waza: ");
    assert.deepEqual(titles.filter((title) => /Run|Result|Task|Grader/u.test(title)), []);
  });

  await step("nor in a file of another kind", async () => {
    await editor.openFile(page, "notes.yaml", "notes");
    await offered("Waza: Run Suite", false);
  });

  await step("a suite can be run, and has no result yet", async () => {
    await editor.openFile(page, "eval.yaml", "graders:");
    await offered("Waza: Run Suite", true);
    await offered("Waza: Open Result", false);
  });

  await step("the button in the editor title runs it, and then there is a result", async () => {
    const button = page.locator('.title .action-label[aria-label*="Run Suite"]').first();
    await editor.runOnce(page, workspace, () => button.click({ timeout: 10_000 }));
    await offered("Waza: Open Result", true);
  });

  const frame = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");
  const button = (title) => frame.locator("a.button", { hasText: title }).first();

  await step("the result is a page, with a button for the workspace and none for a comparison", async () => {
    await editor.command(page, "Waza: Open Result");
    await frame.locator("h2", { hasText: "Greets" }).waitFor();
    await frame.locator("summary .passed").first().waitFor();
    await button("Open Workspace of This Trial").waitFor();
    await offered("Waza: New Task…", true); // of the suite that it is the result of
    assert.equal(await button("Compare").count(), 0);
    await page.screenshot({ path: path.join(artifacts, "result.png") });
  });

  await step("after the next run the page is drawn again, and can be compared", async () => {
    await page.locator(".tab", { hasText: "eval.yaml" }).first().click();
    write("eval.yaml", fs.readFileSync(path.join(workspace, "eval.yaml"), "utf8").replace("- hello", "- goodbye\n        - farewell"));
    await editor.waitForLine(page, "- goodbye");
    await editor.runByLens(page, "Run suite", workspace);
    await page.locator(".tab", { hasText: "result" }).first().click();
    await frame.locator("h2 .failed").first().waitFor();
    await button("Compare With an Earlier Run").waitFor();
    await frame.locator("p code", { hasText: /^speaks$/u }).first().waitFor(); // what made it red
    assert.deepEqual((await frame.locator("p").allInnerTexts()).filter((text) => text.includes("`")), []);
    await page.screenshot({ path: path.join(artifacts, "failed.png") });
  });

  await step("the message opens the first failure, and F8 the next", async () => {
    const peek = page.locator(".peekview-widget").first();
    const show = () => page.locator(".notification-toast a.monaco-button", { hasText: "Show Failures" }).first().click({ timeout: 5_000 });
    await editor.repeatUntil(page, "the first failure", show, () => peek.isVisible());
    await editor.waitUntil(page, "its reason", async () => /(not.passed|missing.text):/u.test(await peek.innerText()));
    const first = await peek.innerText();
    const walk = () => page.keyboard.press("F8");
    await editor.repeatUntil(page, "the next failure", walk, async () => (await peek.isVisible()) && (await peek.innerText()) !== first);
    await page.screenshot({ path: path.join(artifacts, "walked.png") });
    await page.keyboard.press("Escape");
    await page.locator(".tab", { hasText: "result" }).first().click();
  });

  await step("the button shows the changes since the previous run", async () => {
    const preview = page.locator(".tab", { hasText: /Preview greeter since/u }).first();
    await editor.repeatUntil(page, "the comparison", () => button("Compare").click({ timeout: 5_000 }), () => preview.isVisible());
    await frame.locator("td", { hasText: "✗ failed 0.00" }).first().waitFor();
    await page.screenshot({ path: path.join(artifacts, "compared.png") });
  });

  const saveAs = async (name, ask) => {
    const question = page.locator(".quick-input-widget", { hasText: "The id of the new task" });
    await editor.repeatUntil(page, "the question for the new task", ask, () => question.isVisible());
    await question.locator("input:not([type=checkbox])").fill(name);
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: `${name}.yaml` }).first().waitFor();
    await editor.waitForLine(page, "Say hello");
    assert.match(fs.readFileSync(path.join(workspace, "tasks", `${name}.yaml`), "utf8"), new RegExp(`^id: ${name}$`, "mu"));
  };

  await step("a button saves the recorded answer as a task", async () => {
    await page.locator(".tab", { hasText: /^greeter.* result$/u }).first().click();
    await saveAs("saved", () => button("Save Record as Task").click({ timeout: 5_000 }));
  });

  await step("a command does so for the task at the cursor", async () => {
    await editor.openFile(page, "tasks/one.yaml", "id: one");
    await offered("Waza: Save Record as Task…", true);
    await saveAs("chosen", () => editor.command(page, "Waza: Save Record as Task…"));
  });

  await step("the page survives a reload, with a notice that its run was deleted", async () => {
    await page.locator(".tab", { hasText: /^greeter.* result$/u }).first().click();
    await button("Compare").waitFor();
    const newest = results().map((name) => path.join(workspace, ".waza", "results", name));
    newest.sort((one, other) => fs.statSync(other).mtimeMs - fs.statSync(one).mtimeMs);
    const [shown] = newest;
    fs.renameSync(shown, `${shown}.away`);
    await editor.reloadWindow(page);
    await frame.locator(".notice", { hasText: "gone" }).waitFor();
    await frame.locator("h2 .passed").first().waitFor(); // the run before it
    await page.screenshot({ path: path.join(artifacts, "gone.png") });
    fs.renameSync(`${shown}.away`, shown);
  });

  await step("the workspace of the trial opens in a new window", async () => {
    await page.locator(".tab", { hasText: /^greeter.* result$/u }).first().click();
    await button("Open Workspace").waitFor();
    const opened = page.context().waitForEvent("page");
    await button("Open Workspace").click();
    const other = await opened;
    const folder = new URL(other.url()).searchParams.get("folder") ?? "";
    await other.close();
    assert.ok(fs.statSync(folder).isDirectory(), folder);
    assert.notEqual(folder, workspace);
  });

  await step("pending answers are reviewed one after the other, next to their results", async () => {
    const file = path.join(workspace, "eval.yaml");
    const human = "  - type: human\n    name: expert\n    config:\n      instructions: Look twice\n      criteria:\n        - No secrets\n";
    fs.appendFileSync(file, human);
    await editor.openFile(page, "eval.yaml", "- type: human");
    await editor.runByLens(page, "Run suite", workspace);
    const question = page.locator(".quick-input-widget", { hasText: /Review .*trial 1 \(1 of 3\)/u });
    await editor.clickLens(page, "Review", "the question", () => question.isVisible());
    assert.match(await question.locator("input:not([type=checkbox])").getAttribute("placeholder"), /^Look twice · No secrets/u);
    await frame.locator("h2", { hasText: /chosen|Greets/u }).first().click(); // who reads the result keeps the question
    await page.screenshot({ path: path.join(artifacts, "review.png") });
    await question.locator(".monaco-list-row", { hasText: "Failed" }).click();
    const why = page.locator(".quick-input-widget", { hasText: "why?" }).locator("input:not([type=checkbox])");
    await why.fill("too short");
    await why.press("Enter"); // not `page.keyboard`: a result page that has just opened may have the focus
    await page.locator(".quick-input-widget", { hasText: "(2 of 3)" }).locator(".monaco-list-row", { hasText: "Passed" }).click();
    await why.press("Enter");
    await page.locator(".quick-input-widget", { hasText: "(3 of 3)" }).waitFor();
    await page.keyboard.press("Escape");
    const said = fs.readFileSync(path.join(workspace, "reviews.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(said.map(({ passed, comments }) => [passed, comments]), [[false, "too short"], [true, ""]]);
    await editor.openFile(page, "eval.yaml", "- type: human");
    await editor.waitUntil(page, "the mark of what failed", async () => (await editor.hintsOn(page, "name: expert")).includes("✗ 0.50 1 of 2 tasks"));
    await page.screenshot({ path: path.join(artifacts, "reviewed.png") });
  });

  await step("mutation testing marks a weak grader at its line", async () => {
    fs.appendFileSync(path.join(workspace, "eval.yaml"), "  - type: code\n    name: anything\n    config:\n      assertions:\n        - len(output) >= 0\n");
    await editor.waitForLine(page, "name: anything");
    assert.equal((await editor.squigglesUnder(page, "name: anything", "anything")).length, 0);
    await editor.command(page, "Waza: Measure Strength of Graders");
    await page.locator(".notification-toast", { hasText: /\d+ graders? measured, 1 decides nothing \(marked in the file\)/u }).first().waitFor();
    await editor.waitForSquiggle(page, "name: anything", "anything");
    await page.screenshot({ path: path.join(artifacts, "weak.png") });
  });
}

function results() {
  const folder = path.join(workspace, ".waza", "results");
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
}

function write(name, text) {
  fs.writeFileSync(path.join(workspace, name), text);
}
