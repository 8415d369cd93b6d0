import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import {
    probeServer,
    describePython,
    findOnPath,
    findUv,
    interpreterFromSetting,
    interpretersOnPath,
    isOlder,
    nearestVirtualEnvironment,
} from "../src/interpreters";

/** Creates a folder that is removed after the test. */
function temporaryFolder(context: TestContext): string {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waza-"));
    context.after(() => {
        fs.rmSync(folder, { recursive: true });
    });
    return folder;
}

/** Writes a script that replaces a Python. */
function fakePython(folder: string, name: string, script: string): string {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return file;
}

const posixOnly = { skip: process.platform === "win32" ? "shell scripts stand for Python here" : false };

void test("the nearest .venv above the folder is used", (context) => {
    const root = temporaryFolder(context);
    const python = fakePython(root, ".venv/bin/python", "");
    fs.mkdirSync(path.join(root, "skills", "a", "tasks"), { recursive: true });
    assert.equal(nearestVirtualEnvironment(path.join(root, "skills", "a", "tasks"))?.command, python);
});

void test("a .venv in the Windows layout is found", (context) => {
    const root = temporaryFolder(context);
    const python = fakePython(root, ".venv/Scripts/python.exe", "");
    assert.equal(nearestVirtualEnvironment(root)?.command, python);
});

void test("the setting may be relative to the workspace folder, start with ~, or name a variable", () => {
    const folder = path.resolve("/w");
    assert.equal(interpreterFromSetting(".venv/bin/python", folder).command, path.join(folder, ".venv/bin/python"));
    assert.equal(interpreterFromSetting("${workspaceFolder}/p", folder).command, `${folder}/p`);
    assert.equal(interpreterFromSetting("~/p", folder).command, path.join(os.homedir(), "p"));
});

void test("relative entries of PATH are ignored", (context) => {
    const root = temporaryFolder(context);
    const python = fakePython(root, "python-of-test", "");
    assert.equal(findOnPath("python-of-test", `.${path.delimiter}${root}`), python);
    assert.equal(findOnPath("python-of-test", `.${path.delimiter}bin`), undefined);
});

void test("on Windows programs have extensions, and Python may be py -3", (context) => {
    const root = temporaryFolder(context);
    const launcher = fakePython(root, "py.exe", "");
    const script = fakePython(root, "uv.cmd", "");
    const real = Object.getOwnPropertyDescriptor(process, "platform");
    assert.ok(real !== undefined);
    context.after(() => Object.defineProperty(process, "platform", real));
    Object.defineProperty(process, "platform", { ...real, value: "win32" });
    assert.equal(findOnPath("uv", root), script);
    assert.deepEqual(
        interpretersOnPath(root).map(({ command, args }) => [command, args]),
        [[launcher, ["-3"]]],
    );
});

void test("an unreadable entry of PATH does not hide later ones", posixOnly, (context) => {
    const root = temporaryFolder(context);
    fs.symlinkSync("loop", path.join(root, "loop"));
    fs.mkdirSync(path.join(root, "alias"));
    fs.symlinkSync("python3", path.join(root, "alias", "python3"));
    const python = fakePython(root, "bin/python3", "");
    const searchPath = ["loop", "alias", "bin"].map((folder) => path.join(root, folder)).join(path.delimiter);
    assert.equal(findOnPath("python3", searchPath), python);
    assert.deepEqual(
        interpretersOnPath(searchPath).map(({ command }) => command),
        [python],
    );
});

void test("a Python with the server returns its version", posixOnly, async (context) => {
    const root = temporaryFolder(context);
    const command = fakePython(root, "python", 'echo "waza-language-server 1.2.3"');
    const answer = await probeServer({ command, args: [], origin: "test" }, root);
    assert.ok("version" in answer && answer.version === "1.2.3");
});

void test("the reason is the last line of a Python without the server", posixOnly, async (context) => {
    const root = temporaryFolder(context);
    const command = fakePython(root, "python", "echo trace >&2; echo 'No module named waza_language_server' >&2; exit 1");
    const answer = await probeServer({ command, args: [], origin: "test" }, root);
    assert.ok("reason" in answer && answer.reason === "No module named waza_language_server");
});

void test("a missing interpreter is reported", async (context) => {
    const root = temporaryFolder(context);
    const answer = await probeServer({ command: path.join(root, "none"), args: [], origin: "test" }, root);
    assert.ok("reason" in answer && answer.reason === "does not exist");
});

void test("a server that is too old is rejected", posixOnly, async (context) => {
    const root = temporaryFolder(context);
    const command = fakePython(root, "python", "echo waza-language-server 0.0.9");
    const answer = await probeServer({ command, args: [], origin: "test" }, root);
    assert.ok("reason" in answer && answer.reason.includes("0.0.9"));
});

void test("versions compare by number", () => {
    assert.ok(isOlder("0.9.0", "0.10.0"));
    assert.ok(!isOlder("1.0.0", "0.10.0"));
    assert.ok(!isOlder("0.1.0", "0.1.0"));
});

void test("a Python returns its version and whether it has venv", posixOnly, async (context) => {
    const root = temporaryFolder(context);
    const ask = (script: string) => describePython({ command: fakePython(root, "python", script), args: [], origin: "test" }, root);
    const { version, isRecent, hasVenv } = (await ask("echo 3.12; echo venv")) ?? {};
    assert.deepEqual([version, isRecent, hasVenv], ["3.12", true, true]);
    assert.equal((await ask("echo 3.12"))?.hasVenv, false);
    assert.equal((await ask("echo 3.9; echo venv"))?.isRecent, false);
    assert.equal((await ask("echo 2.7"))?.isRecent, false);
    assert.equal(await ask("echo 'Python was not found; run without arguments to install'; exit 9"), undefined);
});

void test("a newer Python next to an old `python3` is found by its name", posixOnly, (context) => {
    const root = temporaryFolder(context);
    const [newer, old] = ["python3.12", "python3.9"].map((name) => fakePython(root, name, ""));
    fs.symlinkSync(old ?? "", path.join(root, "python3"));
    fs.symlinkSync(path.join(root, "python3"), path.join(root, "python"));
    const found = interpretersOnPath(`${path.join(root, "none")}${path.delimiter}${root}`).map(({ command }) => command);
    assert.deepEqual(found, [path.join(root, "python3"), newer]);
});

void test("uv is found where its installer puts it", posixOnly, (context) => {
    const root = temporaryFolder(context);
    assert.equal(findUv("", root), undefined);
    const uv = fakePython(root, path.join(".local", "bin", "uv"), "");
    assert.equal(findUv("", root), uv);
});
