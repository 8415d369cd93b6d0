import assert from "node:assert/strict";
import { test } from "node:test";
import type { CodeLens, Command } from "vscode";
import { commands } from "./fake/vscode";
import { registerLensCommands, waitingForServer } from "../src/lensCommands";

function lens(command?: Command): CodeLens {
    return Object.assign(Object.create(null) as CodeLens, { command });
}

/** Clicks a lens with the server command `waza.run`; returns the arguments of its calls. */
async function click(ensureRunning: () => Promise<unknown>, whileItStarts: (calls: unknown[][]) => void = () => undefined): Promise<unknown[][]> {
    const calls: unknown[][] = [];
    const listeners = [registerLensCommands(ensureRunning), commands.registerCommand("waza.run", (...each) => calls.push(each))];
    const { command } = waitingForServer(lens({ title: "Run", command: "waza.run", arguments: [{ id: "a" }] }));
    const done = commands.executeCommand(command?.command ?? "", ...((command?.arguments ?? []) as unknown[]));
    await new Promise(setImmediate);
    whileItStarts(calls);
    await done;
    listeners.forEach((each) => each.dispose() as unknown);
    return calls;
}

void test("a click on a lens during a restart runs when the server is up", async () => {
    let isUp: (client: object) => void = () => undefined;
    const found = await click(
        () => new Promise((resolve) => (isUp = resolve)),
        (calls) => {
            assert.deepEqual(calls, []);
            isUp({});
        },
    );
    assert.deepEqual(found, [[{ id: "a" }]]);
});

void test("without a server a click does nothing", async () => {
    assert.deepEqual(await click(() => Promise.resolve(undefined)), []);
});

void test("a lens without a command is unchanged", () => {
    assert.equal(waitingForServer(lens()).command, undefined);
});
