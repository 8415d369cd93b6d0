import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const SOURCES = fs.readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
/** Patterns of code that starts a program, directly or through VS Code or a library. */
const STARTS = [
    /child_process|worker_threads|node:cluster|node-pty|process\.binding/u,
    /createTerminal|TerminalProfile|ExtensionTerminalOptions/u,
    /ShellExecution|ProcessExecution|CustomExecution|executeTask|TaskProvider/u,
    /startDebugging|DebugAdapter|McpStdio/u,
    /new LanguageClient|class \w+ extends LanguageClient|workbench\.action\.(?:terminal|tasks|debug)/u,
];

void test("one file starts programs", () => {
    const found = SOURCES.filter((name) => STARTS.some((pattern) => pattern.test(source(name))));
    assert.deepEqual(found, ["programs.ts"]);
});

void test("every start of a program is checked first", () => {
    const starting = /\b(?:execFile|spawn|createTerminal|ProcessExecution|super\.createMessageTransports|new Server)\(/u;
    const parts = source("programs.ts")
        .split(/^(?=export )/mu)
        .filter((part) => starting.test(part));
    assert.equal(parts.length, 6);
    for (const part of parts) {
        assert.match(part.split(starting, 1)[0] ?? "", /startRejection\(|checkStart\(|isTrustedFor\(/u);
    }
});

function source(name: string): string {
    return fs.readFileSync(path.join("src", name), "utf8").replaceAll(/^\s*(?:\/?\*|\/\/).*$/gmu, "");
}
