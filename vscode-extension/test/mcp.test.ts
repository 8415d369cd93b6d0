/** The MCP servers for chat agents: one for each trusted folder, which cannot run suites. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test, type TestContext } from "node:test";
import { EventEmitter } from "vscode";
import { lm, mcpProviders, workspace } from "./fake/vscode";
import { registerMcpServers } from "../src/programs";

const PYTHON = { command: "/usr/bin/python3", args: ["-X", "utf8"], origin: "PATH" };
const posixOnly = { skip: process.platform === "win32" ? "shell scripts stand for Python here" : false };
const never = new EventEmitter<void>().event;

async function serversFor(python: typeof PYTHON | undefined): Promise<unknown[]> {
    registerMcpServers(() => python, never, "1.0.0");
    return (await mcpProviders["waza"]?.provideMcpServerDefinitions()) ?? [];
}

/** Opens two folders on disk and a virtual one; returns a Python that logs its calls in the file `asked` and exits with `code`. */
function openFolders(context: TestContext, code: number): { root: string; python: typeof PYTHON } {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), "waza-"));
    const before = workspace.workspaceFolders;
    context.after(() => {
        workspace.workspaceFolders = before;
        fs.rmSync(root, { recursive: true });
    });
    const folders = ["alpha", "beta"].map((name) => ({ name, uri: { scheme: "file", fsPath: path.join(root, name) } }));
    folders.forEach(({ uri }) => { fs.mkdirSync(uri.fsPath); });
    workspace.workspaceFolders = [{ name: "far", uri: { scheme: "vscode-vfs", fsPath: "/far" } }, ...folders];
    const command = path.join(root, "python");
    fs.writeFileSync(command, `#!/bin/sh\necho "$@" >> '${root}/asked'\nexit ${code}\n`, { mode: 0o755 });
    return { root, python: { ...PYTHON, command } };
}

void test("each folder on disk has an MCP server", posixOnly, async (context) => {
    const { root, python } = openFolders(context, 0);
    const servers = (await serversFor(python)) as { label: string; command: string; args: string[] }[];
    assert.deepEqual(servers.map(({ label }) => label), ["Waza (alpha)", "Waza (beta)"]);
    assert.deepEqual(servers[0]?.args, ["-X", "utf8", "-P", "-m", "waza_engine", "mcp", path.join(root, "alpha")]);
});

void test("a Python without the package has none, and is checked once", posixOnly, async (context) => {
    const { root, python } = openFolders(context, 1);
    assert.deepEqual(await serversFor(python), []);
    assert.deepEqual(await mcpProviders["waza"]?.provideMcpServerDefinitions(), []);
    assert.equal(fs.readFileSync(path.join(root, "asked"), "utf8"), "-X utf8 -P -c import mcp\n");
});

void test("no MCP server without a Python or in Restricted Mode", async (context) => {
    assert.deepEqual(await serversFor(undefined), []);
    context.after(() => (workspace.isTrusted = true));
    workspace.isTrusted = false;
    assert.deepEqual(await serversFor(PYTHON), []);
});

void test("older VS Code versions have no MCP servers", (context) => {
    const register = lm.registerMcpServerDefinitionProvider;
    context.after(() => (lm.registerMcpServerDefinitionProvider = register));
    (lm as { registerMcpServerDefinitionProvider?: unknown }).registerMcpServerDefinitionProvider = undefined;
    registerMcpServers(() => PYTHON, never, "1.0.0").dispose();
});
