import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memento } from "vscode";
import { InterruptedRuns } from "../src/interruptedRuns";

function memory(): Memento {
    const values = new Map<string, unknown>();
    return {
        keys: () => [...values.keys()],
        get: (key: string, fallback?: unknown) => values.get(key) ?? fallback,
        update: (key: string, value: unknown) => {
            values.set(key, value);
            return Promise.resolve();
        },
    } as Memento;
}

void test("a run that has ended is not told after a reload", async () => {
    const kept = memory();
    new InterruptedRuns(kept).view("/s/eval.yaml").end(undefined);
    assert.deepEqual(await new InterruptedRuns(kept).takeInterrupted(), []);
});

void test("a run that the end of the window cut off is told once", async () => {
    const kept = memory();
    const before = new InterruptedRuns(kept);
    const view = before.view("/s/eval.yaml");
    before.close();
    view.end(undefined);
    const after = new InterruptedRuns(kept);
    assert.deepEqual(await after.takeInterrupted(), ["/s/eval.yaml"]);
    assert.deepEqual(await after.takeInterrupted(), []);
});

void test("of two runs of one suite the one that goes on is told", async () => {
    const kept = memory();
    const before = new InterruptedRuns(kept);
    const first = before.view("/s/eval.yaml");
    before.view("/s/eval.yaml");
    first.end(undefined);
    before.close();
    assert.deepEqual(await new InterruptedRuns(kept).takeInterrupted(), ["/s/eval.yaml"]);
});
