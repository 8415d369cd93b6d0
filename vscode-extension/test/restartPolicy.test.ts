import assert from "node:assert/strict";
import { test } from "node:test";
import { CloseAction, ErrorAction } from "vscode-languageclient/node";
import { Restarts } from "../src/restartPolicy";

void test("failed messages neither prevent a restart nor show notifications", () => {
    const restarts = new Restarts(() => assert.fail("it was given up"));
    for (let failed = 0; failed < 20; failed += 1) {
        const { action, handled } = restarts.error(new Error("write EPIPE"));
        assert.deepEqual([action, handled], [ErrorAction.Continue, true]);
    }
    assert.equal(restarts.closed().action, CloseAction.Restart);
});

void test("a server that keeps stopping is given up, with one report", () => {
    let reports = 0;
    const restarts = new Restarts(() => (reports += 1));
    const actions = Array.from({ length: 5 }, () => restarts.closed().action);
    assert.deepEqual(actions, [...Array<CloseAction>(4).fill(CloseAction.Restart), CloseAction.DoNotRestart]);
    assert.equal(reports, 1);
});
