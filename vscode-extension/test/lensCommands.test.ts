import assert from "node:assert/strict";
import { test } from "node:test";
import type { CodeLens, Command } from "vscode";
import { commands } from "./fake/vscode";
import { registerLensCommands, waitingForServer } from "../src/lensCommands";

function lens(command?: Command): CodeLens {
    return Object.assign(Object.create(null) as CodeLens, { command });
}

/** Clicks a lens of the server's command `waza.run`; returns what that was given. */
async function clicked(reached: () => Promise<unknown>, whileItStarts: (given: unknown[][]) => void = () => undefined): Promise<unknown[][]> {
    const given: unknown[][] = [];
    const listeners = [registerLensCommands(reached), commands.registerCommand("waza.run", (...each) => given.push(each))];
    const { command } = waitingForServer(lens({ title: "Run", command: "waza.run", arguments: [{ id: "a" }] }));
    const done = commands.executeCommand(command?.command ?? "", ...((command?.arguments ?? []) as unknown[]));
    await new Promise(setImmediate);
    whileItStarts(given);
    await done;
    listeners.forEach((each) => each.dispose() as unknown);
    return given;
}

void test("a lens that is clicked while the server starts again does what it says when that is up", async () => {
    let isUp: (client: object) => void = () => undefined;
    const found = await clicked(
        () => new Promise((resolve) => (isUp = resolve)),
        (given) => {
            assert.deepEqual(given, []);
            isUp({});
        },
    );
    assert.deepEqual(found, [[{ id: "a" }]]);
});

void test("without a server it does nothing", async () => {
    assert.deepEqual(await clicked(() => Promise.resolve(undefined)), []);
});

void test("a lens without a command stays as it is", () => {
    assert.equal(waitingForServer(lens()).command, undefined);
});
