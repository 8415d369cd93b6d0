/** The MCP server for chat agents: one for each trusted folder, which cannot run suites. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { EventEmitter } from "vscode";
import { lm, mcpProviders, workspace } from "./fake/vscode";
import { registerMcpServers } from "../src/programs";

const PYTHON = { command: "/usr/bin/python3", args: ["-X", "utf8"], origin: "PATH" };
const never = new EventEmitter<void>().event;

async function offered(python: typeof PYTHON | undefined): Promise<unknown[]> {
    registerMcpServers(() => python, never, "1.0.0");
    return (await mcpProviders["waza"]?.provideMcpServerDefinitions()) ?? [];
}

void test("each folder has a server that checks and fixes, and does not run", async () => {
    const servers = (await offered(PYTHON)) as { label: string; command: string; args: string[] }[];
    assert.deepEqual(servers.map(({ label }) => label), ["Waza (alpha)", "Waza (beta)"]);
    assert.deepEqual(servers[0]?.args, ["-X", "utf8", "-P", "-m", "waza_engine", "mcp", "/ws/alpha"]);
});

void test("there is none without a Python, or in Restricted Mode", async (context) => {
    assert.deepEqual(await offered(undefined), []);
    context.after(() => (workspace.isTrusted = true));
    workspace.isTrusted = false;
    assert.deepEqual(await offered(PYTHON), []);
});

void test("an older editor has no such servers", (context) => {
    const register = lm.registerMcpServerDefinitionProvider;
    context.after(() => (lm.registerMcpServerDefinitionProvider = register));
    (lm as { registerMcpServerDefinitionProvider?: unknown }).registerMcpServerDefinitionProvider = undefined;
    registerMcpServers(() => PYTHON, never, "1.0.0").dispose();
});
