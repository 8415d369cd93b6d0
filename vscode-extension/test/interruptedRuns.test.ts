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

void test("a run that has ended is not reported after a reload", async () => {
    const store = memory();
    new InterruptedRuns(store).view("/s/eval.yaml").end(undefined);
    assert.deepEqual(await new InterruptedRuns(store).takeInterrupted(), []);
});

void test("a run that a reload has interrupted is reported once", async () => {
    const store = memory();
    const before = new InterruptedRuns(store);
    const view = before.view("/s/eval.yaml");
    before.close();
    view.end(undefined);
    const after = new InterruptedRuns(store);
    assert.deepEqual(await after.takeInterrupted(), ["/s/eval.yaml"]);
    assert.deepEqual(await after.takeInterrupted(), []);
});

void test("of two runs of one suite only the active one is reported", async () => {
    const store = memory();
    const before = new InterruptedRuns(store);
    const first = before.view("/s/eval.yaml");
    before.view("/s/eval.yaml");
    first.end(undefined);
    before.close();
    assert.deepEqual(await new InterruptedRuns(store).takeInterrupted(), ["/s/eval.yaml"]);
});
