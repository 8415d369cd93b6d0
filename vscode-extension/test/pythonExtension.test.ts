/** The environment that is selected in one of Microsoft's Python extensions, of which the newer one has precedence. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { onDidSelectEnvironment, selectedInPythonExtension } from "../src/pythonExtension";
import { otherExtension } from "./fake/vscode";

const older = {
    environments: {
        getActiveEnvironmentPath: () => ({ path: "/older" }),
        resolveEnvironment: () => Promise.resolve({ executable: { uri: { fsPath: "/older/bin/python" } } }),
        onDidChangeActiveEnvironmentPath: () => "older",
    },
};

function newer(environment: unknown): object {
    return { ...older, getEnvironment: () => Promise.resolve(environment), onDidChangeEnvironment: () => "newer" };
}

const selected = { execInfo: { run: { executable: "/newer/bin/python", args: ["-X", "utf8"] } } };
const CASES: readonly [string, unknown, string | undefined, readonly string[]][] = [
    ["the newer extension", newer(selected), "/newer/bin/python", ["-X", "utf8"]],
    ["the newer extension without a selection", newer(undefined), "/older/bin/python", []],
    ["the older extension", older, "/older/bin/python", []],
    ["no extension", undefined, undefined, []],
];

for (const [title, api, command, args] of CASES) {
    void test(`${title} names the Python`, async (context) => {
        context.after(() => (otherExtension.api = undefined));
        otherExtension.api = api;
        const found = await selectedInPythonExtension();
        assert.equal(found?.command, command);
        assert.deepEqual(found?.args ?? [], args);
    });
}

void test("a selection is observed in the installed extension", async (context) => {
    context.after(() => (otherExtension.api = undefined));
    for (const [api, expected] of [
        [newer(selected), "newer"],
        [older, "older"],
        [undefined, undefined],
    ]) {
        otherExtension.api = api;
        assert.equal(await onDidSelectEnvironment(() => undefined), expected);
    }
});
