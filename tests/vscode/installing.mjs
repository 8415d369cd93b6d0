// Messages and remedies when the language server cannot be installed: every kind of machine, in one window.
//
//   node installing.mjs --vsix FILE --artifacts FOLDER --python FILE
//
// The Pythons are scripts on a PATH of the test, added and removed by the steps; `--python` has the server.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as editor from "./editor.mjs";
import { play, step } from "./scenario.mjs";
import { processesOf } from "./workbench.mjs";

const { values: options } = parseArgs({ options: { python: { type: "string" }, vsix: { type: "string" }, artifacts: { type: "string" } } });
const artifacts = path.resolve(options.artifacts);
const workspace = path.join(artifacts, "suite");
const programs = path.join(artifacts, "programs");
const storage = path.join(artifacts, "home", "data", "User", "globalStorage", "waza-language-server.waza");
fs.mkdirSync(workspace, { recursive: true });
fs.mkdirSync(programs, { recursive: true });
// The Python with the server has all packages: those of agents are hidden until they are installed.
const [hiding, agents] = [path.join(artifacts, "hiding"), path.join(artifacts, "agents-are-there")];
fs.mkdirSync(hiding);
fs.writeFileSync(path.join(hiding, "sitecustomize.py"), `import importlib.metadata, os
_version = importlib.metadata.version
def version(name):
    if name == "openai" and not os.path.exists(${JSON.stringify(agents)}):
        raise importlib.metadata.PackageNotFoundError(name)
    return _version(name)
importlib.metadata.version = version
`);
fs.writeFileSync(path.join(workspace, "eval.yaml"), "name: a\nskill: a\ntasks:\n  - id: one\n    name: One\n    inputs:\n      prompt: Hello\ngraders: []\n");
// Without VSCODE_CLI a window uses the PATH of the user's shell.
for (const name of ["sh", "env", "cp", "mkdir", "uname", "cat", "dirname", "readlink", "basename", "sed"]) {
  const real = (process.env.PATH ?? "").split(":").map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
  if (real !== undefined) fs.symlinkSync(real, path.join(programs, name));
}

await play(scenario, { ...options, python: undefined, workspace, environment: { PATH: programs, VSCODE_CLI: "1" } });

async function scenario(page) {
  const toast = (text) => page.locator(".notification-toast", { hasText: text }).first();
  const buttons = async (text) => (await toast(text).locator("a.monaco-button").allInnerTexts()).map((label) => label.trim());
  // VS Code shows a fourth message within 800 ms only in its notification center.
  const read = () => page.waitForTimeout(1_000);
  const again = async (text) => {
    const retry = toast(text).locator("a.monaco-button", { hasText: "Try Again" }).first();
    await read();
    await retry.click();
  };

  await step("without Python one message has the command, and no button that would fail", async () => {
    await editor.openFile(page, "eval.yaml", "skill: a");
    await toast("No Python was found").waitFor();
    await page.screenshot({ path: path.join(artifacts, "no-python.png") });
    assert.deepEqual(await buttons("No Python was found"), ["Try Again", "Select Python…", "Show Log"]);
    assert.equal(await page.locator(".notification-toast").count(), 1);
  });

  await step("the language status item shows it as well", async () => {
    await statusSays(page, "No Python was found", "Try Again", "status.png");
  });

  await step("a Python that is too old", async () => {
    program("python3", "echo 3.9; echo venv");
    await again("No Python was found");
    await toast("Python 3.9").waitFor();
    await page.screenshot({ path: path.join(artifacts, "old.png") });
    assert.match(await toast("Python 3.9").innerText(), /is too old; install uv.*astral\.sh/u);
    assert.deepEqual(await buttons("Python 3.9"), ["Try Again", "Select Python…", "Show Log"]);
  });

  await step("a Python without venv", async () => {
    program("python3", '[ "$1" = -c ] && echo 3.12');
    await again("Python 3.9");
    await toast("has no venv").waitFor();
    await page.screenshot({ path: path.join(artifacts, "no-venv.png") });
    assert.deepEqual(await buttons("has no venv"), ["Try Again", "Select Python…", "Show Log"]);
  });

  await step("with a recent Python an environment is offered; the index is unreachable", async () => {
    program("python3", recent("echo 'Name or service not known' >&2; exit 1"));
    await again("has no venv");
    const offer = toast("This extension can create an environment").locator("a.monaco-button", { hasText: "Create Environment" });
    await offer.waitFor();
    await read();
    await offer.click();
    await toast("index was not reached").waitFor();
    await page.screenshot({ path: path.join(artifacts, "offline.png") });
    assert.deepEqual(await buttons("index was not reached"), ["Try Again", "Show Log"]);
    assert.deepEqual(environments(), []);
  });

  await step("with the network the environment is created, and the server starts", async () => {
    program("python3", recent("exit 0"));
    await again("index was not reached");
    await page.locator(".codelens-decoration a", { hasText: "Run suite" }).first().waitFor();
    await page.screenshot({ path: path.join(artifacts, "ready.png") });
    assert.equal(environments().length, 1);
    await statusSays(page, "environment-", "Show Log", "status-ready.png");
  });

  await step("the first run of an agent installs its packages and starts again", async () => {
    const file = path.join(workspace, "eval.yaml");
    const before = fs.readFileSync(file, "utf8");
    fs.writeFileSync(file, `${before}config:\n  executor: openai\n  model: any\n`);
    await editor.waitForLine(page, "executor: openai");
    const needs = toast("needs packages that are not installed");
    await editor.clickLens(page, "Run suite", "why it does not run", () => needs.isVisible());
    await page.screenshot({ path: path.join(artifacts, "agents.png") });
    assert.deepEqual(await buttons("needs packages that are not installed"), ["Install", "Choose Executor", "Show Log"]);
    await read();
    await needs.locator("a.monaco-button", { hasText: "Install" }).click();
    await toast("There is no key for").waitFor(); // asked by itself: the packages are there
    await page.screenshot({ path: path.join(artifacts, "agents-added.png") });
    assert.ok(fs.existsSync(path.join(storage, environments()[0], "with-agents.txt")));
    fs.writeFileSync(file, before);
  });

  await step("a failed update keeps the older server and is reported", async () => {
    const [older] = environments();
    fs.writeFileSync(path.join(storage, older, "created-from.txt"), "an older wheel");
    program("python3", recent("echo 'Name or service not known' >&2; exit 1"));
    await editor.command(page, "Waza: Restart Server");
    await toast("older server is used").waitFor();
    await page.screenshot({ path: path.join(artifacts, "kept.png") });
    await page.locator(".codelens-decoration a", { hasText: "Run suite" }).first().waitFor();
    assert.deepEqual(environments(), [older]);
  });

  await step("a successful update replaces the older server", async () => {
    const [older] = environments();
    program("python3", recent("exit 0"));
    await again("older server is used");
    await editor.waitUntil(page, "a new environment", async () => environments().length === 1 && environments()[0] !== older);
    await statusSays(page, environments()[0], "Show Log", "renewed.png");
  });

  await step("the message is hidden when a server is found", async () => {
    fs.rmSync(storage, { recursive: true });
    program("python3", "echo 3.9; echo venv");
    await editor.command(page, "Waza: Restart Server");
    await toast("Python 3.9").waitFor();
    program("python3", recent("exit 0", options.python));
    await editor.command(page, "Waza: Restart Server");
    await page.locator(".codelens-decoration a", { hasText: "Run suite" }).first().waitFor();
    await toast("Python 3.9").waitFor({ state: "hidden" });
    await page.screenshot({ path: path.join(artifacts, "gone.png") });
  });

  await step("when the Python of the server is deleted, the reason is shown and a run finds another one", async () => {
    await editor.recordNotifications(page);
    fs.rmSync(path.join(programs, "python3"));
    for (const server of processesOf(path.join(artifacts, "home"), ["waza_language_server"])) process.kill(Number(server), "SIGKILL");
    await toast("No Python was found").waitFor();
    await page.screenshot({ path: path.join(artifacts, "lost.png") });
    assert.deepEqual(await buttons("No Python was found"), ["Try Again", "Select Python…", "Show Log"]);
    program("python3", recent("exit 0", options.python));
    await editor.command(page, "Waza: Run Suite");
    await page.locator(".codelens-decoration a", { hasText: "Run suite" }).first().waitFor();
    const told = await editor.notificationsSeen(page);
    assert.deepEqual(told.filter((text) => /server failed|create connection|not running|ENOENT/u.test(text)), []);
  });
}

/** Opens the language status (`{}` in the status bar) and waits for its entry. */
async function statusSays(page, detail, command, picture) {
  const item = page.locator(".statusbar-item[id*='languageStatus'] a, .statusbar-item[id*='languageStatus']").first();
  const shown = page.locator(".monaco-hover:visible .hover-language-status", { hasText: detail }).filter({ hasText: command }).first();
  await editor.hoverUntilShown(page, item, shown);
  await page.screenshot({ path: path.join(artifacts, picture) });
  await page.mouse.move(400, 300); // what pops up lies over the messages
  await shown.waitFor({ state: "hidden" });
}

function environments() {
  return fs.existsSync(storage) ? fs.readdirSync(storage).filter((name) => name.startsWith("environment")) : [];
}

/** Returns the script of a Python 3.12 whose `pip` installs the Python with the server, and later the packages of agents. */
function recent(pip, server) {
  const has = server === undefined ? '[ -e "$(dirname "$0")/has-server" ]' : "true";
  return [
    '[ "$1" = -c ] && { echo 3.12; echo venv; exit; }',
    '[ "$2" = venv ] && { mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; exit; }',
    `case "$*" in *agents*) echo >"${agents}";; esac`,
    `[ "$2" = pip ] && { ${pip.replace("exit 0", 'echo >"$(dirname "$0")/has-server"; exit 0')}; }`,
    `${has} && PYTHONPATH="${hiding}" exec "${path.resolve(options.python)}" "$@"`,
    "echo 'No module named waza_language_server' >&2; exit 1",
  ].join("\n");
}

/** Puts a script on PATH. */
function program(name, script) {
  fs.writeFileSync(path.join(programs, `${name}.new`), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  fs.renameSync(path.join(programs, `${name}.new`), path.join(programs, name));
}
