import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { LanguageClient } from "vscode-languageclient/node";
import { ContextKeys } from "../src/contextKeys";
import { commands, EventEmitter, window, workspace } from "./fake/vscode";

const FILE = "file:///ws/alpha/eval.yaml";
const document = { uri: { scheme: "file", fsPath: "/ws/alpha/eval.yaml", toString: () => FILE } };
Object.assign(window, { activeTextEditor: { document }, onDidChangeActiveTextEditor: new EventEmitter().event });

/** Returns the keys that are set before and after an edit of a suite file; `state` is the answer of the server, undefined if it is down. */
async function keysFor(state: object | undefined): Promise<{ before: string[]; after: string[] }> {
    const [keys, edited] = [new Set<string>(), new EventEmitter()];
    Object.assign(workspace, { onDidChangeTextDocument: edited.event });
    const listener = commands.registerCommand("setContext", (...[key, value]) => (value === true || (Array.isArray(value) && value.includes(FILE)) ? keys.add(String(key)) : keys.delete(String(key))));
    const client = { code2ProtocolConverter: { asTextDocumentIdentifier: () => ({}) }, sendRequest: () => Promise.resolve(state) };
    const contextKeys = new ContextKeys(() => (state === undefined ? undefined : (client as unknown as LanguageClient)));
    contextKeys.refresh(0);
    await setTimeout(0); // begun after that of the keys, so it ends after it
    await setImmediate();
    const before = [...keys].sort();
    edited.fire({ document });
    contextKeys.dispose();
    listener.dispose();
    return { before, after: [...keys].sort() };
}

void test("without a server no key says what can run, so shortcuts wait", async () => {
    assert.deepEqual((await keysFor(undefined)).before, []);
    assert.deepEqual((await keysFor({ canRun: false, recorded: false })).before, ["waza:known"]);
    assert.deepEqual((await keysFor({ canRun: true, recorded: false })).before, ["waza:canRun", "waza:known"]);
});

void test("an edit of a suite completes a step of the walkthrough, of a recorded suite two", async () => {
    assert.deepEqual((await keysFor({ canRun: false, recorded: false })).after, ["waza:known"]);
    assert.ok((await keysFor({ canRun: true, recorded: false })).after.includes("waza:edited"));
    assert.ok(!(await keysFor({ canRun: true, recorded: false })).after.includes("waza:regraded"));
    assert.ok((await keysFor({ canRun: true, recorded: true })).after.includes("waza:regraded"));
});

void test("the kind of the active file is passed on as the server reports it", async () => {
    const kinds: (string | undefined)[] = [];
    Object.assign(workspace, { onDidChangeTextDocument: new EventEmitter().event });
    let state: object | null = { kind: "prompts", canRun: false, recorded: false };
    const client = { code2ProtocolConverter: { asTextDocumentIdentifier: () => ({}) }, sendRequest: () => Promise.resolve(state) };
    const contextKeys = new ContextKeys(
        () => client as unknown as LanguageClient,
        (_, kind) => kinds.push(kind),
    );
    for (state of [state, null]) {
        contextKeys.refresh(0);
        await setTimeout(0);
        await setImmediate();
    }
    contextKeys.dispose();
    assert.deepEqual(kinds, ["prompts", undefined]);
});
